/* The RunResult: a run's parameters and outcome, as written to run.json and printed by --json. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_RESULT_H
#define RUN_RUN_RESULT_H

#include "base/id.h"
#include "session/exec.h"

enum {
    RUN_PROTOCOL_VERSION = 1,
    RUN_RESULT_VERSION = 1,
};

struct result_input {
    const char *mode; /* the command that made it: "exec", "run", "driver" */
    const char *run_id;
    const struct confined *confined;
    const char *const *argv;
    const struct exec_result *result;
    /* Scenario only; borrowed, may be NULL. */
    json_t *scenario, *steps;
    bool steps_cut;      /* some steps were left out */
    uint16_t rows, cols; /* initial terminal size if not given by a scenario; or 0 */
    json_t *observation; /* the last one; borrowed */
};

/* Returns an ExitStatus. */
MUST_USE json_t *result_exit_json(const struct session_exit *e);

/* Returns a new object. */
MUST_USE json_t *result_json(const struct result_input *input);

#endif
