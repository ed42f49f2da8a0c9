/* Applies the changes of a box to its project, from the check to the result: for commands and
 * servers.
 *
 *     struct box_apply a = {.arena = arena, .box = &box, …};
 *     bool ok = box_apply_run(&a, err);         a.end tells what was done
 *     json_t *object = box_apply_json(&a);
 *     box_apply_done(&a);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXES_BOX_APPLY_H
#define BOXES_BOX_APPLY_H

#include "base/notice.h"
#include "box/applying.h"

enum box_apply_end {
    BOX_APPLY_NOTHING, /* there is nothing to apply */
    BOX_APPLY_DRY,     /* it would be applied */
    BOX_APPLY_APPLIED,
    BOX_APPLY_REFUSED,  /* `why`; nothing was changed */
    BOX_APPLY_IN_PLACE, /* a `:rw` box: its changes are in the project already */
};

struct box_apply {
    struct arena *arena;
    const struct box *box;
    const char *const *paths; /* only these; n == 0: all */
    size_t n;
    bool dry_run, allow_executed;
    struct notices warnings;
    /* Called before the changes are applied, also in a dry run; false with an error stops. `agent`:
     * it is the agent that runs in the box, see x.running. May be NULL. */
    bool (*agree)(void *context, bool agent, struct err *err);
    void *context;
    /* Results. */
    struct applying x;
    enum box_apply_end end;
    struct err why;
};

#define BOX_APPLY_INIT(the_arena, the_box, the_paths, the_n) \
    ((struct box_apply){.arena = (the_arena),                \
        .box = (the_box),                                    \
        .paths = (the_paths),                                \
        .n = (the_n),                                        \
        .x = APPLYING_INIT})

MUST_USE bool box_apply_run(struct box_apply *a, struct err *err);
void box_apply_done(struct box_apply *a);

/* The result of `cordon box apply --json`, a new object; for a refusal its members besides the
 * error. */
MUST_USE json_t *box_apply_json(const struct box_apply *a);

#endif
