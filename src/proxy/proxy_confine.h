/* Drops the privileges the proxy process does not need: it talks only to the box and the
 * network. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PROXY_CONFINE_H
#define PROXY_PROXY_CONFINE_H

#include "base/base.h"

/* Keeps these descriptors (-1: none), renumbered, and stderr. Standard input and output become
 * /dev/null, all others are closed. Signal dispositions are reset, except that SIGPIPE and SIGCHLD
 * are ignored. The process is killed when its parent exits. */
void confine_descriptors(int *const fds[], size_t n);

/* No capabilities, no new privileges, no core dumps, no tracing; files are read-only, and only
 * those needed to resolve names; system calls are filtered as in a sandbox. Landlock is skipped if
 * the kernel lacks it; any other failure ends the process. */
void confine_process(void);

#endif
