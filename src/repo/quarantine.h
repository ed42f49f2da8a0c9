/* Sets files aside in an untrusted tree: by descriptor, never following symlinks, without deleting
 * or overwriting anything.
 *
 *     int errnum = quarantine_part(gitdir_fd, "hooks/pre-commit", &where);
 *
 * Returns 0 or an error number; on success `where` is the new path, relative to the descriptor.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_QUARANTINE_H
#define REPO_QUARANTINE_H

#include "base/buf.h"
#include "base/err.h"
#include "repo/parts.h"

/* Opens the directory PARTS_HELD, creating it if necessary; renames anything that is in its place.
 * Returns -1 and sets errno on failure. */
MUST_USE int quarantine_open(int gitdir);

/* Moves a part of a repository's directory into its directory PARTS_HELD. */
MUST_USE int quarantine_part(int gitdir, const char *part, struct buf *where);

/* Renames something within its directory: `.git` becomes `.git.cordon-held`. */
MUST_USE int quarantine_beside(int dir, const char *name, struct buf *where);

/* Moves a settings file into PARTS_HELD and replaces it by one with the text `plain`, such as only
 * its plain settings (parts_setting_is_plain). */
MUST_USE int quarantine_settings(int gitdir, const char *part, struct str plain, struct buf *where);

/* Reads a whole regular file of a repository; returns false if it is too large, gone or of another
 * type. */
MUST_USE bool quarantine_read(int dir, const char *name, struct buf *bytes);
MUST_USE bool quarantine_read_max(int dir, const char *name, size_t max, struct buf *bytes);

#endif
