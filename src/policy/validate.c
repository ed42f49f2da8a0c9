/* Policy validation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/validate.h"

#include "base/place.h"
#include "path/beneath.h"
#include "path/fstype.h"
#include "path/lexical.h"
#include "policy/blocked.h"
#include "policy/host.h"

#include <errno.h>
#include <sys/stat.h>

static void validate_deny(struct verdict *v, const struct denial *denial)
{
    denials_add(&v->denials, denial);
}

bool verdict_ok(const struct verdict *v, struct err *err)
{
    return v->denials.n == 0 || denial_error(&v->denials.p[0], err);
}

size_t verdict_dirs(const struct verdict_paths *paths, struct arena *arena, struct str **ret_dirs)
{
    size_t n = 0;
    *ret_dirs = ARENA_NEW(arena, struct str, paths->n + 1);
    for (size_t i = 0; i < paths->n; i++)
        if (paths->p[i].is_dir)
            (*ret_dirs)[n++] = paths->p[i].resolved;
    return n;
}

bool verdict_holds(const struct verdict_paths *roots, struct str resolved)
{
    for (size_t i = 0; i < roots->n; i++)
        if (lexical_is_below(roots->p[i].resolved, resolved))
            return true;
    return false;
}

static bool is_absolute(struct str path)
{
    return path.n > 0 && path.p[0] == '/';
}

/* sandbox, network ---------------------------------------------------------------------------- */

static void require_acknowledgement(struct verdict *v, const struct denial *denial)
{
    struct denial d = *denial;
    d.message = "requires an acknowledgement";
    d.value_first = true;
    validate_deny(v, &d);
}

static void validate_check_sandbox(struct verdict *v)
{
    const struct policy *p = v->policy;
    if (p->sandbox_unsafe_ack)
        return;
    if (p->sandbox == POLICY_NO_SANDBOX)
        require_acknowledgement(
            v, &(struct denial){.field = "sandbox",
                   .value = STR("none"),
                   .reason = "the policy would not be enforced",
                   .fix = "use 'sandbox: native', or set sandbox_unsafe_ack to true"});
    if (p->sandbox == POLICY_LANDLOCK)
        require_acknowledgement(
            v, &(struct denial){.field = "sandbox",
                   .value = STR("landlock"),
                   .reason = "without namespaces much of the system stays visible",
                   .fix = "use 'sandbox: native', or set sandbox_unsafe_ack to true"});
}

static void check_network(struct verdict *v)
{
    const struct policy *p = v->policy;
    if (p->network_unsafe_ack)
        return;
    if (p->network == POLICY_NETWORK_ENABLED)
        require_acknowledgement(
            v, &(struct denial){.field = "network",
                   .value = STR("enabled"),
                   .reason = "all data that the program reads could be sent out",
                   .fix = "use 'network: disabled', or set network_unsafe_ack to true"});
    else if (p->sandbox == POLICY_NO_SANDBOX)
        validate_deny(
            v, &(struct denial){"network", "network policy cannot be enforced without sandbox",
                   STR("disabled"), "without a sandbox the program reaches the network",
                   "use 'sandbox: native', or set network_unsafe_ack to true"});
}

