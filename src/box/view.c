/* Policy, mounts and environment of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/view.h"

#include "box/command.h"
#include "box/installed.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/preset.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    PROCESSES = 4096,
    OPEN_FILES = 64 * 1024,
    ENV_MAX = 24,
};
#define TMP_BYTES ((uint64_t)2 << 30)

struct view_builder {
    const struct box *box;
    const struct view_input *in;
    struct arena *a;
    struct box_view *view;
    struct str home;   /* path in the box */
    struct str hidden; /* $CORDON_HOME on the host */
    struct str_list inside, writable;
    struct plan_bind *binds;
    size_t n_binds;
    struct plan_overlay overlay;
    struct installed installed;
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
    v->writable.p[v->writable.n++] = path;
    if (lstat(git, &st) != 0)
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot look at '%s'", git);
    if (S_ISLNK(st.st_mode))
        return err_set(err, E_FS_VIOLATION,
            "'%s' is a link, which a box that may write there could lead elsewhere; use ':copy'",
            git);
    return view_bind(v, str_z(git), str_z(git), false, err);
}

static bool add_overlay(struct view_builder *v, struct err *err)
{
    const struct box *box = v->box;
    struct plan_overlay *o = &v->overlay;
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
    for (size_t i = 0; i < v->inside.n; i++)
        if (lexical_is_below(v->inside.p[i], v->home))
            return err_set(err, E_CLI_INVALID_ARG,
                "'" STR_FMT "', where the agent is at home in the box, lies in '" STR_FMT
                "', which the box is to show",
                STR_ARG(v->home), STR_ARG(v->inside.p[i]));
    return true;
}

static bool add_places(struct view_builder *v, struct err *err)
{
    enum {
        HOME_AND_PROJECT = 3,
        EACH = 2, /* including its .git */
    };
    const struct box *box = v->box;
    const struct box_setup *setup = &box->setup;
    v->binds = ARENA_NEW(v->a, struct plan_bind, HOME_AND_PROJECT + EACH * setup->n_extras);
    v->inside.p = ARENA_NEW(v->a, struct str, setup->n_extras + 1);
    v->writable.p = ARENA_NEW(v->a, struct str, setup->n_extras + 1);
    v->inside.p[v->inside.n++] = box->meta.workdir.mount_path;
    for (size_t i = 0; i < setup->n_extras; i++)
        v->inside.p[v->inside.n++] = setup->extras[i].path;
    struct str home = str_z(arena_printf(v->a, STR_FMT "/home", STR_ARG(box->path)));
    if (!check_home(v, err) || !add_project(v, err) || !view_bind(v, v->home, home, true, err))
        return false;
    for (size_t i = 0; i < setup->n_extras; i++) {
        const struct box_extra *e = &setup->extras[i];
        if (!(e->writable ? bind_writable(v, e->path, err)
                          : view_bind(v, e->path, e->path, false, err)))
            return false;
    }
    return true;
}

/* Policy -------------------------------------------------------------------------------------- */

static void view_remove_path(struct str_list *list, struct str path)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!str_eq(list->p[i], path))
            list->p[n++] = list->p[i];
    list->n = n;
}

static struct str_list view_join_lists(struct arena *a, struct str_list one, struct str_list two)
{
    struct str_list both = {ARENA_NEW(a, struct str, one.n + two.n), one.n + two.n};
    if (one.n)
        memcpy(both.p, one.p, one.n * sizeof(*one.p));
    if (two.n)
        memcpy(both.p + one.n, two.p, two.n * sizeof(*two.p));
    return both;
}

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

/* The system part of the build preset; the directories are separate mounts. */
static bool view_make_policy(struct view_builder *v, struct err *err)
{
    struct policy *p = &v->view->confined.policy;
    struct str root = v->box->meta.workdir.host_path;
    struct str_list hosts;
    if (!preset_load("build", root, v->a, p, err))
        return false;
    view_remove_path(&p->fs.allowed_read, root);
    view_remove_path(&p->fs.allowed_write, root);
    view_remove_path(&p->exec.allowed_executables, root);
    p->fs.working_dir = (struct str){0};
    if (box_network(v->box, &hosts) == BOX_NETWORK_ON) {
        p->network = POLICY_NETWORK_ENABLED;
        p->network_unsafe_ack = true;
    }
    view_set_limits(&v->box->setup.limits, &p->limits);
    return true;
}

/* The state directory, which contains the box as sandboxes/<name>. */
static struct str view_state_dir(const struct box *box, struct arena *a)
{
    struct str dir = str_head(box->path, (size_t)str_find_last(box->path, '/'));
    if (str_is(lexical_name(dir), "sandboxes"))
        dir = str_head(dir, (size_t)str_find_last(dir, '/'));
    return arena_str(a, dir.n ? dir : STR("/"));
}

