/* The parts of a repository that make git, Cordon or another version control system run programs or
 * use another location: settings, hooks, attributes, and files that point to another repository.
 *
 *     const char *const *part;
 *     for (part = parts_for_kind(SCAN_GITDIR); *part; part++) ... openat(gitdir, *part) ...
 *     if (parts_is_refused(path)) ... a tool must not write there ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_PARTS_H
#define REPO_PARTS_H

#include "repo/gitconfig.h"
#include "repo/repo_scan.h"

enum {
    PARTS_MAX = 12, /* per kind */
};

/* Directory for files that were set aside. */
#define PARTS_HELD "cordon-held"

/* jj: its repository, as a directory or as a file that names it; and the file that names git's. */
#define PARTS_JJ_REPO   "repo"
#define PARTS_JJ_TARGET "repo/store/git_target"

/* Returns the parts of a directory of this kind, relative to it, terminated by NULL. */
const char *const *parts_for_kind(enum scan_kind kind);

/* Returns true if a part of this type is the repository itself, in which commands work: only a part
 * of another type controls anything. */
bool parts_is_free(enum scan_kind kind, const char *part, mode_t type);

/* Returns true if tools that write files must not touch a path: anything at or below `.git` or
 * `.cordon`, and parts of other systems. For a path below an absolute or relative directory;
 * compares text only. */
bool parts_is_refused(struct str path);

/* Returns true if writing a file at this path may turn a directory into a repository: it contains a
 * name that git looks for. */
bool parts_can_create_repo(struct str path);

/* Returns true if `git init` or `git clone` writes this setting, or it is harmless. */
bool parts_setting_is_plain(const struct gitconfig_entry *e);

/* Returns true if `git sparse-checkout` writes this setting for a work tree. */
bool parts_setting_is_sparse(const struct gitconfig_entry *e);

#endif
