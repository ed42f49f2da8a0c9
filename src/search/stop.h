/* Stop condition of a search, shared by its threads: deadline passed, enough found or cancelled. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_STOP_H
#define SEARCH_STOP_H

#include "base/clock.h"

#include <poll.h>
#include <stdatomic.h>

struct stop {
    atomic_bool asked;
    atomic_bool late;
    atomic_bool cancelled;
    uint64_t deadline_ns;
    int cancel; /* file descriptor that becomes readable on cancellation, or -1 */
};

static inline bool stop_asked(struct stop *s)
{
    return atomic_load_explicit(&s->asked, memory_order_relaxed);
}

static inline void stop_ask(struct stop *s)
{
    atomic_store_explicit(&s->asked, true, memory_order_relaxed);
}

/* Also checks the deadline and the cancel file descriptor. */
static inline bool stop_now(struct stop *s)
{
    if (stop_asked(s))
        return true;
    struct pollfd cancel = {.fd = s->cancel, .events = POLLIN};
    bool late = clock_mono_ns() >= s->deadline_ns;
    bool cancelled = !late && s->cancel >= 0 && poll(&cancel, 1, 0) > 0;
    if (!late && !cancelled)
        return false;
    atomic_store(late ? &s->late : &s->cancelled, true);
    stop_ask(s);
    return true;
}

#endif
