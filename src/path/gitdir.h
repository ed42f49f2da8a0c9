/* What git keeps for a work tree: `.git` as a directory, or as a file that names one.
 *
 *     AUTO_FD int common = -1;
 *     if (!gitdir_open_common(dir_fd, &common, err)) ...
 *     int fd = openat(common, "info/exclude", O_RDONLY | O_CLOEXEC);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_GITDIR_H
#define PATH_GITDIR_H

#include "base/buf.h"
#include "base/err.h"

/* Is there a `.git` of either kind? */
bool gitdir_present(int dir_fd);

/* Does that `.git` lead to a repository: a HEAD, objects and refs? */
bool gitdir_is_repository(int dir_fd);

/* The directory that this work tree has for itself (HEAD, index); the same rules. */
MUST_USE bool gitdir_open_own(int dir_fd, int *ret_fd, struct err *err);

/* The directory that all work trees of the repository share; -1 if `.git` leads nowhere. Only a
 * `.git` that can't be read is an error. */
MUST_USE bool gitdir_open_common(int dir_fd, int *ret_fd, struct err *err);

/* Appends what is checked out: the branch, or the start of a commit's name. Nothing: no HEAD that
 * can be read. */
void gitdir_add_head(int dir_fd, struct buf *name);

#endif
