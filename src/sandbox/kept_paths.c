/* Read-only paths within writable directories. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/kept_paths.h"

#include "path/beneath.h"
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct kept_paths_search {
    struct arena *arena;
    struct str mounts;
    const struct verdict *verdict;
    struct plan_kept *p;
    size_t n, cap;
};

static void kept_paths_add(struct kept_paths_search *k, struct str path, const struct statx *st)
{
    ARENA_GROW(k->arena, k->p, k->n, k->cap);
    k->p[k->n++] = (struct plan_kept){
        {path, makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino}, S_ISDIR(st->stx_mode)};
}

/* A mount protects a path, not the file: through another hard link in a writable place the file
 * could still be changed. Checked only for files that are themselves in a writable place. */
static bool has_one_name(
    const struct kept_paths_search *k, struct str path, const struct statx *st, struct err *err)
{
    if (S_ISDIR(st->stx_mode) || st->stx_nlink < 2 || !verdict_holds(&k->verdict->write, path))
        return true;
    err_set(err, E_POLICY_DENIED,
        "'" STR_FMT
        "' must not be changed, but has %u hard links: the command could change it under "
        "another name; replace it with a separate copy",
        STR_ARG(path), st->stx_nlink);
    return err_ctx(err, "path", STR_FMT, STR_ARG(path));
}

/* Keeps a path, wherever mounts of the host show it. */
static bool keep_path(struct kept_paths_search *k, struct str path, struct err *err)
{
    struct statx own, st;
    struct mounts_list others;
    if (!mounts_statx(path, STATX_TYPE | STATX_NLINK | STATX_INO | STATX_MNT_ID, &own))
        return errno == ENOENT || errno == ENOTDIR ||
               err_errno(err, E_IO, errno, "cannot stat '" STR_FMT "'", STR_ARG(path));
    if (S_ISLNK(own.stx_mode)) /* a symlink can't be a mount point */
        return true;
    if (!has_one_name(k, path, &own, err))
        return false;
    const struct mounts_place place = {path, own.stx_mnt_id};
    if (!mounts_other_names(k->arena, k->mounts, &place, &others, err))
        return false;
    for (size_t i = 0; i < others.n; i++)
        if (mounts_statx(others.p[i], STATX_TYPE | STATX_INO, &st) && mounts_same_file(&st, &own))
            kept_paths_add(k, others.p[i], &own);
    kept_paths_add(k, path, &own);
    return true;
}

/* A symlink that can be replaced inside would lead to another file on the next run. */
static bool has_no_loose_links(const struct kept_paths_search *k, struct str path, struct err *err)
{
    for (size_t n = 1; n <= path.n; n++) {
        struct statx st;
        if (n < path.n && path.p[n] != '/')
            continue;
        struct str way = arena_str(k->arena, str_head(path, n));
        ptrdiff_t slash = str_find_last(way, '/');
        struct str dir = arena_str(k->arena, slash > 0 ? str_head(way, (size_t)slash) : STR("/"));
        if (!mounts_statx(way, STATX_TYPE, &st) || !S_ISLNK(st.stx_mode))
            continue;
        AUTO_FREE char *resolved = beneath_resolve(dir.p);
        if (!resolved || !verdict_holds(&k->verdict->write, str_z(resolved)))
            continue;
        err_set(err, E_POLICY_DENIED,
            "'" STR_FMT "' must not be changed, but '" STR_FMT
            "' is a symbolic link that the command could replace; use the path of the file "
            "itself",
            STR_ARG(path), STR_ARG(way));
        return err_ctx(err, "path", STR_FMT, STR_ARG(path));
    }
    return true;
}

/* Keeps a file by the path that a user gave. A path that can't be resolved does not exist. */
static bool keep_own(struct kept_paths_search *k, struct str given, struct err *err)
{
    struct statx st;
    AUTO_FREE char *resolved = beneath_resolve(given.p);
    if (!resolved)
        return true;
    struct str path = arena_str(k->arena, str_z(resolved));
    if (!mounts_statx(path, STATX_TYPE, &st) || !(S_ISREG(st.stx_mode) || S_ISDIR(st.stx_mode)))
        return true;
    return has_no_loose_links(k, given, err) && keep_path(k, path, err);
}

bool kept_paths_find(const struct host_plan_input *in, struct str mounts, struct arena *arena,
    struct plan_input *plan_input, struct err *err)
{
    struct kept_paths_search k = {.arena = arena, .mounts = mounts, .verdict = in->verdict};
    for (size_t i = 0; i < in->n_kept; i++)
        if (!keep_path(&k, in->kept[i], err))
            return false;
    for (size_t i = 0; i < in->n_own; i++)
        if (!keep_own(&k, in->own[i], err))
            return false;
    plan_input->kept = k.p;
    plan_input->n_kept = k.n;
    return true;
}
