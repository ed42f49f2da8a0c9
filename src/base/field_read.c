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

struct reader {
    struct arena *arena;
    struct err *err;
    const char *place;
    enum err_code code;
    unsigned depth;
};

static void add_place(struct buf *b, const struct spot *at)
{
    if (!at->up)
        return;
    add_place(b, at->up);
    if (at->key.p)
        place_add_key(b, at->key);
    else
        place_add_index(b, at->index);
}

static bool PRINTF_LIKE(3, 4) fail(struct reader *r, const struct spot *at, const char *format, ...)
{
    AUTO_BUF struct buf what = BUF_INIT(PLACE_MAX);
    va_list args;
    va_start(args, format);
    buf_vprintf(&what, format, args);
    va_end(args);
    AUTO_BUF struct buf place = BUF_INIT(PLACE_MAX);
    buf_add_z(&place, r->place ? r->place : "");
    add_place(&place, at);
    if (place.n == 0)
        return err_set(r->err, r->code, "%s", buf_z(&what));
    err_set(r->err, r->code, "%s: %s", buf_z(&place), buf_z(&what));
    return err_ctx(r->err, "field", "%s", buf_z(&place));
}

static bool fail_type(
    struct reader *r, const struct spot *at, const char *expected, const json_t *found)
{
    return fail(r, at, "expected %s, found %s", expected, json_kind(found));
}

/* Allocates, or fails with an error: the input decides how much is requested. */
static bool take(
    struct reader *r, const struct spot *at, size_t count, size_t size, void **ret_memory)
{
    if (count > 0 && size > arena_left(r->arena) / count)
        return fail(r, at, "too large for the memory that is set aside");
    *ret_memory = arena_array(r->arena, count, size);
    return true;
}

static bool fail_unknown(struct reader *r, const struct spot *at, const struct shape *shape)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(at->key);
    for (size_t i = 0; i < shape->n_fields; i++)
        choice_add(&c, shape->fields[i].name);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX + 100);
    choice_hint(&c, "", &hint);
    if (hint.n == 0)
        buf_printf(&hint, "; the keys here are %s", c.n ? choice_list(&c) : "none");
    return fail(r, at, "unknown key%s", buf_z(&hint));
}

static bool fail_name(
    struct reader *r, const struct spot *at, const struct field *field, struct str written)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(written);
    for (size_t i = 0; i < field->n_names; i++)
        if (field->names[i])
            choice_add(&c, field->names[i]);
    AUTO_BUF struct buf hint = BUF_INIT(256);
    choice_hint(&c, "", &hint);
    struct str shown = str_head(written, SHOWN_TEXT);
    return fail(
        r, at, "'" STR_FMT "' is not one of %s%s", STR_ARG(shown), choice_list(&c), buf_z(&hint));
}

