/* A thread that watches for interruptions while a tool works without polling.
 *
 *     struct guard g;
 *     guard_begin(&g, signals, end, context);
 *     ...reads, searches, computes...
 *     guard_keep(&g);             files are being changed: run to completion from here
 *     guard_done(&g);
 *
 * On an interruption the thread calls `end`, which reports it and exits the process regardless of
 * what the tool is doing, even if it hangs in a system call. A tool that only reads leaves nothing
 * half done; changes are made after guard_keep(). A later interruption stays pending for the next
 * reader of the signalfd.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_GUARD_H
#define TOOL_GUARD_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>

struct guard {
    pthread_t thread;
    int signals, over; /* a signalfd; an eventfd, or -1 without a thread */
    atomic_int state;
    void (*end)(void *context, int signal);
    void *context;
};

/* `end` must not return. If no thread can be created, interruptions are not watched for. */
void guard_begin(
    struct guard *g, int signals, void (*end)(void *context, int signal), void *context);
void guard_keep(struct guard *g); /* accepts NULL */
void guard_done(struct guard *g);

/* Takes the pending signal; returns SIGINT if it is gone, INTERRUPT_CANCELED for a set. */
int guard_take(int signals);

/* Sets E_CANCELED with the signal; returns false. */
bool guard_error(struct err *err, int signal);

#endif
