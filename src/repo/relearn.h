/* Private to src/repo: relearns the state of repositories between the commands of a session. After
 * a complete check every part is the user's or was checked: a change before the next command is the
 * user's, and a part that the user removes is no longer known.
 *
 *     relearn_stamp(p);          after a check, no command running
 *     ...the user works...
 *     relearn_update(p);           before the next command
 *
 * Repositories made by commands stay unknown, and are checked after each command, until the user
 * makes a change that the check would set aside.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_RELEARN_H
#define REPO_RELEARN_H

#include "repo/known.h"

void relearn_stamp(struct protect *p);
void relearn_update(struct protect *p);

/* Removes from the new state everything that the user has not touched since the stamps: places that
 * were unknown before, and parts that did not exist. */
void relearn_filter(struct protect *p, struct protect_root *r);

#endif
