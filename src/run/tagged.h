/* Objects of the form {"type", "payload"}: a table lists the types and the payload of each. A
 * table's rows begin with a struct tagged; all payloads fill the same C struct.
 *
 *     static const struct action_kind kinds[] = {
 *         {{"key", NULL, &key_shape, "press a key"}, press}, …};
 *     static const struct tagged_table table = TAGGED_TABLE("action", kinds);
 *     if (!tagged_read(&table, &source, arena, &kind, &payload, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TAGGED_H
#define RUN_TAGGED_H

#include "base/field.h"

struct tagged {
    const char *name;
    const char *alias; /* also accepted, but not documented; may be NULL */
    const struct shape *payload;
    const char *help;
    const char *example; /* a payload, as JSON */
};

struct tagged_table {
    const char *noun; /* for error messages */
    const void *rows;
    size_t n, size;
};

#define TAGGED_TABLE(what, array)                                                          \
    {                                                                                      \
        .noun = (what), .rows = (array), .n = ARRAY_LEN(array), .size = sizeof((array)[0]) \
    }

/* Reads the row's index and its payload; errors name the place. */
MUST_USE bool tagged_read(const struct tagged_table *table, const struct field_source *source,
    struct arena *arena, size_t *ret_kind, void *ret_payload, struct err *err);

/* Returns [{"type", "help", "payload": JSON Schema, "example"}]. */
MUST_USE json_t *tagged_schema(const struct tagged_table *table);

/* Returns the same as one JSON Schema: an object that matches one of the rows. */
MUST_USE json_t *tagged_one_of(const struct tagged_table *table);

#endif
