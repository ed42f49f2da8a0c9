/* Interns the texts of JSON values: each is stored once and has a number. With a separator between
 * them the texts form the contents of a list, or lines.
 *
 *     intern_init(&rows, ',', MAX);
 *     uint32_t id = intern_add(&rows, STR("[0,\"ls\"]"));
 *     buf_printf(out, "[%s]", buf_z(&rows.text));
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_INTERN_H
#define TRACE_INTERN_H

#include "base/buf.h"

struct intern_slot {
    uint64_t hash;
    size_t at, n; /* offset and length in the text */
    uint32_t id;  /* number + 1; 0: free */
};

struct intern {
    struct buf text; /* the values with separators */
    char separator;
    struct intern_slot *slots;
    size_t n_slots, n;
};

void intern_init(struct intern *t, char separator, size_t max_bytes);
void intern_done(struct intern *t);

/* Returns the number of a value; 0 on overflow (then buf_ok(&t->text) is false). */
uint32_t intern_add(struct intern *t, struct str value);

#endif
