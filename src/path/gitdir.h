/* Git's directories of a work tree: `.git` as a directory, or as a file that points to one.
 *
 *     AUTO_FD int common = -1;
 *     if (!gitdir_open_common(dir_fd, &common, err)) ...
 *     int fd = openat(common, "info/exclude", O_RDONLY | O_CLOEXEC);
 *
 * For readers: a `.git` that is damaged leads nowhere, and an unreadable one is an error.
 * repo/gitdir_target.h asks another question, where git would start whatever the files contain, and
 * shares only gitdir_line().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_GITDIR_H
#define PATH_GITDIR_H

#include "base/buf.h"
#include "base/err.h"

/* Whether there is a `.git` of either kind. */
bool gitdir_present(int dir_fd);

/* Whether some file system takes a name for `.git`: in another case, or on Windows with trailing
 * dots or blanks, with a stream suffix, or as a short name. */
bool gitdir_stands_for_git(struct str name);

/* Whether `.git` leads to a repository: with HEAD, objects and refs. */
bool gitdir_is_repository(int dir_fd);

/* Opens the directory private to this work tree (HEAD, index); same rules as below. */
MUST_USE bool gitdir_open_own(int dir_fd, int *ret_fd, struct err *err);

/* Opens the directory shared by all work trees of the repository; -1 if `.git` leads nowhere. Only
 * an unreadable `.git` is an error. */
MUST_USE bool gitdir_open_common(int dir_fd, int *ret_fd, struct err *err);

/* Returns the path in the content of a `.git` or `commondir` file after the prefix, as git reads
 * it: up to the first NUL, without trailing line breaks. Empty without the prefix. */
struct str gitdir_line(struct str content, struct str prefix);

/* Appends what is checked out: the branch, or an abbreviated commit hash. Appends nothing if HEAD
 * can't be read. */
void gitdir_add_head(int dir_fd, struct buf *name);

#endif
