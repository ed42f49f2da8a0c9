/* Checks of settings that the tables cannot express. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"
#include "base/place.h"
#include "config/config.h"
#include "llm/provider.h"
#include "path/root.h"
#include "tool/rule.h"
#include "tui/bind.h"
#include "tui/theme.h"

enum {
    PLACE_MAX = 64 << 10,
};

/* Adds the location to the message and to the error context. */
static bool config_check_blame(struct err *err, struct buf *place)
{
    err_wrap(err, "%s", buf_z(place));
    return err_ctx(err, "field", "%s", buf_z(place));
}

static bool blame_entry(struct err *err, const char *list, size_t i)
{
    AUTO_BUF struct buf place = BUF_INIT(PLACE_MAX);
    place_add_key(&place, str_z(list));
    place_add_index(&place, i);
    return config_check_blame(err, &place);
}

/* The same for an error that names a member of the entry. */
static bool blame_member(struct err *err, const char *list, size_t i)
{
    const struct err_pair *field = err_ctx_get(err, "field");
    AUTO_BUF struct buf member = BUF_INIT(PLACE_MAX);
    if (field && field->text)
        buf_printf(&member, ".%s", field->text);
    err_wrap(err, "%s[%zu]", list, i);
    return err_ctx(err, "field", "%s[%zu]%s", list, i, buf_z(&member));
}

static bool blame_key(struct err *err, const char *map, struct str key)
{
    AUTO_BUF struct buf place = BUF_INIT(PLACE_MAX);
    place_add_key(&place, str_z(map));
    if (key.p)
        place_add_key(&place, key);
    return config_check_blame(err, &place);
}

static bool config_check_markers(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < config->project_markers.n; i++) {
        struct str marker = config->project_markers.p[i];
        if (!root_marker_valid(marker)) {
            err_set(err, E_CONFIG, "'" STR_FMT "' is not a single file name", STR_ARG(marker));
            return blame_entry(err, "project_markers", i);
        }
    }
    return true;
}

static bool config_check_rules(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < config->allow.n; i++)
        if (!rule_check(config->allow.p[i], err))
            return blame_entry(err, "allow", i);
    return true;
}

static bool config_check_agents(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < config->n_agents; i++) {
        for (size_t k = 0; k < i; k++)
            if (str_eq(config->agents[i].name, config->agents[k].name)) {
                err_set(
                    err, E_CONFIG, "duplicate name '" STR_FMT "'", STR_ARG(config->agents[i].name));
                return blame_entry(err, "agents", i);
            }
        if (!agent_check(&config->agents[i], err))
            return blame_member(err, "agents", i);
    }
    return true;
}

static bool config_check_provider(const struct config *config, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(config->provider);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX), names = BUF_INIT(CHOICE_LIST_MAX);
    if (!config->provider.p)
        return true;
    for (size_t i = 0; provider_names[i]; i++)
        if (str_is(config->provider, provider_names[i]))
            return true;
    choice_add_all(&c, provider_names);
    choice_hint(&c, "", &hint);
    choice_join(provider_names, ", ", &names);
    err_set(err, E_CONFIG, "no such provider '" STR_FMT "': expected one of %s%s",
        STR_ARG(config->provider), buf_z(&names), buf_z(&hint));
    return blame_key(err, "provider", (struct str){0});
}

static bool config_check_base_url(const struct config *config, struct err *err)
{
    return !config->base_url.p || provider_check_url(config->base_url, err) ||
           blame_key(err, "base_url", (struct str){0});
}

static bool config_check_theme(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < config->theme.n; i++) {
        const struct str_pair *row = &config->theme.p[i];
        enum theme what;
        struct style style;
        if (!theme_find(row->key, &what, err) || !theme_parse(row->text, &style, err))
            return blame_key(err, "theme", row->key);
    }
    return true;
}

bool config_bindings(const struct config *config, struct bindings *b, struct err *err)
{
    for (size_t i = 0; i < config->keys.n; i++)
        if (!bind_add(b, config->keys.p[i].key, config->keys.p[i].text, err))
            return blame_key(err, "keys", config->keys.p[i].key);
    return true;
}

json_t *config_keys(
    const struct config *config, const struct bindings *b, const struct bind_action *action)
{
    json_t *keys = json_array();
    const char *still = action->key ? bind_key(b, action->key) : NULL;
    if (still && strcmp(still, action->key) == 0)
        json_push(keys, json_string(action->key));
    for (size_t i = 0; i < config->keys.n; i++)
        if (str_is(config->keys.p[i].text, action->name) &&
            !(still && str_is(config->keys.p[i].key, still)))
            json_push(keys, json_text(config->keys.p[i].key));
    return keys;
}

void config_add_keys(
    const struct config *config, const struct bindings *b, const char *action, struct buf *out)
{
    const struct bind_action *a = bind_actions;
    while (strcmp(a->name, action) != 0)
        a++;
    AUTO_JSON json_t *keys = config_keys(config, b, a);
    size_t i;
    const json_t *key;
    json_array_foreach(keys, i, key)
    {
        buf_add_z(out, i ? ", " : "");
        buf_add_str(out, json_str(key));
    }
}

static bool config_check_keys(const struct config *config, struct err *err)
{
    struct bindings b = {0};
    return config_bindings(config, &b, err);
}

static bool config_check_sandbox(const struct config *config, struct err *err)
{
    if (config->sandbox.mode == CONFIG_NATIVE || config->sandbox.unsafe_ack)
        return true;
    err_set(err, E_CONFIG,
        "'landlock' is a weaker sandbox: acknowledge it with 'unsafe_ack: true', or use "
        "'native'");
    return blame_key(err, "sandbox", STR("mode"));
}

bool config_check(const struct config *config, struct err *err)
{
    return config_check_sandbox(config, err) && config_check_additions(&config->sandbox, err) &&
           config_check_markers(config, err) && config_check_provider(config, err) &&
           config_check_base_url(config, err) && config_check_agents(config, err) &&
           config_check_rules(config, err) && config_check_theme(config, err) &&
           config_check_keys(config, err);
}
