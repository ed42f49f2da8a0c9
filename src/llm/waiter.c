/* Interruptible waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/waiter.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

uint64_t waiter_left(const struct waiter *w, uint64_t ms)
{
    uint64_t now = clock_mono_ms();
    if (!w->deadline_ms)
        return ms;
    return w->deadline_ms <= now ? 0 : MIN(ms, w->deadline_ms - now);
}

static bool waiter_wait(const struct waiter *w, uint64_t ms, struct err *err)
{
    struct pollfd fds[] = {
        {.fd = w->cancel_fd, .events = POLLIN}, {.fd = w->close_fd, .events = POLLIN}};
    int n = poll(fds, ARRAY_LEN(fds), (int)MIN(waiter_left(w, ms), (uint64_t)INT_MAX));
    if (n > 0 && fds[1].revents)
        return err_set(err, E_CANCELED, "the stream was closed");
    if (n > 0)
        return err_set(err, E_CANCELED, "interrupted while the model was answering");
    if (w->deadline_ms && clock_mono_ms() >= w->deadline_ms) {
        err_set(err, E_TIMEOUT, "timeout: the model was still answering");
        return err_ctx(err, "budget", "time");
    }
    return true;
}

bool waiter_check(const struct waiter *w, struct err *err)
{
    return waiter_wait(w, 0, err);
}

bool waiter_sleep(const struct waiter *w, uint64_t ms, struct err *err)
{
    uint64_t end = clock_mono_ms() + ms;
    do {
        uint64_t now = clock_mono_ms();
        if (!waiter_wait(w, end > now ? end - now : 0, err))
            return false;
    } while (clock_mono_ms() < end);
    return true;
}
