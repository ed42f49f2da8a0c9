/* Adds the machine's part to a verdict. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/host_plan.h"

#include "sandbox/etc_text.h"
#include "sandbox/etc_view.h"
#include "sandbox/kept_paths.h"
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    HOST_PLAN_GROUPS = 64,
};

static bool host_plan_has_dir(const struct verdict_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        if (paths->p[i].is_dir)
            return true;
    return false;
}

/* Whether a directory is shown, and with it the mounts below it. */
static bool shows_dirs(const struct host_plan_input *in)
{
    const struct verdict *v = in->verdict;
    return in->n_overlays || in->n_binds || host_plan_has_dir(&v->read) ||
           host_plan_has_dir(&v->write) || host_plan_has_dir(&v->exec);
}

/* The paths to be covered, as they are found. */
struct host_plan_covers {
    struct arena *arena;
    struct str mounts;
    struct plan_hidden *p;
    size_t n, cap;
};

static void host_plan_cover(struct host_plan_covers *c, struct str path, bool is_dir)
{
    ARENA_GROW(c->arena, c->p, c->n, c->cap);
    c->p[c->n++] = (struct plan_hidden){path, is_dir};
}

static bool cover_kernel(struct host_plan_covers *c, struct err *err)
{
    struct mounts_list kernel;
    struct statx st;
    if (!mounts_of_kernel(c->arena, c->mounts, &kernel, err))
        return false;
    for (size_t i = 0; i < kernel.n; i++) {
        bool seen = mounts_statx(kernel.p[i], STATX_TYPE, &st);
        if (seen || errno != ENOENT)
            host_plan_cover(c, kernel.p[i], !seen || S_ISDIR(st.stx_mode));
    }
    return true;
}

/* Covers a directory, wherever mounts of the host show it. */
static bool cover_dir(struct host_plan_covers *c, struct str dir, struct err *err)
{
    struct statx own, st;
    struct mounts_list others;
    if (!mounts_statx(dir, STATX_INO | STATX_MNT_ID, &own))
        return err_errno(err, E_IO, errno, "cannot stat '" STR_FMT "'", STR_ARG(dir));
    const struct mounts_place place = {dir, own.stx_mnt_id};
    if (!mounts_other_names(c->arena, c->mounts, &place, &others, err))
        return false;
    for (size_t i = 0; i < others.n; i++)
        if (mounts_statx(others.p[i], STATX_INO, &st) && mounts_same_file(&st, &own))
            host_plan_cover(c, others.p[i], true);
    host_plan_cover(c, dir, true);
    return true;
}

/* Finds paths in shown directories that the command must not see: kernel file systems, and the
 * directories that the caller names. */
static bool find_hidden(const struct host_plan_input *in, struct str mounts, struct arena *arena,
    struct plan_input *plan_input, struct err *err)
{
    struct host_plan_covers c = {.arena = arena, .mounts = mounts};
    if (!cover_kernel(&c, err))
        return false;
    for (size_t i = 0; i < in->n_hidden; i++)
        if (!cover_dir(&c, in->hidden[i], err))
            return false;
    plan_input->hidden = c.p;
    plan_input->n_hidden = c.n;
    return true;
}

/* Programs in a directory may name any of the usual loaders. */
static bool host_plan_add_loaders(
    const struct host_plan_input *in, struct baseline *base, struct arena *arena, struct err *err)
{
    const struct verdict *v = in->verdict;
    bool dirs = in->n_overlays || in->n_binds;
    if (v->command.given.p && !baseline_add_interpreter(base, arena, v->command.resolved.p, err))
        return false;
    for (size_t i = 0; i < v->exec.n; i++) {
        dirs = dirs || v->exec.p[i].is_dir;
        if (!v->exec.p[i].is_dir &&
            !baseline_add_interpreter(base, arena, v->exec.p[i].resolved.p, err))
            return false;
    }
    return !dirs || baseline_add_loaders(base, arena, err);
}

/* Whether the user may read files of others that not every user may read: as root, or by a group
 * that is not the user's own. */
static bool reads_more(void)
{
    gid_t groups[HOST_PLAN_GROUPS];
    int n = getgroups(ARRAY_LEN(groups), groups);
    for (int i = 0; i < n; i++)
        if (groups[i] != getegid())
            return true;
    return geteuid() == 0 || getegid() != geteuid() || n < 0;
}

/* Directories of the system that the developer's machine shows: processors, installed packages. */
static const char *const machine_dirs[] = {
    "/sys/devices/system/cpu", "/var/lib/dpkg", "/var/lib/pacman/local", "/var/lib/rpm"};

/* Per processor, for root only: addresses in physical memory. */
static const char *const cpu_masks[] = {"crash_notes", "crash_notes_size"};

/* The steps, as they are found. */
struct host_plan_machine {
    struct plan_step *p;
    size_t n, cap;
};

static void machine_add(
    struct host_plan_machine *list, struct arena *arena, const struct plan_step *step)
{
    ARENA_GROW(arena, list->p, list->n, list->cap);
    list->p[list->n++] = *step;
}

