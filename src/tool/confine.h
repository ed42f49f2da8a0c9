/* How a tool's command is confined: the policy that the toolbox's mode asks for, judged for this
 * command, and the sandbox's plan.
 *
 *     struct confined c;
 *     if (!confine(box, &(struct confine_request){.command = cmd, ...}, &arena, &c, err)) ...
 *     ...c.verdict, c.plan, c.argv, c.envp...
 *
 * The root is writable, the system's programs can be run, /tmp is private, there is no network.
 * What is in the mode's policy is not widened by anything that a model says.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CONFINE_H
#define TOOL_CONFINE_H

#include "policy/validate.h"
#include "sandbox/plan.h"
#include "tool/toolbox.h"

enum {
    CONFINE_ARENA = VERDICT_ARENA,
    CONFINE_OUTPUT_MAX = 32 << 20, /* bytes that a command may print */
    CONFINE_RUNTIME_MAX_MS = 24 * 60 * 60 * 1000,
};

struct confine_request {
    struct str command; /* for the shell */
    struct str workdir; /* may have no value: where the toolbox starts */
    uint64_t runtime_ms;
    uint64_t output_bytes; /* 0: CONFINE_OUTPUT_MAX */
};

struct confined {
    struct policy policy;
    struct verdict verdict;
    struct plan plan;
    const char *argv[4];
    const char *const *envp;
};

/* The command line as somebody is asked about it: with the change of directory that the workdir is.
 */
void confine_subject(struct str command, struct str workdir, struct buf *subject);

MUST_USE bool confine(struct toolbox *box, const struct confine_request *request, struct arena *a,
    struct confined *ret_confined, struct err *err);

#endif
