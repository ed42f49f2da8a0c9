/* Destroys boxes by name, all or none.
 *
 *     struct box_destroy d = BOX_DESTROY_INIT(arena);
 *     bool ok = box_destroy_run(&d, &names, err);
 *     box_destroy_done(&d);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXES_BOX_DESTROY_H
#define BOXES_BOX_DESTROY_H

#include "base/json.h"
#include "base/notice.h"
#include "box/box.h"

/* A box to destroy: its name is locked and, once stopped, it cannot be started. */
struct box_destroy_one {
    struct box box;
    int lock, hold;
    bool running;
};

struct box_destroy {
    struct arena *arena;
    bool abandon; /* discard unapplied changes; otherwise they are E_CONFLICT */
    struct notices warnings;
    /* Called with all boxes opened and locked, before the first is destroyed; false with an error
     * stops. May be NULL. */
    bool (*agree)(void *context, const struct box_destroy *d, struct err *err);
    void *context;
    struct boxes boxes;
    struct agent_rows rows;
    struct box_destroy_one *p;
    size_t n;
};

#define BOX_DESTROY_INIT(the_arena) \
    ((struct box_destroy){.arena = (the_arena), .boxes = BOXES_NONE})

MUST_USE bool box_destroy_run(struct box_destroy *d, const struct str_list *names, struct err *err);
void box_destroy_done(struct box_destroy *d);

/* {"destroyed": [names]}, a new object. */
MUST_USE json_t *box_destroy_json(const struct box_destroy *d);

#endif
