/* The developer's machine in a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/toolchains.h"

#include "base/grow.h"
#include "box/box_home.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/dir_list.h"
#include "policy/preset.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Places -------------------------------------------------------------------------------------- */

void toolchains_places(const struct box *box, struct arena *arena, struct toolchains_input *input)
{
    const struct box_setup *setup = &box->setup;
    struct str *inside = ARENA_NEW(arena, struct str, setup->n_extras + setup->caches.n + 1);
    struct str *writable = ARENA_NEW(arena, struct str, setup->n_extras + 1);
    size_t n = 0, n_writable = 0;
    inside[n++] = box->meta.workdir.mount_path;
    if (box->meta.workdir.mode == BOX_RW)
        writable[n_writable++] = box->meta.workdir.host_path;
    for (size_t i = 0; i < setup->n_extras; i++) {
        inside[n++] = setup->extras[i].path;
        if (setup->extras[i].writable)
            writable[n_writable++] = setup->extras[i].path;
    }
    for (size_t i = 0; i < setup->caches.n; i++)
        inside[n++] = setup->caches.p[i];
    input->inside = (struct str_list){inside, n};
    input->writable = (struct str_list){writable, n_writable};
}

struct str toolchains_state(const struct box *box, struct arena *arena)
{
    struct str dir = str_head(box->path, (size_t)str_find_last(box->path, '/'));
    if (str_is(lexical_name(dir), LAYOUT_MAKING))
        dir = str_head(dir, (size_t)str_find_last(dir, '/'));
    if (str_is(lexical_name(dir), "sandboxes"))
        dir = str_head(dir, (size_t)str_find_last(dir, '/'));
    return arena_str(arena, dir.n ? dir : STR("/"));
}

static void tools_remove(struct str_list *list, struct str path)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!str_eq(list->p[i], path))
            list->p[n++] = list->p[i];
    list->n = n;
}

bool toolchains_policy(
    const struct box *box, struct arena *arena, struct policy *ret_policy, struct err *err)
{
    struct str root = box->meta.workdir.host_path;
    if (!preset_load("build", root, arena, ret_policy, err))
        return false;
    tools_remove(&ret_policy->fs.allowed_read, root);
    tools_remove(&ret_policy->fs.allowed_write, root);
    tools_remove(&ret_policy->exec.allowed_executables, root);
    ret_policy->fs.working_dir = (struct str){0};
    return true;
}

/* Toolchains ---------------------------------------------------------------------------------- */

/* Resolves a path of the host; no value: it is gone, or no file or directory. */
static struct str tools_resolve(struct arena *a, struct str path, struct stat *ret_stat)
{
    AUTO_FD int fd = beneath_peek(arena_strdup(a, path));
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    if (!name || fstat(fd, ret_stat) != 0 ||
        !(S_ISDIR(ret_stat->st_mode) || S_ISREG(ret_stat->st_mode)))
        return (struct str){0};
    return arena_str(a, str_z(name));
}

static bool tools_in_home(struct str home, struct str path)
{
    return lexical_is_below(home, path) && !str_eq(home, path);
}

