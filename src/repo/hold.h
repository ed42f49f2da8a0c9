/* Setting things aside in a tree that is not trusted: by descriptors, links never followed, nothing
 * deleted or overwritten.
 *
 *     int errnum = hold_part(gitdir_fd, "hooks/pre-commit", &where);
 *
 * The answer is 0 or an error number; `where` is then the new place, relative to the descriptor.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_HOLD_H
#define REPO_HOLD_H

#include "base/buf.h"
#include "base/err.h"
#include "repo/parts.h"

/* The directory PARTS_HELD, made if need be; whatever stands in its way is renamed. -1 and errno.
 */
MUST_USE int hold_open(int gitdir);

/* Moves a part of a repository's directory into its directory PARTS_HELD. */
MUST_USE int hold_part(int gitdir, const char *part, struct buf *where);

/* Gives something another name beside it: `.git` becomes `.git.cordon-held`. */
MUST_USE int hold_beside(int dir, const char *name, struct buf *where);

/* Keeps a copy of a file of settings in PARTS_HELD, and leaves of it what is plain
 * (parts_setting_is_plain). */
MUST_USE int hold_settings(int gitdir, const char *part, struct str plain, struct buf *where);

/* Reads a regular file of a repository whole; false if it is something else, too large or gone. */
MUST_USE bool hold_read(int dir, const char *name, struct buf *bytes);
MUST_USE bool hold_read_max(int dir, const char *name, size_t max, struct buf *bytes);

#endif
