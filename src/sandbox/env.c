/* Builds the environment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/env.h"

#include "base/variable.h"

struct env_builder {
    struct arena *arena;
    const char **list;
    size_t n;
};

/* Adds a variable, or replaces an earlier one of the same name. */
static void env_put(struct env_builder *m, struct str name, struct str value)
{
    const char *text = arena_printf(m->arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value));
    for (size_t i = 0; i < m->n; i++) {
        struct str old = str_z(m->list[i]);
        if (str_starts_with(old, name) && old.p[name.n] == '=') {
            m->list[i] = text;
            return;
        }
    }
    m->list[m->n++] = text;
}

static void env_inherit(struct env_builder *m, struct str name, const char *const *caller)
{
    struct str value = variable_of(caller, name);
    if (value.p)
        env_put(m, name, value);
}

const char *const *env_make(
    const struct policy_env *env, const char *const *caller, struct arena *arena)
{
    enum {
        DEFAULTS = 2
    };
    struct env_builder m = {arena, NULL, 0};
    m.list = ARENA_NEW(arena, const char *, env->allowlist.n + env->set.n + DEFAULTS + 1);
    env_put(&m, STR("TERM"), STR("xterm-256color"));
    env_put(&m, STR("LANG"), STR("C.UTF-8"));
    for (size_t i = 0; env->inherit && i < env->allowlist.n; i++)
        env_inherit(&m, env->allowlist.p[i], caller);
    for (size_t i = 0; i < env->set.n; i++)
        env_put(&m, env->set.p[i].key, env->set.p[i].text);
    return m.list;
}