/* Only a network namespace leaves no way around the proxy. */
static void validate_check_hosts(struct verdict *v)
{
    const struct policy *p = v->policy;
    const struct str_list *hosts = &p->allowed_hosts;
    if (hosts->n && p->network == POLICY_NETWORK_ENABLED)
        validate_deny(v, &(struct denial){"allowed_hosts", "has no effect with an enabled network",
                             hosts->p[0], "the network as a whole allows every host",
                             "use 'network: disabled', or make the list empty"});
    else if (hosts->n && (p->sandbox == POLICY_LANDLOCK || p->sandbox == POLICY_NO_SANDBOX))
        validate_deny(
            v, &(struct denial){"allowed_hosts", "hosts cannot be limited in this sandbox",
                   hosts->p[0], "without a network namespace other hosts stay reachable",
                   "use 'sandbox: native', or make the list empty"});
    for (size_t i = 0; i < hosts->n; i++) {
        AUTO_ERR struct err why = {0};
        if (host_check(hosts->p[i], "'network: enabled' and network_unsafe_ack", &why))
            continue;
        const char *reason = strstr(why.message, HOST_REFUSED);
        reason = reason ? reason + strlen(HOST_REFUSED) : why.message;
        validate_deny(v, &(struct denial){arena_printf(v->arena, "allowed_hosts[%zu]", i),
                             "is not a host", hosts->p[i], arena_strdup(v->arena, str_z(reason)),
                             "use a name or an address, such as example.com"});
    }
}

static void check_sockets(struct verdict *v)
{
    const struct policy *p = v->policy;
    if (p->allow_unix_sockets && !p->unix_sockets_unsafe_ack)
        require_acknowledgement(v,
            &(struct denial){.field = "allow_unix_sockets",
                .value = STR("true"),
                .reason = "the program could make a host service that listens in a visible "
                          "directory act outside the sandbox",
                .fix = "set allow_unix_sockets to false, or set unix_sockets_unsafe_ack to true"});
}

/* env ----------------------------------------------------------------------------------------- */

static void validate_check_name(struct verdict *v, const char *field, struct str name)
{
    const struct blocked *row = blocked_env(name);
    if (name.n == 0 || str_find(name, '=') >= 0 || str_find(name, '\0') >= 0)
        validate_deny(v,
            &(struct denial){field, "not a valid name of an environment variable", name,
                name.n ? "a name cannot contain '=' or NUL" : "it is empty", "use only the name"});
    else if (row)
        validate_deny(v, &(struct denial){field, "dangerous environment variable blocked", name,
                             row->reason, row->fix});
}

static void check_env(struct verdict *v, const struct policy_host *host)
{
    const struct policy_env *env = &v->policy->env;
    if (host->own_env)
        return;
    for (size_t i = 0; i < env->allowlist.n; i++)
        validate_check_name(
            v, arena_printf(v->arena, "env.allowlist[%zu]", i), env->allowlist.p[i]);
    for (size_t i = 0; i < env->set.n; i++) {
        AUTO_BUF struct buf place = BUF_INIT(1024);
        buf_add_z(&place, "env.set");
        place_add_key(&place, env->set.p[i].key);
        validate_check_name(v, arena_strdup(v->arena, buf_str(&place)), env->set.p[i].key);
    }
}

/* Paths --------------------------------------------------------------------------------------- */

/* Resolves an absolute path. Sets errno on failure. */
static bool validate_resolve(
    struct arena *a, struct str given, struct verdict_path *ret, mode_t *ret_mode)
{
    struct stat st;
    AUTO_FD int fd = beneath_peek(given.p);
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    AUTO_FREE char *name = beneath_name_of(fd, &st);
    if (!name) {
        errno = ENOENT;
        return false;
    }
    *ret = (struct verdict_path){
        .given = given,
        .resolved = arena_str(a, str_z(name)),
        .dev = st.st_dev,
        .ino = st.st_ino,
        .is_dir = S_ISDIR(st.st_mode),
        .of_kernel = fstype_is_kernel(fd),
    };
    *ret_mode = st.st_mode;
    return true;
}

/* A list in the policy, and how it is checked and reported. */
struct validate_list {
    const char *field;
    const char *relative; /* the message for a relative path */
    enum blocked_use use;
    bool as_found; /* leave denied entries out */
};

static const struct blocked home_row = {"$HOME", "it is the home directory, with keys and settings",
    "list only the directory below it that is needed"};

static const struct blocked *find_blocked(
    const struct verdict *v, struct str path, enum blocked_use use)
{
    if (v->home.n && (str_eq(path, v->home) || str_eq(path, v->home_resolved)))
        return &home_row;
    return blocked_path(path, use);
}

