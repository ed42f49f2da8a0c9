/* Confinement of a tool's command: the policy for the toolbox's mode, its verdict for this command,
 * and the sandbox plan. All commands of a toolbox run in one sandbox (tool/tool_world.h), except
 * where it serves one call or has no namespaces.
 *
 *     struct confine c;
 *     if (!confine(box, &(struct confine_request){.command = cmd, ...}, &arena, &c, err)) ...
 *     ...c.confined.plan, c.confined.argv, c.confined.envp, c.world, c.cwd...
 *
 * The root is writable, system programs can be run, /tmp is private, and the network is disabled.
 * Nothing that a model requests widens the mode's policy.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CONFINE_H
#define TOOL_CONFINE_H

#include "session/confined.h"
#include "session/world.h"
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

struct confine {
    struct confined confined;
    struct world *world; /* where it runs; NULL: in a sandbox of its own */
    const char *cwd;
};

/* Appends the command line for the approval question, with the `cd` that the workdir implies. */
void confine_subject(struct str command, struct str workdir, struct buf *subject);

MUST_USE bool confine(struct toolbox *box, const struct confine_request *request, struct arena *a,
    struct confine *ret_confine, struct err *err);

/* Adds what was denied to a command that has ended to its result: details.denied, and for one that
 * failed a line or two for the model. `session`: session_inside() or exec_result.session. */
struct tool_result;
void confine_tell_denied(const struct toolbox *box, const struct confine *c, pid_t session,
    bool failed, struct tool_result *result);

/* Releases what confine() allocated outside of its arena. Accepts a zeroed object. */
void confine_done(struct confine *c);

#endif
