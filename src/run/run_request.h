/* A line of a driver's input, and its form as a step of the record.
 *
 *     if (!request_read(line, &arena, &request, err)) return false;     request.action
 *     json_t *step = request_step(&request, &done);                     a StepResult
 *     request_line(step, &line);                                        the same line again
 *     request_done(&request);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_REQUEST_H
#define RUN_RUN_REQUEST_H

#include "run/action.h"
#include "run/observe.h"

struct request {
    uint32_t version;
    json_t *action_json;
    json_t *request_id; /* may be NULL; set even if the rest is invalid */
    uint64_t timeout_ms, settle_ms;
    int screen; /* enum observer_screen */
    struct action action;
    json_t *tree; /* owned */
};

/* Fails with E_PROTOCOL, or E_PROTOCOL_VERSION_MISMATCH. Call request_done() in any case. */
MUST_USE bool request_read(
    struct str line, struct arena *arena, struct request *ret_request, struct err *err);
void request_done(struct request *r);

/* Outcome of a request. */
struct request_result {
    size_t index;
    uint64_t started_ms, ended_ms;  /* since the start of the run */
    uint64_t from_bytes, end_bytes; /* transcript bytes on the screen, before and after */
    struct str sent;
    const char *matched_by; /* may be NULL */
    const char *snapshot;   /* name of its file, or "" */
    const struct err *error;
};

/* Returns a new StepResult from which request_line() can rebuild the line. */
MUST_USE json_t *request_step(const struct request *r, const struct request_result *result);

/* Returns the StepResult of a line that was refused. */
MUST_USE json_t *request_refused(struct str line, const struct request_result *result);

/* Appends the line of a StepResult with its line feed. Returns false if the step is not a
 * driver's. */
MUST_USE bool request_line(const json_t *step, struct buf *out);

/* Returns the JSON Schema. */
MUST_USE json_t *request_schema(void);

#endif