static void deny_missing(struct verdict *v, const char *field, struct str given, int errnum)
{
    bool missing = errnum == ENOENT || errnum == ENOTDIR;
    validate_deny(
        v, &(struct denial){field,
               missing ? "allowlist path does not exist" : "allowlist path cannot be resolved",
               given, arena_printf(v->arena, "%s", strerror(errnum)),
               missing ? "create it, or remove it from the list"
                       : "use a path that can be resolved, or remove it from the list"});
}

static bool check_blocked(struct verdict *v, const struct validate_list *list, const char *field,
    const struct verdict_path *path, struct str spelling)
{
    const struct blocked *row = find_blocked(v, spelling, list->use);
    if (!row)
        return true;
    bool link = !str_eq(spelling, path->given) && path->resolved.n;
    const char *reason = link ? arena_printf(v->arena, "it resolves to " STR_FMT ": %s",
                                    STR_ARG(spelling), row->reason)
                              : row->reason;
    validate_deny(v,
        &(struct denial){field, "disallowed allowlist path", path->given, reason, row->fix, true});
    return false;
}

/* An accepted entry of an earlier list with the same spelling, or NULL. One look at the file is
 * enough: the mount is compared with what it found. */
static const struct verdict_path *validate_find_same(const struct verdict *v, struct str given)
{
    const struct verdict_paths *const lists[] = {&v->read, &v->write, &v->exec};
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = lists[k]->n; i > 0; i--)
            if (str_eq(lists[k]->p[i - 1].given, given))
                return &lists[k]->p[i - 1];
    return NULL;
}

/* Resolves an entry; returns 0, or an error number. */
static int validate_look(
    struct verdict *v, struct str given, struct verdict_path *ret_path, mode_t *ret_mode)
{
    const struct verdict_path *same = validate_find_same(v, given);
    if (!same)
        return validate_resolve(v->arena, given, ret_path, ret_mode) ? 0 : errno;
    *ret_path = *same;
    ret_path->given = given;
    ret_path->as_found = false;
    *ret_mode = same->is_dir ? S_IFDIR : S_IFREG;
    return 0;
}

/* One entry: must be absolute, not blocked as given, exist, and not be blocked where it leads. */
static bool validate_check_entry(struct verdict *v, const struct validate_list *list,
    const char *field, struct str given, struct verdict_path *ret_path)
{
    struct verdict_path path = {.given = given};
    mode_t mode;
    if (!is_absolute(given)) {
        validate_deny(v, &(struct denial){field, list->relative, given,
                             "the meaning of a relative path depends on the current directory",
                             "use an absolute path"});
        return false;
    }
    struct str clean = lexical_absolute(v->arena, STR("/"), given);
    if (!check_blocked(v, list, field, &path, clean))
        return false;
    int errnum = validate_look(v, given, &path, &mode);
    if (errnum) {
        deny_missing(v, field, given, errnum);
        return false;
    }
    if (!check_blocked(v, list, field, &path, path.resolved))
        return false;
    if (path.of_kernel) {
        validate_deny(
            v, &(struct denial){field, "disallowed allowlist path", given,
                   "it is a file system that gives access to the kernel",
                   "use a directory of ordinary files, or remove it from the list", true});
        return false;
    }
    if (!S_ISDIR(mode) && !S_ISREG(mode)) {
        validate_deny(v, &(struct denial){field, "allowlist path is neither a file nor a directory",
                             given, "a socket, pipe or device gives access to something else",
                             "use a file or a directory, or remove it from the list"});
        return false;
    }
    *ret_path = path;
    return true;
}

