/* A session that is driven line by line: one JSON object in, one Observation out.
 *
 *     {"protocol_version": 1, "action": {"type": "key", "payload": {"key": "Enter"}}}
 *
 * The command's output is taken all the time. The end of the input ends the session, like
 * `terminate`.
 */
#ifndef RUN_DRIVER_H
#define RUN_DRIVER_H

#include "run/exec.h"
#include "run/observe.h"

enum {
    DRIVER_LINE_MAX = 4 << 20,
    DRIVER_TIMEOUT_MS = 5000, /* of an action, unless it says otherwise */
};

struct driver_job {
    const struct verdict *verdict;
    const struct plan *plan;
    const char *const *argv, *const *envp;
    uint16_t rows, cols;
    struct artifacts *artifacts; /* may be NULL */
    int input;
    int cancel;      /* -1, or what is readable when it is to end */
    bool keep_going; /* answer wrong input, too, and go on */
    /* Writes one line; false: nobody reads any more. */
    bool (*answer)(void *context, const json_t *object);
    void *context;
};

struct driver_result {
    struct exec_result run;
    char run_id[ID_SIZE], session_id[ID_SIZE];
    json_t *observation; /* the last one */
};

/* False: it was not started. */
MUST_USE bool driver_run(
    const struct driver_job *job, struct driver_result *ret_result, struct err *err);
void driver_result_done(struct driver_result *r);

/* What an answer has: [{"name", "help"}] */
MUST_USE json_t *driver_fields(void);

/* A JSON Schema of the input. */
MUST_USE json_t *driver_schema(void);

#endif
