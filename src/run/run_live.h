/* An interactive session, driven call by call: send, wait, observe, end. Used by the driver and the
 * library.
 *
 *     struct live l;
 *     if (!live_open(&options, &l, err)) return false;
 *     live_send(&l, &action, err) && live_wait(&l, NULL, &options, &matched_by, err);
 *     live_observe(&l, &(struct live_look){.matched_by = matched_by}, err);     l.observation
 *     live_end(&l, false, &result);
 *     live_done(&l);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_LIVE_H
#define RUN_RUN_LIVE_H

#include "run/action.h"
#include "run/observe.h"
#include "session/exec.h"

struct live_run_options {
    struct observer_options observed;
    struct artifacts *artifacts; /* may be NULL */
    const char *run_id;          /* NULL: a new one */
    /* Called with the command's output; may be NULL. */
    void (*output)(void *context, struct str bytes);
    void *context;
};

struct live {
    struct live_run_options options;
    struct observer observer;
    struct session *session;
    uint64_t since; /* session_changes() at the last action or observation */
    bool canceled;
    bool failed;                   /* a budget was exceeded: session_error() */
    struct buf sent;               /* by the last action */
    json_t *observation;           /* the last one; may be NULL */
    char snapshot[ARTIFACTS_NAME]; /* its file; "": none */
};

/* Parameters of a wait. */
struct live_wait_options {
    uint64_t timeout_ms, settle_ms;
    bool change; /* wait for the first change; otherwise an unchanged screen is also an answer */
};

/* Parameters of an observation. */
struct live_look {
    enum observer_screen screen;
    const char *matched_by;  /* may be NULL */
    const struct err *error; /* of the action; may be NULL */
    const json_t *action;    /* for the record only; may be NULL */
};

/* Outcome, as reported in a RunResult. */
struct live_result {
    struct exec_result run;
    char run_id[ID_SIZE], session_id[ID_SIZE];
    uint16_t rows, cols; /* initial terminal size */
    json_t *steps;       /* StepResults of the requests; NULL if they were not kept */
    bool steps_cut;      /* some were left out */
    json_t *observation; /* the last one */
};

/* Returns false if the command could not be started. The struct must not be moved afterwards. */
MUST_USE bool live_open(
    const struct live_run_options *options, struct live *ret_live, struct err *err);
void live_done(struct live *l);

/* Performs an action without waiting for its effect; only terminate waits for the exit. Fails with
 * E_PROCESS_EXIT after the command has ended. */
MUST_USE bool live_send(struct live *l, const struct action *action, struct err *err);

/* Waits for a condition or (NULL) for an answer to the last input. E_TIMEOUT and E_PROCESS_EXIT
 * occur only with a condition; an exceeded budget or an interruption ends both. */
MUST_USE bool live_wait(struct live *l, const struct condition *condition,
    const struct live_wait_options *options, const char **ret_matched_by, struct err *err);

/* Waits for the command to end; ret_ended says whether it did. */
MUST_USE bool live_wait_exit(struct live *l, uint64_t timeout_ms, bool *ret_ended, struct err *err);

/* Takes an observation and adds it to the record, always with the complete screen. It is owned by
 * the struct. Returns false if a screen was over its budget or could not be written; the
 * observation exists nevertheless.
 */
MUST_USE bool live_observe(struct live *l, const struct live_look *look, struct err *err);

/* Ends the command. With `look`, takes a last observation first. */
void live_end(struct live *l, bool look, struct live_result *ret_result);
void live_result_done(struct live_result *r);
/* After the record is complete: nothing more is written to it. */
void live_detach(struct live *l);

#endif
