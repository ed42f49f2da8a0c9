/* Finds the source of each setting. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_sources.h"

#include "base/doc.h"
#include "config/project.h"
#include "llm/dialect.h"

void config_sources_done(struct config_sources *s)
{
    json_decref(s->user_tree);
    json_decref(s->project_tree);
}

bool config_sources_load(const char *dir, struct arena *a, struct config_sources *s,
    struct config *ret_config, struct err *err)
{
    AUTO_PROJECT struct project project = PROJECT_INIT;
    if (!config_read_user(a, &s->user, err) ||
        !config_parse(&s->user, &config_user_shape, a, ret_config, err) ||
        !project_find(a, dir, &project, err) ||
        !config_read_project(project.fd, a, &s->project, err) ||
        !config_add_project(project.fd, a, ret_config, err))
        return false;
    s->user_tree = config_tree(&s->user);
    s->project_tree = config_tree(&s->project);
    return true;
}

/* Adds the location of a setting in a file. */
static void sources_add_place(
    json_t *from, const char *kind, const struct config_source *source, const char *key)
{
    struct point at = doc_locate(source->text, doc_format(source->text, source->path), key);
    json_t *place = json_object();
    json_put(place, "source", json_string(kind));
    json_put(place, "file", json_text(str_z(source->path)));
    json_put(place, "line", json_integer(at.line));
    json_push(from, place);
}

static void sources_add_variable(json_t *from, const char *name)
{
    json_t *place = json_object();
    json_put(place, "source", json_string("environment"));
    json_put(place, "variable", json_string(name));
    json_push(from, place);
}

static bool sources_env_is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

static const struct dialect *const source_dialects[] = {&dialect_anthropic, &dialect_openai};

/* Finds the service: from the settings, or the one whose key variable is set. NULL: scripted. */
static const struct dialect *sources_service(const struct config *config, const char **ret_variable)
{
    const struct dialect *found = NULL;
    *ret_variable = NULL;
    for (size_t i = 0; i < ARRAY_LEN(source_dialects); i++) {
        const struct dialect *d = source_dialects[i];
        if (config->provider.p && str_is(config->provider, d->name))
            return d;
        if (config->provider.p || !sources_env_is_set(d->key_variable))
            continue;
        found = d;
        *ret_variable = d->key_variable;
    }
    return found;
}

/* Adds the variable or default of the service that applies instead of a file, for settings that
 * have one: as for an agent without options. */
static void sources_add_service(json_t *row, const char *key, const struct config *config)
{
    const char *by_key;
    const struct dialect *d = sources_service(config, &by_key);
    json_t *from = json_object_get(row, "from");
    bool in_file = json_array_size(from) > 0;
    if (strcmp(key, "provider") == 0 && !in_file) {
        json_put(row, "value", json_string(d ? d->name : "scripted"));
        if (by_key)
            sources_add_variable(from, by_key);
    }
    const struct {
        const char *key, *variable, *def;
    } rows[] = {
        {"model", d ? d->model_variable : NULL, d ? d->default_model : NULL},
        {"base_url", d ? d->base_variable : NULL, d ? d->default_base : NULL},
        {"key_command", d ? d->key_variable : NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(key, rows[i].key) != 0)
            continue;
        bool by_variable = rows[i].variable && sources_env_is_set(rows[i].variable);
        if (by_variable) {
            json_array_clear(from);
            sources_add_variable(from, rows[i].variable);
        }
        bool secret = strcmp(key, "key_command") == 0;
        if (by_variable && secret)
            json_put(row, "value", json_null());
        else if (by_variable)
            json_put(row, "value", json_text(str_z(getenv(rows[i].variable))));
        else if (!in_file && rows[i].def)
            json_put(row, "value", json_string(rows[i].def));
    }
}

static json_t *sources_row(const struct config_sources *s, const struct config *config,
    const json_t *values, const struct field *field)
{
    json_t *row = json_object(), *from = json_array();
    json_t *value = json_object_get(values, field->name);
    if (json_object_get(s->user_tree, field->name))
        sources_add_place(from, "user", &s->user, field->name);
    if (json_object_get(s->project_tree, field->name))
        sources_add_place(from, "project", &s->project, field->name);
    json_put(row, "key", json_string(field->name));
    json_put(row, "value", value ? json_incref(value) : json_null());
    json_put(row, "from", from);
    sources_add_service(row, field->name, config);
    return row;
}

json_t *config_sources_json(const struct config_sources *s, const struct config *config)
{
    AUTO_JSON json_t *values = field_write(&config_user_shape, config);
    json_t *rows = json_array();
    for (size_t i = 0; i < config_user_shape.n_fields; i++)
        json_push(rows, sources_row(s, config, values, &config_user_shape.fields[i]));
    return rows;
}