static bool read_bool(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    if (!json_is_boolean(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    *(bool *)(void *)to = json_is_true(json);
    return true;
}

static bool read_integer(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    int64_t value = json_integer_value(json);
    bool text = field->flags & FIELD_FROM_TEXT && json_is_string(json) &&
                str_to_int(json_str(json), INT64_MIN, INT64_MAX, &value);
    if (!json_is_integer(json) && !text)
        return fail_type(r, at, field_trait(field)->expected, json);
    int64_t min = field_min(field), max = field_max(field);
    if (value < min && max == INT64_MAX)
        return fail(r, at, "%lld is less than %lld", (long long)value, (long long)min);
    if (value < min || value > max)
        return fail(r, at, "%lld is not within %lld to %lld", (long long)value, (long long)min,
            (long long)max);
    if (field->kind == FIELD_KIND_U16)
        *(uint16_t *)(void *)to = (uint16_t)value;
    else if (field->kind == FIELD_KIND_U32)
        *(uint32_t *)(void *)to = (uint32_t)value;
    else
        *(int64_t *)(void *)to = value;
    return true;
}

static bool read_double(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    if (!json_is_number(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    double value = json_number_value(json);
    if (field->ranged && (value < (double)field->min || value > (double)field->max))
        return fail(r, at, "%g is not within %lld to %lld", value, (long long)field->min,
            (long long)field->max);
    *(double *)(void *)to = value;
    return true;
}

static bool check_count(
    struct reader *r, const struct spot *at, const struct field *field, size_t n, const char *unit)
{
    int64_t min = field_min(field), max = field_max(field);
    if ((int64_t)n < min)
        return fail(r, at, "%zu %s, at least %lld are needed", n, unit, (long long)min);
    if ((int64_t)n > max)
        return fail(r, at, "%zu %s, at most %lld are allowed", n, unit, (long long)max);
    return true;
}

static size_t count_characters(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static bool copy_text(struct reader *r, const struct spot *at, const json_t *json, struct str *to)
{
    struct str text = json_str(json);
    void *copy = NULL;
    if (!json_is_string(json))
        return fail_type(r, at, "a string", json);
    if (str_find(text, '\0') >= 0) /* a system call would stop there */
        return fail(r, at, "a string with the character NUL");
    if (!take(r, at, text.n + 1, 1, &copy))
        return false;
    memcpy(copy, text.p, text.n);
    *to = str_n(copy, text.n);
    return true;
}

static bool read_text(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    struct str text;
    if (!copy_text(r, at, json, &text))
        return false;
    if (field->ranged && !check_count(r, at, field, count_characters(text), "characters"))
        return false;
    *(struct str *)(void *)to = text;
    return true;
}

static bool read_enum(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
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

static bool read_one_text(struct reader *r, const struct spot *at, const json_t *json, char *to)
{
    void *text = NULL;
    if (!take(r, at, 1, sizeof(struct str), &text) || !copy_text(r, at, json, text))
        return false;
    *(struct str_list *)(void *)to = (struct str_list){text, 1};
    return true;
}

static bool read_texts(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    size_t n = json_array_size(json);
    void *texts = NULL;
    bool one = field->flags & FIELD_ONE_OR_MORE;
    if (one && json_is_string(json))
        return read_one_text(r, at, json, to);
    if (!json_is_array(json))
        return fail_type(
            r, at, one ? "a string or a list of strings" : field_trait(field)->expected, json);
    if (!check_count(r, at, field, n, "entries") || !take(r, at, n, sizeof(struct str), &texts))
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

static bool read_map(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    size_t n = json_object_size(json), i = 0;
    void *pairs = NULL;
    if (!json_is_object(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    if (!check_count(r, at, field, n, "entries") ||
        !take(r, at, n, sizeof(struct str_pair), &pairs))
        return false;
    struct str_map map = {pairs, n};
    json_t *o = (json_t *)json; /* jansson can only iterate over non-const objects */
    for (void *it = json_object_iter(o); it; it = json_object_iter_next(o, it), i++) {
        struct str key = str_n(json_object_iter_key(it), json_object_iter_key_len(it));
        struct spot entry = {.up = at, .key = key};
        void *copy = NULL;
        if (!take(r, &entry, key.n + 1, 1, &copy))
            return false;
        memcpy(copy, key.p, key.n);
        map.p[i].key = str_n(copy, key.n);
        if (!copy_text(r, &entry, json_object_iter_value(it), &map.p[i].text))
            return false;
    }
    *(struct str_map *)(void *)to = map;
    return true;
}

static bool read_shape(struct reader *r, const struct spot *at, const struct shape *shape,
    const json_t *json, char *to);

static bool read_object(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    return read_shape(r, at, field->shape, json, to);
}

static bool read_maybe(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    void *object = NULL;
    if (!take(r, at, 1, field->shape->size, &object) ||
        !read_shape(r, at, field->shape, json, object))
        return false;
    *(void **)(void *)to = object;
    return true;
}

static bool read_objects(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    size_t n = json_array_size(json);
    void *objects = NULL;
    if (!json_is_array(json))
        return fail_type(r, at, field_trait(field)->expected, json);
    if (!check_count(r, at, field, n, "entries") || !take(r, at, n, field->shape->size, &objects))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct spot entry = {.up = at, .index = i};
        char *object = (char *)objects + i * field->shape->size;
        if (!read_shape(r, &entry, field->shape, json_array_get(json, i), object))
            return false;
    }
    *(void **)(void *)to = objects;
    *(size_t *)(void *)(to - field->offset + field->count) = n;
    return true;
}

static bool read_json(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    (void)r, (void)at, (void)field;
    *(const json_t **)(void *)to = json;
    return true;
}

static bool read_value(struct reader *r, const struct spot *at, const struct field *field,
    const json_t *json, char *to)
{
    static bool (*const readers[FIELD_KIND_COUNT])(
        struct reader *, const struct spot *, const struct field *, const json_t *, char *) = {
        [FIELD_KIND_BOOL] = read_bool,
        [FIELD_KIND_I64] = read_integer,
        [FIELD_KIND_U64] = read_integer,
        [FIELD_KIND_U32] = read_integer,
        [FIELD_KIND_U16] = read_integer,
        [FIELD_KIND_DOUBLE] = read_double,
        [FIELD_KIND_STR] = read_text,
        [FIELD_KIND_ENUM] = read_enum,
        [FIELD_KIND_STRS] = read_texts,
        [FIELD_KIND_MAP] = read_map,
        [FIELD_KIND_OBJECT] = read_object,
        [FIELD_KIND_MAYBE] = read_maybe,
        [FIELD_KIND_OBJECTS] = read_objects,
        [FIELD_KIND_JSON] = read_json,
    };
    return readers[field->kind](r, at, field, json, to);
}

static bool read_absent(
    struct reader *r, const struct spot *at, const struct field *field, char *to)
{
    if (field->flags & FIELD_REQUIRED)
        return fail(r, at, "required, but missing");
    AUTO_JSON json_t *json = NULL;
    if (field->kind == FIELD_KIND_OBJECT) {
        json = json_object();
    } else if (field->def) {
        AUTO_ERR struct err unused = {0};
        bool ok = json_parse(str_z(field->def), field->name, r->code, &json, &unused);
        BUG_ON(!ok); /* shape_check() verifies it */
    }
    return !json || read_value(r, at, field, json, to);
}

static bool read_field(struct reader *r, const struct spot *up, const struct field *field,
    const json_t *object, char *base)
{
    struct spot at = {.up = up, .key = str_z(field->name)};
    const json_t *json = json_object_get(object, field->name);
    const json_t *other = field->alias ? json_object_get(object, field->alias) : NULL;
    if (json && other) {
        at.key = str_z(field->alias);
        return fail(r, &at, "the same as \"%s\", which is there too", field->name);
    }
    if (other) {
        at.key = str_z(field->alias);
        json = other;
    }
    if (!json)
        return read_absent(r, &at, field, base + field->offset);
    if (field->has)
        *(bool *)(void *)(base + field->has - 1) = true;
    return read_value(r, &at, field, json, base + field->offset);
}

static bool known(const struct shape *shape, struct str key)
{
    for (size_t i = 0; i < shape->n_fields; i++) {
        const struct field *field = &shape->fields[i];
        if (str_is(key, field->name) || (field->alias && str_is(key, field->alias)))
            return true;
    }
    return false;
}

static bool read_shape(struct reader *r, const struct spot *at, const struct shape *shape,
    const json_t *json, char *to)
{
    if (!json_is_object(json))
        return fail_type(r, at, "an object", json);
    if (r->depth == JSON_DEPTH_MAX)
        return fail(r, at, "nested more than %d levels deep", JSON_DEPTH_MAX);
    json_t *o = (json_t *)json; /* jansson can only iterate over non-const objects */
    for (void *it = json_object_iter(o); it; it = json_object_iter_next(o, it)) {
        struct str key = str_n(json_object_iter_key(it), json_object_iter_key_len(it));
        if (!known(shape, key))
            return fail_unknown(r, &(struct spot){.up = at, .key = key}, shape);
    }
    r->depth++;
    for (size_t i = 0; i < shape->n_fields; i++)
        if (!read_field(r, at, &shape->fields[i], json, to))
            return false;
    r->depth--;
    return true;
}

bool field_read_part(const struct shape *shape, const struct field_source *source,
    struct arena *arena, void *ret_struct, struct err *err)
{
    struct reader r = {.arena = arena, .err = err, .place = source->place, .code = source->code};
    const struct spot whole = {0};
    AUTO_FREE void *copy = base_alloc(shape->size);
    if (!read_shape(&r, &whole, shape, source->json, copy))
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
