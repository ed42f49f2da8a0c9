/* A command on its own terminal: its output goes through the emulator, which answers its queries.
 * Changes are reported without polling.
 *
 *     struct session *s;
 *     if (!session_open(&options, &s, err)) return false;
 *     session_send(s, STR("ls\r"), err);
 *     while (session_next(s, deadline_ms) == SESSION_SCREEN)
 *         if (shows(session_term(s), "total")) break;
 *     session_close(s);
 *
 * session_next() returns at every change, exactly at the byte that ends a synchronized update, and
 * at the deadline. A command over budget is killed at once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/process.h"
#include "term/term.h"

enum {
    SESSION_ROWS_MAX = 500,
    SESSION_COLS_MAX = 500,
    SESSION_GRACE_MS = 200,  /* between SIGTERM and SIGKILL */
    SESSION_FRAME_MS = 1000, /* a longer synchronized update is examined unfinished */
};

enum session_news {
    SESSION_SCREEN,   /* there was output */
    SESSION_FRAME,    /* a synchronized update has ended; output after it is not fed yet */
    SESSION_EXITED,   /* the command has ended and all its output is in; returned from then on */
    SESSION_TIME,     /* the deadline has passed */
    SESSION_CANCELED, /* the `cancel` descriptor became readable */
    SESSION_INPUT,    /* the session_watch() descriptor became readable */
    SESSION_FAILED,   /* a budget or an internal error: session_error(); everything is killed */
};

struct session_options {
    const struct plan *plan;
    const char *const *argv, *const *envp; /* end in NULL */
    struct world *world; /* run it there, in `cwd`; NULL: in a sandbox of its own */
    const char *cwd;
    uint16_t rows, cols;
    struct process_budgets budgets;
    unsigned scrollback;
    struct denied *denied; /* see launch.denied */
    bool serves; /* more commands can be started beside it and outlive it: see session_child() */
    bool held;   /* with `serves`: does not start until service_start() */
    int cancel;  /* -1, or a descriptor that is readable when the session is to end */
    /* Called with output once it is on the screen, and with events. May be NULL; must not call
     * back. */
    void (*output)(void *context, struct str bytes);
    void (*event)(void *context, const struct session_event *event);
    void *context;
    struct buf *refused; /* see struct process_options; may be NULL */
};

struct session;

MUST_USE bool session_open(
    const struct session_options *options, struct session **ret_session, struct err *err);

/* Kills all remaining processes. Accepts NULL. */
void session_close(struct session *s);

/* Waits for the next event or the deadline (by clock_mono_ms(); UINT64_MAX: none). */
enum session_news session_next(struct session *s, uint64_t deadline_ms);

/* For a loop over several sessions: the descriptors to poll, and when to look in any case. Then
 * call session_next(s, 0) until it returns SESSION_TIME. */
enum {
    SESSION_POLLS = PROCESS_POLLS,
};
void session_polls(const struct session *s, struct pollfd fds[SESSION_POLLS]);
uint64_t session_due_ms(const struct session *s);

/* Sets another descriptor to watch for input (SESSION_INPUT); -1: none. */
void session_watch(struct session *s, int fd);

/* Processes output that is already available, without waiting for more. */
void session_drain(struct session *s);

/* Queues bytes; they are written as the command reads them. */
MUST_USE bool session_send(struct session *s, struct str bytes, struct err *err);

MUST_USE bool session_resize(struct session *s, uint16_t rows, uint16_t cols, struct err *err);

/* Sends SIGTERM to all processes and kills them after the grace period. Waits for the exit. */
void session_terminate(struct session *s, uint64_t grace_ms);

struct term *session_term(struct session *s);
/* For sandbox/service.h. With `serves` the sandbox lives until session_close(), or until it is
 * killed: by a budget, or by session_terminate() if the command ignores SIGTERM. */
const struct child *session_child(const struct session *s);
/* The command has ended and all its output is in. */
bool session_has_ended(const struct session *s);
/* See process_session(). */
pid_t session_inside(const struct session *s);

const struct session_exit *session_exit_of(const struct session *s);
const struct err *session_error(const struct session *s);
uint64_t session_output_bytes(const struct session *s);
/* Returns how much of it is on the screen; more may be pending after a synchronized update. */
uint64_t session_fed_bytes(const struct session *s);
/* Returns when the run time is used up. */
uint64_t session_ends_ms(const struct session *s);
uint64_t session_started_ms(const struct session *s);
/* Returns when the visible screen last changed. */
uint64_t session_changed_ms(const struct session *s);
/* Returns when input was last sent or the size was changed; 0: never. */
uint64_t session_sent_ms(const struct session *s);
/* Returns the number of changes of the visible screen. */
uint64_t session_changes(const struct session *s);
/* Whether input is hidden, as for a password: the terminal is in line mode without echo. */
bool session_hides_input(const struct session *s);

#endif
