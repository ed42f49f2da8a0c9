/* The terminals that exec_command leaves running, and that write_stdin comes back to.
 *
 *     struct tool_session *s;
 *     if (!sessions_start(box, &request, &s, err)) return false;
 *     sessions_wait(box, &(struct sessions_wait){.deadline_ms = until, .ending = s});
 *     if (s->over) sessions_forget(box, s);
 *
 * While anybody waits here, all of them are read: what they print goes to their logs, so that none
 * stands still because nobody asks for it. They end with the box, and with the process.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_SESSIONS_H
#define TOOL_SESSIONS_H

#include "session/session.h"
#include "tool/confine.h"
#include "tool/outlog.h"

enum {
    SESSIONS_MAX = 64,
    SESSIONS_ROWS = 24,
    SESSIONS_COLS = 80,
    SESSIONS_OUTPUT_MAX = 64 << 20, /* bytes that one may print */
    SESSIONS_MEMORY_MAX = 1 << 20,  /* bytes of a log that are not in a file */
    SESSIONS_SHOWN_MAX = 1 << 20, /* bytes that a model sees of one before it gets short answers */
    SESSIONS_TOLD_MAX = 8,        /* that are kept to tell their end once more */
    SESSIONS_REPORTS = 2,         /* how often an end is told, before the session is forgotten */
};

struct tool_session {
    uint32_t id;
    struct arena arena; /* of what it was started with */
    struct str command;
    struct session *session;
    struct outlog log;
    const char *log_dir;
    bool unsaved;     /* the log could not be put into a file */
    uint64_t told;    /* bytes of the log that a model was told of */
    uint64_t shown;   /* bytes of text that it got */
    uint64_t drawn;   /* term_drawn() at that time */
    unsigned reports; /* of its end */
    bool over;        /* it has ended, and all its output is in the log */
};

struct tool_sessions {
    struct tool_session *p[SESSIONS_MAX]; /* the oldest first */
    size_t n;
    uint32_t last_id;
    size_t watched; /* descriptors in that of sessions_descriptor() */
};

struct session_request {
    struct str command, workdir;
    uint16_t rows, cols;
};

/* E_CONFLICT if there are too many. */
MUST_USE bool sessions_start(struct toolbox *box, const struct session_request *request,
    struct tool_session **ret_session, struct err *err);

/* By its number; NULL with E_NOT_FOUND, which names those that there are. */
struct tool_session *sessions_find(struct toolbox *box, uint32_t id, struct err *err);

/* Ends it if it still runs; its log's file stays. */
void sessions_forget(struct toolbox *box, struct tool_session *s);

/* Whether one has not ended; accepts NULL. */
bool sessions_run(const struct tool_sessions *all);

/* All of them; accepts NULL. */
void sessions_close(struct tool_sessions *all);

enum sessions_news {
    SESSIONS_TIME,     /* the deadline */
    SESSIONS_ENDED,    /* the one that was waited for */
    SESSIONS_READABLE, /* a descriptor that was given: see its revents */
};

struct sessions_wait {
    uint64_t deadline_ms;              /* of clock_mono_ms(); UINT64_MAX: none */
    const struct tool_session *ending; /* may be NULL */
    struct pollfd *fds;                /* of the caller's */
    size_t n_fds;                      /* up to SESSIONS_FDS_MAX */
};

enum {
    SESSIONS_FDS_MAX = 2,
};

enum sessions_news sessions_wait(struct toolbox *box, const struct sessions_wait *wait);

/* For a loop elsewhere: a descriptor that is readable when sessions_tend() has something to take;
 * -1 if there are none. To be closed. */
int sessions_descriptor(struct toolbox *box);
void sessions_tend(struct toolbox *box, int descriptor);

#endif
