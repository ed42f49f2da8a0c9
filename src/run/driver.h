/* A session driven line by line: one JSON object in, one Observation out.
 *
 *     {"protocol_version": 1, "action": {"type": "key", "payload": {"key": "Enter"}}}
 *
 * The command's output is read all the time. The end of the input ends the session, like
 * `terminate`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_DRIVER_H
#define RUN_DRIVER_H

#include "io/timed_write.h"
#include "run/run_live.h"

enum {
    DRIVER_LINE_MAX = 4 << 20,
    DRIVER_STEPS_MAX = 100 * 1000,
    DRIVER_KEPT_MAX = 64 << 20, /* bytes of input that a record keeps */
};

struct driver_options {
    struct live_run_options live;
    int input;
    bool keep_going; /* answer invalid input with an error and continue */
    /* Writes one line, until the deadline. Returns false if the reader is gone. */
    bool (*answer)(void *context, const json_t *object, struct write_deadline *deadline);
    /* `before` is called before a line is handled and before the end, `after` before a screen is
     * taken. Both may be NULL, and may let the session run on. */
    void (*before)(void *context, struct session *session);
    void (*after)(void *context, struct session *session);
    void *context;
};

/* Returns false if the command could not be started. */
MUST_USE bool driver_run(
    const struct driver_options *options, struct live_result *ret_result, struct err *err);

/* Returns the fields of an answer: [{"name", "help"}]. */
MUST_USE json_t *driver_fields(void);

/* Returns the JSON Schema of the input. */
MUST_USE json_t *driver_schema(void);

#endif
