/* Private to src/repo: files and directories that git's settings name, and targets of symlinks
 * among the hooks. git runs or reads them, so they are protected like the settings themselves.
 *
 * A relative name applies in every work tree of a git directory: its parent, core.worktree, the one
 * that `gitdir` names, and each directory whose `.git` points to it, including from a root to a
 * repository outside. The git directory itself is one of them: git also runs there. The user's own
 * settings apply in all of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_NAMED_PATHS_H
#define REPO_NAMED_PATHS_H

#include "repo/known.h"

/* Returns true if an absolute path without symlinks is writable, that is, in a root. */
bool protect_in_roots(const struct protect *p, struct str path);

/* Learns the names in all roots, whose places are known: each is added to the root that contains
 * it. */
void named_paths_learn(struct protect *p);

/* After a command: checks the same names in work trees that were not known. Sets them aside unless
 * they are the same as in another work tree, where they were protected from changes. */
void named_paths_check(struct protect *p);

#endif
