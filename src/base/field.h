/* Field tables: one description of a JSON object drives reading, writing and its JSON Schema.
 *
 *     static const struct field size_fields[] = {
 *         FIELD_U16("rows", struct size, rows, "lines of the screen", .def = "24",
 *             FIELD_RANGE(1, 500)),
 *         FIELD_STR("title", struct size, title, "shown above it", .flags = FIELD_OMIT_EMPTY),
 *     };
 *     const struct shape size_shape = SHAPE("size", struct size, size_fields, "a screen's size");
 *
 *     if (!field_read(&size_shape, json, &arena, E_CONFIG, &size, err)) return false;
 *
 * A row has: the JSON name, the struct, its member (whose C type is checked at compile time),
 * arguments specific to the kind, help, and then options in any order. Unknown or missing keys and
 * values of the wrong type or out of range are errors that name their place, such as
 * steps[2].size.rows. Absent keys without a default leave zero: NULL, 0, false, a struct str
 * without value.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include "base/arena.h"
#include "base/json.h"

enum field_kind {
    FIELD_KIND_BOOL,
    FIELD_KIND_I64,
    FIELD_KIND_U64,
    FIELD_KIND_U32,
    FIELD_KIND_U16,
    FIELD_KIND_DOUBLE,
    FIELD_KIND_STR,
    FIELD_KIND_ENUM,
    FIELD_KIND_STRS,
    FIELD_KIND_MAP,
    FIELD_KIND_OBJECT,
    FIELD_KIND_MAYBE,
    FIELD_KIND_OBJECTS,
    FIELD_KIND_JSON,
    FIELD_KIND_COUNT,
};

enum {
    FIELD_REQUIRED = 1 << 0,
    FIELD_OMIT_EMPTY = 1 << 1,  /* don't write false, 0, "", [] and {} */
    FIELD_ONE_OR_MORE = 1 << 2, /* FIELD_STRS: one string is read as a list of one */
    FIELD_FROM_TEXT = 1 << 3,   /* an integer may also be written as a string */

    FIELD_LIST_MAX = 100 * 1000, /* maximum entries of a list or map without a range */
};

struct str_list {
    struct str *p;
    size_t n;
};

struct str_pair {
    struct str key;
    struct str text;
};

struct str_map {
    struct str_pair *p;
    size_t n;
};

struct shape;

struct field {
    const char *name;
    const char *alias; /* another name that is accepted but not shown */
    const char *help;
    const char *def;           /* value if absent, as JSON: scalars, lists of strings, maps */
    const char *const *names;  /* FIELD_ENUM: by value; NULL: the value has no name */
    const struct shape *shape; /* of nested objects */
    enum field_kind kind;
    unsigned flags;
    size_t offset;
    size_t size;  /* of the struct that a nested shape fills */
    size_t count; /* FIELD_OBJECTS: offset of their count */
    size_t has;   /* offset of the bool that records presence, plus 1 */
    int64_t min, max;
    bool ranged;
    unsigned n_names;
};

struct shape {
    const char *name;
    const char *help;
    const struct field *fields;
    size_t n_fields;
    size_t size;
};

#define SHAPE(shape_name, type, table, about)                                                   \
    {                                                                                           \
        .name = (shape_name), .help = (about), .fields = (table), .n_fields = ARRAY_LEN(table), \
        .size = sizeof(type)                                                                    \
    }

/* Options: a range for numbers, or for the number of characters or entries of strings, lists and
 * maps; and a bool member that is set if the key was present. */
#define FIELD_RANGE(lowest, highest) .ranged = true, .min = (lowest), .max = (highest)
#define FIELD_HAS(type, member)      .has = FIELD_AT(type, member, bool) + 1

/* The offset of a member; an array of negative size (a compile error) if its type differs. */
#define FIELD_MEMBER(type, member) (((type *)0)->member)
#define FIELD_ASSERT(cond)         (0 * sizeof(char[(cond) ? 1 : -1]))
#define FIELD_IS(type, member, ctype) \
    __builtin_types_compatible_p(__typeof__(FIELD_MEMBER(type, member)), ctype)
#define FIELD_AT(type, member, ctype) \
    (offsetof(type, member) + FIELD_ASSERT(FIELD_IS(type, member, ctype)))

#define FIELD_ROW(k, json, at, about, ...)                                                   \
    {                                                                                        \
        .kind = FIELD_KIND_##k, .name = (json), .offset = (at), .help = (about), __VA_ARGS__ \
    }

