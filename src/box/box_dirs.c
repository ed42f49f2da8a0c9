/* Checks of the directories of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box_dirs.h"

#include "path/beneath.h"
#include "path/lexical.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct blocked home_row = {
    "$HOME", "it is the home directory, with keys and settings", NULL};
static const struct blocked above_home_row = {
    "$HOME", "it holds the home directory, with keys and settings", NULL};
static const struct blocked state_row = {
    "$CORDON_HOME", "it holds cordon's own files, including boxes", NULL};

/* Resolves a path; returns it lexically normalized if that fails. */
static struct str dirs_resolve(struct arena *a, const char *path)
{
    AUTO_FD int fd = beneath_peek(path);
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    return arena_str(a, name ? str_z(name) : lexical_absolute(a, STR("/"), str_z(path)));
}

static bool dirs_inspect(
    const struct dirarg *arg, struct arena *a, struct box_dir *ret_dir, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = beneath_peek(arg->path.p);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_errno(err, E_IO, errno, "cannot use '" STR_FMT "' for a box", STR_ARG(arg->path));
        return err_ctx(err, "path", STR_FMT, STR_ARG(arg->path));
    }
    if (!S_ISDIR(st.st_mode)) {
        err_errno(err, E_IO, ENOTDIR, "cannot use '" STR_FMT "' for a box", STR_ARG(arg->path));
        return err_ctx(err, "path", STR_FMT, STR_ARG(arg->path));
    }
    AUTO_FREE char *name = beneath_name(fd);
    if (!name)
        return err_set(err, E_IO, "'" STR_FMT "' no longer has a path", STR_ARG(arg->path));
    *ret_dir = (struct box_dir){.path = arena_str(a, str_z(name)),
        .dev = st.st_dev,
        .ino = st.st_ino,
        .mode = st.st_mode,
        .owner = st.st_uid};
    return true;
}

/* Danger -------------------------------------------------------------------------------------- */

static const struct blocked *danger_of(
    struct str path, bool write, const struct dirs_host *host, struct arena *a)
{
    const struct blocked *row = blocked_path(path, write ? BLOCKED_WRITE : BLOCKED_READ);
    struct str home = host->home ? dirs_resolve(a, host->home) : (struct str){0};
    if (row)
        return row;
    if (home.p && str_eq(path, home))
        return &home_row;
    if (home.p && lexical_is_below(path, home))
        return &above_home_row;
    return lexical_is_below(path, dirs_resolve(a, host->state)) ? &state_row : NULL;
}

static bool check_danger(const struct dirarg *arg, const struct dirs_host *host, struct arena *a,
    struct box_dir *dir, struct err *err)
{
    bool write = arg->mode == DIRARG_RW;
    const struct blocked *row = danger_of(dir->path, write, host, a);
    if (!row)
        row = danger_of(arg->path, write, host, a);
    if (row && !arg->force) {
        err_set(err, E_POLICY_DENIED,
            "'" STR_FMT "' is too dangerous for a box: %s (append ':force' to override)",
            STR_ARG(arg->path), row->reason);
        return err_ctx(err, "path", STR_FMT, STR_ARG(arg->path));
    }
    dir->danger = row;
    return true;
}

/* Nested directories -------------------------------------------------------------------------- */

static bool dirs_overlap_error(struct str outer, struct str inner, struct err *err)
{
    err_set(err, E_CLI_INVALID_ARG,
        str_eq(outer, inner) ? "'" STR_FMT "' is given twice"
                             : "'" STR_FMT "' contains '" STR_FMT "'; use only one of them",
        STR_ARG(outer), STR_ARG(inner));
    return err_ctx(err, "path", STR_FMT, STR_ARG(inner));
}

static bool check_pair(const struct box_dir *a, const struct box_dir *b, struct err *err)
{
    if (lexical_is_below(a->path, b->path) || (a->dev == b->dev && a->ino == b->ino))
        return dirs_overlap_error(a->path, b->path, err);
    return !lexical_is_below(b->path, a->path) || dirs_overlap_error(b->path, a->path, err);
}

/* A box inside cordon's own files could change the host's data about it. An overlay's upper layer
 * cannot be inside its lower layer. */
static bool check_state(
    const struct dirarg *arg, const struct box_dir *dir, struct str state, struct err *err)
{
    if (lexical_is_below(state, dir->path))
        return err_set(err, E_CLI_INVALID_ARG,
            "'" STR_FMT "' is in '" STR_FMT "', where cordon stores its own files",
            STR_ARG(dir->path), STR_ARG(state));
    if (arg->mode == DIRARG_OVERLAY && lexical_is_below(dir->path, state))
        return err_set(err, E_CLI_INVALID_ARG,
            "'" STR_FMT "' holds '" STR_FMT
            "', where boxes are stored: an overlay cannot contain itself; use ':copy', or set "
            "CORDON_HOME to another directory",
            STR_ARG(dir->path), STR_ARG(state));
    return true;
}

bool dirs_check(const struct dirarg *args, size_t n, const struct dirs_host *host, struct arena *a,
    struct box_dir *ret_dirs, struct err *err)
{
    struct box_dir *dirs = ARENA_NEW(a, struct box_dir, n);
    struct str state = dirs_resolve(a, host->state);
    for (size_t i = 0; i < n; i++)
        if (!dirs_inspect(&args[i], a, &dirs[i], err))
            return false;
    for (size_t i = 0; i < n; i++)
        if (!check_state(&args[i], &dirs[i], state, err) ||
            !check_danger(&args[i], host, a, &dirs[i], err))
            return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!check_pair(&dirs[k], &dirs[i], err))
                return false;
    memcpy(ret_dirs, dirs, n * sizeof(*dirs));
    return true;
}
