/* Clients connected to the supervisor, and their requests. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor_loop.h"

#include <errno.h>

enum {
    READS_MAX = 64, /* packets read from one client before other work */
};

static struct client *free_place(struct supervisor *sv)
{
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (!sv->clients[i].used)
            return &sv->clients[i];
    return NULL;
}

void clients_accept(struct supervisor *sv)
{
    int fd = link_accept(sv->listener);
    struct client *c = free_place(sv);
    if (fd < 0)
        supervisor_shed(sv, sv->listener);
    if (fd < 0)
        return;
    if (!c) {
        close(fd);
        return;
    }
    *c = (struct client){.used = true, .fd = fd, .kind = CLIENT_NEW, .since_ms = clock_mono_ms()};
    exec_request_init(&c->exec);
    sv->had_client = true;
}

void clients_free(struct supervisor *sv, size_t index)
{
    struct client *c = &sv->clients[index];
    if (c->fd >= 0)
        close(TAKE_FD(c->fd));
    attached_done(&c->attached);
    exec_request_done(&c->exec);
    c->used = false;
    if (sv->has_active && sv->active == index)
        sv->has_active = false;
}

/* Disconnects a client. If its command still runs, terminates that; the slot is freed when the
 * command has exited. */
void clients_leave(struct supervisor *sv, size_t index)
{
    struct client *c = &sv->clients[index];
    if (c->kind == CLIENT_EXEC && c->exec.id) {
        if (c->fd >= 0)
            close(TAKE_FD(c->fd));
        exec_request_abandon(sv, index);
        return;
    }
    clients_free(sv, index);
}

/* Has not sent a complete request. */
static bool is_silent(const struct client *c)
{
    return c->used && (c->kind == CLIENT_NEW || (c->kind == CLIENT_EXEC && !c->exec.id));
}

uint64_t clients_due(const struct supervisor *sv)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (is_silent(&sv->clients[i]))
            due = MIN(due, sv->clients[i].since_ms + SUPERVISOR_SILENT_MS);
    return due;
}

void clients_tick(struct supervisor *sv, uint64_t now)
{
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (is_silent(&sv->clients[i]) && now >= sv->clients[i].since_ms + SUPERVISOR_SILENT_MS)
            clients_free(sv, i);
}

bool clients_any(const struct supervisor *sv)
{
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (sv->clients[i].used)
            return true;
    return false;
}

/* Requests ------------------------------------------------------------------------------------ */

static void clients_refuse(struct supervisor *sv, size_t index, enum err_code code, const char *why)
{
    AUTO_ERR struct err err = {0};
    err_set(&err, code, "%s", why);
    AUTO_FREE char *text = link_put_err(&err);
    (void)link_send(sv->clients[index].fd, LINK_FAILED, NULL, 0, str_z(text), NULL);
    clients_leave(sv, index);
}

static void clients_handle_stop(
    struct supervisor *sv, struct client *c, const struct link_packet *p)
{
    uint32_t grace;
    if (!link_body(p, &grace, sizeof(grace)))
        return;
    c->kind = CLIENT_STOP;
    sv->grace_ms = sv->stopping ? MIN(sv->grace_ms, (uint64_t)grace) : grace;
    sv->stopping = true;
}

/* The first packet determines the kind of client. */
static void clients_handle_first(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    struct client *c = &sv->clients[index];
    switch (p->word) {
    case LINK_ATTACH:
        if (!sv->session || sv->over) {
            clients_refuse(sv, index, E_NOT_FOUND, "the agent is not running");
            return;
        }
        c->kind = CLIENT_ATTACHED;
        break;
    case LINK_WORDS:
    case LINK_EXEC:
        c->kind = CLIENT_EXEC;
        break;
    case LINK_STOP:
        clients_handle_stop(sv, c, p);
        break;
    default:
        clients_refuse(sv, index, E_PROTOCOL, "unknown request to the supervisor");
    }
}

static void clients_handle_packet(struct supervisor *sv, size_t index, struct link_packet *p)
{
    struct client *c = &sv->clients[index];
    if (c->kind == CLIENT_NEW)
        clients_handle_first(sv, index, p);
    if (!c->used || c->fd < 0)
        return;
    if (c->kind == CLIENT_ATTACHED && sv->session)
        attached_take(sv, index, p);
    else if (c->kind == CLIENT_EXEC)
        exec_request_take(sv, index, p);
}

void clients_read(struct supervisor *sv, size_t index)
{
    struct client *c = &sv->clients[index];
    for (int i = 0; i < READS_MAX && c->used && c->fd >= 0; i++) {
        enum link_got got = link_receive(c->fd, &sv->packet);
        if (got == LINK_NOTHING)
            return;
        if (got == LINK_CLOSED) {
            clients_leave(sv, index);
            return;
        }
        clients_handle_packet(sv, index, &sv->packet);
        link_drop_fds(&sv->packet);
    }
}
