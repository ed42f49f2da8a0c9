/* Events of a running command, and its exit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_SESSION_EVENT_H
#define SESSION_SESSION_EVENT_H

#include "base/str.h"
#include "term/term.h"

#include <signal.h>

struct session_exit {
    bool known;
    int code;   /* -1: none */
    int signal; /* 0: none */
    bool by_harness;
};

/* Exit of a command that was killed together with its sandbox and reported no status. */
#define SESSION_KILLED ((struct session_exit){.known = true, .code = -1, .signal = SIGKILL})

enum session_event_type {
    SESSION_EVENT_TERM,        /* a terminal event: title, bell, … */
    SESSION_EVENT_BUDGET_NEAR, /* text: the budget's name; value: percent */
    SESSION_EVENT_RESIZE,      /* value: rows << 16 | cols */
    SESSION_EVENT_EXIT,        /* exit: the status */
};

struct session_event {
    enum session_event_type type;
    enum term_event_type term; /* of SESSION_EVENT_TERM */
    struct str text;           /* unchecked program output: may contain anything */
    unsigned value;
    const struct session_exit *exit;
};

#endif
