/* Private to src/repo: files and directories that settings of git name, and targets of links among
 * the hooks. git runs or reads them, so they are kept as the settings themselves are.
 *
 * A relative name holds in every work tree of a git directory: its parent, core.worktree, the one
 * that `gitdir` names, and each directory whose `.git` leads to it, also from a root to a
 * repository outside. A git directory itself is one of them: git runs there, too. The user's own
 * settings hold in all of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_NAMES_H
#define REPO_NAMES_H

#include "repo/known.h"

/* Whether an absolute path without links can be written inside. */
bool names_in_roots(const struct protect *p, struct str path);

/* Learns the names in all roots, whose places are known: each goes to the root that holds it. */
void names_learn(struct protect *p);

/* After a command: the same names in work trees that were not known. They are set aside, unless
 * they are as in another one, where they were kept from changes. */
void names_check(struct protect *p);

#endif
