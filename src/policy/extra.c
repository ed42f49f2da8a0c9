/* Checks additions to a policy, and adds them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/extra.h"

#include "base/variable.h"
#include "path/selfrun.h"
#include "policy/dir_list.h"

/* Texts about an entry of a policy's list, and the same about a value given elsewhere. */
static const struct {
    const char *listed, *given;
} words[] = {
    {"disallowed allowlist path", "cannot be allowed"},
    {"allowlist path does not exist", "does not exist"},
    {"allowlist path cannot be resolved", "cannot be resolved"},
    {"allowlist path is neither a file nor a directory", "is neither a file nor a directory"},
    {"write allowlist requires explicit acknowledgement", "requires explicit acknowledgement"},
    {"allowlist paths must be absolute", "must be an absolute path"},
    {"allowed executable paths must be absolute", "must be an absolute path"},
    {"create it, or remove it from the list", "create it, or omit it"},
    {"use a path that can be resolved, or remove it from the list",
        "use a path that can be resolved"},
    {"use a file or a directory, or remove it from the list", "use a file or a directory"},
    {"use a directory of ordinary files, or remove it from the list",
        "use a directory of ordinary files"},
    {"list only the directory below it that is needed",
        "name only the directory below it that is needed"},
    {"remove it; the sandbox provides the parts of it that programs need",
        "omit it; the sandbox provides the parts of it that programs need"},
    {"allow only reading it, and let the program write elsewhere",
        "allow only reading it, and let the program write elsewhere"},
};

const char *extra_reword(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(text, words[i].listed) == 0)
            return words[i].given;
    return text;
}

/* Checks ----------------------------------------------------------------------------------------
 */

/* The name of a denied entry, from the place that the policy has for it. */
static const char *extra_place(const struct extra_names *names, const char *field, struct arena *a)
{
    const struct {
        const char *key, *name;
    } rows[] = {
        {"fs.allowed_read", names->read},
        {"fs.allowed_write", names->write},
        {"exec.allowed_executables", names->exec},
        {"env.allowlist", names->env_pass},
        {"env.set", names->env_set},
        {"allowed_hosts", names->hosts},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str key = str_z(rows[i].key), place = str_z(field);
        if (!str_starts_with(place, key))
            continue;
        const char *rest = names->indexed ? field + key.n : "";
        return arena_printf(a, "%s%s", rows[i].name, rest);
    }
    return field;
}

static bool extra_has_entries(const struct policy_extra *e)
{
    return e->read.n || e->write.n || e->exec.n || e->hosts.n || e->env.pass.n || e->env.set.n;
}

bool extra_is_empty(const struct policy_extra *extra)
{
    const struct policy_limits *l = &extra->limits;
    return !extra_has_entries(extra) && !l->processes && !l->memory_bytes && !l->open_files &&
           !l->file_bytes && !l->tmp_bytes;
}

bool extra_check(const struct policy_extra *extra, const struct policy_host *host,
    const struct extra_names *names, bool must_exist, struct arena *arena, struct err *err)
{
    struct policy policy = {
        .sandbox = POLICY_NATIVE,
        .fs = {.allowed_read = extra->read, .allowed_write = extra->write},
        .fs_write_unsafe_ack = true,
        .exec.allowed_executables = extra->exec,
        .env = {.allowlist = extra->env.pass, .set = extra->env.set, .inherit = true},
        .allowed_hosts = extra->hosts,
    };
    struct verdict v;
    if (!extra_has_entries(extra))
        return true;
    policy_validate(&policy, host, arena, &v);
    for (size_t i = 0; i < v.denials.n; i++) {
        const struct denial *d = &v.denials.p[i];
        const bool missing = strcmp(d->message, "allowlist path does not exist") == 0;
        if (missing && (!must_exist || selfrun_guards(d->value).reason))
            continue;
        const char *place = extra_place(names, d->field, arena);
        err_set(err, names->code, "%s: %s: '" STR_FMT "' (%s); %s", place, extra_reword(d->message),
            STR_ARG(d->value), d->reason, extra_reword(d->fix));
        return err_ctx(err, "field", "%s", place);
    }
    return true;
}

/* Additions -------------------------------------------------------------------------------------
 */

static struct str_list extra_join(
    struct arena *a, struct str_list list, const struct str_list *more)
{
    struct str_list found = {ARENA_NEW(a, struct str, more->n), 0};
    for (size_t i = 0; i < more->n; i++)
        if (access(more->p[i].p, F_OK) == 0)
            found.p[found.n++] = more->p[i];
    return found.n ? dir_list_join(a, list, found) : list;
}

static void extra_set(struct str_map *set, struct str name, struct str value)
{
    for (size_t i = 0; i < set->n; i++)
        if (str_eq(set->p[i].key, name)) {
            set->p[i].text = value;
            return;
        }
    set->p[set->n++] = (struct str_pair){name, value};
}

static void extra_add_env(const struct policy_extra *extra, const char *const *caller,
    struct arena *a, struct str_map *set)
{
    const size_t n = set->n + extra->env.pass.n + extra->env.set.n;
    struct str_pair *pairs = ARENA_NEW(a, struct str_pair, n);
    if (set->n)
        memcpy(pairs, set->p, set->n * sizeof(*pairs));
    set->p = pairs;
    for (size_t i = 0; i < extra->env.pass.n; i++) {
        struct str value = variable_of(caller, extra->env.pass.p[i]);
        if (value.p)
            extra_set(set, extra->env.pass.p[i], arena_str(a, value));
    }
    for (size_t i = 0; i < extra->env.set.n; i++)
        extra_set(set, extra->env.set.p[i].key, extra->env.set.p[i].text);
}

static void extra_limit(uint64_t value, uint64_t *limit)
{
    if (value)
        *limit = value;
}

void extra_apply(const struct policy_extra *extra, const char *const *caller, struct arena *arena,
    struct policy *p)
{
    const struct policy_limits *l = &extra->limits;
    p->fs.allowed_read = extra_join(arena, p->fs.allowed_read, &extra->read);
    p->fs.allowed_write = extra_join(arena, p->fs.allowed_write, &extra->write);
    p->exec.allowed_executables = extra_join(arena, p->exec.allowed_executables, &extra->exec);
    if (extra->env.pass.n || extra->env.set.n)
        extra_add_env(extra, caller, arena, &p->env.set);
    if (extra->hosts.n && p->network == POLICY_NETWORK_DISABLED &&
        (p->sandbox == POLICY_NATIVE || p->sandbox == POLICY_SEATBELT))
        p->allowed_hosts = dir_list_join(arena, p->allowed_hosts, extra->hosts);
    extra_limit(l->processes, &p->limits.processes);
    extra_limit(l->memory_bytes, &p->limits.memory_bytes);
    extra_limit(l->open_files, &p->limits.open_files);
    extra_limit(l->file_bytes, &p->limits.file_bytes);
    extra_limit(l->tmp_bytes, &p->limits.tmp_bytes);
    p->limits.asked_processes |= l->processes != 0;
    p->limits.asked_memory |= l->memory_bytes != 0;
}
