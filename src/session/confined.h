/* A command with its confinement: the policy, the verdict on it, the sandbox's plan and the
 * environment. Every command that this program starts is prepared here.
 *
 *     struct confined c = {.policy = policy, .argv = argv};
 *     if (!confined_make(&c, &options, &arena, err)) return false;
 *     ... process_open() or exec_run() with c.plan, c.argv, c.envp
 *
 * The two steps of confined_make() can be taken apart, to look at the verdict between them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_CONFINED_H
#define SESSION_CONFINED_H

#include "policy/developer.h"
#include "policy/validate.h"
#include "sandbox/host_plan.h"
#include "session/process.h"

struct protect;

struct confined_options {
    struct policy_host host;
    struct policy_command command; /* must be allowed; without a path nothing is checked */
    const struct denial *denial;   /* another one, of the caller; may be NULL */
    struct protect *protect;       /* its parts of repositories stay unchanged; may be NULL */
    struct host_plan_input plan;   /* `verdict` and `kept` are filled in */
    /* A program and a directory that only the plan's binds contain, instead of those of `command`;
     * may have no value. */
    struct str inside_command, inside_cwd;
    const char *const *environ;            /* variables that the policy may inherit; NULL: none */
    bool (*may_show)(struct str resolved); /* see struct developer_input */
    bool own_view; /* the caller shows the developer's machine itself: PATH, HOME, toolchains */
};

/* Must not be moved after the verdict, which points to the policy. */
struct confined {
    struct policy policy;    /* set by the caller */
    struct policy effective; /* with the developer's machine, if the policy wants it */
    const char *const *argv; /* set by the caller; may be NULL */
    struct denied *denied;   /* set by the caller: collects what is denied; NULL: nothing */
    struct developer developer;
    struct verdict verdict;
    struct plan plan;
    const struct str *kept; /* the protected parts of repositories */
    size_t n_kept;
    const char *const *envp;
    struct buf *refused; /* set by the caller: see struct process_options; may be NULL */
};

/* Validates the policy and the command. */
void confined_judge(
    struct confined *c, const struct confined_options *options, struct arena *arena);

/* Makes the plan and the environment; the verdict must allow the command. */
MUST_USE bool confined_plan(struct confined *c, const struct confined_options *options,
    struct arena *arena, struct err *err);

/* Does both, if the verdict allows it. */
MUST_USE bool confined_make(struct confined *c, const struct confined_options *options,
    struct arena *arena, struct err *err);

/* The budgets of its policy. */
struct process_budgets confined_budgets(const struct confined *c);

#endif
