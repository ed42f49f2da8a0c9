/* Field tables: the traits of each kind, and validation of a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/field.h"

#include "base/field_kind.h"

enum {
    SHAPES_DEEP_MAX = 32,
};

static const struct field_trait traits[FIELD_KIND_COUNT] = {
    [FIELD_KIND_BOOL] = {"boolean", "true or false", sizeof(bool), 0, 0, true},
    [FIELD_KIND_I64] = {"integer", "an integer", sizeof(int64_t), INT64_MIN, INT64_MAX, true},
    [FIELD_KIND_U64] = {"integer", "an integer", sizeof(uint64_t), 0, INT64_MAX, true},
    [FIELD_KIND_U32] = {"integer", "an integer", sizeof(uint32_t), 0, UINT32_MAX, true},
    [FIELD_KIND_U16] = {"integer", "an integer", sizeof(uint16_t), 0, UINT16_MAX, true},
    [FIELD_KIND_DOUBLE] = {"number", "a number", sizeof(double), INT64_MIN, INT64_MAX, true},
    [FIELD_KIND_STR] = {"string", "a string", sizeof(struct str), 0, INT64_MAX, true},
    [FIELD_KIND_ENUM] = {"string", "a string", sizeof(int), 0, 0, true},
    [FIELD_KIND_STRS] = {"array", "a list of strings", sizeof(struct str_list), 0, FIELD_LIST_MAX,
        true},
    [FIELD_KIND_MAP] = {"object", "an object of strings", sizeof(struct str_map), 0, FIELD_LIST_MAX,
        true},
    [FIELD_KIND_OBJECT] = {"object", "an object", 0, 0, 0, false},
    [FIELD_KIND_MAYBE] = {"object", "an object", sizeof(void *), 0, 0, false},
    [FIELD_KIND_OBJECTS] = {"array", "a list of objects", sizeof(void *), 0, FIELD_LIST_MAX, false},
    [FIELD_KIND_JSON] = {NULL, "any value", sizeof(json_t *), 0, 0, false},
};

const struct field_trait *field_trait(const struct field *field)
{
    BUG_ON(field->kind >= FIELD_KIND_COUNT);
    return &traits[field->kind];
}

/* The shapes being checked, outermost first. */
struct field_nest {
    const struct shape *shapes[SHAPES_DEEP_MAX];
    size_t n;
};

static bool field_error(
    const struct shape *shape, const struct field *field, const char *why, struct err *err)
{
    return err_set(err, E_INTERNAL, "shape %s, field %s: %s", shape->name ? shape->name : "?",
        field->name ? field->name : "?", why);
}

static bool field_same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static bool check_names(const struct shape *shape, const struct field *field, struct err *err)
{
    if (!field->name || !field->name[0])
        return field_error(shape, field, "no name", err);
    if (!field->help || !field->help[0])
        return field_error(shape, field, "no help", err);
    if (field_same_text(field->alias, field->name))
        return field_error(shape, field, "its own alias", err);
    for (const struct field *f = shape->fields; f < field; f++)
        if (field_same_text(f->name, field->name) || field_same_text(f->name, field->alias) ||
            field_same_text(f->alias, field->name) || field_same_text(f->alias, field->alias))
            return field_error(shape, field, "duplicate name", err);
    return true;
}

static bool check_memory(const struct shape *shape, const struct field *field, struct err *err)
{
    size_t size = field->kind == FIELD_KIND_OBJECT ? field->size : field_trait(field)->size;
    bool counted = field->kind == FIELD_KIND_OBJECTS;
    if (size > shape->size || field->offset > shape->size - size || field->has > shape->size ||
        (counted && field->count > shape->size - sizeof(size_t)))
        return field_error(shape, field, "outside of the struct", err);
    if (field->size != (field->shape ? field->shape->size : 0))
        return field_error(shape, field, "the shape is of another struct", err);
    return true;
}

static bool field_check_options(
    const struct shape *shape, const struct field *field, struct err *err)
{
    const struct field_trait *trait = field_trait(field);
    bool required = field->flags & FIELD_REQUIRED;
    bool omit = field->flags & FIELD_OMIT_EMPTY;
    bool ranges = trait->min != 0 || trait->max != 0;
    if (field->ranged && (!ranges || field->min > field->max || field->min < trait->min))
        return field_error(shape, field, "a bad range", err);
    if (field->ranged && field->kind <= FIELD_KIND_U16 && field->max > trait->max)
        return field_error(shape, field, "a bad range", err);
    if (field->def && !trait->can_default)
        return field_error(shape, field, "this kind cannot have a default", err);
    if ((required && (field->def || omit)) || (field->def && omit))
        return field_error(shape, field, "required, default, omit: choose one", err);
    if ((field->flags & FIELD_ONE_OR_MORE) &&
        (field->kind != FIELD_KIND_STRS || (field->ranged && field->min > 1)))
        return field_error(shape, field, "this kind of list cannot be a single string", err);
    if (field->kind == FIELD_KIND_ENUM && field->n_names == 0)
        return field_error(shape, field, "no names", err);
    return true;
}

/* Absence must be readable: a default has to parse, a nested struct can't have required keys. */
static bool check_absence(const struct shape *shape, const struct field *field, struct err *err)
{
    if (field->flags & FIELD_REQUIRED)
        return true;
    const struct shape alone = {
        .name = shape->name, .fields = field, .n_fields = 1, .size = shape->size};
    AUTO_ERR struct err why = {0};
    AUTO_JSON json_t *empty = json_object();
    AUTO_JSON json_t *def = NULL;
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_FREE void *object = base_alloc(shape->size);
    if (field->def && !json_parse(str_z(field->def), "default", E_INTERNAL, &def, &why))
        return field_error(shape, field, why.message, err);
    if (!field_read(&alone, empty, &arena, E_INTERNAL, object, &why))
        return field_error(shape, field, why.message, err);
    return true;
}

static bool check_shape(const struct shape *shape, struct field_nest *nest, struct err *err)
{
    for (size_t i = 0; i < nest->n; i++)
        if (nest->shapes[i] == shape)
            return true;
    if (nest->n == SHAPES_DEEP_MAX)
        return err_set(err, E_INTERNAL, "shape %s is nested too deeply", shape->name);
    if (!shape->name || !shape->name[0] || !shape->help || !shape->help[0] || shape->size == 0)
        return err_set(err, E_INTERNAL, "a shape without name, help or size");
    nest->shapes[nest->n++] = shape;
    for (size_t i = 0; i < shape->n_fields; i++) {
        const struct field *field = &shape->fields[i];
        if (!check_names(shape, field, err) || !check_memory(shape, field, err) ||
            !field_check_options(shape, field, err))
            return false;
        if (field->shape && !check_shape(field->shape, nest, err))
            return false;
        if (!check_absence(shape, field, err))
            return false;
    }
    nest->n--;
    return true;
}

bool shape_check(const struct shape *shape, struct err *err)
{
    struct field_nest nest = {.n = 0};
    return check_shape(shape, &nest, err);
}
