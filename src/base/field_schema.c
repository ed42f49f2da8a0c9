/* A field table as JSON Schema. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/field.h"

#include "base/field_kind.h"

enum {
    SHAPES_DEEP_MAX = 32,
};

/* The shapes being described, outermost first: a recursive one refers to "$defs". */
struct schema {
    json_t *defs;
    const struct shape *open[SHAPES_DEEP_MAX];
    size_t n_open;
};

static json_t *describe_shape(struct schema *s, const struct shape *shape);

static json_t *describe_ref(struct schema *s, const struct shape *shape)
{
    if (!json_object_get(s->defs, shape->name)) {
        json_put(s->defs, shape->name, json_true()); /* placeholder: describe it only once */
        struct schema fresh = {.defs = s->defs};
        json_put(s->defs, shape->name, describe_shape(&fresh, shape));
    }
    json_t *ref = json_object();
    BUG_ON(json_object_set_new(ref, "$ref", json_sprintf("#/$defs/%s", shape->name)) != 0);
    return ref;
}

static json_t *describe_inner(struct schema *s, const struct shape *shape)
{
    for (size_t i = 0; i < s->n_open; i++)
        if (s->open[i] == shape)
            return describe_ref(s, shape);
    return describe_shape(s, shape);
}

static void put_type(json_t *to, const char *type)
{
    json_put(to, "type", json_text(str_z(type)));
}

static json_t *string_type(void)
{
    json_t *type = json_object();
    put_type(type, "string");
    return type;
}

/* The range, under the keywords of the kind. */
static void put_range(json_t *to, const struct field *field, const char *min, const char *max)
{
    bool lowest = field_is_integer(field) && field_min(field) != INT64_MIN;
    bool highest = field_is_integer(field) && field_max(field) != INT64_MAX;
    if (field->ranged || lowest)
        json_put(to, min, json_integer(field_min(field)));
    if (field->ranged || highest)
        json_put(to, max, json_integer(field_max(field)));
}

static void put_names(json_t *to, const struct field *field)
{
    json_t *names = json_array();
    for (size_t i = 0; i < field->n_names; i++)
        if (field->names[i])
            json_push(names, json_text(str_z(field->names[i])));
    json_put(to, "enum", names);
}

static void put_details(json_t *to, struct schema *s, const struct field *field)
{
    switch (field->kind) {
    case FIELD_KIND_ENUM:
        put_names(to, field);
        break;
    case FIELD_KIND_STR:
        put_range(to, field, "minLength", "maxLength");
        break;
    case FIELD_KIND_STRS:
        json_put(to, "items", string_type());
        put_range(to, field, "minItems", "maxItems");
        break;
    case FIELD_KIND_OBJECTS:
        json_put(to, "items", describe_inner(s, field->shape));
        put_range(to, field, "minItems", "maxItems");
        break;
    case FIELD_KIND_MAP:
        json_put(to, "additionalProperties", string_type());
        put_range(to, field, "minProperties", "maxProperties");
        break;
    default:
        put_range(to, field, "minimum", "maximum");
    }
}

static void put_default(json_t *to, const struct field *field)
{
    json_t *def = NULL;
    AUTO_ERR struct err unused = {0};
    if (!field->def)
        return;
    bool ok = json_parse(str_z(field->def), field->name, E_INTERNAL, &def, &unused);
    BUG_ON(!ok); /* shape_check() verifies it */
    json_put(to, "default", def);
}

/* One string or a list of strings. */
static json_t *describe_either(struct schema *s, const struct field *field)
{
    json_t *to = json_object(), *choices = json_array(), *list = json_object();
    put_type(list, field_trait(field)->type);
    put_details(list, s, field);
    json_push(choices, string_type());
    json_push(choices, list);
    json_put(to, "anyOf", choices);
    return to;
}

static json_t *describe_field(struct schema *s, const struct field *field)
{
    json_t *to = NULL;
    if (field->flags & FIELD_ONE_OR_MORE) {
        to = describe_either(s, field);
    } else if (field->kind == FIELD_KIND_OBJECT || field->kind == FIELD_KIND_MAYBE) {
        to = describe_inner(s, field->shape);
    } else {
        to = json_object();
        if (field_trait(field)->type)
            put_type(to, field_trait(field)->type);
        put_details(to, s, field);
    }
    put_default(to, field);
    json_put(to, "description", json_text(str_z(field->help)));
    return to;
}

static json_t *describe_shape(struct schema *s, const struct shape *shape)
{
    BUG_ON(s->n_open == SHAPES_DEEP_MAX);
    s->open[s->n_open++] = shape;
    json_t *properties = json_object();
    json_t *required = json_array();
    for (size_t i = 0; i < shape->n_fields; i++) {
        const struct field *field = &shape->fields[i];
        json_put(properties, field->name, describe_field(s, field));
        if (field->flags & FIELD_REQUIRED)
            json_push(required, json_text(str_z(field->name)));
    }
    s->n_open--;
    json_t *to = json_object();
    put_type(to, "object");
    json_put(to, "description", json_text(str_z(shape->help)));
    json_put(to, "properties", properties);
    json_put(to, "required", required);
    json_put(to, "additionalProperties", json_false());
    return to;
}

json_t *field_schema(const struct shape *shape)
{
    struct schema s = {.defs = json_object()};
    json_t *schema = describe_shape(&s, shape);
    if (json_object_size(s.defs) > 0)
        json_put(schema, "$defs", s.defs);
    else
        json_decref(s.defs);
    return schema;
}
