/* Private to src/repo: what is known, renewed between the commands of a session. After a check that
 * was whole, what is there is either the user's or was looked at: what changes until the next
 * command is the user's, and what they remove is no longer known.
 *
 *     again_stamp(p);          after a check, no command running
 *     ...the user works...
 *     again_know(p);           before the next command
 *
 * What commands made stays unknown, and is looked at after each of them, until the user changes it
 * so that something of it would be set aside.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_AGAIN_H
#define REPO_AGAIN_H

#include "repo/known.h"

void again_stamp(struct protect *p);
void again_know(struct protect *p);

/* Takes back what the user has not touched since the stamps: places that were not known before, and
 * parts that were not there. */
void again_sift(struct protect *p, struct protect_root *r, const struct protect_root *before);

#endif