static struct str view_env_value(const char *const *all, struct str name)
{
    for (; all && *all; all++) {
        struct str one = str_z(*all);
        if (str_starts_with(one, name) && one.n > name.n && one.p[name.n] == '=')
            return str_skip(one, name.n + 1);
    }
    return (struct str){0};
}

static struct str view_resolve(struct arena *a, struct str path)
{
    AUTO_FD int fd = path.n ? beneath_peek(path.p) : -1;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    return name ? arena_str(a, str_z(name)) : (struct str){0};
}

/* Path of this executable, if it still exists. */
static const char *own_program(const struct view_builder *v)
{
    char self[PATH_MAX];
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

static bool lies_in(const struct str_list *dirs, struct str path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (str_eq(dirs->p[i], path) || lexical_is_below(dirs->p[i], path))
            return true;
    return false;
}

/* Only the file: an agent that runs outside of a box executes its tools in the box with it. */
static void add_own_program(struct view_builder *v)
{
    struct policy *p = &v->view->confined.policy;
    const char *own = own_program(v);
    struct str path = own ? str_z(own) : (struct str){0};
    if (!own || lies_in(&p->exec.allowed_executables, path) || lies_in(&v->inside, path))
        return;
    const struct str_list shown = {&path, 1};
    p->fs.allowed_read = view_join_lists(v->a, p->fs.allowed_read, shown);
    p->exec.allowed_executables = view_join_lists(v->a, p->exec.allowed_executables, shown);
}

static bool add_program(struct view_builder *v, struct err *err)
{
    struct policy *p = &v->view->confined.policy;
    AUTO_ERR struct err missing = {0};
    const struct installed_input input = {
        .program = program_name(v),
        .path = view_env_value(v->in->environ, STR("PATH")),
        .cwd = v->box->meta.workdir.mount_path,
        .home = view_resolve(v->a, str_z(v->in->home)),
        .state = v->hidden,
        .inside = v->inside,
        .system = p->exec.allowed_executables,
        .writable = v->writable,
    };
    if (!input.program || !installed_find(&input, v->a, &v->installed, &missing))
        return !v->in->program || err_move(err, &missing);
    if (v->in->program)
        v->view->program = v->installed.path.p;
    p->fs.allowed_read = view_join_lists(v->a, p->fs.allowed_read, v->installed.shown);
    p->exec.allowed_executables =
        view_join_lists(v->a, p->exec.allowed_executables, v->installed.shown);
    return true;
}

/* Environment --------------------------------------------------------------------------------- */

struct view_env {
    struct str_pair pairs[ENV_MAX];
    size_t n;
};

static void view_set_env(struct view_env *s, const char *name, struct str value)
{
    BUG_ON(s->n == ENV_MAX);
    s->pairs[s->n++] = (struct str_pair){str_z(name), value};
}

static bool view_is_shown(const struct view_builder *v, struct str dir)
{
    const struct str_list *const lists[] = {
        &v->view->confined.policy.exec.allowed_executables, &v->inside, &v->installed.dirs};
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (lexical_is_below(lists[k]->p[i], dir))
                return true;
    return false;
}

static bool view_has_path_dir(const struct buf *path, struct str dir)
{
    struct str one, rest = buf_str(path);
    while (str_cut(rest, ':', &one, &rest))
        if (str_eq(one, dir))
            return true;
    return false;
}

static void view_add_path_dir(struct buf *path, struct str dir)
{
    if (view_has_path_dir(path, dir))
        return;
    if (path->n)
        buf_add_byte(path, ':');
    buf_add_str(path, dir);
}

/* The caller's PATH, without directories that are not in the box; then the usual ones. */
static struct str make_path(const struct view_builder *v)
{
    static const char *const usual[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    AUTO_BUF struct buf path = BUF_INIT(1 << 20);
    struct str one, rest = view_env_value(v->in->environ, STR("PATH"));
    buf_printf(&path, STR_FMT "/.local/bin", STR_ARG(v->home));
    while (rest.p && str_cut(rest, ':', &one, &rest)) {
        if (one.n == 0 || one.p[0] != '/')
            continue;
        struct str clean = lexical_absolute(v->a, STR("/"), one), real = view_resolve(v->a, clean);
        if (view_is_shown(v, clean))
            view_add_path_dir(&path, clean);
        else if (real.n && view_is_shown(v, real))
            view_add_path_dir(&path, real);
    }
    for (size_t i = 0; i < v->installed.dirs.n; i++)
        view_add_path_dir(&path, v->installed.dirs.p[i]);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        view_add_path_dir(&path, str_z(usual[i]));
    return arena_str(v->a, buf_str(&path));
}

/* Hosts reached without the proxy: the box's own loopback, except for names in the list, which
 * refer to the host. */
static struct str direct_hosts(const struct view_builder *v)
{
    static const char *const own[] = {"localhost", "127.0.0.1"};
    AUTO_BUF struct buf text = BUF_INIT(64);
    struct str_list hosts;
    (void)box_network(v->box, &hosts);
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        bool listed = false;
        for (size_t k = 0; k < hosts.n; k++) {
            struct str name = hosts.p[k], port;
            (void)str_cut(name, ':', &name, &port);
            listed = listed || str_is(name, own[i]);
        }
        if (!listed)
            buf_printf(&text, "%s%s", text.n ? "," : "", own[i]);
    }
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
    struct view_env s = {.n = 0};
    struct policy_env *env = &v->view->confined.policy.env;
    view_set_env(&s, "HOME", v->home);
    view_set_env(&s, "PATH", make_path(v));
    view_set_env(&s, "CORDON_BOX", v->box->name);
    view_set_env(&s, "IS_SANDBOX", STR("1")); /* without it some agents refuse to run as root */
    if (v->in->proxy_port)
        view_set_proxy_env(v, &s);
    env->set = (struct str_map){ARENA_NEW(v->a, struct str_pair, s.n), s.n};
    memcpy(env->set.p, s.pairs, s.n * sizeof(*s.pairs));
    env->inherit = true;
    env->allowlist = v->box->agent->keys;
}

/* The view ------------------------------------------------------------------------------------ */

/* Creates a mount point inside the box's home, as the sandbox setup does not create it there. */
static bool make_place(int home, struct str rest, bool is_dir, struct arena *a)
{
    struct str name, left = rest;
    AUTO_FD int dir = beneath_open(home, ".", O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    while (dir >= 0 && lexical_next(&left, &name)) {
        const char *text = arena_strdup(a, name);
        bool last = str_trim_end(left, '/').n == 0;
        int made =
            last && !is_dir ? mknodat(dir, text, S_IFREG | 0600, 0) : mkdirat(dir, text, 0700);
        if (made != 0 && errno != EEXIST)
            return false;
        if (last)
            return true;
        int inner = beneath_open(dir, text, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
        close(dir);
        dir = inner;
    }
    return dir >= 0;
}

static bool make_places(const struct view_builder *v, struct err *err)
{
    const struct plan *plan = &v->view->confined.plan;
    AUTO_FD int home = openat(v->box->fd, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if ((s->kind != PLAN_BIND && s->kind != PLAN_OVERLAY) || str_eq(s->at, v->home) ||
            !lexical_is_below(v->home, s->at))
            continue;
        bool is_dir = s->kind == PLAN_OVERLAY || (s->access & PLAN_IS_DIR);
        if (!make_place(home, lexical_rest(v->home, s->at), is_dir, v->a))
            return err_errno(err, E_IO, errno, "cannot make a place for '" STR_FMT "' in the box",
                STR_ARG(s->at));
    }
    return true;
}

static bool view_confine(struct view_builder *v, struct err *err)
{
    struct confined *c = &v->view->confined;
    const struct confined_options options = {
        .host.home = v->in->home,
        .plan = {.hidden = &v->hidden,
            .n_hidden = 1,
            .overlays = &v->overlay,
            .n_overlays = v->overlay.at.p != NULL,
            .binds = v->binds,
            .n_binds = v->n_binds},
        .inside_command = v->view->program ? v->installed.path : STR("/bin/sh"),
        .inside_cwd = v->box->meta.workdir.mount_path,
        .environ = v->in->environ,
    };
    if (!confined_make(c, &options, v->a, err))
        return false;
    c->plan.limits_inexact = v->box->setup.inexact_limits;
    c->plan.cpu_millis = v->box->setup.limits.cpu_millis;
    return true;
}

bool view_make(const struct box *box, const struct view_input *input, struct arena *arena,
    struct box_view *ret_view, struct err *err)
{
    *ret_view = (struct box_view){0};
    struct view_builder *v = ARENA_NEW(arena, struct view_builder, 1); /* the plan points into it */
    *v = (struct view_builder){.box = box, .in = input, .a = arena, .view = ret_view};
    v->home = arena_str(arena, agent_home(box->agent));
    v->hidden = view_state_dir(box, arena);
    if (!add_places(v, err) || !view_make_policy(v, err) || !add_program(v, err))
        return false;
    add_own_program(v);
    make_env(v);
    return view_confine(v, err) && make_places(v, err);
}
