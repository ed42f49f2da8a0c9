/* The settings of the sandbox: its mode, and additions to the policy of tools and boxes. A project
 * may only take some of them away. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/load.h"

enum {
    ROOTS_MAX = 100,
    CHECK_ARENA = 16 << 20,
};

static const char *const mode_names[CONFIG_MODES] = {"native", "landlock"};

static const struct field env_fields[] = {
    FIELD_STRS("pass", struct extra_env, pass, "names of your variables that are passed on",
        FIELD_RANGE(0, ROOTS_MAX), FIELD_HAS(struct extra_env, has_pass)),
    FIELD_MAP("set", struct extra_env, set, "variables with their values",
        FIELD_RANGE(0, ROOTS_MAX), FIELD_HAS(struct extra_env, has_set)),
};
static const struct shape env_shape =
    SHAPE("env", struct extra_env, env_fields, "more variables for commands");

#define SANDBOX_LIMIT(name, help) \
    FIELD_U64(#name, struct policy_limits, name, help, .def = "0", FIELD_RANGE(0, INT64_MAX))

static const struct field limit_fields[] = {
    SANDBOX_LIMIT(processes, "processes and threads at one time"),
    SANDBOX_LIMIT(
        memory_bytes, "memory of one process, and of all together if a cgroup can be created"),
    SANDBOX_LIMIT(open_files, "open files of one process"),
    SANDBOX_LIMIT(file_bytes, "size of the largest file that may be created"),
    SANDBOX_LIMIT(tmp_bytes, "size of the private /tmp"),
};
static const struct shape limit_shape = SHAPE("limits", struct policy_limits, limit_fields,
    "limits instead of the usual ones; 0: the usual one");

#define SANDBOX_LIST(name, member, help)                                                   \
    FIELD_STRS(name, struct config_sandbox, extra.member, help, FIELD_RANGE(0, ROOTS_MAX), \
        FIELD_HAS(struct config_sandbox, extra.has_##member))

#define SANDBOX_ADDITIONS                                                                         \
    SANDBOX_LIST("read", read,                                                                    \
        "files and directories that commands may also read: absolute, or "                        \
        "below the home directory as ~/NAME"),                                                    \
        SANDBOX_LIST("write", write, "... and also write"),                                       \
        SANDBOX_LIST("exec", exec, "... programs and directories of programs that may also run"), \
        FIELD_OBJECT(                                                                             \
            "env", struct config_sandbox, extra.env, &env_shape, "more variables for commands"),  \
        SANDBOX_LIST("hosts", hosts,                                                              \
            "hosts that commands reach through a proxy: example.com, "                            \
            "*.example.com, example.com:8443, an address"),                                       \
        FIELD_OBJECT("limits", struct config_sandbox, extra.limits, &limit_shape,                 \
            "limits instead of the usual ones; 0: the usual one")

static const struct field sandbox_fields[] = {
    FIELD_ENUM("mode", struct config_sandbox, mode, mode_names,
        "native, or landlock: weaker, for machines that do not allow namespaces",
        .def = "\"native\""),
    FIELD_BOOL("unsafe_ack", struct config_sandbox, unsafe_ack, "acknowledge the weaker sandbox",
        .def = "false"),
    SANDBOX_ADDITIONS,
};
const struct shape config_sandbox_shape =
    SHAPE("sandbox", struct config_sandbox, sandbox_fields, "sandbox for commands");

static const struct field narrow_fields[] = {SANDBOX_ADDITIONS};
const struct shape config_narrow_shape = SHAPE("project sandbox", struct config_sandbox,
    narrow_fields, "the user's additions, as narrowed by the project");

/* Paths -----------------------------------------------------------------------------------------
 */

static void expand_list(struct str_list *list, const char *home, struct arena *a)
{
    struct str *p = ARENA_NEW(a, struct str, list->n);
    for (size_t i = 0; i < list->n; i++) {
        struct str path = list->p[i];
        if (str_starts_with(path, STR("~/")) && home)
            p[i] = lexical_absolute(a, str_z(home), str_skip(path, 2));
        else if (path.n && path.p[0] == '/')
            p[i] = lexical_absolute(a, STR("/"), path);
        else
            p[i] = arena_str(a, path);
    }
    list->p = p;
}

void config_expand_sandbox(struct config_sandbox *sandbox, struct arena *a)
{
    if (extra_is_empty(&sandbox->extra))
        return;
    const char *home = home_dir(a);
    expand_list(&sandbox->extra.read, home, a);
    expand_list(&sandbox->extra.write, home, a);
    expand_list(&sandbox->extra.exec, home, a);
}

