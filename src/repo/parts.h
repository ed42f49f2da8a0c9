/* The parts of a repository that make git, Cordon or another version control system run programs or
 * look elsewhere: settings, hooks, attributes, and files that lead to another repository.
 *
 *     const char *const *part;
 *     for (part = parts_of(SCAN_GITDIR); *part; part++) ... openat(gitdir, *part) ...
 *     if (parts_refuse(path)) ... a tool may not write there ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_PARTS_H
#define REPO_PARTS_H

#include "repo/gitconfig.h"
#include "repo/scan.h"

enum {
    PARTS_MAX = 10, /* of a kind */
};

/* Where things are put that were set aside. */
#define PARTS_HELD "cordon-held"

/* Of jj: its repository, as a directory or as a file that says where; and where git's is. */
#define PARTS_JJ_REPO   "repo"
#define PARTS_JJ_TARGET "repo/store/git_target"

/* The parts of a directory of this kind, relative to it; ends in NULL. */
const char *const *parts_of(enum scan_kind kind);

/* Whether a part of this type is the repository itself, in which commands work: it steers only if
 * it is something else. */
bool parts_is_free(enum scan_kind kind, const char *part, mode_t type);

/* Whether tools that write files must leave a path alone: anything at or below `.git` or `.cordon`,
 * and parts of other systems. For a path below an absolute or relative directory; text alone. */
bool parts_refuse(struct str path);

/* Whether writing a file at this path may make a repository out of a directory: a name that git
 * looks for is part of it. */
bool parts_may_make(struct str path);

/* Whether `git init` or `git clone` writes this setting, or it can do no harm. */
bool parts_setting_is_plain(const struct gitconfig_entry *e);

#endif
