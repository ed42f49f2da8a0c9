/* Adds the machine's part to a verdict. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/host_plan.h"

#include "sandbox/kept.h"
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static bool has_dir(const struct verdict_paths *paths)
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
    return in->n_overlays || in->n_binds || has_dir(&v->read) || has_dir(&v->write) ||
           has_dir(&v->exec);
}

/* The paths to be covered, as they are found. */
struct covers {
    struct arena *arena;
    struct str mounts;
    struct plan_hidden *p;
    size_t n, cap;
};

static void cover(struct covers *c, struct str path, bool is_dir)
{
    ARENA_GROW(c->arena, c->p, c->n, c->cap);
    c->p[c->n++] = (struct plan_hidden){path, is_dir};
}

static bool cover_kernel(struct covers *c, struct err *err)
{
    struct mounts_list kernel;
    struct statx st;
    if (!mounts_of_kernel(c->arena, c->mounts, &kernel, err))
        return false;
    for (size_t i = 0; i < kernel.n; i++) {
        bool seen = mounts_look(kernel.p[i], STATX_TYPE, &st);
        if (seen || errno != ENOENT)
            cover(c, kernel.p[i], !seen || S_ISDIR(st.stx_mode));
    }
    return true;
}

/* Covers a directory, wherever mounts of the host show it. */
static bool cover_dir(struct covers *c, struct str dir, struct err *err)
{
    struct statx own, st;
    struct mounts_list twins;
    if (!mounts_look(dir, STATX_INO | STATX_MNT_ID, &own))
        return err_errno(err, E_IO, errno, "cannot look at '" STR_FMT "'", STR_ARG(dir));
    const struct mounts_place place = {dir, own.stx_mnt_id};
    if (!mounts_twins(c->arena, c->mounts, &place, &twins, err))
        return false;
    for (size_t i = 0; i < twins.n; i++)
        if (mounts_look(twins.p[i], STATX_INO, &st) && mounts_same(&st, &own))
            cover(c, twins.p[i], true);
    cover(c, dir, true);
    return true;
}

/* Finds paths in shown directories that the command must not see: kernel file systems, and the
 * directories that the caller names. */
static bool find_hidden(const struct host_plan_input *in, struct str mounts, struct arena *arena,
    struct plan_input *plan_input, struct err *err)
{
    struct covers c = {.arena = arena, .mounts = mounts};
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
static bool add_loaders(
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

/* Finds the host's mounts and files that concern shown directories. */
static bool look_around(const struct host_plan_input *in, struct arena *arena,
    struct plan_input *plan_input, struct err *err)
{
    AUTO_BUF struct buf mounts = BUF_INIT(MOUNTS_TEXT_MAX);
    return mounts_read(&mounts, err) && find_hidden(in, buf_str(&mounts), arena, plan_input, err) &&
           kept_find(in, buf_str(&mounts), arena, plan_input, err);
}

bool host_plan(const struct host_plan_input *input, struct arena *arena, struct plan *ret_plan,
    struct err *err)
{
    struct baseline *base = ARENA_NEW(arena, struct baseline, 1);
    baseline_collect(arena, base);
    if (!add_loaders(input, base, arena, err))
        return false;
    struct plan_input plan_input = {
        .verdict = input->verdict,
        .baseline = base,
        .overlays = input->overlays,
        .n_overlays = input->n_overlays,
        .binds = input->binds,
        .n_binds = input->n_binds,
        .root = geteuid() == 0,
    };
    AUTO_ERR struct err ignored = {0};
    bool shows = shows_dirs(input) || input->n_hidden;
    bool none = input->verdict->policy->sandbox == POLICY_NO_SANDBOX; /* hides nothing */
    if (shows && !look_around(input, arena, &plan_input, none ? &ignored : err) && !none)
        return false;
    plan_make(&plan_input, arena, ret_plan);
    return true;
}
