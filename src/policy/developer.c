/* Finds toolchains and variables of the user. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/developer.h"

#include "base/buf.h"
#include "base/grow.h"
#include "base/variable.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "path/through.h"
#include "policy/blocked.h"
#include "policy/dir_list.h"
#include "policy/home_table.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    DEVELOPER_DIRS_MAX = 256, /* directories of PATH that are considered, of a collection */
    DEVELOPER_SHOWN_MAX = 1024,
    DEVELOPER_PATH_MAX = 64 * 1024,
};

/* Directories whose subdirectories are programs with their libraries. */
static const char *const collections[] = {"/opt", "/usr/local"};

/* Variables that describe the machine or the user's choices, never secrets. A "*" at the end stands
 * for any letters. The file or directory that a certificate variable names is also shown. */
static const struct developer_variable {
    const char *name;
    bool certificate;
} variables[] = {
    {"AWS_CA_BUNDLE", true},
    {"BUN_INSTALL", false},
    {"CARGO_HOME", false},
    {"CARGO_HTTP_CAINFO", true},
    {"COLORTERM", false},
    {"CONDA_PREFIX", false},
    {"CURL_CA_BUNDLE", true},
    {"DENO_CERT", true},
    {"DENO_INSTALL", false},
    {"EDITOR", false},
    {"GIT_SSL_CAINFO", true},
    {"GOPATH", false},
    {"GOROOT", false},
    {"GRADLE_USER_HOME", false},
    {"JAVA_HOME", false},
    {"LANG", false},
    {"LANGUAGE", false},
    {"LC_*", false},
    {"NODE_EXTRA_CA_CERTS", true},
    {"NVM_DIR", false},
    {"PIP_CERT", true},
    {"PNPM_HOME", false},
    {"PYENV_ROOT", false},
    {"PYENV_VERSION", false},
    {"REQUESTS_CA_BUNDLE", true},
    {"RUSTUP_HOME", false},
    {"RUSTUP_TOOLCHAIN", false},
    {"SDKMAN_DIR", false},
    {"SSL_CERT_DIR", true},
    {"SSL_CERT_FILE", true},
    {"TZ", false},
    {"VIRTUAL_ENV", false},
    {"VISUAL", false},
    {"VOLTA_HOME", false},
};

struct developer_builder {
    const struct developer_input *input;
    struct arena *a;
    struct policy *policy;
    struct developer *out;
    struct str home, home_resolved;
    struct str_list read, exec; /* additions */
    struct str_list writable;   /* resolved directories that the command can change */
    size_t cap_omitted;
};

/* Lists --------------------------------------------------------------------------------------- */

/* Whether the policy or an addition already shows it, and lets it be executed. */
static bool developer_is_shown(const struct developer_builder *d, struct str path)
{
    return dir_list_holds(&d->policy->exec.allowed_executables, path) ||
           dir_list_holds(&d->exec, path) || dir_list_holds(&d->input->inside, path);
}

static void developer_add_path(struct developer_builder *d, struct str path, bool exec)
{
    if (d->read.n == DEVELOPER_SHOWN_MAX || developer_is_shown(d, path) ||
        (!exec && dir_list_holds(&d->read, path)))
        return;
    d->read.p[d->read.n++] = path;
    if (exec)
        d->exec.p[d->exec.n++] = path;
}

static void developer_omit(struct developer_builder *d, struct developer_omission omission)
{
    struct developer *out = d->out;
    if (out->n_omitted == DEVELOPER_DIRS_MAX)
        return;
    ARENA_GROW(d->a, out->omitted, out->n_omitted, d->cap_omitted);
    out->omitted[out->n_omitted++] = omission;
}

/* Shows a path, or those parts of it that hold no credentials. Returns the reason if nothing of it
 * can be shown. */
