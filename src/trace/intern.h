/* Texts of JSON values, each once, by number, with a separator between them: together they are the
 * contents of a list, or lines.
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
    size_t at, n; /* in the text */
    uint32_t id;  /* + 1; 0: free */
};

struct intern {
    struct buf text; /* the values with separators between them */
    char separator;
    struct intern_slot *slots;
    size_t n_slots, n;
};

void intern_init(struct intern *t, char separator, size_t max_bytes);
void intern_done(struct intern *t);

/* The number of a value; 0 if there is no room for it any more (the text says so: buf_ok). */
uint32_t intern_add(struct intern *t, struct str value);

#endif
