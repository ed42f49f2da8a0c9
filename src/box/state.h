/* Whether a box runs, and how its last run ended: for everybody who asks, without asking the
 * supervisor. Whoever runs a box holds the lock `host/running`; the kernel lets go of it with the
 * last of its processes, so that a killed supervisor leaves no box that only seems to run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_STATE_H
#define BOX_STATE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/field.h"

/* What its processes of ours are called. */
#define STATE_PROCESS_NAME "cordon-box"
#define STATE_FIRST_NAME   "cordon-init" /* see sandbox/init.c */

enum box_status {
    BOX_STOPPED, /* never started, stopped, or its supervisor was killed */
    BOX_RUNNING,
    BOX_IDLE, /* running, and the agent waits for somebody */
    BOX_DONE, /* the agent ended by itself, with 0 */
    BOX_FAILED,
    BOX_STATUSES,
};

enum {
    STATE_PROXY_RESTARTS = 3, /* then the box is without its network */
};

enum box_prompt_state {
    BOX_PROMPT_NONE,
    BOX_PROMPT_PENDING,
    BOX_PROMPT_DELIVERED,   /* seen on its screen, or an argument of its command */
    BOX_PROMPT_UNCONFIRMED, /* typed, but not seen to arrive */
};

struct box_state {
    enum box_status status;
    struct str started_at, ended_at; /* RFC 3339; no value: not yet */
    int64_t exit_code;               /* -1: none */
    int64_t signal;                  /* 0: none */
    enum box_prompt_state prompt;
    struct str error;     /* why it failed, if not by itself: a limit, an overlay, … */
    struct str_list gaps; /* limits that are weaker than asked, and how: "memory: per process" */
    uint64_t run;         /* which of runs/ */
    uint64_t pid;         /* the supervisor's: for people; nothing is ever sent to it */
    uint64_t first;       /* the sandbox's first process: when it is gone, so is all in it */
    uint64_t proxy_ends;  /* how often the network's proxy ended by itself */
    bool agent;           /* false: runs only for commands of `exec` */
};

extern const struct shape box_state_shape;
extern const char *const box_status_names[];

/* What holds now: a state that says running without anybody who holds the lock is BOX_STOPPED. A
 * run only for `exec` leaves status as it was before. */
MUST_USE bool state_load(
    int host_fd, struct arena *arena, struct box_state *ret_state, bool *ret_held, struct err *err);
MUST_USE bool state_save(int host_fd, const struct box_state *state, struct err *err);

/* Does anything run in the box? A supervisor whose last command has just ended is given a moment to
 * end, too. */
MUST_USE bool state_runs(
    int host_fd, struct arena *arena, struct box_state *ret_state, bool *ret_runs, struct err *err);

/* Of a supervisor that was killed: waits until nothing of its sandbox is left, for a limited time.
 * For whoever has the right to run the box. */
void state_await_end(const struct box_state *state);

/* The right to run the box, until the descriptor and its copies are closed. E_CONFLICT: somebody
 * has it. */
MUST_USE bool state_hold(int host_fd, int *ret_lock, struct err *err);

#endif
