/* Private to src/repo: links in a repository's directory. git writes its messages, logs and lists
 * where the names of these files lead, so a link would make it overwrite a file elsewhere.
 *
 *     inner_know(p, r);       links that are there are the user's, and stay as they are
 *     inner_check(p, r);      after a command: others are set aside
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_INNER_H
#define REPO_INNER_H

#include "repo/known.h"

/* Adds them to the ways of the root. */
void inner_know(struct protect *p, struct protect_root *r);

void inner_check(struct protect *p, struct protect_root *r);

#endif