static void validate_check_list(struct verdict *v, const struct validate_list *list,
    const struct str_list *entries, struct verdict_paths *ret_paths)
{
    struct verdict_paths paths = {.p = ARENA_NEW(v->arena, struct verdict_path, entries->n)};
    for (size_t i = 0; i < entries->n; i++) {
        const char *field = arena_printf(v->arena, "%s[%zu]", list->field, i);
        size_t denied = v->denials.n;
        if (!validate_check_entry(v, list, field, entries->p[i], &paths.p[paths.n])) {
            v->denials.n = list->as_found ? denied : v->denials.n;
            continue;
        }
        paths.p[paths.n].as_found = list->as_found;
        paths.p[paths.n++].index = i;
    }
    *ret_paths = paths;
}

/* A directory to start in, from the policy or the caller. */
struct validate_start {
    const char *field;
    const char *relative;
    const char *outside;
};

static void check_start(struct verdict *v, const struct validate_start *start, struct str given,
    struct verdict_path *ret_path)
{
    struct verdict_path path;
    mode_t mode;
    struct denial denial = {.field = start->field, .value = given};
    if (!is_absolute(given)) {
        denial.message = start->relative;
        denial.reason = "the meaning of a relative path depends on the current directory";
        denial.fix = "use an absolute path";
    } else if (!validate_resolve(v->arena, given, &path, &mode)) {
        denial.message = "cannot be entered";
        denial.reason = arena_printf(v->arena, "%s", strerror(errno));
        denial.fix = "create it, or use another one";
    } else if (!path.is_dir) {
        denial.message = "is not a directory";
        denial.reason = "a program needs a directory to start in";
        denial.fix = "use its parent directory";
    } else if (!verdict_holds(&v->read, path.resolved) &&
               !verdict_holds(&v->write, path.resolved)) {
        denial.message = start->outside;
        denial.reason = arena_printf(v->arena,
            STR_FMT " is not in fs.allowed_read or fs.allowed_write", STR_ARG(path.resolved));
        denial.fix = "add it to fs.allowed_read, or use an allowed directory";
        denial.edits = true;
    } else {
        *ret_path = path;
        return;
    }
    validate_deny(v, &denial);
}

static void check_fs(struct verdict *v, bool as_found)
{
    const struct validate_list read = {
        "fs.allowed_read", "allowlist paths must be absolute", BLOCKED_READ, as_found};
    static const struct validate_list write = {
        "fs.allowed_write", "allowlist paths must be absolute", BLOCKED_WRITE, false};
    static const struct validate_start start = {
        "fs.working_dir", "must be an absolute path", "not an allowed directory"};
    const struct policy_fs *fs = &v->policy->fs;
    validate_check_list(v, &read, &fs->allowed_read, &v->read);
    validate_check_list(v, &write, &fs->allowed_write, &v->write);
    if (fs->working_dir.p)
        check_start(v, &start, fs->working_dir, &v->working_dir);
}

/* artifacts, write ---------------------------------------------------------------------------- */

/* Resolves a path that need not exist yet: its deepest existing directory, and the rest. Fails on a
 * dangling symlink. */
static bool resolve_new(struct arena *a, struct str given, struct verdict_path *ret)
{
    struct str clean = lexical_absolute(a, STR("/"), given), at = clean;
    mode_t mode;
    struct stat st;
    struct verdict_path path;
    while (!validate_resolve(a, arena_str(a, at), &path, &mode)) {
        const char *name = arena_strdup(a, at);
        if (errno != ENOENT || at.n <= 1 || lstat(name, &st) == 0)
            return false;
        size_t slash = (size_t)str_find_last(at, '/');
        at = str_head(at, MAX(slash, (size_t)1));
    }
    if (!path.is_dir) {
        errno = ENOTDIR;
        return false;
    }
    struct str rest = lexical_rest(at, clean);
    if (rest.n)
        path.resolved = lexical_absolute(a, path.resolved, rest);
    path.given = given;
    *ret = path;
    return true;
}

