/* Policy, mounts and environment of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/view.h"

#include "base/variable.h"
#include "box/box_caches.h"
#include "box/box_home.h"
#include "box/command.h"
#include "box/installed.h"
#include "box/toolchains.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/dir_list.h"
#include "policy/host.h"
#include "repo/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    PROCESSES = 4096,
    OPEN_FILES = 64 * 1024,
    ENV_MAX = 24, /* variables that we set */
};
#define TMP_BYTES ((uint64_t)2 << 30)

struct view_builder {
    const struct box *box;
    const struct view_input *in;
    struct arena *a;
    struct box_view *view;
    struct str home;   /* path in the box */
    struct str hidden; /* $CORDON_HOME on the host */
    struct toolchains_input tools;
    struct plan_bind *binds;
    size_t n_binds;
    struct plan_overlay overlays[1 + BOX_CACHES_MAX];
    size_t n_overlays;
    struct str_list system; /* programs of the system, without toolchains of the user */
    struct installed installed;
    struct developer developer;
};

/* Mounts -------------------------------------------------------------------------------------- */

/* Looks up a path that must not contain symlinks. */
static bool view_source_of(
    struct str path, struct plan_source *ret_source, mode_t *ret_mode, struct err *err)
{
    struct stat st;
    AUTO_FD int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *rest = path.n > 1 ? path.p + 1 : ".";
    AUTO_FD int fd = beneath_open(root, rest, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 || fstat(fd, &st) != 0) {
        bool gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        err_errno(err, gone ? E_NOT_FOUND : E_IO, errno, "cannot show '" STR_FMT "' in the box",
            STR_ARG(path));
        return err_ctx(err, "path", STR_FMT, STR_ARG(path));
    }
    *ret_source = (struct plan_source){path, st.st_dev, st.st_ino};
    *ret_mode = st.st_mode;
    return true;
}

static bool view_bind(
    struct view_builder *v, struct str at, struct str path, bool write, struct err *err)
{
    mode_t mode;
    struct plan_bind *b = &v->binds[v->n_binds];
    if (!view_source_of(path, &b->source, &mode, err))
        return false;
    b->at = at;
    b->is_dir = S_ISDIR(mode);
    b->write = write;
    b->exec = true;
    v->n_binds++;
    return true;
}

/* Mounts a directory that the box writes directly. Its `.git` stays read-only: the host's git runs
 * programs configured there, in too many files to list them (hooks, config, commondir, …). */
static bool bind_writable(struct view_builder *v, struct str path, struct err *err)
{
    struct stat st;
    const char *git = arena_printf(v->a, STR_FMT "/.git", STR_ARG(path));
    if (!view_bind(v, path, path, true, err))
        return false;
    if (lstat(git, &st) != 0)
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot stat '%s'", git);
    if (S_ISLNK(st.st_mode))
        return err_set(err, E_FS_VIOLATION,
            "'%s' is a link, which the box could redirect, because it can write there; use "
            "':copy'",
            git);
    return view_bind(v, str_z(git), str_z(git), false, err);
}

static bool add_overlay(struct view_builder *v, struct err *err)
{
    const struct box *box = v->box;
    struct plan_overlay *o = &v->overlays[v->n_overlays++];
    struct str lower = box->meta.workdir.mode == BOX_COPY ? box_part_path(box, "base", NULL, v->a)
                                                          : box->meta.workdir.host_path;
    mode_t mode;
    o->at = box->meta.workdir.mount_path;
    o->exec = true;
    return view_source_of(lower, &o->lower, &mode, err) &&
           view_source_of(box_part_path(box, "work", "upper", v->a), &o->upper, &mode, err) &&
           view_source_of(box_part_path(box, "work", "work", v->a), &o->work, &mode, err);
}

static bool add_project(struct view_builder *v, struct err *err)
{
    const struct box *box = v->box;
    switch (box->setup.layering) {
    case BOX_LAYERS_OVERLAY:
        return add_overlay(v, err);
    case BOX_LAYERS_SECOND_COPY:
        return view_bind(
            v, box->meta.workdir.mount_path, box_part_path(box, "work", "tree", v->a), true, err);
    default:
        return bind_writable(v, box->meta.workdir.host_path, err);
    }
}

