/* The supervisor from inside: one loop that keeps a box, and what it keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_KEEPER_H
#define BOX_KEEPER_H

#include "base/clock.h"
#include "box/command.h"
#include "box/delivery.h"
#include "box/link.h"
#include "box/recording.h"
#include "box/state.h"
#include "box/supervisor.h"
#include "sandbox/service.h"

#include <poll.h>

enum {
    KEEPER_GUESTS_MAX = 320,
    KEEPER_PORTS_MAX = 64,
    KEEPER_FRAME_MS = 16,
    KEEPER_GRACE_MS = 5000,
    KEEPER_DEAF_MS = 60 * 1000,   /* who does not read for so long is let go */
    KEEPER_SILENT_MS = 30 * 1000, /* and who does not say what it wants */
    KEEPER_IDLE_MS = 5000,        /* of a screen that keeps still, where no pattern says more */
    KEEPER_PROXY_PORT = 3128,     /* in the box, whose loopback is its own */
    KEEPER_SCROLLBACK = 10000,
    KEEPER_WORDS_TRIES = 64, /* directories of PATH */
};

enum guest_kind {
    GUEST_NEW, /* has not said what it wants */
    GUEST_WATCHES,
    GUEST_RUNS, /* a command */
    GUEST_STOPS,
};

/* Somebody at their terminal, who sees the screen. */
struct watcher {
    uint16_t rows, cols;
    uint32_t back;
    uint64_t *sent; /* hashes of rows that the client has; n_sent of them */
    unsigned n_sent;
    struct link_screen last;
    bool stale, full;
    uint64_t full_ms;
};

/* A command of `exec`. */
struct errand {
    uint32_t id; /* 0: not started */
    struct buf words;
    const char **argv; /* for free(); its words are in `words` */
    char *path;        /* what was tried last; for free() */
    unsigned tried;    /* directories of PATH */
    int io[LINK_FDS];
    struct link_exec how;
    uint64_t kill_ms; /* when it is killed, since nobody waits for it; 0: somebody does */
};

struct guest {
    bool used;
    int fd; /* -1: the client is gone, and its command still runs */
    enum guest_kind kind;
    uint64_t since_ms;
    struct watcher watcher;
    struct errand errand;
};

/* A port of this machine, or a connection through it that waits for its other side. */
struct keeper_port {
    int listener;
    uint16_t to;
};
struct keeper_call {
    uint32_t id; /* 0: free */
    int fd;
};

struct keeper_net {
    int listener, relays, report; /* of the proxy's process; -1: none */
    pid_t proxy;
    struct keeper_port ports[KEEPER_PORTS_MAX];
    size_t n_ports;
    struct keeper_call calls[KEEPER_PORTS_MAX];
    struct buf lines;
    uint64_t reported;
    uint64_t ends; /* of the proxy, by itself */
};

struct keeper {
    const struct supervisor_options *options;
    const struct box *box;
    struct arena arena;
    struct box_view view;
    struct command command;
    struct child child;      /* without an agent */
    struct session *session; /* the agent's; NULL: none */
    int service, listener, signals, lock, ready;
    enum limiter_way way; /* by which its processes are limited */
    mode_t box_umask;     /* of what runs in the box */
    struct recording recording;
    struct delivery delivery;
    struct regex *idle;
    uint64_t idle_changes, idle_ms;
    struct guest guests[KEEPER_GUESTS_MAX];
    size_t active; /* the guest whose size the box has */
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
    int closed_times; /* that something could not be measured, in a row */
    bool over;        /* the agent has ended, and everybody was told */
    bool stopping;    /* somebody wants it to end */
    bool gone;        /* the sandbox is no more */
    bool had_guest;   /* ever */
    uint64_t grace_ms;
    struct err error; /* what ended it, if not the agent itself */
    struct link_packet packet;
};

static inline struct str keeper_name(const struct keeper *k)
{
    return k->box->name;
}

/* keeper.c */
NORETURN void keeper_main(struct keeper *k);
void keeper_note(struct keeper *k); /* writes the state, if it has changed */
void keeper_gap(struct keeper *k, const char *gap);

/* guests.c */
void guests_accept(struct keeper *k);
void guests_read(struct keeper *k, size_t index);
void guest_leave(struct keeper *k, size_t index);
void guest_free(struct keeper *k, size_t index);
uint64_t guests_due(const struct keeper *k);
void guests_tick(struct keeper *k, uint64_t now);
bool guests_any(const struct keeper *k); /* somebody is connected, or a command runs */

/* watchers.c */
void watcher_take(struct keeper *k, size_t index, const struct link_packet *packet);
void watcher_done(struct watcher *w);
void watchers_draw(struct keeper *k, uint64_t now);
void watcher_go_on(struct keeper *k, size_t index, uint64_t now); /* it can be written to again */
uint64_t watchers_due(const struct keeper *k);
void watchers_end(struct keeper *k);

/* errands.c */
void errand_init(struct errand *e);
void errand_done(struct errand *e);
void errand_take(struct keeper *k, size_t index, struct link_packet *packet);
void errand_abandon(struct keeper *k, size_t index);
void errands_news(struct keeper *k); /* from the sandbox, also about ports */
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