static void check_artifacts(struct verdict *v)
{
    const struct policy_artifacts *artifacts = &v->policy->artifacts;
    struct denial denial = {.field = "artifacts.dir", .value = artifacts->dir};
    struct verdict_path path;
    if (!artifacts->enabled)
        return;
    if (!artifacts->dir.p) {
        denial.message = "artifacts enabled without directory";
        denial.value = STR("");
        denial.reason = "the record of a run needs a directory";
        denial.fix = "set artifacts.dir to a directory inside fs.allowed_write";
    } else if (!is_absolute(artifacts->dir)) {
        denial.message = "must be an absolute path";
        denial.reason = "the meaning of a relative path depends on the current directory";
        denial.fix = "use an absolute path";
    } else if (!resolve_new(v->arena, artifacts->dir, &path)) {
        denial.message = "cannot be resolved";
        denial.reason = arena_printf(v->arena, "%s", strerror(errno));
        denial.fix = "use a directory, or a path where one can be created";
    } else if (!verdict_holds(&v->write, path.resolved)) {
        denial.message = "not a directory that may be written";
        denial.reason =
            arena_printf(v->arena, STR_FMT " is not in fs.allowed_write", STR_ARG(path.resolved));
        denial.fix = "add its directory to fs.allowed_write";
        denial.edits = true;
    } else {
        v->artifacts_dir = path;
        return;
    }
    validate_deny(v, &denial);
}

static void check_write(struct verdict *v)
{
    const struct policy *p = v->policy;
    if (p->fs_write_unsafe_ack)
        return;
    if (p->fs.allowed_write.n)
        validate_deny(v, &(struct denial){"fs.allowed_write",
                             "write allowlist requires explicit acknowledgement",
                             p->fs.allowed_write.p[0], "files there could be changed or deleted",
                             "set fs_write_unsafe_ack to true, or make the list empty"});
    if (p->fs_strict_write && p->artifacts.enabled)
        validate_deny(
            v, &(struct denial){"fs_strict_write", "write access requires explicit acknowledgement",
                   STR("true"), "artifacts are written",
                   "set fs_write_unsafe_ack to true, or artifacts.enabled to false"});
}

/* exec ---------------------------------------------------------------------------------------- */

/* Whether a program can change files there. A writable directory below it also counts. A file
 * listed by itself is read-only wherever it is, unless it is itself listed as writable. */
static bool validate_is_writable(const struct verdict *v, const struct verdict_path *path)
{
    for (size_t i = 0; !path->is_dir && i < v->write.n; i++)
        if (str_eq(v->write.p[i].resolved, path->resolved))
            return true;
    if (path->is_dir && verdict_holds(&v->write, path->resolved))
        return true;
    for (size_t i = 0; path->is_dir && i < v->write.n; i++)
        if (lexical_is_below(path->resolved, v->write.p[i].resolved))
            return true;
    return false;
}

static void check_exec(struct verdict *v)
{
    static const struct validate_list exec = {
        "exec.allowed_executables", "allowed executable paths must be absolute", BLOCKED_READ};
    validate_check_list(v, &exec, &v->policy->exec.allowed_executables, &v->exec);
    for (size_t i = 0; i < v->exec.n; i++) {
        struct verdict_path *path = &v->exec.p[i];
        path->writable = validate_is_writable(v, path);
        if (path->writable && !v->policy->fs_write_unsafe_ack)
            validate_deny(
                v, &(struct denial){arena_printf(v->arena, "%s[%zu]", exec.field, path->index),
                       "writable executables require explicit acknowledgement", path->given,
                       "a program could be written there and run",
                       "set fs_write_unsafe_ack to true, or remove it from one of the lists"});
    }
}

