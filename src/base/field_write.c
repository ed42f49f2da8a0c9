/* Writing an object by its field table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/field.h"

#include "base/field_kind.h"

static json_t *write_shape(const struct shape *shape, const char *from, unsigned depth);

static json_t *write_integer(const struct field *field, const void *at)
{
    if (field->kind == FIELD_KIND_U16)
        return json_integer(*(const uint16_t *)at);
    if (field->kind == FIELD_KIND_U32)
        return json_integer(*(const uint32_t *)at);
    int64_t value = *(const int64_t *)at;
    BUG_ON(field->kind == FIELD_KIND_U64 && value < 0); /* JSON integers end at 2^63 */
    return json_integer(value);
}

static json_t *write_enum(const struct field *field, const void *at)
{
    unsigned value = *(const unsigned *)at;
    BUG_ON(value >= field->n_names);
    const char *name = field->names[value];
    return name ? json_text(str_z(name)) : NULL;
}

static json_t *write_texts(const struct str_list *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->n; i++)
        json_push(list, json_text(texts->p[i]));
    return list;
}

static json_t *write_map(const struct str_map *map)
{
    json_t *object = json_object();
    for (size_t i = 0; i < map->n; i++) {
        AUTO_JSON json_t *key = json_text(map->p[i].key); /* made valid UTF-8 */
        json_put(object, json_string_value(key), json_text(map->p[i].text));
    }
    return object;
}

static json_t *write_objects(const struct field *field, const char *base, unsigned depth)
{
    const char *objects = *(char *const *)(const void *)(base + field->offset);
    size_t n = *(const size_t *)(const void *)(base + field->count);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_push(list, write_shape(field->shape, objects + i * field->shape->size, depth));
    return list;
}

/* Returns a new value, or NULL if the member has no value. */
static json_t *write_value(const struct field *field, const char *base, unsigned depth)
{
    const void *at = base + field->offset;
    switch (field->kind) {
    case FIELD_KIND_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_KIND_I64:
    case FIELD_KIND_U64:
    case FIELD_KIND_U32:
    case FIELD_KIND_U16:
        return write_integer(field, at);
    case FIELD_KIND_DOUBLE:
        return json_real(*(const double *)at);
    case FIELD_KIND_STR:
        return ((const struct str *)at)->p ? json_text(*(const struct str *)at) : NULL;
    case FIELD_KIND_ENUM:
        return write_enum(field, at);
    case FIELD_KIND_STRS:
        return write_texts(at);
    case FIELD_KIND_MAP:
        return write_map(at);
    case FIELD_KIND_OBJECT:
        return write_shape(field->shape, at, depth);
    case FIELD_KIND_MAYBE:
        return *(void *const *)at ? write_shape(field->shape, *(void *const *)at, depth) : NULL;
    case FIELD_KIND_OBJECTS:
        return write_objects(field, base, depth);
    case FIELD_KIND_JSON:
        return json_incref(*(json_t *const *)at);
    case FIELD_KIND_COUNT:
        break;
    }
    BUG_ON(true);
}

static bool field_is_empty(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return json_object_size(value) == 0;
    case JSON_ARRAY:
        return json_array_size(value) == 0;
    case JSON_STRING:
        return json_string_length(value) == 0;
    case JSON_INTEGER:
    case JSON_REAL:
        return json_number_value(value) == 0;
    case JSON_FALSE:
        return true;
    default:
        return false;
    }
}

/* A required string without value is written as "", since reading requires the key. */
static json_t *when_absent(const struct field *field)
{
    bool text = field->kind == FIELD_KIND_STR && (field->flags & FIELD_REQUIRED);
    return text ? json_text(STR("")) : NULL;
}

static json_t *write_shape(const struct shape *shape, const char *from, unsigned depth)
{
    BUG_ON(depth > JSON_DEPTH_MAX);
    json_t *object = json_object();
    for (size_t i = 0; i < shape->n_fields; i++) {
        const struct field *field = &shape->fields[i];
        if (field->has && !*(const bool *)(const void *)(from + field->has - 1))
            continue;
        json_t *value = write_value(field, from, depth + 1);
        if (!value)
            value = when_absent(field);
        if (value && (field->flags & FIELD_OMIT_EMPTY) && field_is_empty(value))
            json_decrefp(&value);
        if (value)
            json_put(object, field->name, value);
    }
    return object;
}

json_t *field_write(const struct shape *shape, const void *object)
{
    return write_shape(shape, object, 0);
}
