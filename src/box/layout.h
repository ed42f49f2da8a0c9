/* Directory layout of the boxes: $CORDON_HOME/sandboxes/<name>/, accessible only to the owner.
 *
 *     meta.json            host only
 *     host/                host only: prompt, records, states, manifests
 *     base/<caret>/        read by the box, as the lower layer of its overlay
 *     work/<caret>/upper/  changes made by the box; untrusted
 *     work/<caret>/work/   for overlayfs
 *     home/                the box's HOME; untrusted
 *     caches/<caret>/      layers over the user's caches, as in work/; untrusted
 *
 * Next to the boxes, with names that are invalid for a box: .locks/<name>; .new/<name>, a box under
 * construction, renamed atomically when complete; .trash/<id>, a former box or part, deleted later.
 * So a box exists completely or not at all, even if we are killed at any point, and the location of
 * a leftover tells how to clean it up.
 *
 *     AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
 *     AUTO_FD int lock = -1, fd = -1;
 *     if (!boxes_open(dir, BOXES_MAKE, &boxes, err) || !boxes_lock(&boxes, name, &lock, err) ||
 *         !boxes_begin(&boxes, name, &fd, err))
 *         return false;
 *     ... fill it ...
 *     return boxes_finish(&boxes, name, BOXES_NEW, err);
 *
 * A caller that changes a box must hold its lock.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_LAYOUT_H
#define BOX_LAYOUT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/field.h"

#define LAYOUT_MAKING ".new"

struct boxes {
    int fd;
    int locks, making, trash;
};

#define BOXES_NONE ((struct boxes){-1, -1, -1, -1})

enum boxes_use {
    BOXES_LOOK, /* create nothing; missing directories count as empty */
    BOXES_MAKE,
};

/* Access to a part of a box. */
enum box_tier {
    BOX_HOST_ONLY,
    BOX_READS,
    BOX_WRITES,
};

struct box_part {
    const char *name;
    enum box_tier tier;
};
extern const struct box_part box_parts[];
extern const size_t n_box_parts;

/* E_CONFIG if other users could write there. */
MUST_USE bool boxes_open(
    const char *dir, enum boxes_use use, struct boxes *ret_boxes, struct err *err);
void boxes_close(struct boxes *boxes);

/* Held until boxes_unlock(). E_CONFLICT: another command holds it. */
MUST_USE bool boxes_lock(
    const struct boxes *boxes, struct str name, int *ret_lock, struct err *err);

/* Not just closed: a copy of the process that another thread has forked may have a duplicate of
 * the descriptor for a moment. Accepts -1. */
void boxes_unlock(int *lock);
#define AUTO_BOX_LOCK AUTO(boxes_unlock)

/* Names of all boxes, in byte order. */
MUST_USE bool boxes_list(
    const struct boxes *boxes, struct arena *a, struct str_list *ret_names, struct err *err);

/* Opens a box's directory. E_NOT_FOUND includes a suggestion for the name. */
MUST_USE bool boxes_find(const struct boxes *boxes, struct str name, int *ret_fd, struct err *err);

/* Creates an empty box under construction; discards one left by an earlier command. */
MUST_USE bool boxes_begin(const struct boxes *boxes, struct str name, int *ret_fd, struct err *err);

enum boxes_finish {
    BOXES_NEW,     /* E_CONFLICT if the name is taken */
    BOXES_REPLACE, /* an existing box goes to the trash */
};

/* Turns the box under construction into the box: atomic, on disk on return. */
MUST_USE bool boxes_finish(
    const struct boxes *boxes, struct str name, enum boxes_finish how, struct err *err);

/* Discards the box under construction, and also the lock file if no box has the name. */
void boxes_abandon(const struct boxes *boxes, struct str name);

/* Removes the box atomically; its files are deleted later, from the trash. */
MUST_USE bool boxes_destroy(const struct boxes *boxes, struct str name, struct err *err);

/* Layers of a directory in a box, created along with the box; `mode` is the directory's. */
MUST_USE bool box_make_layers(int box_fd, struct str host_path, mode_t mode, struct err *err);

/* Replaces a part of a box: the new part is built separately, then exchanged atomically; the old
 * one goes to the trash. The part is "home", or "work" with the project's path, which starts with
 * empty layers. */
MUST_USE bool box_begin_part(
    const struct boxes *boxes, struct str name, mode_t layers_mode, int *ret_fd, struct err *err);
MUST_USE bool box_swap_part(const struct boxes *boxes, struct str name, const char *part,
    struct str host_path, struct err *err);

#endif
