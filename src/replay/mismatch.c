/* Writes mismatches as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/mismatch.h"

#include <stdarg.h>

enum {
    MESSAGE_MAX = 4096,
};

void mismatch_done(struct mismatch *m)
{
    free(m->kind);
    err_done(&m->error);
    json_decref(m->rows);
    *m = (struct mismatch){0};
}

bool mismatch_set(struct mismatch *m, const char *kind, int64_t index, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(MESSAGE_MAX), name = BUF_INIT(64);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    buf_add_z(&name, kind);
    mismatch_done(m);
    m->kind = buf_take(&name);
    m->index = index;
    err_set(&m->error, E_REPLAY_MISMATCH, "%s", buf_z(&text));
    err_ctx(&m->error, "kind", "%s", kind);
    if (index >= 0)
        err_ctx_int(&m->error, "index", index);
    return false;
}

bool mismatch_missing(struct mismatch *m, const char *name)
{
    mismatch_set(m, "missing", MISMATCH_NO_INDEX, "the artifact '%s' is missing", name);
    return err_ctx(&m->error, "file", "%s", name);
}

json_t *mismatch_json(const struct mismatch *m)
{
    if (!m->kind)
        return json_null();
    json_t *object = err_to_json(&m->error);
    json_put(object, "kind", json_string(m->kind));
    json_put(object, "index", m->index >= 0 ? json_integer(m->index) : json_null());
    json_put(object, "rows", m->rows ? json_incref(m->rows) : json_array());
    return object;
}

/* Summaries ----------------------------------------------------------------------------------- */

struct mismatch_entry {
    struct str kind;
    int64_t index;
};

struct mismatch_fields {
    uint32_t version;
    int status;
    struct mismatch_entry *mismatch;
};

static const char *const statuses[] = {"passed", "failed"};

static const struct field found_fields[] = {
    FIELD_STR("kind", struct mismatch_entry, kind, "kind of difference", .flags = FIELD_REQUIRED),
    FIELD_I64("index", struct mismatch_entry, index,
        "index of the step or snapshot, from 0; null if there is none", .flags = FIELD_REQUIRED),
};
static const struct shape found_shape = SHAPE(
    "mismatch", struct mismatch_entry, found_fields, "first difference; null if there is none");

/* Between status and mismatch are the fields of a NormalizationRecord. */
static const struct field summary_fields[] = {
    FIELD_U32("replay_version", struct mismatch_fields, version, "1", .flags = FIELD_REQUIRED,
        FIELD_RANGE(REPLAY_VERSION, REPLAY_VERSION)),
    FIELD_ENUM("status", struct mismatch_fields, status, statuses, "result of the replay",
        .flags = FIELD_REQUIRED),
    FIELD_MAYBE("mismatch", struct mismatch_fields, mismatch, &found_shape,
        "first difference; null if there is none", .flags = FIELD_REQUIRED),
};
static const struct shape summary_shape =
    SHAPE("replay", struct mismatch_fields, summary_fields, "result of a replay");

/* Merges two objects: the own fields, those of the record without its version, then "mismatch". */
static void mismatch_merge(json_t *to, json_t *own, json_t *record, const char *version)
{
    const char *key;
    json_t *value, *last = json_incref(json_object_get(own, "mismatch"));
    json_object_del(own, "mismatch");
    json_object_del(record, version);
    json_object_foreach(own, key, value) json_put(to, key, json_incref(value));
    json_object_foreach(record, key, value) json_put(to, key, json_incref(value));
    json_put(to, "mismatch", last ? last : json_null());
}

json_t *mismatch_summary(const struct mismatch *m, const struct normalization *n)
{
    static const struct normalization none = {.source = "none"};
    struct mismatch_entry found = {
        .kind = m->kind ? str_z(m->kind) : (struct str){0}, .index = m->index};
    const struct mismatch_fields s = {REPLAY_VERSION, m->kind != NULL, m->kind ? &found : NULL};
    AUTO_JSON json_t *own = field_write(&summary_shape, &s),
                     *record = normalization_json(n ? n : &none);
    json_t *object = json_object();
    if (m->kind && m->index < 0)
        json_put(json_object_get(own, "mismatch"), "index", json_null());
    mismatch_merge(object, own, record, "normalization_version");
    return object;
}

/* Makes a schema also accept null. */
static void or_null(json_t *schema)
{
    json_t *types = json_array();
    json_push(types, json_incref(json_object_get(schema, "type")));
    json_push(types, json_string("null"));
    json_put(schema, "type", types);
}

json_t *mismatch_summary_schema(void)
{
    json_t *schema = field_schema(&summary_shape), *properties = json_object();
    AUTO_JSON json_t *record = normalization_schema();
    json_t *own = json_object_get(schema, "properties"),
           *mismatch = json_object_get(own, "mismatch"), *value;
    size_t i;
    or_null(mismatch);
    or_null(json_object_get(json_object_get(mismatch, "properties"), "index"));
    mismatch_merge(properties, own, json_object_get(record, "properties"), "normalization_version");
    json_array_foreach(json_object_get(record, "required"), i,
        value) if (strcmp(json_string_value(value), "normalization_version") != 0)
        json_push(json_object_get(schema, "required"), json_incref(value));
    json_put(schema, "properties", properties);
    return schema;
}
