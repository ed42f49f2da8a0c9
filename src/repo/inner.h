/* Private to src/repo: symlinks in a repository's directory. git writes its messages, logs and
 * lists through these file names, so a symlink would make it overwrite a file elsewhere.
 *
 *     inner_know(p, r);       existing symlinks are the user's, and stay as they are
 *     inner_check(p, r);      after a command: sets others aside
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_INNER_H
#define REPO_INNER_H

#include "repo/known.h"

/* Adds them to the ways of the root. */
void inner_know(struct protect *p, struct protect_root *r);

void inner_check(struct protect *p, struct protect_root *r);

#endif
