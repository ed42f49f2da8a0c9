/* Ignored paths below a root, by git's rules: `.gitignore` in every directory, then `.cordonignore`
 * beside it (takes precedence), `info/exclude` of the repository (lowest precedence). Files apply
 * from the top of the git work tree down, even if the root is below it; without a `.git`, from the
 * root down. The user's global git configuration is not read.
 *
 *     struct ignore *ig;
 *     if (!ignore_open(root_fd, &ig, err)) ...
 *     ignore_path(ig, STR("src/main.o"), false, &ignored, err)     checks every parent, or:
 *     ignore_push(ig, dir_fd, dir, IGNORE_FILES, err);
 *     ignore_match(ig, path, false);
 *     ignore_pop(ig);
 *
 * A root that is itself ignored (a workspace that the project keeps out of git) would appear empty:
 * for such a root only the files from the root down apply.
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
    IGNORE_LIVE_MAX = 64 << 20, /* memory of the rules that apply in one directory */
};

struct ignore;

#define AUTO_IGNORE AUTO(ignore_closep)

/* The root itself is not pushed yet. Duplicates the descriptor. */
MUST_USE bool ignore_open(int root_fd, struct ignore **ret_ignore, struct err *err);
void ignore_close(struct ignore *ig);

static inline void ignore_closep(struct ignore **ig)
{
    ignore_close(*ig);
}

/* IGNORE_GIT or IGNORE_OWN if the name is that of an ignore file, otherwise 0. */
int ignore_file(struct str name);

/* Enters a directory: its path from the root ("" for the root) and which of its ignore files to
 * read. An ignore file that can't be read or is too large is an error, since continuing without it
 * would reveal paths that should be hidden. Symlinks are not ignore files. */
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
