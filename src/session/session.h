/* A command on a terminal of its own: what it prints goes through the emulator, what it asks is
 * answered, and nothing of it is polled for.
 *
 *     struct session *s;
 *     if (!session_open(&options, &s, err)) return false;
 *     session_send(s, STR("ls\r"), err);
 *     while (session_next(s, deadline_ms) == SESSION_SCREEN)
 *         if (shows(session_term(s), "total")) break;
 *     session_close(s);
 *
 * session_next() returns at every change, at the very byte that ends a synchronized update, and
 * when time runs out. What is over budget is killed at once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/err.h"
#include "sandbox/launch.h"
#include "term/term.h"

#include <poll.h>
#include <signal.h>

enum {
    SESSION_ROWS_MAX = 500,
    SESSION_COLS_MAX = 500,
    SESSION_QUEUE_MAX = 4 << 20, /* bytes that the command has not read yet */
    SESSION_GRACE_MS = 200,      /* between a request to end and the end */
    SESSION_FRAME_MS = 1000,     /* a synchronized update that takes longer is looked at as it is */
};

enum session_news {
    SESSION_SCREEN,   /* output came */
    SESSION_FRAME,    /* a synchronized update has ended; what follows it is not fed yet */
    SESSION_EXITED,   /* the command has ended, and all its output is in; every time from then on */
    SESSION_TIME,     /* the deadline */
    SESSION_CANCELED, /* the descriptor for that became readable */
    SESSION_INPUT,    /* that of session_watch() did */
    SESSION_FAILED,   /* a budget, or something of ours: session_error(); everything is killed */
};

struct session_exit {
    bool known;
    int code;   /* -1: none */
    int signal; /* 0: none */
    bool by_harness;
};

/* From what waitpid() gives. */
struct session_exit session_exit_from(int status);

/* Killed, and so without a word of its own. */
#define SESSION_KILLED ((struct session_exit){.known = true, .code = -1, .signal = SIGKILL})

enum session_event_type {
    SESSION_EVENT_TERM,        /* one of the terminal's: title, bell, … */
    SESSION_EVENT_BUDGET_NEAR, /* text: its name; value: percent */
    SESSION_EVENT_RESIZE,      /* value: rows << 16 | cols */
    SESSION_EVENT_EXIT,        /* exit: how */
};

struct session_event {
    enum session_event_type type;
    enum term_event_type term; /* of SESSION_EVENT_TERM */
    struct str text;           /* as it came: anything may be in it */
    unsigned value;
    const struct session_exit *exit;
};

struct session_budgets {
    uint64_t runtime_ms, output_bytes; /* UINT64_MAX: none */
};

struct session_options {
    const struct plan *plan;
    const char *const *argv, *const *envp; /* end in NULL */
    uint16_t rows, cols;
    struct session_budgets budgets;
    unsigned scrollback;
    bool serves; /* more commands can be started beside it, and go on after its end: see
                    session_child() */
    bool held;   /* with that: it starts at service_start() */
    int cancel;  /* -1, or what is readable when it is to end */
    /* What it prints, when it is on the screen; and what happens. May be NULL; must not call back.
     */
    void (*output)(void *context, struct str bytes);
    void (*event)(void *context, const struct session_event *event);
    void *context;
};

struct session;

MUST_USE bool session_open(
    const struct session_options *options, struct session **ret_session, struct err *err);

/* Kills what is left. Accepts NULL. */
void session_close(struct session *s);

/* What happens next, or the deadline (of clock_mono_ms(); UINT64_MAX: none). */
enum session_news session_next(struct session *s, uint64_t deadline_ms);

/* For a loop over several sessions: what to poll, and when to look in any case; then
 * session_next(s, 0), until it says SESSION_TIME. */
enum {
    SESSION_POLLS = 2,
};
void session_polls(const struct session *s, struct pollfd fds[SESSION_POLLS]);
uint64_t session_due_ms(const struct session *s);

/* Another descriptor whose readability is news; -1: none. */
void session_watch(struct session *s, int fd);

/* Takes what has been printed already, without waiting for more. */
void session_drain(struct session *s);

/* Puts bytes into the queue; they are written as the command reads them. */
MUST_USE bool session_send(struct session *s, struct str bytes, struct err *err);

MUST_USE bool session_resize(struct session *s, uint16_t rows, uint16_t cols, struct err *err);

/* Asks it to end (SIGTERM to everything in it); after the grace time it is killed. Waits for the
 * end. */
void session_terminate(struct session *s, uint64_t grace_ms);

struct term *session_term(struct session *s);
/* For sandbox/service.h. With `serves` its sandbox lives until session_close(), or until it is
 * killed: by a budget, or by session_terminate() when the command does not listen. */
const struct child *session_child(const struct session *s);
/* The command has ended, and all its output is in. */
bool session_has_ended(const struct session *s);
const struct session_exit *session_exit_of(const struct session *s);
const struct err *session_error(const struct session *s);
uint64_t session_output_bytes(const struct session *s);
/* How much of it is on the screen: after the end of a synchronized update there may be more. */
uint64_t session_fed_bytes(const struct session *s);
/* When its run time is used up. */
uint64_t session_ends_ms(const struct session *s);
uint64_t session_started_ms(const struct session *s);
/* When the screen last changed: anything that can be seen. */
uint64_t session_changed_ms(const struct session *s);
/* When it was last sent something, or given another size; 0: never. */
uint64_t session_sent_ms(const struct session *s);
/* Counts those changes. */
uint64_t session_changes(const struct session *s);
/* Whether what is typed now is not to be seen, as a password is not: the terminal takes lines and
 * does not echo them. */
bool session_hides_input(const struct session *s);
/* Bytes of ours that the command has not read. */
size_t session_unread(const struct session *s);

#endif
