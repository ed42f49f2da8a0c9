/* Which paths below a root are ignored, by git's rules: `.gitignore` in every directory, then
 * `.cordonignore` beside it (stronger), `info/exclude` of the repository (weakest). The files from
 * the top of the git work tree down count, also when the root lies below it, and without a `.git`
 * those from the root down. What a user configured for git elsewhere is not read.
 *
 *     struct ignore *ig;
 *     if (!ignore_open(root_fd, &ig, err)) ...
 *     ignore_path(ig, STR("src/main.o"), false, &ignored, err)     asks about every parent, or:
 *     ignore_push(ig, dir_fd, dir, IGNORE_FILES, err); ignore_match(ig, path, false);
 * ignore_pop(ig);
 *
 * A root that is itself ignored (a workspace that the project keeps out of git) would have nothing
 * in it: for such a root only the files from the root down count.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_IGNORE_H
#define PATH_IGNORE_H

#include "path/rules.h"

enum {
    IGNORE_GIT = 1, /* .gitignore */
    IGNORE_OWN = 2, /* .cordonignore */
    IGNORE_FILES = IGNORE_GIT | IGNORE_OWN,

    IGNORE_LEVELS_MAX = 8192,   /* directories between the top and a file */
    IGNORE_LIVE_MAX = 64 << 20, /* memory of the rules that apply at one place */
};

struct ignore;

#define AUTO_IGNORE AUTO(ignore_closep)

/* The root itself is not pushed yet. Keeps a descriptor of its own. */
MUST_USE bool ignore_open(int root_fd, struct ignore **ret_ignore, struct err *err);
void ignore_close(struct ignore *ig);

static inline void ignore_closep(struct ignore **ig)
{
    ignore_close(*ig);
}

/* IGNORE_GIT or IGNORE_OWN if the name is that of an ignore file, or 0. */
int ignore_file(struct str name);

/* Enters a directory: its path from the root ("" for the root) and which of its ignore files are
 * worth a look. A file that can't be read or is too large is an error, since going on without it
 * would show what is meant to be hidden. A symbolic link is no ignore file. */
MUST_USE bool ignore_push(
    struct ignore *ig, int dir_fd, struct str dir, int files, struct err *err);
void ignore_pop(struct ignore *ig);

/* For an entry of the directory that was pushed last, whose parents are not ignored. */
bool ignore_match(struct ignore *ig, struct str path, bool is_dir);

/* For any path below the root, whether it exists or not, without "." or ".." in it. Nothing may be
 * pushed. */
MUST_USE bool ignore_path(
    struct ignore *ig, struct str path, bool is_dir, bool *ret_ignored, struct err *err);

#endif