static const char *developer_show(struct developer_builder *d, struct str path, bool exec)
{
    struct str_list parts;
    if (developer_is_shown(d, path))
        return NULL;
    switch (narrow_path(&d->out->narrow, path, &parts)) {
    case NARROW_HIDDEN:
        return "it holds credentials";
    case NARROW_TOO_MANY:
        return "it has too many entries beside files that hold credentials";
    case NARROW_WHOLE:
        parts = (struct str_list){&path, 1};
        break;
    case NARROW_PARTS:
        break;
    }
    for (size_t i = 0; i < parts.n; i++)
        developer_add_path(d, parts.p[i], exec);
    return NULL;
}

/* A path that is not a directory of PATH. */
static void developer_show_or_omit(struct developer_builder *d, struct str path, bool exec)
{
    const char *reason = developer_show(d, path, exec);
    if (reason)
        developer_omit(d, (struct developer_omission){.dir = path, .reason = reason});
}

/* Places -------------------------------------------------------------------------------------- */

static struct str developer_resolve(struct arena *a, const char *path, bool *ret_is_dir)
{
    struct stat st;
    AUTO_FD int fd = beneath_peek(path);
    if (fd < 0 || fstat(fd, &st) != 0 || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
        return (struct str){0};
    AUTO_FREE char *name = beneath_name_of(fd, &st);
    if (!name)
        return (struct str){0};
    *ret_is_dir = S_ISDIR(st.st_mode);
    return arena_str(a, str_z(name));
}

/* Whether the way to a path that resolves to `real` is in a directory that the command can change.
 */
static bool developer_is_led_through(
    const struct developer_builder *d, struct str path, struct str real)
{
    if (str_eq(path, real))
        return dir_list_holds(&d->writable, path); /* no symlink was on the way */
    return through_dirs(path, &d->writable, d->a);
}

/* Why a path that resolves to `real` must not be shown; NULL: it may be. */
static const char *developer_objection(
    const struct developer_builder *d, struct str path, struct str real)
{
    const struct blocked *row = blocked_path(real, BLOCKED_READ);
    if (d->home_resolved.n && lexical_is_below(real, d->home_resolved))
        return "it is the home directory, or contains it";
    if (row)
        return row->reason;
    if (d->input->state.n &&
        (lexical_is_below(d->input->state, real) || lexical_is_below(real, d->input->state)))
        return "it is part of Cordon's state";
    if (d->input->may_show && !d->input->may_show(real))
        return "it is outside the system's directories";
    if (developer_is_led_through(d, path, real))
        return "it leads through a directory that the command can change";
    return NULL;
}

static void developer_add_home_entries(struct developer_builder *d)
{
    const struct home_row *rows;
    const size_t n = home_table_shown(&rows);
    for (size_t i = 0; d->home.n && i < n; i++) {
        bool is_dir;
        const char *path = arena_printf(d->a, STR_FMT "/%s", STR_ARG(d->home), rows[i].path);
        struct str real = developer_resolve(d->a, path, &is_dir);
        if (real.n && !developer_objection(d, str_z(path), real))
            developer_show_or_omit(d, str_z(path), true);
    }
}

static void developer_add_collection(struct developer_builder *d, const char *path)
{
    AUTO_DIR struct dir list = DIR_INIT(DEVELOPER_DIRS_MAX);
    if (!dir_open(&list, AT_FDCWD, path))
        return;
    while (dir_next(&list)) {
        bool is_dir = false;
        const char *one = arena_printf(d->a, "%s/%s", path, list.name);
        struct str real = developer_resolve(d->a, one, &is_dir);
        if (real.n && is_dir && !developer_objection(d, str_z(one), real))
            developer_show_or_omit(d, str_z(one), true);
    }
}

/* PATH ---------------------------------------------------------------------------------------- */

/* Entries beside a directory "bin" that its programs need; others may be data of an application. */
static const char *const siblings[] = {
    "VERSION",
    "bin",
    "include",
    "jmods",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "pkg",
    "pyvenv.cfg",
    "release",
    "share",
    "src",
};

/* In the home directory only the table decides. */
static void developer_show_siblings(struct developer_builder *d, struct str real)
{
    struct str name = lexical_name(real);
    struct str parent = str_head(real, (size_t)MAX(str_find_last(real, '/'), (ptrdiff_t)0));
    bool below_home = d->home_resolved.n && lexical_is_below(d->home_resolved, real);
    bool programs = str_is(name, "bin") || str_is(name, "sbin");
    for (size_t i = 0; programs && !below_home && parent.n > 1 && i < ARRAY_LEN(siblings); i++) {
        bool is_dir;
        const char *path = arena_printf(d->a, STR_FMT "/%s", STR_ARG(parent), siblings[i]);
        struct str found = developer_resolve(d->a, path, &is_dir);
        if (found.n && !developer_objection(d, str_z(path), found))
            developer_show_or_omit(d, str_z(path), true);
    }
}

static void developer_consider_dir(struct developer_builder *d, struct str given, struct buf *path)
{
    bool is_dir = false;
    if (given.n == 0 || given.p[0] != '/') {
        developer_omit(d, (struct developer_omission){
                              given.n ? given : STR("."), "it is relative", .in_path = true});
        return;
    }
    struct str clean = lexical_absolute(d->a, STR("/"), given);
    bool inside = dir_list_holds(&d->input->inside, clean);
    struct str real = inside ? clean : developer_resolve(d->a, clean.p, &is_dir);
    struct str home = d->input->kept_home;
    if (!inside && (!real.n || !is_dir)) {
        if (!real.n && home.n && lexical_is_below(home, clean))
            dir_list_append(path, clean); /* it may be created inside */
        return; /* otherwise the command would not find anything there either */
    }
    if (!developer_is_shown(d, clean) && !developer_is_shown(d, real)) {
        const char *reason = developer_objection(d, clean, real);
        reason = reason ? reason : developer_show(d, real, true);
        if (reason) {
            developer_omit(d, (struct developer_omission){clean, reason, .in_path = true});
            return;
        }
        developer_show_siblings(d, real);
        if (!lexical_is_below(real, clean))
            developer_show_or_omit(d, clean, true); /* as a symlink */
    }
    dir_list_append(path, developer_is_shown(d, clean) ? clean : real);
}

static struct str developer_make_path(struct developer_builder *d)
{
    static const char *const usual[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    AUTO_BUF struct buf path = BUF_INIT(DEVELOPER_PATH_MAX);
    struct str one, rest = variable_of(d->input->environ, STR("PATH"));
    for (size_t i = 0; i < DEVELOPER_DIRS_MAX && rest.p && str_cut(rest, ':', &one, &rest); i++)
        developer_consider_dir(d, arena_str(d->a, one), &path);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        dir_list_append(&path, str_z(usual[i]));
    return buf_ok(&path) ? arena_str(d->a, buf_str(&path)) : (struct str){0};
}

/* Variables ----------------------------------------------------------------------------------- */

static const struct developer_variable *developer_find_variable(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        struct str row = str_z(variables[i].name);
        bool any = str_ends_with(row, STR("*"));
        if (any ? str_starts_with(name, str_head(row, row.n - 1)) : str_eq(row, name))
            return &variables[i];
    }
    return NULL;
}

static void developer_set(struct str_map *set, struct str name, struct str value, bool replace)
{
    for (size_t i = 0; i < set->n; i++) {
        if (!str_eq(set->p[i].key, name))
            continue;
        if (replace)
            set->p[i].text = value;
        return;
    }
    set->p[set->n++] = (struct str_pair){name, value};
}

static void developer_show_certificate(struct developer_builder *d, struct str value)
{
    bool is_dir;
    struct str real =
        value.n && value.p[0] == '/' ? developer_resolve(d->a, value.p, &is_dir) : (struct str){0};
    if (real.n && !developer_objection(d, value, real))
        developer_show_or_omit(d, lexical_absolute(d->a, STR("/"), value), false);
}

static void developer_add_variables(struct developer_builder *d, struct str path)
{
    struct str_map *set = &d->policy->env.set;
    size_t n = set->n + 3;
    for (const char *const *e = d->input->environ; e && *e; e++)
        n++;
    struct str_pair *pairs = ARENA_NEW(d->a, struct str_pair, n);
    if (set->n)
        memcpy(pairs, set->p, set->n * sizeof(*pairs));
    set->p = pairs;
    for (const char *const *e = d->input->environ; e && *e; e++) {
        struct str name, value;
        const struct developer_variable *row = NULL;
        if (str_cut(str_z(*e), '=', &name, &value) && value.p && !blocked_env(name))
            row = developer_find_variable(name);
        if (!row)
            continue;
        developer_set(set, arena_str(d->a, name), arena_str(d->a, value), false);
        if (row->certificate)
            developer_show_certificate(d, arena_str(d->a, value));
    }
    if (path.n)
        developer_set(set, STR("PATH"), path, true);
    if (d->out->home.n)
        developer_set(set, STR("HOME"), d->out->home, true);
    if (!d->input->no_home)
        developer_set(set, STR("XDG_RUNTIME_DIR"),
            str_z(arena_printf(d->a, "/run/user/%u", geteuid())), false);
}

/* All together -------------------------------------------------------------------------------- */

/* The home directory inside can be private only if nothing above it is shown. */
static void developer_choose_home(struct developer_builder *d)
{
    bool is_dir = false;
    const struct policy *p = d->policy;
    if (!d->input->home || d->input->home[0] != '/')
        return;
    d->home = lexical_absolute(d->a, STR("/"), str_z(d->input->home));
    d->home_resolved = developer_resolve(d->a, d->home.p, &is_dir);
    if (d->home.n <= 1 || dir_list_holds(&p->fs.allowed_read, d->home) ||
        dir_list_holds(&p->fs.allowed_write, d->home) ||
        dir_list_holds(&p->exec.allowed_executables, d->home))
        return;
    if (!d->input->no_home && str_eq(d->home, d->home_resolved))
        d->out->home = d->home;
}

/* Lists the directories that the command can change. */
static void developer_find_writable(struct developer_builder *d)
{
    const struct str_list *more = &d->input->writable, *write = &d->policy->fs.allowed_write;
    d->writable.p = ARENA_NEW(d->a, struct str, more->n + write->n + 1);
    for (size_t i = 0; i < more->n; i++)
        d->writable.p[d->writable.n++] = more->p[i];
    for (size_t i = 0; i < write->n; i++) {
        bool is_dir;
        struct str real = developer_resolve(d->a, arena_strdup(d->a, write->p[i]), &is_dir);
        if (real.n)
            d->writable.p[d->writable.n++] = real;
    }
}

void developer_add(const struct developer_input *input, struct arena *arena, struct policy *policy,
    struct developer *ret_developer)
{
    *ret_developer = (struct developer){0};
    struct developer_builder d = {
        .input = input, .a = arena, .policy = policy, .out = ret_developer};
    d.read.p = ARENA_NEW(arena, struct str, DEVELOPER_SHOWN_MAX);
    d.exec.p = ARENA_NEW(arena, struct str, DEVELOPER_SHOWN_MAX);
    developer_find_writable(&d);
    developer_choose_home(&d);
    narrow_init(&ret_developer->narrow, d.home.p, arena);
    developer_add_home_entries(&d);
    for (size_t i = 0; i < ARRAY_LEN(collections); i++)
        developer_add_collection(&d, collections[i]);
    developer_add_variables(&d, developer_make_path(&d));
    policy->fs.allowed_read = dir_list_join(arena, policy->fs.allowed_read, d.read);
    policy->exec.allowed_executables =
        dir_list_join(arena, policy->exec.allowed_executables, d.exec);
    ret_developer->shown = d.read;
    for (size_t i = 0; i < input->inside.n; i++)
        narrow_use(&ret_developer->narrow, input->inside.p[i]);
    ret_developer->n_hidden = narrow_used(&ret_developer->narrow);
    ret_developer->hidden = ret_developer->narrow.hidden;
}
