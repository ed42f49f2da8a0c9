/* What a box shows: its plan for the sandbox, and the environment of what runs in it.
 *
 *     struct box_view view;
 *     if (!view_make(&box, &input, &arena, &view, err)) return false;
 *     launch_start(&(struct launch){.plan = &view.plan, …}, …)
 *
 * Inside: the system read-only, as any sandbox has it; the project at its own path, under the
 * box's layer, with programs in it allowed to run; extra directories, read-only unless `:rw`; HOME
 * at the parent of the agent's state directory, which is the box's home/; a private /tmp; the
 * agent's own program, wherever it is installed, read-only. Nothing else of $HOME or $CORDON_HOME.
 *
 * In a directory that the box may really change (`:rw`), `.git` is read-only: the host's git would
 * run what is written there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_VIEW_H
#define BOX_VIEW_H

#include "box/box.h"
#include "policy/validate.h"
#include "sandbox/plan.h"

struct view_input {
    const char *const *environ; /* the caller's: where keys and PATH are taken from */
    const char *home;           /* the user's real one, or NULL */
    const char *program;        /* argv[0] of what is to run; NULL: the agent's, if it is there */
    uint16_t proxy_port;        /* inside; 0: there is no proxy */
};

/* Must stay where it was made: the verdict points to the policy beside it. */
struct box_view {
    struct policy policy;
    struct verdict verdict;
    struct plan plan;
    const char *const *envp; /* ends in NULL; holds the agent's keys: never logged */
    const char *program;     /* inside, absolute; NULL without one */
};

/* E_NOT_FOUND: the agent's program is not installed, with what was looked for and where. */
MUST_USE bool view_make(const struct box *box, const struct view_input *input, struct arena *arena,
    struct box_view *ret_view, struct err *err);

#endif
