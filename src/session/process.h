/* A running command: its sandbox, its terminal or pipes, its budgets and its exit. This is the
 * event loop of every command; a screen (session/session.h) and a run to the end
 * (session/exec.h) are built on it.
 *
 *     struct process p;
 *     if (!process_open(&options, &p, err)) return false;
 *     while (process_next(&p, UINT64_MAX) == PROCESS_OUTPUT)
 *         continue;                                   options.output was called
 *     process_close(&p);
 *
 * Without `streams`, output goes only to the callback, and input comes from process_queue(). With
 * them, input and output are also forwarded, without blocking on either side.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_PROCESS_H
#define SESSION_PROCESS_H

#include "base/buf.h"
#include "base/err.h"
#include "io/relay.h"
#include "proxy/proxy_process.h"
#include "sandbox/launch.h"
#include "session/budget.h"
#include "session/session_event.h"
#include "session/world.h"

#include <poll.h>

enum {
    PROCESS_QUEUE_MAX = 4 << 20, /* bytes of input that the command has not read yet */
    PROCESS_DRAIN_MS = 2000,     /* for output still in flight when the command has ended */
    PROCESS_READY_MS = 20,       /* limit for reading what a command prints without a pause */
    PROCESS_LEFT_MS = 100,       /* in a world: for output of processes that outlive the command */
    PROCESS_LEFT_BYTES = 256 * 1024,

    PROCESS_IN = 0, /* relays */
    PROCESS_OUT,
    PROCESS_ERR,
    PROCESS_RELAYS,
};

enum process_news {
    PROCESS_OUTPUT,   /* `output` was called */
    PROCESS_EXITED,   /* the command has ended and all its output is in; returned from then on */
    PROCESS_TIME,     /* the deadline has passed */
    PROCESS_CANCELED, /* the `cancel` descriptor became readable */
    PROCESS_INPUT,    /* the watched descriptor became readable */
    PROCESS_STOPPED,  /* with launch.report_stops; see process_continue() */
    PROCESS_FAILED,   /* `error` has a budget, a failed start or an internal error */
};

struct process_budgets {
    uint64_t runtime_ms, output_bytes; /* UINT64_MAX: none */
};

/* Descriptors that the command's streams are connected to; -1: no input, or discarded output. On a
 * terminal only the first output is used. */
struct process_streams {
    int input;
    int output[2];
};

struct process_options {
    struct launch launch;
    /* Run it in this world, in the directory `cwd`, without input on pipes; NULL: in a sandbox of
     * its own. Of the launch, only the plan's command, the words and the streams are used. */
    struct world *world;
    const char *cwd;
    struct process_budgets budgets;
    const struct process_streams *streams; /* may be NULL */
    int cancel; /* -1, or a descriptor that is readable when the run is to end; never read */
    /* Called with output up to the budget; the bytes are valid until the next process_next(). */
    void (*output)(void *context, struct str bytes);
    /* Called for SESSION_EVENT_BUDGET_NEAR and SESSION_EVENT_EXIT. */
    void (*event)(void *context, const struct session_event *event);
    /* Called when `ready_fd` is readable, for other work that must not wait until the end. May be
     * NULL. */
    void (*on_ready)(void *context);
    int ready_fd;
    void *context;
    struct buf *refused; /* gets the report of the proxy at the end (proxy/proxy.h); may be NULL */
};

/* Read-only for callers. */
struct process {
    struct process_options options;
    struct child child;
    struct proxy_process proxy;    /* if the plan has hosts */
    struct world_command *command; /* in a world; then the child has only the ends of its streams */
    struct relay relays[PROCESS_RELAYS];
    char *buffers;    /* of the relays */
    struct buf queue; /* input for the terminal */
    uint64_t output_bytes, input_bytes;
    uint64_t started_ms, paused_ms;
    struct budget runtime, output;
    bool has_output; /* in this step */
    bool ended;      /* the command, or the whole sandbox; output may remain */
    bool unstarted;  /* it could not be executed: it has no exit */
    uint64_t drain_until_ms;
    uint64_t left_ms;   /* in a world: when output that still comes is left to it; 0: not ended */
    uint64_t owed;      /* output_bytes with all that the command itself has printed */
    bool exited;        /* PROCESS_EXITED was returned */
    bool exit_reported; /* SESSION_EVENT_EXIT was sent */
    bool output_closed; /* the reader of our output is gone */
    int watched;
    struct session_exit exit;
    struct err error;
};

/* Must not be moved afterwards. */
MUST_USE bool process_open(
    const struct process_options *options, struct process *ret_process, struct err *err);

/* Kills all remaining processes; those of a command that has ended live on in its world. The
 * child's `limiter.kept` stays valid. */
void process_close(struct process *p);

/* Waits for the next event or the deadline (by clock_mono_ms(); UINT64_MAX: none). A command over
 * budget is killed at once. */
enum process_news process_next(struct process *p, uint64_t deadline_ms);

/* For a loop over several processes: the descriptors to poll, and when to look in any case. Not
 * with `streams`. */
enum {
    PROCESS_POLLS = 2,
};
void process_polls(const struct process *p, struct pollfd fds[PROCESS_POLLS]);
uint64_t process_due_ms(const struct process *p);

/* Returns when the run time is used up. */
uint64_t process_ends_ms(const struct process *p);

/* Sets another descriptor to watch (PROCESS_INPUT); -1: none. */
void process_watch(struct process *p, int fd);

/* Handles output that is ready. Returns false if there was none. */
bool process_read_ready(struct process *p);

/* Queues input for the terminal; it is written as the command reads it. Returns false if there is
 * too much already. */
bool process_queue(struct process *p, struct str bytes);

/* Writes queued input that the terminal has room for. */
void process_write_some(struct process *p);

/* No process has the output open any more. */
bool process_hung_up(const struct process *p);

/* Lets a stopped command continue; the pause does not count as its run time. */
void process_continue(struct process *p, uint64_t paused_ms);

/* Kills everything at once; in a world the command's session. Output that was read but not yet
 * forwarded is written for a short time. */
void process_kill(struct process *p);

/* Asks everything to end: see child_terminate(). */
void process_terminate(struct process *p);

/* Kills like process_kill(), but output is still read. */
void process_end(struct process *p);

/* In a world: its session there, see denied_style.session; otherwise 0. */
pid_t process_session(const struct process *p);

/* Reports the exit as an event, once. */
void process_report_exit(struct process *p);

#endif
