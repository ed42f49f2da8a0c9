/* Presets: parsed YAML with the working root substituted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/preset.h"

#include "base/choice.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "policy/load.h"

static const struct str root_word = {"${ROOT}", sizeof("${ROOT}") - 1};

static const struct preset *preset_find(const char *name)
{
    for (size_t i = 0; i < n_presets; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

static bool preset_fail_unknown(const char *name, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_z(name));
    AUTO_BUF struct buf hint = BUF_INIT(256);
    choice_add_all(&c, preset_names);
    choice_hint(&c, "", &hint);
    return err_set(err, E_NOT_FOUND, "no such preset '%s'; available: %s%s", name, choice_list(&c),
        buf_z(&hint));
}

/* Returns the text with the root substituted (a new reference). */
static json_t *put_root(const json_t *text, struct str root)
{
    struct str rest = str_skip(json_str(text), root_word.n);
    AUTO_BUF struct buf b = BUF_INIT(root.n + rest.n + 1);
    buf_add_str(&b, root);
    buf_add_str(&b, rest);
    return json_text(buf_str(&b));
}

static bool wants_root(const json_t *value)
{
    return json_is_string(value) && str_starts_with(json_str(value), root_word);
}

static bool preset_is_missing(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && text[0] == '/' && access(text, F_OK) != 0;
}

static void preset_substitute(json_t *tree, struct str root)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(tree, next, key, value)
    {
        if (wants_root(value))
            json_put(tree, key, put_root(value, root));
        else
            preset_substitute(value, root);
    }
    for (size_t i = 0; i < json_array_size(tree);) {
        value = json_array_get(tree, i);
        if (wants_root(value))
            json_array_set_new(tree, i, put_root(value, root));
        else if (preset_is_missing(value)) {
            json_array_remove(tree, i);
            continue;
        }
        i++;
    }
}

bool preset_load(const char *name, struct str root, struct arena *arena, struct policy *ret_policy,
    struct err *err)
{
    const struct preset *preset = preset_find(name);
    AUTO_JSON json_t *tree = NULL;
    if (!preset)
        return preset_fail_unknown(name, err);
    if (!utf8_valid(root))
        return err_set(err, E_POLICY_DENIED,
            "the working root '" STR_FMT "' is not UTF-8, and cannot be used in a policy",
            STR_ARG(root));
    bool ok = yaml_parse(str_z(preset->text), preset->name, E_INTERNAL, &tree, err);
    BUG_ON(!ok);
    preset_substitute(tree, root);
    if (!policy_from_json(tree, "", arena, ret_policy, NULL, err))
        return false;
    ret_policy->limits.asked_processes = ret_policy->limits.asked_memory = false;
    return true;
}
