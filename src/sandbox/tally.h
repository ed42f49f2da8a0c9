/* Counts the processes and threads of a sandbox, in its process 1: the fallback where no kernel
 * mechanism limits their number. Allocates nothing.
 *
 * The limit is not exact: between two counts there can be more processes than allowed, as many as
 * can be created in that time; and then all of them are killed, where the kernel would refuse to
 * create another one. They can't escape by being fast: one kill(-1) reaches all existing processes,
 * including those that are about to fork. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_TALLY_H
#define SANDBOX_TALLY_H

#include "base/base.h"

/* Returns the number of processes and threads except for process 1, in a /proc directory; stops at
 * the first number above `most`. Counting all of them would take time in proportion to their
 * number, while their number grows. */
uint64_t tally_count(int processes, uint64_t most);

/* Kills all of them but process 1 if there are more than `most`. Returns whether it did. */
bool tally_enforce(int processes, uint64_t most);

#endif
