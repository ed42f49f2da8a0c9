/* Reading terminals while the model is asked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/output_reader.h"

#include "tool/sessions.h"
#include "tool/tool_world.h"

#include <sys/eventfd.h>

static void *output_reader_thread(void *context)
{
    struct output_reader *t = context;
    struct pollfd over = {.fd = t->over, .events = POLLIN};
    const struct sessions_wait wait = {.deadline_ms = UINT64_MAX, .fds = &over, .n_fds = 1};
    while (sessions_wait(t->box, &wait) != SESSIONS_READABLE) {
    }
    return NULL;
}

void output_reader_begin(struct output_reader *t, struct toolbox *box)
{
    *t = (struct output_reader){.box = box, .over = -1};
    if (!box || !((box->sessions && box->sessions->n) || tool_world_needs_tending(box)))
        return;
    t->over = eventfd(0, EFD_CLOEXEC);
    if (t->over < 0 || pthread_create(&t->thread, NULL, output_reader_thread, t) == 0)
        return;
    close(t->over);
    t->over = -1;
}

void output_reader_end(struct output_reader *t)
{
    if (t->over < 0)
        return;
    while (eventfd_write(t->over, 1) != 0) {
    }
    pthread_join(t->thread, NULL);
    close(t->over);
    t->over = -1;
}
