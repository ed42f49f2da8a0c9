/* This machine's support for sandboxes: a whole sandbox is built once, without a command, and the
 * causes of a failure are named with their remedies.
 *
 *     struct doctor d = {.arena = &arena};
 *     doctor_diagnose(&d);
 *     doctor_check_machine(&d);
 *     ... d.failure, d.checks, d.findings ...
 *     doctor_done(&d);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/json.h"
#include "policy/developer.h"
#include "sandbox/limiter.h"
#include "sandbox/machine_facts.h"

enum {
    DOCTOR_CHECKS_MAX = 5,
};

/* A line of the report. */
struct doctor_check {
    const char *name;
    bool ok;
    const char *detail;
    const char *remedy; /* if not ok */
};

struct doctor {
    struct arena *arena;
    struct err failure; /* failure of the sandbox; code is 0 if it works */
    struct limiter_kept kept;
    struct diagnose_facts facts;
    struct diagnose_findings findings;
    struct doctor_check checks[DOCTOR_CHECKS_MAX];
    size_t n_checks;
    struct developer developer; /* what presets, tools and boxes show of this machine */
    bool fixed;                 /* the AppArmor profile was installed just now */
};

/* Builds a sandbox, and looks for causes if that fails. Can be repeated. */
void doctor_diagnose(struct doctor *d);

/* Adds the checks; once. */
void doctor_check_machine(struct doctor *d);

/* Lists the toolchains that presets, tools and boxes show, and directories of PATH that they do
 * not.
 */
void doctor_list_toolchains(struct doctor *d);

MUST_USE json_t *doctor_json(const struct doctor *d);

void doctor_done(struct doctor *d);

#endif
