/* Clients connected to the supervisor, and their requests. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor_loop.h"

#include <errno.h>

enum {
    READS_MAX = 64, /* packets read from one client before other work */
};

static struct guest *free_place(struct keeper *k)
{
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (!k->guests[i].used)
            return &k->guests[i];
    return NULL;
}

void guests_accept(struct keeper *k)
{
    int fd = link_accept(k->listener);
    struct guest *g = free_place(k);
    if (fd < 0)
        return;
    if (!g) {
        close(fd);
        return;
    }
    *g = (struct guest){.used = true, .fd = fd, .kind = GUEST_NEW, .since_ms = clock_mono_ms()};
    errand_init(&g->errand);
    k->had_guest = true;
}

void guest_free(struct keeper *k, size_t index)
{
    struct guest *g = &k->guests[index];
    if (g->fd >= 0)
        close(TAKE_FD(g->fd));
    watcher_done(&g->watcher);
    errand_done(&g->errand);
    g->used = false;
    if (k->has_active && k->active == index)
        k->has_active = false;
}

/* Disconnects a client. If its command still runs, terminates that; the slot is freed when the
 * command has exited. */
void guest_leave(struct keeper *k, size_t index)
{
    struct guest *g = &k->guests[index];
    if (g->kind == GUEST_RUNS && g->errand.id) {
        if (g->fd >= 0)
            close(TAKE_FD(g->fd));
        errand_abandon(k, index);
        return;
    }
    guest_free(k, index);
}

/* Has not sent a complete request. */
static bool is_silent(const struct guest *g)
{
    return g->used && (g->kind == GUEST_NEW || (g->kind == GUEST_RUNS && !g->errand.id));
}

uint64_t guests_due(const struct keeper *k)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (is_silent(&k->guests[i]))
            due = MIN(due, k->guests[i].since_ms + KEEPER_SILENT_MS);
    return due;
}

void guests_tick(struct keeper *k, uint64_t now)
{
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (is_silent(&k->guests[i]) && now >= k->guests[i].since_ms + KEEPER_SILENT_MS)
            guest_free(k, i);
}

bool guests_any(const struct keeper *k)
{
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (k->guests[i].used)
            return true;
    return false;
}

/* Requests ------------------------------------------------------------------------------------ */

static void guest_refuse(struct keeper *k, size_t index, enum err_code code, const char *why)
{
    AUTO_ERR struct err err = {0};
    err_set(&err, code, "%s", why);
    AUTO_FREE char *text = link_put_err(&err);
    (void)link_send(k->guests[index].fd, LINK_FAILED, NULL, 0, str_z(text), NULL);
    guest_leave(k, index);
}

static void guest_handle_stop(struct keeper *k, struct guest *g, const struct link_packet *p)
{
    uint32_t grace;
    if (!link_body(p, &grace, sizeof(grace)))
        return;
    g->kind = GUEST_STOPS;
    k->grace_ms = k->stopping ? MIN(k->grace_ms, (uint64_t)grace) : grace;
    k->stopping = true;
}

/* The first packet determines the kind of client. */
static void guest_handle_first(struct keeper *k, size_t index, const struct link_packet *p)
{
    struct guest *g = &k->guests[index];
    switch (p->word) {
    case LINK_ATTACH:
        if (!k->session || k->over) {
            guest_refuse(k, index, E_NOT_FOUND, "the agent is not running");
            return;
        }
        g->kind = GUEST_WATCHES;
        break;
    case LINK_WORDS:
    case LINK_EXEC:
        g->kind = GUEST_RUNS;
        break;
    case LINK_STOP:
        guest_handle_stop(k, g, p);
        break;
    default:
        guest_refuse(k, index, E_PROTOCOL, "the supervisor does not know what is wanted");
    }
}

static void guest_handle_packet(struct keeper *k, size_t index, struct link_packet *p)
{
    struct guest *g = &k->guests[index];
    if (g->kind == GUEST_NEW)
        guest_handle_first(k, index, p);
    if (!g->used || g->fd < 0)
        return;
    if (g->kind == GUEST_WATCHES && k->session)
        watcher_take(k, index, p);
    else if (g->kind == GUEST_RUNS)
        errand_take(k, index, p);
}

void guests_read(struct keeper *k, size_t index)
{
    struct guest *g = &k->guests[index];
    for (int i = 0; i < READS_MAX && g->used && g->fd >= 0; i++) {
        enum link_got got = link_receive(g->fd, &k->packet);
        if (got == LINK_NOTHING)
            return;
        if (got == LINK_CLOSED) {
            guest_leave(k, index);
            return;
        }
        guest_handle_packet(k, index, &k->packet);
        link_drop_fds(&k->packet);
    }
}
