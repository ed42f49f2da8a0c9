/* Private to src/repo: symlinks in a repository's directory. git writes its messages, logs and
 * lists through these file names, so a symlink would make it overwrite a file elsewhere.
 *
 *     gitdir_links_know(p, r);       existing symlinks are the user's, and stay as they are
 *     gitdir_links_check(p, r);      after a command: sets others aside
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITDIR_LINKS_H
#define REPO_GITDIR_LINKS_H

#include "repo/known.h"

/* Adds them to the ways of the root. */
void gitdir_links_know(struct protect *p, struct protect_root *r);

void gitdir_links_check(struct protect *p, struct protect_root *r);

#endif
