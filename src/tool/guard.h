/* While a tool works and waits for nothing: a thread that looks for interruptions.
 *
 *     struct guard g;
 *     guard_begin(&g, signals, end, context);
 *     ...reads, searches, computes...
 *     guard_keep(&g);           from here on it is finished: files are being changed
 *     guard_done(&g);
 *
 * An interruption calls `end` in that thread, which tells of it and ends the process: whatever the
 * work does at that moment, a system call that hangs included. What only reads leaves nothing half
 * done; a change is made after guard_keep(). An interruption that comes later stays where it is,
 * for whoever looks for it next.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_GUARD_H
#define TOOL_GUARD_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>

struct guard {
    pthread_t thread;
    int signals, over; /* a signalfd; an eventfd, -1: there is no thread */
    atomic_int state;
    void (*end)(void *context, int signal);
    void *context;
};

/* `end` does not return. Where no thread can be had, nobody looks. */
void guard_begin(
    struct guard *g, int signals, void (*end)(void *context, int signal), void *context);
void guard_keep(struct guard *g); /* accepts NULL */
void guard_done(struct guard *g);

/* Takes the signal that waits there; SIGINT if it is gone again. */
int guard_take(int signals);

/* E_CANCELED, with the signal. */
bool guard_error(struct err *err, int signal);

#endif
