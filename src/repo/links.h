/* Private to src/repo: entries of an index for repositories of their own (gitlinks). git enters the
 * repository at such a path, and obeys its settings. An entry stays if
 *
 *   - git finds nothing to enter there: no `.git`;
 *   - the entry, or a repository at its path, was there before the command;
 *   - there is a submodule as `git submodule` and `git clone` make it, a `.git` file that leads to
 *     `modules` in the directory of this repository, and the check had nothing to set aside in it.
 *
 * Any other entry is taken out of the index (repo/gitlink.h). A repository at such a path that the
 * search has not reached is checked all the same.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_LINKS_H
#define REPO_LINKS_H

#include "repo/known.h"

/* The index of a place, by its number. `touched`: for each place, whether the check had something
 * to set aside. */
void links_check(struct protect *p, struct protect_root *r, size_t place, const bool *touched);

#endif
