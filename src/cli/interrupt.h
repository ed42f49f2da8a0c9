/* Interruptions as a descriptor, so that the end of a run is always orderly.
 *
 *     sigset_t set;
 *     AUTO_FD int fd = interrupt_open(false, &set);      readable: somebody wants it to end
 *     ...
 *     interrupt_close(&set);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* A signalfd for SIGINT, SIGTERM, SIGHUP and SIGQUIT, as far as they are not ignored; with `resize`
 * also for SIGWINCH. */
int interrupt_open(bool resize, sigset_t *ret_set);

/* The run is over: what came too late for it is forgotten, and whoever does not want to wait until
 * the result is read can end us. */
void interrupt_close(const sigset_t *set);

#endif
