/* Reading an object by its field table: strict, every error names its place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/field.h"

#include "base/choice.h"
#include "base/field_kind.h"
#include "base/place.h"

#include <stdarg.h>

enum {
    PLACE_MAX = 8 * 1024,
    SHOWN_TEXT = 60, /* bytes of a string in a message */
};

/* Place of a value in the tree: a chain on the stack, formatted only for an error. */
struct spot {
    const struct spot *up; /* NULL: the root */
    struct str key;        /* no value: an index */
    size_t index;
};

struct field_reader {
    struct arena *arena;
    struct err *err;
    const char *place;
    enum err_code code;
    unsigned depth;
};

static void field_add_place(struct buf *b, const struct spot *at)
{
    if (!at->up)
        return;
    field_add_place(b, at->up);
    if (at->key.p)
        place_add_key(b, at->key);
    else
        place_add_index(b, at->index);
}

static bool PRINTF_LIKE(3, 4)
    field_fail(struct field_reader *r, const struct spot *at, const char *format, ...)
{
    AUTO_BUF struct buf what = BUF_INIT(PLACE_MAX);
    va_list args;
    va_start(args, format);
    buf_vprintf(&what, format, args);
    va_end(args);
    AUTO_BUF struct buf place = BUF_INIT(PLACE_MAX);
    buf_add_z(&place, r->place ? r->place : "");
    field_add_place(&place, at);
    if (place.n == 0)
        return err_set(r->err, r->code, "%s", buf_z(&what));
    err_set(r->err, r->code, "%s: %s", buf_z(&place), buf_z(&what));
    return err_ctx(r->err, "field", "%s", buf_z(&place));
}

static bool fail_type(
    struct field_reader *r, const struct spot *at, const char *expected, const json_t *found)
{
    return field_fail(r, at, "expected %s, found %s", expected, json_kind(found));
}

/* Allocates, or fails with an error: the input decides how much is requested. */
static bool field_alloc(
    struct field_reader *r, const struct spot *at, size_t count, size_t size, void **ret_memory)
{
    if (count > 0 && size > arena_left(r->arena) / count)
        return field_fail(r, at, "exceeds the memory limit");
    *ret_memory = arena_array(r->arena, count, size);
    return true;
}

static bool field_read_fail_unknown(
    struct field_reader *r, const struct spot *at, const struct shape *shape)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(at->key);
    for (size_t i = 0; i < shape->n_fields; i++)
        choice_add(&c, shape->fields[i].name);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX + 100);
    choice_hint(&c, "", &hint);
    if (hint.n == 0)
        buf_printf(&hint, "; valid keys: %s", c.n ? choice_list(&c) : "none");
    return field_fail(r, at, "unknown key%s", buf_z(&hint));
}

static bool fail_name(
    struct field_reader *r, const struct spot *at, const struct field *field, struct str written)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(written);
    for (size_t i = 0; i < field->n_names; i++)
        if (field->names[i])
            choice_add(&c, field->names[i]);
    AUTO_BUF struct buf hint = BUF_INIT(256);
    choice_hint(&c, "", &hint);
    struct str shown = str_head(written, SHOWN_TEXT);
    return field_fail(
        r, at, "'" STR_FMT "' is not one of %s%s", STR_ARG(shown), choice_list(&c), buf_z(&hint));
}

