/* Counting the processes and threads of a sandbox, by its process 1: the last resort where nothing
 * of the kernel limits their number. It allocates nothing.
 *
 * It is not exact: between two looks there can be more than allowed, as many as can be made in that
 * time; and then all of them are killed, where the kernel would refuse to make another one. They
 * can't escape by being fast: one kill(-1) reaches all that there are, and who is about to fork. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_TALLY_H
#define SANDBOX_TALLY_H

#include "base/base.h"

/* How many there are beside process 1, in a directory as /proc is one; it stops at the first number
 * above `most`. Counting all of them would take time in proportion to their number, in which their
 * number grows. */
uint64_t tally_count(int processes, uint64_t most);

/* Kills all of them but process 1 if there are more than `most`; whether it did. */
bool tally_enforce(int processes, uint64_t most);

#endif
