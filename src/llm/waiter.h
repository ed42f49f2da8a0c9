/* Conditions that end a wait early: a cancellation, a closed stream, a deadline.
 *
 *     if (!waiter_sleep(&waiter, 500, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_WAITER_H
#define LLM_WAITER_H

#include "base/err.h"

struct waiter {
    int cancel_fd;        /* readable: stop; -1: none */
    int close_fd;         /* the same, when the stream is closed */
    uint64_t deadline_ms; /* clock_mono_ms(); 0: none */
};

/* Time until the deadline, at most `ms`. */
uint64_t waiter_left(const struct waiter *w, uint64_t ms);

/* Checks without waiting: E_CANCELED, E_TIMEOUT (context.budget "time"). */
MUST_USE bool waiter_check(const struct waiter *w, struct err *err);

/* Sleeps for `ms`; fails as soon as one of the conditions holds. */
MUST_USE bool waiter_sleep(const struct waiter *w, uint64_t ms, struct err *err);

#endif
