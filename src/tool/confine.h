/* Confinement of a tool's command: the policy for the toolbox's mode, its verdict for this command,
 * and the sandbox plan.
 *
 *     struct confined c;
 *     if (!confine(box, &(struct confine_request){.command = cmd, ...}, &arena, &c, err)) ...
 *     ...c.verdict, c.plan, c.argv, c.envp...
 *
 * The root is writable, system programs can be run, /tmp is private, and the network is disabled.
 * Nothing that a model requests widens the mode's policy.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CONFINE_H
#define TOOL_CONFINE_H

#include "session/confined.h"
#include "tool/toolbox.h"

enum {
    CONFINE_ARENA = VERDICT_ARENA,
    CONFINE_OUTPUT_MAX = 32 << 20, /* maximum output of a command */
    CONFINE_RUNTIME_MAX_MS = 24 * 60 * 60 * 1000,
};

struct confine_request {
    struct str command; /* for the shell */
    struct str workdir; /* unset: the toolbox's working directory */
    uint64_t runtime_ms;
    uint64_t output_bytes; /* 0: CONFINE_OUTPUT_MAX */
};

/* Appends the command line for the approval question, with the `cd` that the workdir implies. */
void confine_subject(struct str command, struct str workdir, struct buf *subject);

MUST_USE bool confine(struct toolbox *box, const struct confine_request *request, struct arena *a,
    struct confined *ret_confined, struct err *err);

#endif
