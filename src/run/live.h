/* A session that somebody drives as it goes: sent to, waited for, observed, ended. The driver's
 * lines and the library's calls both come here.
 *
 *     struct live l;
 *     if (!live_open(&job, &l, err)) return false;
 *     live_send(&l, &action, err) && live_wait(&l, NULL, &wish, &matched_by, err);
 *     live_observe(&l, &(struct live_look){.matched_by = matched_by}, err);     l.observation
 *     live_end(&l, false, &result);
 *     live_done(&l);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_LIVE_H
#define RUN_LIVE_H

#include "run/action.h"
#include "run/exec.h"
#include "run/observe.h"

struct live_job {
    struct observer_job observed;
    struct artifacts *artifacts; /* may be NULL */
    const char *run_id;          /* NULL: a new one */
    /* What it prints; may be NULL. */
    void (*output)(void *context, struct str bytes);
    void *context;
};

struct live {
    struct live_job job;
    struct observer observer;
    struct session *session;
    uint64_t since; /* session_changes() at the last action or observation */
    bool canceled;
    bool failed;                   /* a budget: session_error() */
    struct buf sent;               /* by the last action */
    json_t *observation;           /* the last one; may be NULL */
    char snapshot[ARTIFACTS_NAME]; /* its file; "": none */
};

/* What was asked for beside an action. */
struct live_wish {
    uint64_t timeout_ms, settle_ms;
    bool change; /* wait for the first change; otherwise a screen that stays is an answer, too */
};

/* What an observation is to have. */
struct live_look {
    enum observer_screen screen;
    const char *matched_by;  /* may be NULL */
    const struct err *error; /* of the action; may be NULL */
    const json_t *action;    /* for the record alone; may be NULL */
};

/* How it ended, as a RunResult tells it. */
struct live_result {
    struct exec_result run;
    char run_id[ID_SIZE], session_id[ID_SIZE];
    uint16_t rows, cols; /* of the terminal at the start */
    json_t *steps;       /* StepResults of what was asked; NULL: nobody kept them */
    bool steps_cut;      /* not all of it */
    json_t *observation; /* the last one */
};

/* False: it was not started. Must not be moved then. */
MUST_USE bool live_open(const struct live_job *job, struct live *ret_live, struct err *err);
void live_done(struct live *l);

/* Does what needs no waiting; terminate waits for the end all the same. After the command's end
 * nothing can be sent (E_PROCESS_EXIT). */
MUST_USE bool live_send(struct live *l, const struct action *action, struct err *err);

/* For a condition, or (NULL) for an answer to what was sent last. E_TIMEOUT and E_PROCESS_EXIT are
 * for conditions only; a budget and an interruption end both. */
MUST_USE bool live_wait(struct live *l, const struct condition *condition,
    const struct live_wish *wish, const char **ret_matched_by, struct err *err);

/* Waits for the command's end: whether it came. */
MUST_USE bool live_wait_exit(struct live *l, uint64_t timeout_ms, bool *ret_ended, struct err *err);

/* Takes an observation; into the record, too, where its screen is always whole. It stays ours.
 * False if a screen was over its budget, or could not be written: there is an observation all the
 * same.
 */
MUST_USE bool live_observe(struct live *l, const struct live_look *look, struct err *err);

/* Ends the command. With `look` the last screen is observed once more. */
void live_end(struct live *l, bool look, struct live_result *ret_result);
void live_result_done(struct live_result *r);

#endif
