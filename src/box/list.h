/* All boxes with their status and whether they have changes.
 *
 *     AUTO(list_done) struct box_list list = {0};
 *     list_inspect(&boxes, &names, &rows, &arena, &list);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_LIST_H
#define BOX_LIST_H

#include "base/json.h"
#include "box/box.h"
#include "box/state.h"

/* A box that cannot be read is also listed, with its known data and the error. */
struct box_listed {
    struct str name;
    struct box_meta meta;
    bool has_meta;
    enum box_status status;
    bool changes;
    struct err error; /* code 0: no error */
};

struct box_list {
    struct box_listed *p;
    size_t n;
};

/* Inspects the boxes of these names; a box that was destroyed in the meantime is left out. */
void list_inspect(const struct boxes *boxes, const struct str_list *names,
    const struct agent_rows *rows, struct arena *arena, struct box_list *ret_list);
void list_done(struct box_list *list);

MUST_USE json_t *list_json(const struct box_listed *b);
/* {"boxes": [...]}, a new object. */
MUST_USE json_t *list_all_json(const struct box_list *list);

#endif
