/* All errors of a settings file: each key, and each entry of a list or map, is checked by itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_errors.h"

#include "base/doc.h"

struct config_search {
    const struct config_source *source;
    const struct shape *shape;
    struct arena *arena;
    struct config_errors *errors;
};

void config_errors_done(struct config_errors *e)
{
    for (size_t i = 0; i < e->n; i++)
        err_done(&e->p[i]);
    e->n = 0;
}

static bool config_tree_ok(struct config_search *s, const json_t *tree, struct err *err)
{
    struct config config = {0};
    if (!field_read(s->shape, tree, s->arena, E_CONFIG, &config, err))
        return false;
    config_expand_sandbox(&config.sandbox, s->arena);
    return config_check(&config, err);
}

/* The error of a list with one entry names index 0: puts the real one there. */
static void config_move_index(struct err *err, const char *key, size_t index)
{
    const struct err_pair *field = err_ctx_get(err, "field");
    AUTO_BUF struct buf first = BUF_INIT(256), text = BUF_INIT(64 << 10),
                        place = BUF_INIT(64 << 10);
    buf_printf(&first, "%s[0]", key);
    if (!index || !str_starts_with(str_z(err->message), buf_str(&first)))
        return;
    buf_printf(&text, "%s[%zu]%s", key, index, err->message + first.n);
    if (field && field->text && str_starts_with(str_z(field->text), buf_str(&first))) {
        buf_printf(&place, "%s[%zu]%s", key, index, field->text + first.n);
        err_ctx(err, "field", "%s", buf_z(&place));
    }
    free(err->message);
    err->message = buf_take(&text);
}

static void config_add_error(struct config_search *s, struct err *err)
{
    struct config_errors *e = s->errors;
    (void)doc_blame(err, s->source->text, s->source->path);
    if (e->n < CONFIG_ERRORS_MAX) {
        err_move(&e->p[e->n++], err);
        return;
    }
    e->more++;
    err_done(err);
}

/* A new object with one key, or a list with one entry. */
static json_t *config_only(const char *key, json_t *value)
{
    json_t *tree = json_object();
    json_put(tree, key, value);
    return tree;
}

static void config_check_list(struct config_search *s, const char *key, json_t *list)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        AUTO_ERR struct err err = {0};
        json_t *one = json_array();
        json_push(one, json_incref(entry));
        AUTO_JSON json_t *tree = config_only(key, one);
        if (config_tree_ok(s, tree, &err))
            continue;
        config_move_index(&err, key, i);
        config_add_error(s, &err);
    }
}

static void config_check_map(struct config_search *s, const char *key, json_t *map)
{
    const char *name;
    json_t *entry;
    json_object_foreach(map, name, entry)
    {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *tree = config_only(key, config_only(name, json_incref(entry)));
        if (!config_tree_ok(s, tree, &err))
            config_add_error(s, &err);
    }
}

/* Entries are checked one by one only if the list as a whole fails: some settings allow others. An
 * error that no entry causes alone, such as a duplicate, is reported for the list. */
static void config_check_key(struct config_search *s, const char *key, json_t *value)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = config_only(key, json_incref(value));
    size_t before = s->errors->n;
    if (config_tree_ok(s, tree, &err))
        return;
    if (json_is_array(value))
        config_check_list(s, key, value);
    else if (json_is_object(value))
        config_check_map(s, key, value);
    if (s->errors->n == before)
        config_add_error(s, &err);
}

void config_find_errors(const struct config_source *source, const struct shape *shape,
    struct arena *a, struct config_errors *errors)
{
    struct config_search s = {source, shape, a, errors};
    AUTO_JSON json_t *tree = config_tree(source);
    const char *key;
    json_t *value;
    json_object_foreach(tree, key, value) config_check_key(&s, key, value);
}
