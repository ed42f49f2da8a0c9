/* Internals of the supervisor: the main loop of a running box, and its state. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_SUPERVISOR_LOOP_H
#define BOXD_SUPERVISOR_LOOP_H

#include "base/clock.h"
#include "box/command.h"
#include "box/state.h"
#include "boxd/link.h"
#include "boxd/prompt_delivery.h"
#include "boxd/recording.h"
#include "boxd/supervisor.h"
#include "sandbox/service.h"

#include <poll.h>

enum {
    KEEPER_GUESTS_MAX = 320,
    KEEPER_PORTS_MAX = 64,
    KEEPER_FRAME_MS = 16,
    KEEPER_GRACE_MS = 5000,
    KEEPER_DEAF_MS = 60 * 1000,   /* disconnect clients that have not read for this long */
    KEEPER_SILENT_MS = 30 * 1000, /* the same for clients without a complete request */
    KEEPER_IDLE_MS = 5000,        /* without screen changes, for agents without an idle pattern */
    KEEPER_PROXY_PORT = 3128,     /* in the box, which has its own loopback */
    KEEPER_SCROLLBACK = 10000,
    KEEPER_WORDS_TRIES = 64, /* maximum number of PATH directories */
};

enum guest_kind {
    GUEST_NEW, /* no request yet */
    GUEST_WATCHES,
    GUEST_RUNS, /* runs a command */
    GUEST_STOPS,
};

/* An attached client, which sees the screen. */
struct watcher {
    uint16_t rows, cols;
    uint32_t back;
    uint64_t *sent; /* hashes of the rows that the client has; n_sent of them */
    unsigned n_sent;
    struct link_screen last;
    bool stale, full;
    uint64_t full_ms;
};

/* A command of `exec`. */
struct errand {
    uint32_t id; /* 0: not started */
    struct buf words;
    const char **argv; /* to be freed; the strings are in `words` */
    char *path;        /* the last path tried; to be freed */
    unsigned tried;    /* number of PATH directories tried */
    int io[LINK_FDS];
    struct link_exec how;
    uint64_t kill_ms; /* deadline for SIGKILL after the client left; 0: it is connected */
};

struct guest {
    bool used;
    int fd; /* -1: the client is gone, but its command still runs */
    enum guest_kind kind;
    uint64_t since_ms;
    struct watcher watcher;
    struct errand errand;
};

/* A forwarded port of this machine, and a connection through it that waits for its other side. */
struct keeper_port {
    int listener;
    uint16_t to;
};
struct keeper_call {
    uint32_t id; /* 0: free */
    int fd;
};

struct keeper_net {
    int listener, relays, report; /* of the proxy process; -1: none */
    pid_t proxy;
    struct keeper_port ports[KEEPER_PORTS_MAX];
    size_t n_ports;
    struct keeper_call calls[KEEPER_PORTS_MAX];
    struct buf lines;
    uint64_t reported;
    uint64_t ends; /* unexpected exits of the proxy */
};

struct keeper {
    const struct supervisor_options *options;
    const struct box *box;
    struct arena arena;
    struct box_view view;
    struct command command;
    struct child child;      /* used without an agent */
    struct session *session; /* of the agent, or NULL */
    int service, listener, signals, lock, ready;
    enum limiter_way way; /* method used to limit its processes */
    mode_t box_umask;     /* for processes in the box */
    struct recording recording;
    struct delivery delivery;
    struct regex *idle;
    uint64_t idle_changes, idle_ms;
    struct guest guests[KEEPER_GUESTS_MAX];
    size_t active; /* client that determines the size of the screen */
    bool has_active;
    uint32_t last_id;
    struct keeper_net net;
    struct box_state state, saved;
    bool has_saved;
    char started_at[CLOCK_RFC3339], ended_at[CLOCK_RFC3339];
    struct str gaps[8];
    uint64_t drawn_ms, drawn_changes, frame_since;
    unsigned history;
    uint64_t measure_ms, begun_ms;
    int closed_times; /* consecutive measurements that failed */
    bool over;        /* the agent has exited and all clients were notified */
    bool stopping;    /* the box was asked to stop */
    bool gone;        /* the sandbox is gone */
    bool had_guest;   /* a client has connected at least once */
    uint64_t grace_ms;
    struct err error; /* cause of the end, if not the agent itself */
    struct link_packet packet;
};

static inline struct str keeper_name(const struct keeper *k)
{
    return k->box->name;
}

/* keeper.c */
NORETURN void keeper_main(struct keeper *k);
void keeper_note(struct keeper *k); /* saves the state if it has changed */
void keeper_gap(struct keeper *k, const char *gap);

/* guests.c */
void guests_accept(struct keeper *k);
void guests_read(struct keeper *k, size_t index);
void guest_leave(struct keeper *k, size_t index);
void guest_free(struct keeper *k, size_t index);
uint64_t guests_due(const struct keeper *k);
void guests_tick(struct keeper *k, uint64_t now);
bool guests_any(const struct keeper *k); /* a client is connected or a command runs */

/* watchers.c */
void watcher_take(struct keeper *k, size_t index, const struct link_packet *packet);
void watcher_done(struct watcher *w);
void watchers_draw(struct keeper *k, uint64_t now);
void watcher_go_on(struct keeper *k, size_t index, uint64_t now); /* its socket is writable again */
uint64_t watchers_due(const struct keeper *k);
void watchers_end(struct keeper *k);

/* errands.c */
void errand_init(struct errand *e);
void errand_done(struct errand *e);
void errand_take(struct keeper *k, size_t index, struct link_packet *packet);
void errand_abandon(struct keeper *k, size_t index);
void errands_news(struct keeper *k); /* events of the sandbox, also about ports */
uint64_t errands_due(const struct keeper *k);
void errands_tick(struct keeper *k, uint64_t now);
void errands_end(struct keeper *k);

/* ports.c */
MUST_USE bool net_open(struct keeper *k, struct err *err);
MUST_USE bool net_start(struct keeper *k, struct err *err);
size_t net_polls(const struct keeper *k, struct pollfd *fds);
void net_step(struct keeper *k, const struct pollfd *fds, size_t n);
bool net_news(struct keeper *k, const struct service_news *news);
void net_close(struct keeper *k);

/* bounds.c */
void bounds_apply(struct keeper *k, const struct child *child);
uint64_t bounds_due(const struct keeper *k);
void bounds_measure(struct keeper *k, uint64_t now);

#endif
