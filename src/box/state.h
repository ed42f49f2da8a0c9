/* Whether a box is running, and how its last run ended, readable without contacting the supervisor.
 * The process running a box holds the lock `host/running`; the kernel releases it when the last
 * holder exits, so a killed supervisor does not leave a box that only appears to run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_STATE_H
#define BOX_STATE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/field.h"

/* Names of cordon's own processes for a box. */
#define STATE_PROCESS_NAME "cordon-box"
#define STATE_FIRST_NAME   "cordon-init" /* see sandbox/init.c */

enum box_status {
    BOX_STOPPED, /* never started, stopped, or its supervisor was killed */
    BOX_RUNNING,
    BOX_IDLE, /* running, the agent is waiting for input */
    BOX_DONE, /* the agent exited with status 0 */
    BOX_FAILED,
    BOX_STATUSES,
};

enum {
    STATE_PROXY_RESTARTS = 3, /* after that the box has no network */
};

enum box_prompt_state {
    BOX_PROMPT_NONE,
    BOX_PROMPT_PENDING,
    BOX_PROMPT_DELIVERED,   /* seen on the screen, or passed as an argument of the command */
    BOX_PROMPT_UNCONFIRMED, /* typed, but not seen on the screen */
};

struct box_state {
    enum box_status status;
    struct str started_at, ended_at; /* RFC 3339; no value if not yet */
    int64_t exit_code;               /* -1: none */
    int64_t signal;                  /* 0: none */
    enum box_prompt_state prompt;
    struct str error;     /* cause of a failure outside the agent: a limit, an overlay, ... */
    struct str_list gaps; /* limits enforced more weakly than requested: "memory: per process" */
    uint64_t run;         /* its number in runs/ */
    uint64_t pid;         /* of the supervisor; informational, never signalled */
    uint64_t first;       /* the sandbox's init process: everything in the sandbox ends with it */
    uint64_t proxy_ends;  /* number of times the network proxy exited unexpectedly */
    bool agent;           /* false: started only for `exec` */
};

extern const struct shape box_state_shape;
extern const char *const box_status_names[];
extern const char *const box_prompt_names[];

/* Loads the current state: a running status is changed to BOX_STOPPED if the lock is not held. A
 * run only for `exec` keeps the previous status. */
MUST_USE bool state_load(
    int host_fd, struct arena *arena, struct box_state *ret_state, bool *ret_held, struct err *err);
MUST_USE bool state_save(int host_fd, const struct box_state *state, struct err *err);

/* Reports whether anything runs in the box. A supervisor whose last command has just ended gets a
 * short time to exit. */
MUST_USE bool state_runs(
    int host_fd, struct arena *arena, struct box_state *ret_state, bool *ret_runs, struct err *err);

/* After a supervisor was killed: waits, with a timeout, until its sandbox is gone. The caller must
 * hold the lock. */
void state_await_end(const struct box_state *state);

/* Takes the lock for running the box; held until the descriptor and all its duplicates are closed.
 * E_CONFLICT: already held. */
MUST_USE bool state_hold(int host_fd, int *ret_lock, struct err *err);

#endif
