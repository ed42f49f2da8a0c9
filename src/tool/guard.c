/* A thread that watches for interruptions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/guard.h"

#include "io/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

enum guard_state {
    GUARD_WORKS,  /* may be interrupted */
    GUARD_KEEPS,  /* runs to completion */
    GUARD_ENDING, /* the thread is ending the process */
};

int guard_take(int signals)
{
    int taken = interrupt_take(signals);
    return taken ? taken : SIGINT;
}

bool guard_error(struct err *err, int signal)
{
    if (signal == INTERRUPT_CANCELED)
        return err_set(err, E_CANCELED, "interrupted");
    const char *name = sigabbrev_np(signal);
    err_set(err, E_CANCELED, "interrupted by signal %d (SIG%s)", signal, name ? name : "?");
    return err_ctx_int(err, "signal", signal);
}

static void *guard_thread(void *context)
{
    struct guard *g = context;
    struct pollfd fds[] = {{.fd = g->over, .events = POLLIN}, {.fd = g->signals, .events = POLLIN}};
    while (poll(fds, ARRAY_LEN(fds), -1) < 0) {
    }
    int works = GUARD_WORKS;
    if (fds[0].revents || !atomic_compare_exchange_strong(&g->state, &works, GUARD_ENDING))
        return NULL;
    g->end(g->context, guard_take(g->signals));
    BUG_ON(true);
}

void guard_begin(
    struct guard *g, int signals, void (*end)(void *context, int signal), void *context)
{
    *g = (struct guard){.signals = signals, .over = -1, .end = end, .context = context};
    if (signals < 0 || !end)
        return;
    g->over = eventfd(0, EFD_CLOEXEC);
    if (g->over < 0 || pthread_create(&g->thread, NULL, guard_thread, g) == 0)
        return;
    close(g->over);
    g->over = -1;
}

/* If the thread is already ending the process, waits for the end. */
void guard_keep(struct guard *g)
{
    int works = GUARD_WORKS;
    if (!g || atomic_compare_exchange_strong(&g->state, &works, GUARD_KEEPS))
        return;
    while (works == GUARD_ENDING)
        pause();
}

void guard_done(struct guard *g)
{
    guard_keep(g);
    if (g->over < 0)
        return;
    while (eventfd_write(g->over, 1) != 0) {
    }
    pthread_join(g->thread, NULL);
    close(g->over);
    g->over = -1;
}
