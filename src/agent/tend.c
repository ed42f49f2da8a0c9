/* Reading terminals while the model is asked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tend.h"

#include "tool/sessions.h"

#include <sys/eventfd.h>

static void *tend_thread(void *context)
{
    struct tend *t = context;
    struct pollfd over = {.fd = t->over, .events = POLLIN};
    const struct sessions_wait wait = {.deadline_ms = UINT64_MAX, .fds = &over, .n_fds = 1};
    while (sessions_wait(t->box, &wait) != SESSIONS_READABLE) {
    }
    return NULL;
}

void tend_begin(struct tend *t, struct toolbox *box)
{
    *t = (struct tend){.box = box, .over = -1};
    if (!box || !box->sessions || box->sessions->n == 0)
        return;
    t->over = eventfd(0, EFD_CLOEXEC);
    if (t->over < 0 || pthread_create(&t->thread, NULL, tend_thread, t) == 0)
        return;
    close(t->over);
    t->over = -1;
}

void tend_end(struct tend *t)
{
    if (t->over < 0)
        return;
    while (eventfd_write(t->over, 1) != 0) {
    }
    pthread_join(t->thread, NULL);
    close(t->over);
    t->over = -1;
}