/* The agent's home must not be inside another mounted directory. */
static bool check_home(const struct view_builder *v, struct err *err)
{
    for (size_t i = 0; i < v->tools.inside.n; i++)
        if (lexical_is_below(v->tools.inside.p[i], v->home))
            return err_set(err, E_CLI_INVALID_ARG,
                "'" STR_FMT "', the agent's home in the box, is in '" STR_FMT
                "', which is also mounted in the box",
                STR_ARG(v->home), STR_ARG(v->tools.inside.p[i]));
    return true;
}

static void add_caches(struct view_builder *v)
{
    struct toolchains_input own = v->tools;
    own.inside.n -= v->box->setup.caches.n; /* the last ones */
    const struct box_caches_input input = {
        .box = v->box,
        .box_home = v->home,
        .home = v->in->home,
        .state = v->hidden,
        .inside = own.inside,
        .writable = own.writable,
    };
    v->n_overlays += box_caches_overlays(&input, v->a, &v->overlays[v->n_overlays]);
}

static bool add_places(struct view_builder *v, struct err *err)
{
    enum {
        HOME_AND_PROJECT = 3,
        EACH = 2, /* including its .git */
    };
    const struct box *box = v->box;
    const struct box_setup *setup = &box->setup;
    struct plan_bind *tools;
    size_t n = toolchains_binds(&v->tools, v->a, &v->view->confined.policy, &tools);
    v->binds = ARENA_NEW(v->a, struct plan_bind, HOME_AND_PROJECT + EACH * setup->n_extras + n);
    struct str home = str_z(arena_printf(v->a, STR_FMT "/home", STR_ARG(box->path)));
    if (!check_home(v, err) || !add_project(v, err) || !view_bind(v, v->home, home, true, err))
        return false;
    for (size_t i = 0; i < setup->n_extras; i++) {
        const struct box_extra *e = &setup->extras[i];
        if (!(e->writable ? bind_writable(v, e->path, err)
                          : view_bind(v, e->path, e->path, false, err)))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        v->binds[v->n_binds++] = tools[i];
    add_caches(v);
    return true;
}

/* Policy -------------------------------------------------------------------------------------- */

static void view_set_limits(const struct box_limits *limits, struct policy_limits *p)
{
    *p = (struct policy_limits){
        .processes = limits->processes ? limits->processes : PROCESSES,
        .memory_bytes = limits->memory_bytes ? limits->memory_bytes : INT64_MAX,
        .open_files = OPEN_FILES,
        .file_bytes = limits->disk_bytes ? limits->disk_bytes : INT64_MAX,
        .tmp_bytes = TMP_BYTES,
        .asked_processes = limits->processes != 0,
        .asked_memory = limits->memory_bytes != 0,
    };
}

/* The system; the box's directories are separate mounts. */
static bool view_make_policy(struct view_builder *v, struct err *err)
{
    struct policy *p = &v->view->confined.policy;
    struct str_list hosts;
    if (!toolchains_policy(v->box, v->a, p, err))
        return false;
    if (box_network(v->box, &hosts) == BOX_NETWORK_ON) {
        p->network = POLICY_NETWORK_ENABLED;
        p->network_unsafe_ack = true;
    }
    view_set_limits(&v->box->setup.limits, &p->limits);
    return true;
}

static struct str view_resolve(struct arena *a, struct str path)
{
    AUTO_FD int fd = path.n ? beneath_peek(path.p) : -1;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    return name ? arena_str(a, str_z(name)) : (struct str){0};
}

/* Path of cordon(1): this executable, if it still exists, or the one that a library was given. */
static const char *own_program(const struct view_builder *v)
{
    char self[PATH_MAX];
    if (v->in->self)
        return v->in->self[0] ? v->in->self : NULL;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[MAX(n, 0)] = '\0';
    return n > 0 && access(self, X_OK) == 0 ? arena_strdup(v->a, str_z(self)) : NULL;
}

/* The command to run, or else the program in the agent's row, for users who run it by hand. In the
 * row of our own agent it is this executable. */
static const char *program_name(const struct view_builder *v)
{
    AUTO_ERR struct err ignored = {0};
    struct str_list words;
    const char *name = v->in->program;
    if (!name && command_split(v->box->agent->command, v->a, &words, &ignored) && words.n)
        name = arena_strdup(v->a, words.p[0]);
    if (!name || strcmp(name, "cordon") != 0)
        return name;
    const char *own = own_program(v);
    return own ? own : name;
}

/* Only the file: an agent that runs outside of a box executes its tools in the box with it. */
static void add_own_program(struct view_builder *v)
{
    struct policy *p = &v->view->confined.policy;
    const char *own = own_program(v);
    struct str path = own ? str_z(own) : (struct str){0};
    if (!own || dir_list_holds(&p->exec.allowed_executables, path) ||
        dir_list_holds(&v->tools.inside, path))
        return;
    const struct str_list shown = {&path, 1};
    p->fs.allowed_read = dir_list_join(v->a, p->fs.allowed_read, shown);
    p->exec.allowed_executables = dir_list_join(v->a, p->exec.allowed_executables, shown);
}

static bool add_program(struct view_builder *v, struct err *err)
{
    struct policy *p = &v->view->confined.policy;
    AUTO_ERR struct err missing = {0};
    const struct installed_input input = {
        .program = program_name(v),
        .path = variable_of(v->in->environ, STR("PATH")),
        .cwd = v->box->meta.workdir.mount_path,
        .home = view_resolve(v->a, str_z(v->in->home)),
        .state = v->hidden,
        .inside = v->tools.inside,
        .system = v->system,
        .writable = v->tools.writable,
    };
    if (!input.program || !installed_find(&input, v->a, &v->installed, &missing))
        return !v->in->program || err_move(err, &missing);
    if (v->in->program)
        v->view->program = v->installed.path.p;
    struct str_list shown = narrow_list(&v->developer.narrow, v->installed.shown);
    p->fs.allowed_read = dir_list_join(v->a, p->fs.allowed_read, shown);
    p->exec.allowed_executables = dir_list_join(v->a, p->exec.allowed_executables, shown);
    return true;
}

/* Environment --------------------------------------------------------------------------------- */

struct view_env {
    struct str_pair *pairs;
    size_t n;
};

/* Replaces a variable of the user. */
static void view_set_env(struct view_env *s, const char *name, struct str value)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_is(s->pairs[i].key, name)) {
            s->pairs[i].text = value;
            return;
        }
    s->pairs[s->n++] = (struct str_pair){str_z(name), value};
}

