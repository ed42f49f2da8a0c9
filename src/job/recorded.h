/* The scenario file of a recorded session: the command, its policy, and the recorded actions.
 *
 *     struct recorded r = {.p = &prepared, .file = "vim.scenario.yaml", …};
 *     if (!recorded_check(&r, err)) return false;             before anything runs
 *     ...
 *     if (!recorded_save(&r, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_RECORDED_H
#define JOB_RECORDED_H

#include "job/prepare.h"
#include "run/recorder.h"

struct recorded {
    const struct prepared *p;
    const struct recorder *recorder;
    const char *file; /* JSON if its name ends in .json, otherwise YAML */
    bool force;       /* replace an existing file */
    uint16_t rows, cols;
};

/* Checked before anything runs, so that an unwritable file does not waste the recording. */
MUST_USE bool recorded_check(const struct recorded *r, struct err *err);
MUST_USE bool recorded_save(const struct recorded *r, struct err *err);

/* Flags that are needed to run the scenario again, if it contains a policy: " --flag" or "". */
const char *recorded_flags(const struct recorded *r);

#endif
