/* Terminal sessions that exec_command leaves running for write_stdin.
 *
 *     struct tool_session *s;
 *     if (!sessions_start(box, &request, &s, err)) return false;
 *     sessions_wait(box, &(struct sessions_wait){.deadline_ms = until, .ending = s});
 *     if (s->over) sessions_forget(box, s);
 *
 * Every wait reads from all sessions and logs their output, so that none blocks because its output
 * is not requested. They end with the box, and with the process.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_SESSIONS_H
#define TOOL_SESSIONS_H

#include "session/session.h"
#include "tool/confine.h"
#include "tool/outlog.h"

enum {
    SESSIONS_MAX = 64,
    SESSIONS_OUTPUT_MAX = 64 << 20, /* maximum output of one session */
    SESSIONS_MEMORY_MAX = 1 << 20,  /* bytes of a log kept in memory rather than in a file */
    SESSIONS_SHOWN_MAX = 1 << 20,   /* bytes shown per session before output is shortened */
    SESSIONS_REPORTED_MAX = 8,      /* ended sessions kept to report their end again */
    SESSIONS_REPORTS = 2,           /* times an end is reported before the session is forgotten */
};

struct tool_session {
    uint32_t id;
    struct arena arena; /* memory for its command */
    struct str command;
    struct session *session;
    struct confine *confine;
    struct outlog log;
    const char *log_dir;
    bool unsaved;      /* the log could not be saved to a file */
    uint64_t reported; /* bytes of the log reported to the model */
    uint64_t shown;    /* bytes of text shown to the model */
    uint64_t drawn;    /* term_drawn() at that time */
    unsigned reports;  /* times its end was reported */
    bool over;         /* it has ended, and all its output is in the log */
};

struct tool_sessions {
    struct tool_session *p[SESSIONS_MAX]; /* oldest first */
    size_t n;
    uint32_t last_id;
    size_t watched; /* number of file descriptors in the set of sessions_descriptor() */
};

struct session_request {
    struct str command, workdir;
    uint16_t rows, cols;
};

/* E_CONFLICT if there are too many. */
MUST_USE bool sessions_start(struct toolbox *box, const struct session_request *request,
    struct tool_session **ret_session, struct err *err);

/* Finds a session by its number; NULL with E_NOT_FOUND, which lists the existing ones. */
struct tool_session *sessions_find(struct toolbox *box, uint32_t id, struct err *err);

/* This world ends: sessions in it have no list of denials any more. */
void sessions_leave_world(struct tool_sessions *all, const struct world *world);

/* Ends the session if it is running; its log file is kept. */
void sessions_forget(struct toolbox *box, struct tool_session *s);

/* Whether any session is running; accepts NULL. */
bool sessions_run(const struct tool_sessions *all);

/* Ends all sessions; accepts NULL. */
void sessions_close(struct tool_sessions *all);

enum sessions_news {
    SESSIONS_TIME,     /* deadline reached */
    SESSIONS_ENDED,    /* the awaited session ended */
    SESSIONS_READABLE, /* one of the caller's file descriptors: see its revents */
};

struct sessions_wait {
    uint64_t deadline_ms;              /* on clock_mono_ms(); UINT64_MAX: none */
    const struct tool_session *ending; /* may be NULL */
    struct pollfd *fds;                /* the caller's */
    size_t n_fds;                      /* up to SESSIONS_FDS_MAX */
};

enum {
    SESSIONS_FDS_MAX = 2,
};

enum sessions_news sessions_wait(struct toolbox *box, const struct sessions_wait *wait);

/* For other event loops: returns a file descriptor that is readable when sessions_handle_events()
 * has work, or -1 without running sessions. The caller closes it. */
int sessions_descriptor(struct toolbox *box);
void sessions_handle_events(struct toolbox *box, int descriptor);

#endif
