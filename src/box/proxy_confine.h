/* A process gives up what it does not need: it talks with the box, and with the network. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_CONFINE_H
#define BOX_PROXY_CONFINE_H

#include "base/base.h"

/* Keeps these descriptors (-1: none) and stderr, and changes their numbers: standard input and
 * output are nothing, all others are closed. Signals are as at the start of a program, but SIGPIPE
 * and SIGCHLD ignored. It ends with its parent. */
void confine_descriptors(int *const fds[], size_t n);

/* No capabilities, no new privileges, no core; it can't be traced; files can only be read, and only
 * those that looking up a name needs; system calls are filtered as in a sandbox. Landlock is left
 * out where the kernel has none; anything else that fails ends the process. */
void confine_process(void);

#endif
