/* The RunResult: what a run was and how it ended, as run.json and --json have it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "base/id.h"
#include "run/exec.h"

enum {
    RUN_PROTOCOL_VERSION = 1,
    RUN_RESULT_VERSION = 1,
};

struct result_input {
    const char *mode; /* what it was made by: "exec", "run", "driver" */
    const char *run_id;
    const struct verdict *verdict;
    const struct plan *plan;
    const char *const *argv;
    const struct exec_result *result;
    /* Of a scenario; borrowed, may be NULL. */
    json_t *scenario, *steps;
    bool steps_cut;      /* there were more */
    uint16_t rows, cols; /* of the terminal at the start, where no scenario says so; or 0 */
    json_t *observation; /* the last one; borrowed */
};

/* An ExitStatus. */
MUST_USE json_t *result_exit_json(const struct session_exit *e);

/* A new object. */
MUST_USE json_t *result_json(const struct result_input *input);

#endif