/* Only names: a directory that does not exist on this machine is left out. */
bool config_check_additions(const struct config_sandbox *sandbox, struct err *err)
{
    static const struct extra_names names = {
        .read = "sandbox.read",
        .write = "sandbox.write",
        .exec = "sandbox.exec",
        .env_pass = "sandbox.env.pass",
        .env_set = "sandbox.env.set",
        .hosts = "sandbox.hosts",
        .indexed = true,
        .code = E_CONFIG,
    };
    AUTO_ARENA struct arena arena = ARENA_INIT(CHECK_ARENA);
    struct policy_host host = {0};
    const struct policy_extra *e = &sandbox->extra;
    if (e->limits.memory_bytes && e->limits.memory_bytes < POLICY_MEMORY_MIN) {
        err_set(err, E_CONFIG,
            "sandbox.limits.memory_bytes: no program starts with less than %d bytes",
            POLICY_MEMORY_MIN);
        return err_ctx(err, "field", "sandbox.limits.memory_bytes");
    }
    if (!extra_is_empty(e))
        host.home = home_dir(&arena);
    return extra_check(e, &host, &names, false, &arena, err);
}

/* A project's part ------------------------------------------------------------------------------
 */

static bool refuse_wider(const char *list, size_t i, struct str value, struct err *err)
{
    err_set(err, E_CONFIG,
        "sandbox.%s[%zu]: '" STR_FMT "' is not in your own settings: a project may only narrow "
        "them; add it there ('cordon config path'), or remove it here",
        list, i, STR_ARG(value));
    return err_ctx(err, "field", "sandbox.%s[%zu]", list, i);
}

static bool config_lists(const struct str_list *list, struct str value)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->p[i], value))
            return true;
    return false;
}

/* Also of paths only exactly these: one below could be a symlink that leads elsewhere. */
static bool narrow_list(const char *name, bool given, const struct str_list *part,
    struct str_list *list, struct err *err)
{
    for (size_t i = 0; i < part->n; i++)
        if (!config_lists(list, part->p[i]))
            return refuse_wider(name, i, part->p[i], err);
    if (given)
        *list = *part;
    return true;
}

static bool narrow_set(const struct extra_env *part, struct extra_env *env, struct err *err)
{
    for (size_t i = 0; i < part->set.n; i++) {
        bool same = false;
        for (size_t k = 0; k < env->set.n; k++)
            same = same || (str_eq(part->set.p[i].key, env->set.p[k].key) &&
                               str_eq(part->set.p[i].text, env->set.p[k].text));
        if (same)
            continue;
        err_set(err, E_CONFIG,
            "sandbox.env.set: your own settings do not set '" STR_FMT "' to this value: a project "
            "may only narrow them",
            STR_ARG(part->set.p[i].key));
        return err_ctx(err, "field", "sandbox.env.set");
    }
    if (part->has_set)
        env->set = part->set;
    return true;
}

/* Lower limits only: than the user's, or than the usual one. */
static bool narrow_limit(
    const char *name, uint64_t part, uint64_t usual, uint64_t *limit, struct err *err)
{
    const uint64_t most = *limit ? *limit : usual;
    if (!part)
        return true;
    if (part <= most) {
        *limit = part;
        return true;
    }
    err_set(err, E_CONFIG,
        "sandbox.limits.%s: %llu is more than %llu, the limit without it: a project may only "
        "narrow "
        "your settings",
        name, (unsigned long long)part, (unsigned long long)most);
    return err_ctx(err, "field", "sandbox.limits.%s", name);
}

static bool narrow_limits(
    const struct policy_limits *part, struct policy_limits *limits, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(CHECK_ARENA);
    struct policy usual;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "default", &arena, &usual, err))
        return false;
    const struct policy_limits *u = &usual.limits;
    return narrow_limit("processes", part->processes, u->processes, &limits->processes, err) &&
           narrow_limit(
               "memory_bytes", part->memory_bytes, u->memory_bytes, &limits->memory_bytes, err) &&
           narrow_limit("open_files", part->open_files, u->open_files, &limits->open_files, err) &&
           narrow_limit("file_bytes", part->file_bytes, u->file_bytes, &limits->file_bytes, err) &&
           narrow_limit("tmp_bytes", part->tmp_bytes, u->tmp_bytes, &limits->tmp_bytes, err);
}

bool config_narrow_sandbox(
    const struct config_sandbox *project, struct config_sandbox *sandbox, struct err *err)
{
    const struct policy_extra *part = &project->extra;
    struct policy_extra *e = &sandbox->extra;
    return narrow_list("read", part->has_read, &part->read, &e->read, err) &&
           narrow_list("write", part->has_write, &part->write, &e->write, err) &&
           narrow_list("exec", part->has_exec, &part->exec, &e->exec, err) &&
           narrow_list("hosts", part->has_hosts, &part->hosts, &e->hosts, err) &&
           narrow_list("env.pass", part->env.has_pass, &part->env.pass, &e->env.pass, err) &&
           narrow_set(&part->env, &e->env, err) && narrow_limits(&part->limits, &e->limits, err);
}