/* Leaves out toolchains where the box has files of its own. */
static void tools_omit_own(const struct toolchains_input *in, struct arena *a,
    struct policy *policy, struct developer *developer)
{
    size_t n = 0, n_omitted = developer->n_omitted;
    struct str home = box_home(in->box);
    struct developer_omission *omitted =
        ARENA_NEW(a, struct developer_omission, n_omitted + developer->shown.n + 1);
    AUTO_FD int fd = openat(in->box->fd, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (n_omitted)
        memcpy(omitted, developer->omitted, n_omitted * sizeof(*omitted));
    for (size_t i = 0; i < developer->shown.n; i++) {
        struct str path = developer->shown.p[i];
        struct stat st;
        bool in_home = fd >= 0 && tools_in_home(home, path) && tools_resolve(a, path, &st).n;
        if (!in_home ||
            box_home_is_free(fd, lexical_rest(home, path), path, S_ISDIR(st.st_mode), a)) {
            developer->shown.p[n++] = path;
            continue;
        }
        tools_remove(&policy->fs.allowed_read, path);
        tools_remove(&policy->exec.allowed_executables, path);
        omitted[n_omitted++] = (struct developer_omission){
            .dir = path, .reason = "the box has files of its own there"};
    }
    developer->shown.n = n;
    developer->omitted = omitted;
    developer->n_omitted = n_omitted;
}

void toolchains_add(const struct toolchains_input *in, struct arena *arena, struct policy *policy,
    struct developer *ret_developer)
{
    struct stat st;
    struct str home = in->home ? tools_resolve(arena, str_z(in->home), &st) : (struct str){0};
    const struct developer_input input = {
        .home = home.p,
        .environ = in->environ,
        .no_home = true,
        .state = in->state,
        .inside = in->inside,
        .writable = in->writable,
        .kept_home = box_home(in->box),
    };
    developer_add(&input, arena, policy, ret_developer);
    tools_omit_own(in, arena, policy, ret_developer);
}

bool toolchains_list(const struct box *box, const char *const *variables, const char *home,
    struct arena *arena, struct developer *ret_developer, struct err *err)
{
    struct policy policy;
    struct toolchains_input input = {.box = box, .environ = variables, .home = home};
    input.state = toolchains_state(box, arena);
    toolchains_places(box, arena, &input);
    if (!toolchains_policy(box, arena, &policy, err))
        return false;
    toolchains_add(&input, arena, &policy, ret_developer);
    return true;
}

/* Mounts -------------------------------------------------------------------------------------- */

struct tools_binder {
    const struct toolchains_input *in;
    struct arena *a;
    struct policy *policy;
    struct str home;
    struct plan_bind *binds;
    size_t n, cap;
};

/* Whether a directory around it is mounted already, with the same rights. */
static bool tools_is_bound(const struct tools_binder *b, struct str at, bool exec)
{
    for (size_t i = 0; i < b->n; i++)
        if (lexical_is_below(b->binds[i].at, at) && (b->binds[i].exec || !exec))
            return true;
    return false;
}

static void tools_bind(struct tools_binder *b, struct str at, struct plan_bind bind)
{
    if (tools_is_bound(b, at, bind.exec) || dir_list_holds(&b->in->inside, at))
        return;
    ARENA_GROW(b->a, b->binds, b->n, b->cap);
    bind.at = at;
    b->binds[b->n++] = bind;
}

/* Symlinks to files elsewhere: these are also shown at their own paths. */
static void tools_show_target(struct tools_binder *b, struct str real, struct plan_bind bind)
{
    struct policy *p = b->policy;
    struct str *one = ARENA_NEW(b->a, struct str, 1);
    const struct str_list more = {one, 1};
    *one = real;
    if (tools_in_home(b->home, real)) {
        tools_bind(b, real, bind);
        return;
    }
    p->fs.allowed_read = dir_list_join(b->a, p->fs.allowed_read, more);
    if (bind.exec)
        p->exec.allowed_executables = dir_list_join(b->a, p->exec.allowed_executables, more);
}

static void tools_take(struct tools_binder *b, struct str path, bool exec)
{
    struct stat st;
    struct str real = tools_resolve(b->a, path, &st);
    if (!real.n)
        return;
    const struct plan_bind bind = {
        .source = {real, st.st_dev, st.st_ino}, .is_dir = S_ISDIR(st.st_mode), .exec = exec};
    tools_bind(b, path, bind);
    if (!str_eq(real, path))
        tools_show_target(b, real, bind);
}

/* Sorted, so that directories come before the paths in them. */
static int tools_order(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    int order = memcmp(x->p, y->p, MIN(x->n, y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Moves the paths in the home directory from a list to another. */
static struct str_list tools_split(struct tools_binder *b, struct str_list *list)
{
    struct str_list found = {ARENA_NEW(b->a, struct str, list->n + 1), 0};
    struct str_list rest = {ARENA_NEW(b->a, struct str, list->n + 1), 0};
    for (size_t i = 0; i < list->n; i++) {
        bool in_home = tools_in_home(b->home, list->p[i]);
        struct str_list *to = in_home ? &found : &rest;
        to->p[to->n++] = list->p[i];
    }
    *list = rest;
    qsort(found.p, found.n, sizeof(*found.p), tools_order);
    return found;
}

size_t toolchains_binds(const struct toolchains_input *input, struct arena *arena,
    struct policy *policy, struct plan_bind **ret_binds)
{
    struct tools_binder b = {
        .in = input, .a = arena, .policy = policy, .home = box_home(input->box)};
    struct str_list exec = tools_split(&b, &policy->exec.allowed_executables);
    struct str_list read = tools_split(&b, &policy->fs.allowed_read);
    for (size_t i = 0; i < exec.n; i++)
        tools_take(&b, exec.p[i], true);
    for (size_t i = 0; i < read.n; i++)
        tools_take(&b, read.p[i], false);
    *ret_binds = b.binds;
    return b.n;
}
