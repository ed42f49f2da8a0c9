/* The directory of outputs that were too long: old ones go, so that it does not grow for ever.
 *
 *     logs_prune(dir);      before one more is put there
 *
 * Only files that are named as ours are touched, the oldest first. A log that is still written to
 * is locked by its session, and stays.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_LOGS_H
#define TOOL_LOGS_H

#include "base/base.h"

enum {
    LOGS_MAX = 200,
    LOGS_DAYS = 30,
};
#define LOGS_BYTES ((uint64_t)1 << 30)

/* What can't be removed stays: this is no reason to fail. */
void logs_prune(const char *dir);

/* Nobody prunes it as long as the descriptor is open. */
void logs_lock(int fd);

#endif
