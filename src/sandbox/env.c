/* Builds the environment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/env.h"

struct maker {
    struct arena *arena;
    const char **list;
    size_t n;
};

/* Adds a variable, or replaces an earlier one of the same name. */
static void put(struct maker *m, struct str name, struct str value)
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

static void inherit(struct maker *m, struct str name, const char *const *caller)
{
    for (; *caller; caller++) {
        struct str one = str_z(*caller);
        if (str_starts_with(one, name) && one.n > name.n && one.p[name.n] == '=') {
            put(m, name, str_skip(one, name.n + 1));
            return;
        }
    }
}

const char *const *env_make(
    const struct policy_env *env, const char *const *caller, struct arena *arena)
{
    enum {
        DEFAULTS = 2
    };
    struct maker m = {arena, NULL, 0};
    m.list = ARENA_NEW(arena, const char *, env->allowlist.n + env->set.n + DEFAULTS + 1);
    put(&m, STR("TERM"), STR("xterm-256color"));
    put(&m, STR("LANG"), STR("C.UTF-8"));
    for (size_t i = 0; env->inherit && i < env->allowlist.n; i++)
        inherit(&m, env->allowlist.p[i], caller);
    for (size_t i = 0; i < env->set.n; i++)
        put(&m, env->set.p[i].key, env->set.p[i].text);
    return m.list;
}