static struct str view_env_value(const struct str_map *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (str_is(set->p[i].key, name))
            return set->p[i].text;
    return (struct str){0};
}

/* The user's PATH without directories that are not in the box. The box's own programs come first,
 * unless the user's PATH has another place for them. */
static struct str make_path(const struct view_builder *v)
{
    AUTO_BUF struct buf path = BUF_INIT(1 << 20);
    struct str one, rest = view_env_value(&v->view->confined.policy.env.set, "PATH");
    struct str own = str_z(arena_printf(v->a, STR_FMT "/.local/bin", STR_ARG(v->home)));
    bool listed = false;
    for (struct str all = rest; all.p && str_cut(all, ':', &one, &all);)
        listed = listed || str_eq(one, own);
    if (!listed)
        dir_list_append(&path, own);
    while (rest.p && str_cut(rest, ':', &one, &rest))
        dir_list_append(&path, one);
    for (size_t i = 0; i < v->installed.dirs.n; i++)
        dir_list_append(&path, v->installed.dirs.p[i]);
    return arena_str(v->a, buf_str(&path));
}

static struct str direct_hosts(const struct view_builder *v)
{
    AUTO_BUF struct buf text = BUF_INIT(64);
    struct str_list hosts;
    (void)box_network(v->box, &hosts);
    host_add_direct(&hosts, &text);
    return arena_str(v->a, buf_str(&text));
}

