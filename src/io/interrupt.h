/* Signals as a file descriptor, so that an interrupted run can still be completed.
 *
 *     sigset_t set;
 *     AUTO_FD int fd = interrupt_open(false, &set);      readable: the run is to end
 *     ...
 *     interrupt_close(&set);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_INTERRUPT_H
#define IO_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

enum {
    INTERRUPT_CANCELED = -1,
};

/* Returns a signalfd for SIGINT, SIGTERM, SIGHUP and SIGQUIT, except those that are ignored; with
 * `resize` also for SIGWINCH. */
int interrupt_open(bool resize, sigset_t *ret_set);

/* After the run: discards pending signals and unblocks them, so that a signal can terminate the
 * program while it waits for a reader of the result. */
void interrupt_close(const sigset_t *set);

/* For callers that leave signals alone: a set of descriptors that can be used in place of the
 * signalfd. It is readable while one of its members is, and stays so. Return -1 or false with
 * errno. */
int interrupt_set_new(void);
bool interrupt_set_add(int set, int fd);
void interrupt_set_remove(int set, int fd);

/* Takes the pending signal of a signalfd; 0 if there is none, INTERRUPT_CANCELED for a set. */
int interrupt_take(int fd);

#endif
