/* Private to src/repo: work trees that a git directory names by core.worktree, or in the file
 * `gitdir` that `git worktree add` writes. git writes files in them, whichever directory the path
 * leads to.
 *
 *     tree_know(p, r);       symlinks on their paths are the user's, and stay as they are
 *     tree_check(p, r);      after a command: sets other symlinks on their paths aside
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_TREE_H
#define REPO_TREE_H

#include "repo/known.h"

/* Remembers the work trees that known git directories name. Adds the symlinks to the ways of the
 * root. */
void tree_know(struct protect *p, struct protect_root *r);

/* Call after the ways of the root have been restored. */
void tree_check(struct protect *p, struct protect_root *r);

/* Returns true if this is core.worktree. */
bool tree_is_setting(const struct gitconfig_entry *e);

/* Returns the last value of core.worktree in a settings file; no value: none. */
struct str tree_setting(int gitdir, const char *name, struct arena *a);

/* Returns true if a path names the directory of a `.git` file that points back to the git directory
 * at `git` in the root, without symlinks. */
bool tree_is_own(const struct protect_root *r, struct str git, struct str path);

/* The same for the file `gitdir` of a work tree that a command made: it may also name something
 * that does not exist. */
bool tree_back_is_plain(
    const struct protect *p, const struct protect_root *r, int gitdir, struct str git);

#endif