static void view_set_proxy_env(const struct view_builder *v, struct view_env *s)
{
    static const char *const names[] = {
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"};
    struct str url = str_z(arena_printf(v->a, "http://127.0.0.1:%u", v->in->proxy_port));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        view_set_env(s, names[i], url);
    struct str direct = direct_hosts(v);
    view_set_env(s, "NO_PROXY", direct);
    view_set_env(s, "no_proxy", direct);
    view_set_env(s, "NODE_USE_ENV_PROXY", STR("1")); /* without it node ignores these variables */
}

static void make_env(struct view_builder *v)
{
    struct policy_env *env = &v->view->confined.policy.env;
    struct view_env s = {ARENA_NEW(v->a, struct str_pair, env->set.n + ENV_MAX), env->set.n};
    if (s.n)
        memcpy(s.pairs, env->set.p, s.n * sizeof(*s.pairs));
    view_set_env(&s, "HOME", v->home);
    view_set_env(&s, "PATH", make_path(v));
    view_set_env(&s, "CORDON_BOX", v->box->name);
    view_set_env(&s, "XDG_RUNTIME_DIR", str_z(arena_printf(v->a, "/run/user/%u", geteuid())));
    view_set_env(&s, "IS_SANDBOX", STR("1")); /* without it some agents refuse to run as root */
    if (v->in->proxy_port)
        view_set_proxy_env(v, &s);
    BUG_ON(s.n > env->set.n + ENV_MAX);
    env->set = (struct str_map){s.pairs, s.n};
    env->inherit = true;
    env->allowlist = v->box->agent->keys;
    extra_apply(&(struct policy_extra){.env = v->box->setup.env}, v->in->environ, v->a,
        &v->view->confined.policy);
}

/* The view ------------------------------------------------------------------------------------ */

/* Prepares the box's home directory: mount points, and the safe part of the user's git settings. */
static bool prepare_home(const struct view_builder *v, struct err *err)
{
    const struct plan *plan = &v->view->confined.plan;
    AUTO_FD int home = openat(v->box->fd, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const char *config = variable_of(v->in->environ, STR("XDG_CONFIG_HOME")).p;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if ((s->kind != PLAN_BIND && s->kind != PLAN_OVERLAY) || str_eq(s->at, v->home) ||
            !lexical_is_below(v->home, s->at))
            continue;
        bool is_dir = s->kind == PLAN_OVERLAY || (s->access & PLAN_IS_DIR);
        if (!box_home_place(home, lexical_rest(v->home, s->at), is_dir, v->a))
            return err_errno(err, E_IO, errno,
                "cannot create a mount point for '" STR_FMT "' in the box", STR_ARG(s->at));
    }
    for (size_t i = 0; i < v->developer.narrow.n_links; i++) {
        const struct narrow_link *l = &v->developer.narrow.links[i];
        if (lexical_is_below(v->home, l->at) && !dir_list_holds(&v->tools.inside, l->at))
            box_home_link(home, lexical_rest(v->home, l->at), l->target, v->a);
    }
    return box_home_identity(home, identity_read(v->in->home, config, v->a), err);
}

static bool view_confine(struct view_builder *v, struct err *err)
{
    struct confined *c = &v->view->confined;
    const struct confined_options options = {
        .host.home = v->in->home,
        .plan = {.hidden = &v->hidden,
            .n_hidden = 1,
            .overlays = v->overlays,
            .n_overlays = v->n_overlays,
            .binds = v->binds,
            .n_binds = v->n_binds,
            .links = v->developer.narrow.links,
            .n_links = v->developer.narrow.n_links},
        .inside_command = v->view->program ? v->installed.path : STR("/bin/sh"),
        .inside_cwd = v->box->meta.workdir.mount_path,
        .environ = v->in->environ,
        .own_view = true,
    };
    if (!confined_make(c, &options, v->a, err))
        return false;
    c->plan.limits_inexact = v->box->setup.inexact_limits;
    c->plan.cpu_millis = v->box->setup.limits.cpu_millis;
    c->plan.remedies = (struct plan_remedies){
        .inexact = "create the box again with --ack-inexact-limits",
        .interpreter = "in the box: create it again with --dir and the interpreter's directory",
    };
    return true;
}

bool view_make(const struct box *box, const struct view_input *input, struct arena *arena,
    struct box_view *ret_view, struct err *err)
{
    *ret_view = (struct box_view){0};
    struct view_builder *v = ARENA_NEW(arena, struct view_builder, 1); /* the plan points into it */
    *v = (struct view_builder){.box = box, .in = input, .a = arena, .view = ret_view};
    v->home = arena_str(arena, box_home(box));
    v->hidden = toolchains_state(box, arena);
    v->tools = (struct toolchains_input){
        .box = box, .environ = input->environ, .home = input->home, .state = v->hidden};
    toolchains_places(box, arena, &v->tools);
    if (!view_make_policy(v, err))
        return false;
    v->system = ret_view->confined.policy.exec.allowed_executables;
    toolchains_add(&v->tools, arena, &ret_view->confined.policy, &v->developer);
    if (!add_program(v, err))
        return false;
    add_own_program(v);
    make_env(v);
    return add_places(v, err) && view_confine(v, err) && prepare_home(v, err);
}