static bool field_read_bool(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    if (!json_is_boolean(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    *(bool *)(void *)to = json_is_true(json);
    return true;
}

static bool field_read_integer(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    int64_t value = json_integer_value(json);
    bool text = field->flags & FIELD_FROM_TEXT && json_is_string(json) &&
                str_to_int(json_str(json), INT64_MIN, INT64_MAX, &value);
    if (!json_is_integer(json) && !text)
        return fail_type(r, at, field_trait(field)->expected, json);
    int64_t min = field_min(field), max = field_max(field);
    if (value < min && max == INT64_MAX)
        return field_fail(r, at, "%lld is less than %lld", (long long)value, (long long)min);
    if (value < min || value > max)
        return field_fail(r, at, "%lld is not within %lld to %lld", (long long)value,
            (long long)min, (long long)max);
    if (field->kind == FIELD_KIND_U16)
        *(uint16_t *)(void *)to = (uint16_t)value;
    else if (field->kind == FIELD_KIND_U32)
        *(uint32_t *)(void *)to = (uint32_t)value;
    else
        *(int64_t *)(void *)to = value;
    return true;
}

static bool field_read_double(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    if (!json_is_number(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    double value = json_number_value(json);
    if (field->ranged && (value < (double)field->min || value > (double)field->max))
        return field_fail(r, at, "%g is not within %lld to %lld", value, (long long)field->min,
            (long long)field->max);
    *(double *)(void *)to = value;
    return true;
}

static bool check_count(struct field_reader *r, const struct spot *at, const struct field *field,
    size_t n, const char *unit)
{
    int64_t min = field_min(field), max = field_max(field);
    if ((int64_t)n < min)
        return field_fail(r, at, "%zu %s, at least %lld are needed", n, unit, (long long)min);
    if ((int64_t)n > max)
        return field_fail(r, at, "%zu %s, at most %lld are allowed", n, unit, (long long)max);
    return true;
}

static size_t count_characters(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static bool copy_text(
    struct field_reader *r, const struct spot *at, const json_t *json, struct str *to)
{
    struct str text = json_str(json);
    void *copy = NULL;
    if (!json_is_string(json))
        return fail_type(r, at, "a string", json);
    if (str_find(text, '\0') >= 0) /* a system call would stop there */
        return field_fail(r, at, "the string contains a NUL character");
    if (!field_alloc(r, at, text.n + 1, 1, &copy))
        return false;
    memcpy(copy, text.p, text.n);
    *to = str_n(copy, text.n);
    return true;
}

static bool field_read_text(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    struct str text;
    if (!copy_text(r, at, json, &text))
        return false;
    if (field->ranged && !check_count(r, at, field, count_characters(text), "characters"))
        return false;
    *(struct str *)(void *)to = text;
    return true;
}

static bool field_read_enum(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    if (!json_is_string(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    for (unsigned i = 0; i < field->n_names; i++)
        if (field->names[i] && str_is(json_str(json), field->names[i])) {
            *(int *)(void *)to = (int)i;
            return true;
        }
    return fail_name(r, at, field, json_str(json));
}

static bool field_read_one_text(
    struct field_reader *r, const struct spot *at, const json_t *json, char *to)
{
    void *text = NULL;
    if (!field_alloc(r, at, 1, sizeof(struct str), &text) || !copy_text(r, at, json, text))
        return false;
    *(struct str_list *)(void *)to = (struct str_list){text, 1};
    return true;
}

static bool field_read_texts(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    size_t n = json_array_size(json);
    void *texts = NULL;
    bool one = field->flags & FIELD_ONE_OR_MORE;
    if (one && json_is_string(json))
        return field_read_one_text(r, at, json, to);
    if (!json_is_array(json))
        return fail_type(
            r, at, one ? "a string or a list of strings" : field_trait(field)->expected, json);
    if (!check_count(r, at, field, n, "entries") ||
        !field_alloc(r, at, n, sizeof(struct str), &texts))
        return false;
    struct str_list list = {texts, n};
    for (size_t i = 0; i < n; i++) {
        struct spot entry = {.up = at, .index = i};
        if (!copy_text(r, &entry, json_array_get(json, i), &list.p[i]))
            return false;
    }
    *(struct str_list *)(void *)to = list;
    return true;
}

static bool field_read_map(struct field_reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    size_t n = json_object_size(json), i = 0;
    void *pairs = NULL;
    if (!json_is_object(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    if (!check_count(r, at, field, n, "entries") ||
        !field_alloc(r, at, n, sizeof(struct str_pair), &pairs))
        return false;
    struct str_map map = {pairs, n};
    json_t *o = (json_t *)json; /* jansson can only iterate over non-const objects */
    for (void *it = json_object_iter(o); it; it = json_object_iter_next(o, it), i++) {
        struct str key = str_n(json_object_iter_key(it), json_object_iter_key_len(it));
        struct spot entry = {.up = at, .key = key};
        void *copy = NULL;
        if (!field_alloc(r, &entry, key.n + 1, 1, &copy))
            return false;
        memcpy(copy, key.p, key.n);
        map.p[i].key = str_n(copy, key.n);
        if (!copy_text(r, &entry, json_object_iter_value(it), &map.p[i].text))
            return false;
    }
    *(struct str_map *)(void *)to = map;
    return true;
}

static bool field_read_shape(struct field_reader *r, const struct spot *at,
    const struct shape *shape, const json_t *json, char *to);

static bool field_read_object(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    return field_read_shape(r, at, field->shape, json, to);
}

static bool field_read_maybe(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    void *object = NULL;
    if (!field_alloc(r, at, 1, field->shape->size, &object) ||
        !field_read_shape(r, at, field->shape, json, object))
        return false;
    *(void **)(void *)to = object;
    return true;
}

static bool field_read_objects(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    size_t n = json_array_size(json);
    void *objects = NULL;
    if (!json_is_array(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    if (!check_count(r, at, field, n, "entries") ||
        !field_alloc(r, at, n, field->shape->size, &objects))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct spot entry = {.up = at, .index = i};
        char *object = (char *)objects + i * field->shape->size;
        if (!field_read_shape(r, &entry, field->shape, json_array_get(json, i), object))
            return false;
    }
    *(void **)(void *)to = objects;
    *(size_t *)(void *)(to - field->offset + field->count) = n;
    return true;
}

static bool field_read_json(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    (void)r, (void)at, (void)field;
    *(const json_t **)(void *)to = json;
    return true;
}

static bool field_read_value(struct field_reader *r, const struct spot *at,
    const struct field *field, const json_t *json, char *to)
{
    static bool (*const readers[FIELD_KIND_COUNT])(struct field_reader *, const struct spot *,
        const struct field *, const json_t *, char *) = {
        [FIELD_KIND_BOOL] = field_read_bool,
        [FIELD_KIND_I64] = field_read_integer,
        [FIELD_KIND_U64] = field_read_integer,
        [FIELD_KIND_U32] = field_read_integer,
        [FIELD_KIND_U16] = field_read_integer,
        [FIELD_KIND_DOUBLE] = field_read_double,
        [FIELD_KIND_STR] = field_read_text,
        [FIELD_KIND_ENUM] = field_read_enum,
        [FIELD_KIND_STRS] = field_read_texts,
        [FIELD_KIND_MAP] = field_read_map,
        [FIELD_KIND_OBJECT] = field_read_object,
        [FIELD_KIND_MAYBE] = field_read_maybe,
        [FIELD_KIND_OBJECTS] = field_read_objects,
        [FIELD_KIND_JSON] = field_read_json,
    };
    return readers[field->kind](r, at, field, json, to);
}

static bool field_read_absent(
    struct field_reader *r, const struct spot *at, const struct field *field, char *to)
{
    if (field->flags & FIELD_REQUIRED)
        return field_fail(r, at, "required, but missing");
    AUTO_JSON json_t *json = NULL;
    if (field->kind == FIELD_KIND_OBJECT) {
        json = json_object();
    } else if (field->def) {
        AUTO_ERR struct err unused = {0};
        bool ok = json_parse(str_z(field->def), field->name, r->code, &json, &unused);
        BUG_ON(!ok); /* shape_check() verifies it */
    }
    return !json || field_read_value(r, at, field, json, to);
}

static bool field_read_field(struct field_reader *r, const struct spot *up,
    const struct field *field, const json_t *object, char *base)
{
    struct spot at = {.up = up, .key = str_z(field->name)};
    const json_t *json = json_object_get(object, field->name);
    const json_t *other = field->alias ? json_object_get(object, field->alias) : NULL;
    if (json && other) {
        at.key = str_z(field->alias);
        return field_fail(r, &at, "the same as \"%s\", which is also given", field->name);
    }
    if (other) {
        at.key = str_z(field->alias);
        json = other;
    }
    if (!json)
        return field_read_absent(r, &at, field, base + field->offset);
    if (field->has)
        *(bool *)(void *)(base + field->has - 1) = true;
    return field_read_value(r, &at, field, json, base + field->offset);
}

static bool field_is_known(const struct shape *shape, struct str key)
{
    for (size_t i = 0; i < shape->n_fields; i++) {
        const struct field *field = &shape->fields[i];
        if (str_is(key, field->name) || (field->alias && str_is(key, field->alias)))
            return true;
    }
    return false;
}

static bool field_read_shape(struct field_reader *r, const struct spot *at,
    const struct shape *shape, const json_t *json, char *to)
{
    if (!json_is_object(json))
        return fail_type(r, at, "an object", json);
    if (r->depth == JSON_DEPTH_MAX)
        return field_fail(r, at, "nested more than %d levels deep", JSON_DEPTH_MAX);
    json_t *o = (json_t *)json; /* jansson can only iterate over non-const objects */
    for (void *it = json_object_iter(o); it; it = json_object_iter_next(o, it)) {
        struct str key = str_n(json_object_iter_key(it), json_object_iter_key_len(it));
        if (!field_is_known(shape, key))
            return field_read_fail_unknown(r, &(struct spot){.up = at, .key = key}, shape);
    }
    r->depth++;
    for (size_t i = 0; i < shape->n_fields; i++)
        if (!field_read_field(r, at, &shape->fields[i], json, to))
            return false;
    r->depth--;
    return true;
}

bool field_read_part(const struct shape *shape, const struct field_source *source,
    struct arena *arena, void *ret_struct, struct err *err)
{
    struct field_reader r = {
        .arena = arena, .err = err, .place = source->place, .code = source->code};
    const struct spot whole = {0};
    AUTO_FREE void *copy = base_alloc(shape->size);
    if (!field_read_shape(&r, &whole, shape, source->json, copy))
        return false;
    memcpy(ret_struct, copy, shape->size);
    return true;
}

bool field_read(const struct shape *shape, const json_t *json, struct arena *arena,
    enum err_code code, void *ret_struct, struct err *err)
{
    const struct field_source source = {.json = json, .code = code};
    return field_read_part(shape, &source, arena, ret_struct, err);
}
