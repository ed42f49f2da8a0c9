/* Protection of processes that hold keys: no core dump, and the user's other processes can neither
 * trace it nor read its memory, environment and file descriptors.
 *
 *     nodump_set();
 *
 * fork() children inherit this until they call exec. Their entries in /proc belong to root, so that
 * a user namespace's ID maps can't be written: sandbox/launch.c undoes it in the child for that
 * moment.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_NODUMP_H
#define IO_NODUMP_H

#include <stdbool.h>

void nodump_set(void);
bool nodump_is_set(void);

#endif
