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
    SUPERVISOR_CLIENTS_MAX = 320,
    SUPERVISOR_PORTS_MAX = 64,
    SUPERVISOR_FRAME_MS = 16,
    SUPERVISOR_GRACE_MS = 5000,
    SUPERVISOR_STALLED_MS = 60 * 1000, /* disconnect clients that have not read for this long */
    SUPERVISOR_SILENT_MS = 30 * 1000,  /* the same for clients without a complete request */
    SUPERVISOR_IDLE_MS = 5000, /* without screen changes, for agents without an idle pattern */
    SUPERVISOR_PROXY_PORT = PLAN_PROXY_PORT, /* in the box, which has its own loopback */
    SUPERVISOR_SCROLLBACK = 10000,
    SUPERVISOR_WORDS_TRIES = 64, /* maximum number of PATH directories */
};

enum client_kind {
    CLIENT_NEW, /* no request yet */
    CLIENT_ATTACHED,
    CLIENT_EXEC, /* runs a command */
    CLIENT_STOP,
};

/* An attached client, which sees the screen. */
struct attached {
    uint16_t rows, cols;
    uint32_t back;
    uint64_t *sent; /* hashes of the rows that the client has; n_sent of them */
    unsigned n_sent;
    struct link_screen last;
    bool stale, full;
    uint64_t full_ms;
};

/* A command of `exec`. */
struct exec_request {
    uint32_t id; /* 0: not started */
    struct buf words;
    const char **argv; /* to be freed; the strings are in `words` */
    char *path;        /* the last path tried; to be freed */
    unsigned tried;    /* number of PATH directories tried */
    int io[LINK_FDS];
    struct link_exec how;
    bool spawned;
    pid_t session;    /* its session inside */
    uint64_t pending; /* signals to send when it is spawned: bit N - 1 for signal N */
    uint64_t kill_ms; /* deadline for SIGKILL after the client left; 0: it is connected */
};

struct client {
    bool used;
    int fd; /* -1: the client is gone, but its command still runs */
    enum client_kind kind;
    uint64_t since_ms;
    struct attached attached;
    struct exec_request exec;
};

/* A forwarded port of this machine, and a connection through it that waits for its other side. */
struct supervisor_port {
    int listener;
    uint16_t to;
};
struct supervisor_call {
    uint32_t id; /* 0: free */
    int fd;
};

struct supervisor_net {
    int listener, relays, report; /* of the proxy process; -1: none */
    pid_t proxy;
    struct supervisor_port ports[SUPERVISOR_PORTS_MAX];
    size_t n_ports;
    struct supervisor_call calls[SUPERVISOR_PORTS_MAX];
    struct buf lines;
    uint64_t reported;
    uint64_t ends; /* unexpected exits of the proxy */
};

struct supervisor {
    const struct supervisor_options *options;
    const struct box *box;
    struct arena arena;
    struct box_view view;
    struct command command;
    struct child child;      /* used without an agent */
    struct session *session; /* of the agent, or NULL */
    int service, listener, signals, lock, ready;
    int spare;               /* see supervisor_shed() */
    enum limiter_method way; /* method used to limit its processes */
    mode_t box_umask;        /* for processes in the box */
    struct recording recording;
    struct prompt_delivery delivery;
    struct regex *idle;
    uint64_t idle_changes, idle_ms;
    struct client clients[SUPERVISOR_CLIENTS_MAX];
    size_t active; /* client that determines the size of the screen */
    bool has_active;
    uint32_t last_id;
    struct supervisor_net net;
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
    bool had_client;  /* a client has connected at least once */
    uint64_t grace_ms;
    struct err error; /* cause of the end, if not the agent itself */
    struct link_packet packet;
};

static inline struct str supervisor_name(const struct supervisor *sv)
{
    return sv->box->name;
}

/* supervisor_loop.c */
NORETURN void supervisor_run(struct supervisor *sv);
/* After accept() has failed: if our table of descriptors is full, drops the connection, since the
 * listener would stay readable. */
void supervisor_shed(struct supervisor *sv, int listener);
void supervisor_save_state(struct supervisor *sv); /* saves the state if it has changed */
void supervisor_add_gap(struct supervisor *sv, const char *gap);

/* clients.c */
void clients_accept(struct supervisor *sv);
void clients_read(struct supervisor *sv, size_t index);
void clients_leave(struct supervisor *sv, size_t index);
void clients_free(struct supervisor *sv, size_t index);
uint64_t clients_due(const struct supervisor *sv);
void clients_tick(struct supervisor *sv, uint64_t now);
bool clients_any(const struct supervisor *sv); /* a client is connected or a command runs */

/* attached.c */
void attached_take(struct supervisor *sv, size_t index, const struct link_packet *packet);
void attached_done(struct attached *a);
void attached_draw(struct supervisor *sv, uint64_t now);
void attached_resume(
    struct supervisor *sv, size_t index, uint64_t now); /* its socket is writable again */
uint64_t attached_due(const struct supervisor *sv);
void attached_end(struct supervisor *sv);

/* exec_requests.c */
void exec_request_init(struct exec_request *e);
void exec_request_done(struct exec_request *e);
void exec_request_take(struct supervisor *sv, size_t index, struct link_packet *packet);
void exec_request_abandon(struct supervisor *sv, size_t index);
void exec_requests_news(struct supervisor *sv); /* events of the sandbox, also about ports */
uint64_t exec_requests_due(const struct supervisor *sv);
void exec_requests_tick(struct supervisor *sv, uint64_t now);
void exec_requests_end(struct supervisor *sv);

/* ports.c */
MUST_USE uint64_t net_files(
    const struct supervisor *sv); /* the limit of open files that it needs */
bool net_open(struct supervisor *sv, struct err *err);
MUST_USE bool net_start(struct supervisor *sv, struct err *err);
size_t net_polls(const struct supervisor *sv, struct pollfd *fds);
void net_step(struct supervisor *sv, const struct pollfd *fds, size_t n);
bool net_news(struct supervisor *sv, const struct service_event *news);
void net_close(struct supervisor *sv);

/* bounds.c */
void bounds_apply(struct supervisor *sv, const struct child *child);
uint64_t bounds_due(const struct supervisor *sv);
void bounds_measure(struct supervisor *sv, uint64_t now);

#endif
