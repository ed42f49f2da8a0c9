/* Private to src/repo: indexes that a command changed. git does not check the names of an index
 * that it reads: `git checkout .` writes hooks, or files outside the work tree, if their names are
 * in it. An index of any git directory that git would not have written, or that is too large to be
 * read, is set aside.
 *
 * In a `.git`, an entry for a separate repository (a gitlink) makes git enter the repository at its
 * path and obey its settings. It stays if
 *
 *   - git finds nothing to enter there: no `.git`;
 *   - the entry, or a repository at its path, existed before the command;
 *   - it is a submodule as `git submodule` and `git clone` create it, with a `.git` file
 *     that points to `modules` in the directory of this repository, and the check set nothing
 *     aside in it.
 *
 * Any other entry is removed from the index (repo/gitlink.h). A repository at such a path is
 * checked even if the search did not reach it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITLINK_CHECK_H
#define REPO_GITLINK_CHECK_H

#include "repo/known.h"

/* Checks the index of the place with this number. `touched`: for each place, whether the check had
 * something to set aside. */
void gitlink_check_check(
    struct protect *p, struct protect_root *r, size_t place, const bool *touched);

#endif
