/* Reads {"type", "payload"} objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/tagged.h"

#include "base/choice.h"

struct tagged_head {
    struct str type;
    json_t *payload;
};

static const struct field head_fields[] = {
    FIELD_STR("type", struct tagged_head, type, "name of the type", .flags = FIELD_REQUIRED),
    FIELD_JSON("payload", struct tagged_head, payload, "parameters of the type"),
};
static const struct shape head_shape =
    SHAPE("tagged", struct tagged_head, head_fields, "a type and its payload");

static const struct tagged *tagged_row(const struct tagged_table *t, size_t i)
{
    return (const struct tagged *)((const char *)t->rows + i * t->size);
}

static bool tagged_unknown(
    const struct tagged_table *t, struct str type, const char *place, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(type);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX);
    for (size_t i = 0; i < t->n; i++)
        choice_add(&c, tagged_row(t, i)->name);
    choice_hint(&c, "", &hint);
    if (!hint.n)
        buf_printf(&hint, "; 'cordon protocol-help' lists the %ss", t->noun);
    err_set(err, E_PROTOCOL, "%s.type: unknown %s '" STR_FMT "'%s", place, t->noun,
        STR_ARG(str_head(type, 64)), buf_z(&hint));
    err_ctx(err, "known", "%s", choice_list(&c));
    return err_ctx(err, "field", "%s.type", place);
}

bool tagged_read(const struct tagged_table *table, const struct field_source *source,
    struct arena *arena, size_t *ret_kind, void *ret_payload, struct err *err)
{
    struct tagged_head head;
    if (!field_read_part(&head_shape, source, arena, &head, err))
        return false;
    for (size_t i = 0; i < table->n; i++) {
        const struct tagged *t = tagged_row(table, i);
        if (!str_is(head.type, t->name) && !(t->alias && str_is(head.type, t->alias)))
            continue;
        AUTO_JSON json_t *empty = head.payload ? NULL : json_object();
        const struct field_source payload = {head.payload ? head.payload : empty,
            arena_printf(arena, "%s.payload", source->place), source->code};
        if (!field_read_part(t->payload, &payload, arena, ret_payload, err))
            return false;
        *ret_kind = i;
        return true;
    }
    return tagged_unknown(table, head.type, source->place, err);
}

static json_t *example_of(const struct tagged *t)
{
    AUTO_ERR struct err err = {0};
    json_t *object = json_object(), *payload = NULL;
    bool ok = json_parse(str_z(t->example), t->name, E_INTERNAL, &payload, &err);
    BUG_ON(!ok);
    json_put(object, "type", json_string(t->name));
    json_put(object, "payload", payload);
    return object;
}

json_t *tagged_schema(const struct tagged_table *table)
{
    json_t *list = json_array();
    for (size_t i = 0; i < table->n; i++) {
        json_t *entry = json_object();
        json_put(entry, "type", json_string(tagged_row(table, i)->name));
        json_put(entry, "help", json_string(tagged_row(table, i)->help));
        json_put(entry, "payload", field_schema(tagged_row(table, i)->payload));
        json_put(entry, "example", example_of(tagged_row(table, i)));
        json_push(list, entry);
    }
    return list;
}

static json_t *names_of(const struct tagged *t)
{
    json_t *type = json_object(), *names = json_array();
    json_push(names, json_string(t->name));
    if (t->alias)
        json_push(names, json_string(t->alias));
    json_put(type, "enum", names);
    return type;
}

json_t *tagged_one_of(const struct tagged_table *table)
{
    json_t *list = json_array(), *schema = json_object();
    for (size_t i = 0; i < table->n; i++) {
        const struct tagged *t = tagged_row(table, i);
        json_t *entry = json_object(), *properties = json_object(), *required = json_array();
        json_t *payload = field_schema(t->payload);
        json_push(required, json_string("type"));
        if (json_array_size(json_object_get(payload, "required")))
            json_push(required, json_string("payload"));
        json_put(properties, "type", names_of(t));
        json_put(properties, "payload", payload);
        json_put(entry, "type", json_string("object"));
        json_put(entry, "description", json_string(t->help));
        json_put(entry, "properties", properties);
        json_put(entry, "required", required);
        json_put(entry, "additionalProperties", json_false());
        json_push(list, entry);
    }
    json_put(schema, "oneOf", list);
    return schema;
}
