/* A session that is driven line by line: one JSON object in, one Observation out.
 *
 *     {"protocol_version": 1, "action": {"type": "key", "payload": {"key": "Enter"}}}
 *
 * The command's output is taken all the time. The end of the input ends the session, like
 * `terminate`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_DRIVER_H
#define RUN_DRIVER_H

#include "io/patience.h"
#include "run/live.h"

enum {
    DRIVER_LINE_MAX = 4 << 20,
    DRIVER_TIMEOUT_MS = 5000, /* of an action, unless it says otherwise */
    DRIVER_STEPS_MAX = 100 * 1000,
    DRIVER_KEPT_MAX = 64 << 20, /* bytes of input that a record holds */
};

struct driver_job {
    struct live_job live;
    int input;
    bool keep_going; /* answer wrong input, too, and go on */
    /* Writes one line, as long as there is patience; false: nobody reads any more. */
    bool (*answer)(void *context, const json_t *object, struct patience *patience);
    /* May be NULL. Before a line is taken, and before the end; before a screen is. May let the
     * session go on. */
    void (*before)(void *context, struct session *session);
    void (*after)(void *context, struct session *session);
    void *context;
};

/* False: it was not started. */
MUST_USE bool driver_run(
    const struct driver_job *job, struct live_result *ret_result, struct err *err);

/* What an answer has: [{"name", "help"}] */
MUST_USE json_t *driver_fields(void);

/* A JSON Schema of the input. */
MUST_USE json_t *driver_schema(void);

#endif
