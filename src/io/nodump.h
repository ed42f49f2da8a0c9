/* A process that holds keys: it leaves no core, and the user's other processes can neither trace it
 * nor read its memory, environment and descriptors.
 *
 *     nodump_set();
 *
 * Copies that fork() makes are the same until they execute something. Their entries in /proc
 * belong to root, so that a user namespace's maps can't be written: sandbox/launch.c undoes it in
 * the copy for that moment.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_NODUMP_H
#define IO_NODUMP_H

#include <stdbool.h>

void nodump_set(void);
bool nodump_is_set(void);

#endif
