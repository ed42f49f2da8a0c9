/* The logs of truncated output: a directory for each session, whose tools may read them. Old logs
 * are pruned so that all together stay bounded.
 *
 *     logs_prune(dir);        before adding a log
 *
 * Only files with names in our format are removed, oldest first. A log in use is locked by its
 * session and is kept.
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

/* `dir` has the sessions' directories. Ignores files that cannot be removed. */
void logs_prune(const char *dir);

/* Protects a log from pruning while the file descriptor is open. */
void logs_lock(int fd);

#endif