#define FIELD_BOOL(json, type, member, help, ...) \
    FIELD_ROW(BOOL, json, FIELD_AT(type, member, bool), help, __VA_ARGS__)
#define FIELD_I64(json, type, member, help, ...) \
    FIELD_ROW(I64, json, FIELD_AT(type, member, int64_t), help, __VA_ARGS__)
#define FIELD_U64(json, type, member, help, ...) \
    FIELD_ROW(U64, json, FIELD_AT(type, member, uint64_t), help, __VA_ARGS__)
#define FIELD_U32(json, type, member, help, ...) \
    FIELD_ROW(U32, json, FIELD_AT(type, member, uint32_t), help, __VA_ARGS__)
#define FIELD_U16(json, type, member, help, ...) \
    FIELD_ROW(U16, json, FIELD_AT(type, member, uint16_t), help, __VA_ARGS__)
#define FIELD_DOUBLE(json, type, member, help, ...) \
    FIELD_ROW(DOUBLE, json, FIELD_AT(type, member, double), help, __VA_ARGS__)
#define FIELD_STR(json, type, member, help, ...) \
    FIELD_ROW(STR, json, FIELD_AT(type, member, struct str), help, __VA_ARGS__)
#define FIELD_STRS(json, type, member, help, ...) \
    FIELD_ROW(STRS, json, FIELD_AT(type, member, struct str_list), help, __VA_ARGS__)
#define FIELD_MAP(json, type, member, help, ...) \
    FIELD_ROW(MAP, json, FIELD_AT(type, member, struct str_map), help, __VA_ARGS__)

/* Any value: a borrowed reference, valid as long as the tree that was read. */
#define FIELD_JSON(json, type, member, help, ...) \
    FIELD_ROW(JSON, json, FIELD_AT(type, member, json_t *), help, __VA_ARGS__)

/* An enum and the array of its names. */
#define FIELD_ENUM(json, type, member, table, help, ...)                                          \
    FIELD_ROW(ENUM, json,                                                                         \
        offsetof(type, member) + FIELD_ASSERT(sizeof(FIELD_MEMBER(type, member)) == sizeof(int)), \
        help, .names = (table), .n_names = ARRAY_LEN(table), __VA_ARGS__)

/* A nested struct: if absent, read as if it were {}. */
#define FIELD_OBJECT(json, type, member, inner, help, ...) \
    FIELD_ROW(OBJECT, json, offsetof(type, member), help,  \
        .size = sizeof(FIELD_MEMBER(type, member)), .shape = (inner), __VA_ARGS__)

/* A pointer to a struct: NULL if absent. */
#define FIELD_MAYBE(json, type, member, inner, help, ...) \
    FIELD_ROW(MAYBE, json, offsetof(type, member), help,  \
        .size = sizeof(*FIELD_MEMBER(type, member)), .shape = (inner), __VA_ARGS__)

/* A pointer to structs, and a size_t member that counts them. */
#define FIELD_OBJECTS(json, type, member, number, inner, help, ...)                           \
    FIELD_ROW(OBJECTS, json, offsetof(type, member), help,                                    \
        .size = sizeof(*FIELD_MEMBER(type, member)), .count = FIELD_AT(type, number, size_t), \
        .shape = (inner), __VA_ARGS__)

/* Fills the struct; everything it points to is in the arena, except FIELD_JSON. Running out of
 * arena space is also reported as an error. */
MUST_USE bool field_read(const struct shape *shape, const json_t *json, struct arena *arena,
    enum err_code code, void *ret_struct, struct err *err);

/* The same for a part of a document: place is the prefix of the places in errors. */
struct field_source {
    const json_t *json;
    const char *place;
    enum err_code code;
};
MUST_USE bool field_read_part(const struct shape *shape, const struct field_source *source,
    struct arena *arena, void *ret_struct, struct err *err);

/* Returns a new object with keys in the table's order. Omits members without a value and those
 * whose FIELD_HAS is false. */
MUST_USE json_t *field_write(const struct shape *shape, const void *object);

/* Returns a new JSON Schema (draft 2020-12). A shape that contains itself is put under "$defs". */
MUST_USE json_t *field_schema(const struct shape *shape);

/* Checks the table itself. For tests. */
MUST_USE bool shape_check(const struct shape *shape, struct err *err);

#endif
