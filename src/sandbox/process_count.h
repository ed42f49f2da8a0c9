/* Counts the processes and threads of a sandbox, in its process 1: the fallback where no kernel
 * mechanism limits their number. Allocates nothing.
 *
 * The limit is not exact: between two counts there can be more processes than allowed, as many as
 * can be created in that time; and then all of them are killed, where the kernel would refuse to
 * create another one. They can't escape by being fast: one kill(-1) reaches all existing processes,
 * including those that are about to fork. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PROCESS_COUNT_H
#define SANDBOX_PROCESS_COUNT_H

#include "base/base.h"

/* Called with the name of a process in a /proc directory; returns whether to continue. */
typedef bool process_visit(void *context, int processes, const char *pid);

/* Visits all processes except for process 1. */
void process_walk(int processes, process_visit *visit, void *context);

/* Returns the number of processes and threads except for process 1, in a /proc directory; stops at
 * the first number above `most`. Counting all of them would take time in proportion to their
 * number, while their number grows. */
uint64_t process_count(int processes, uint64_t most);

/* Kills all of them but process 1 if there are more than `most`. Returns whether it did. */
bool process_count_enforce(int processes, uint64_t most);

#endif