static void machine_add_dirs(struct host_plan_machine *list, struct arena *arena)
{
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(machine_dirs); i++)
        if (lstat(machine_dirs[i], &st) == 0 && S_ISDIR(st.st_mode))
            machine_add(list, arena,
                &(struct plan_step){.kind = PLAN_BIND,
                    .at = str_z(machine_dirs[i]),
                    .text = str_z(machine_dirs[i]),
                    .dev = st.st_dev,
                    .ino = st.st_ino,
                    .access = PLAN_READ | PLAN_IS_DIR,
                    .may_vanish = true,
                    .unmapped = i == 0}); /* sysfs has none */
    long n = geteuid() == 0 ? sysconf(_SC_NPROCESSORS_CONF) : 0;
    for (long cpu = 0; cpu < n; cpu++)
        for (size_t i = 0; i < ARRAY_LEN(cpu_masks); i++)
            machine_add(list, arena,
                &(struct plan_step){.kind = PLAN_MASK,
                    .at = str_z(
                        arena_printf(arena, "%s/cpu%ld/%s", machine_dirs[0], cpu, cpu_masks[i]))});
}

/* The developer's machine has more than the baseline, where mounts can show it. */
static bool add_machine(const struct policy *policy, struct str mounts, struct arena *arena,
    struct plan_input *plan_input, struct err *err)
{
    struct host_plan_machine list = {0};
    struct etc_view etc;
    bool below;
    if (!policy->developer || policy->sandbox == POLICY_LANDLOCK ||
        policy->sandbox == POLICY_NO_SANDBOX)
        return true;
    if (!mounts_below(arena, mounts, STR("/etc"), &below, err))
        return false;
    etc_view_collect(
        &(struct etc_input){.from = "/etc", .layered = !below, .modes = reads_more()}, arena, &etc);
    for (size_t i = 0; i < etc.n; i++)
        machine_add(&list, arena, &etc.steps[i]);
    machine_add_dirs(&list, arena);
    plan_input->system = list.p;
    plan_input->n_system = list.n;
    plan_input->runtime = str_z(arena_printf(arena, "/run/user/%u", geteuid()));
    return true;
}

static void host_plan_add_links(
    const struct host_plan_input *in, struct arena *arena, struct plan_input *plan_input)
{
    struct plan_step *all =
        ARENA_NEW(arena, struct plan_step, plan_input->n_system + in->n_links + 1);
    if (plan_input->n_system)
        memcpy(all, plan_input->system, plan_input->n_system * sizeof(*all));
    plan_input->system = all;
    for (size_t i = 0; i < in->n_links; i++)
        all[plan_input->n_system++] = (struct plan_step){
            .kind = PLAN_LINK, .at = in->links[i].at, .text = in->links[i].target};
}

/* Finds the host's mounts and files that concern shown directories. */
static bool host_plan_inspect(const struct host_plan_input *in, struct arena *arena,
    struct plan_input *plan_input, struct err *err)
{
    AUTO_BUF struct buf mounts = BUF_INIT(MOUNTS_TEXT_MAX);
    return mounts_read(&mounts, err) && find_hidden(in, buf_str(&mounts), arena, plan_input, err) &&
           kept_paths_find(in, buf_str(&mounts), arena, plan_input, err) &&
           add_machine(in->verdict->policy, buf_str(&mounts), arena, plan_input, err);
}

/* The HOME that the policy sets; may have no value. */
static struct str home_inside(const struct policy_env *env)
{
    for (size_t i = 0; i < env->set.n; i++)
        if (str_is(env->set.p[i].key, "HOME"))
            return env->set.p[i].text;
    return (struct str){0};
}

bool host_plan(const struct host_plan_input *input, struct arena *arena, struct plan *ret_plan,
    struct err *err)
{
    struct baseline *base = ARENA_NEW(arena, struct baseline, 1);
    baseline_collect(arena, base);
    if (input->verdict->policy->developer && base->n_files < BASELINE_MAX)
        base->files[base->n_files++] =
            (struct baseline_file){STR("/etc/hostname"), STR(ETC_HOST_NAME "\n")};
    for (size_t i = 0; i < input->n_files && base->n_files < BASELINE_MAX; i++)
        base->files[base->n_files++] = input->files[i];
    baseline_fit_etc(base, arena, home_inside(&input->verdict->policy->env));
    if (!host_plan_add_loaders(input, base, arena, err))
        return false;
    struct plan_input plan_input = {
        .verdict = input->verdict,
        .baseline = base,
        .overlays = input->overlays,
        .n_overlays = input->n_overlays,
        .binds = input->binds,
        .n_binds = input->n_binds,
        .root = geteuid() == 0,
        .developer = input->verdict->policy->developer,
        .home = input->home,
    };
    AUTO_ERR struct err ignored = {0};
    bool shows = shows_dirs(input) || input->n_hidden;
    bool none = input->verdict->policy->sandbox == POLICY_NO_SANDBOX; /* hides nothing */
    if (shows && !host_plan_inspect(input, arena, &plan_input, none ? &ignored : err) && !none)
        return false;
    if (input->n_links)
        host_plan_add_links(input, arena, &plan_input);
    plan_make(&plan_input, arena, ret_plan);
    return true;
}
