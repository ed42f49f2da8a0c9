/* Discards the changes of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/reset.h"

#include "box/box_home.h"
#include "box/layering.h"
#include "change/former.h"
#include "change/manifest.h"
#include "change/upper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    NAMED = 3, /* number of files named in a message */
};

/* Unapplied work ------------------------------------------------------------------------------ */

bool reset_unapplied(const struct box *box, struct delta *delta, struct err *err)
{
    AUTO(box_close_trees) struct box_trees trees = BOX_TREES_NONE;
    if (box->meta.workdir.mode == BOX_RW)
        return true;
    if (!box_open_trees(box, &trees, err))
        return false;
    int lower = trees.baseline >= 0 ? trees.baseline : trees.project;
    AUTO_MANIFEST struct manifest same = MANIFEST_INIT;
    box_load_same(&trees, box->host, &same);
    const struct upper_options options = {.opaque_root = trees.opaque_root, .same = &same};
    return upper_read(lower, trees.upper, &options, delta, err);
}

bool reset_refuse_loss(const struct box *box, const char *verb, struct err *err)
{
    AUTO_DELTA struct delta delta = DELTA_INIT;
    AUTO_BUF struct buf names = BUF_INIT(64 * 1024);
    if (!reset_unapplied(box, &delta, err)) {
        if (err->code == E_NOT_FOUND)
            err_wrap(
                err, "cannot determine the changes of the box '" STR_FMT "'", STR_ARG(box->name));
        return err_ctx(err, "remedy", "use --abandon-unapplied if nothing in it is needed");
    }
    if (delta.n == 0)
        return true;
    for (size_t i = 0; i < MIN(delta.n, (size_t)NAMED); i++)
        buf_printf(&names, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(delta.items[i].path));
    if (delta.n > NAMED)
        buf_printf(&names, " and %zu more", delta.n - NAMED);
    err_set(err, E_CONFLICT, "%s the box '" STR_FMT "' would discard unapplied changes: %s", verb,
        STR_ARG(box->name), buf_z(&names));
    err_ctx(err, "name", STR_FMT, STR_ARG(box->name));
    err_ctx_int(err, "changes", (int64_t)delta.n);
    return err_ctx(err, "remedy",
        "run 'cordon box apply " STR_FMT "' first, or use --abandon-unapplied to discard them",
        STR_ARG(box->name));
}

/* Resetting ----------------------------------------------------------------------------------- */

/* The initial mode of the box's project. */
static bool project_mode(const struct box_trees *trees, mode_t *ret_mode, struct err *err)
{
    struct stat st;
    if (fstat(trees->baseline >= 0 ? trees->baseline : trees->project, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat the project");
    *ret_mode = st.st_mode;
    return true;
}

/* After a reset the box starts from the current project. The file is written before anything is
 * discarded and renamed afterwards: an outdated manifest only causes apply to refuse too much. */
static bool write_manifest(const struct box *box, int project, struct err *err)
{
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    if (box->meta.workdir.mode != BOX_OVERLAY)
        return true;
    former_save(project, box->host);
    return manifest_take(project, &m, err) && manifest_write(&m, box->host, "manifest.reset", err);
}

static bool name_manifest(const struct box *box, struct err *err)
{
    return box->meta.workdir.mode != BOX_OVERLAY ||
           renameat(box->host, "manifest.reset", box->host, "manifest") == 0 ||
           err_errno(err, E_IO, errno, "cannot write 'manifest'");
}

static bool reset_layers(const struct boxes *boxes, const struct box *box, struct err *err)
{
    AUTO(box_close_trees) struct box_trees trees = BOX_TREES_NONE;
    const struct box_workdir *w = &box->meta.workdir;
    AUTO_FD int fresh = -1;
    mode_t mode = 0;
    if (w->mode == BOX_RW)
        return true;
    if (!box_open_trees(box, &trees, err) || !project_mode(&trees, &mode, err) ||
        !write_manifest(box, trees.project, err) ||
        !box_begin_part(boxes, box->name, mode, &fresh, err))
        return false;
    int from = trees.baseline >= 0 ? trees.baseline : trees.project;
    if ((trees.opaque_root && !layering_copy(fresh, from, err)) ||
        !box_swap_part(boxes, box->name, "work", w->host_path, err))
        return false;
    return name_manifest(box, err);
}

/* Boxes of version 0.1 have none. */
static bool reset_caches(const struct boxes *boxes, const struct box *box, struct err *err)
{
    AUTO_FD int fresh = -1;
    if (faccessat(box->fd, "caches", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    return box_begin_part(boxes, box->name, 0, &fresh, err) &&
           box_swap_part(boxes, box->name, "caches", (struct str){0}, err);
}

static bool reset_home(const struct boxes *boxes, const struct box *box, struct err *err)
{
    AUTO_FD int fresh = -1;
    return box_begin_part(boxes, box->name, 0, &fresh, err) &&
           box_home_fill(fresh, box->agent, err) &&
           box_swap_part(boxes, box->name, "home", (struct str){0}, err);
}

bool reset_box(const struct boxes *boxes, const struct box *box,
    const struct reset_options *options, struct err *err)
{
    bool ok = reset_layers(boxes, box, err) &&
              (!options->clean || (reset_home(boxes, box, err) && reset_caches(boxes, box, err)));
    if (!ok)
        boxes_abandon(boxes, box->name); /* the part under construction */
    return ok;
}