void policy_validate(const struct policy *policy, const struct policy_host *host,
    struct arena *arena, struct verdict *ret_verdict)
{
    struct verdict v = {.policy = policy, .arena = arena, .denials.arena = arena};
    struct verdict_path home;
    mode_t mode;
    if (host->home && host->home[0] == '/') {
        v.home = lexical_absolute(arena, STR("/"), str_z(host->home));
        v.home_resolved = validate_resolve(arena, v.home, &home, &mode) ? home.resolved : v.home;
    }
    validate_check_sandbox(&v);
    check_network(&v);
    validate_check_hosts(&v);
    check_sockets(&v);
    check_env(&v, host);
    check_fs(&v, host->read_as_found);
    check_artifacts(&v);
    check_write(&v);
    check_exec(&v);
    *ret_verdict = v;
}

/* A command ----------------------------------------------------------------------------------- */

static bool is_listed(const struct verdict *v, const struct verdict_path *command)
{
    for (size_t i = 0; i < v->exec.n; i++) {
        const struct verdict_path *path = &v->exec.p[i];
        bool same = !path->is_dir && path->dev == command->dev && path->ino == command->ino;
        if (same || (path->is_dir && lexical_is_below(path->resolved, command->resolved)))
            return true;
    }
    return false;
}

/* A symlink named like a shell also counts, whatever its target is called: /bin/ksh is ksh93. */
static bool is_shell(const struct verdict_path *command)
{
    return blocked_shell(lexical_name(command->resolved)) ||
           blocked_shell(lexical_name(command->given));
}

static void validate_check_file(
    struct verdict *v, const struct verdict_path *command, mode_t mode, struct denial *denial)
{
    if (!S_ISREG(mode)) {
        denial->message = "is not a regular file";
        denial->reason = "only a file can be run";
        denial->fix = "name a program";
    } else if (!is_listed(v, command)) {
        denial->message = "not an allowed program";
        denial->reason = arena_printf(
            v->arena, STR_FMT " is not in exec.allowed_executables", STR_ARG(command->resolved));
        denial->fix = "add it there, or run an allowed program";
        denial->edits = true;
    } else if (!(mode & (S_IXUSR | S_IXGRP | S_IXOTH))) {
        denial->message = "is not executable";
        denial->reason = "its mode has no execute permission";
        denial->fix = "run chmod +x on it, or use an executable program";
    } else if (!v->policy->exec.allow_shell && is_shell(command)) {
        denial->message = "shell execution is disabled by policy";
        denial->reason = "a shell runs any command in its arguments";
        denial->fix = "run the program itself, or set exec.allow_shell to true";
        denial->edits = true;
    }
}

static void check_command(struct verdict *v, struct str given)
{
    struct denial denial = {.field = "command", .value = given};
    struct verdict_path path;
    mode_t mode;
    if (v->policy->exec.allowed_executables.n == 0) {
        denial.message = "no executables are allowed by policy";
        denial.reason = "exec.allowed_executables is empty";
        denial.fix = "add the program there";
    } else if (!is_absolute(given)) {
        denial.message = "must be an absolute path";
        denial.reason = "with a policy, programs are not looked up in PATH";
        denial.fix = "use an absolute path";
    } else if (!validate_resolve(v->arena, given, &path, &mode)) {
        denial.message = "does not exist";
        denial.reason = arena_printf(v->arena, "%s", strerror(errno));
        denial.fix = "use the path of an existing program";
    } else {
        validate_check_file(v, &path, mode, &denial);
        v->command = path;
    }
    if (denial.message)
        validate_deny(v, &denial);
}

bool policy_is_shell(struct str absolute)
{
    AUTO_ARENA struct arena scratch = ARENA_INIT(1 << 20);
    struct verdict_path path = {.given = absolute, .resolved = absolute};
    mode_t mode;
    validate_resolve(&scratch, absolute, &path, &mode);
    return is_shell(&path);
}

void policy_validate_command(struct verdict *v, const struct policy_command *command)
{
    static const struct validate_start start = {
        "cwd", "must be an absolute path", "not an allowed directory"};
    check_command(v, str_z(command->path));
    v->cwd = v->working_dir;
    if (command->cwd)
        check_start(v, &start, str_z(command->cwd), &v->cwd);
}
