/* Where boxes are: $CORDON_HOME/sandboxes/<name>/, a directory that only its owner may enter.
 *
 *     meta.json            the host's alone
 *     host/                the host's alone: prompt, records, states, manifests
 *     base/<caret>/        the box reads it, as the lower layer of its overlay
 *     work/<caret>/upper/  what the box changed; nothing in it is trusted
 *     work/<caret>/work/   for overlayfs
 *     home/                the box's HOME; nothing in it is trusted
 *
 * Beside the boxes, with names that no box can have: .locks/<name>; .new/<name>, which becomes a
 * box by one rename when it is whole; .trash/<id>, which is no box any more and is deleted when
 * there is time. So a box is there whole or not at all, whenever we are killed, and what is left
 * over says by its place what to do with it.
 *
 *     AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
 *     AUTO_FD int lock = -1, fd = -1;
 *     if (!boxes_open(dir, BOXES_MAKE, &boxes, err) || !boxes_lock(&boxes, name, &lock, err) ||
 *         !boxes_begin(&boxes, name, &fd, err))
 *         return false;
 *     ... fill it ...
 *     return boxes_finish(&boxes, name, BOXES_NEW, err);
 *
 * Whoever changes a box holds its lock.
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
    BOXES_LOOK, /* what is not there stays so, and is empty */
    BOXES_MAKE,
};

/* Who may do what with a part of a box. */
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

/* E_CONFIG if others could write there. */
MUST_USE bool boxes_open(
    const char *dir, enum boxes_use use, struct boxes *ret_boxes, struct err *err);
void boxes_close(struct boxes *boxes);

/* Until the descriptor is closed. E_CONFLICT: another command has it. */
MUST_USE bool boxes_lock(
    const struct boxes *boxes, struct str name, int *ret_lock, struct err *err);

/* The names of all boxes, in byte order. */
MUST_USE bool boxes_list(
    const struct boxes *boxes, struct arena *a, struct str_list *ret_names, struct err *err);

/* A box's directory. E_NOT_FOUND with the name that may have been meant. */
MUST_USE bool boxes_find(const struct boxes *boxes, struct str name, int *ret_fd, struct err *err);

/* An empty box in the making; one that an earlier command left there is thrown away. */
MUST_USE bool boxes_begin(const struct boxes *boxes, struct str name, int *ret_fd, struct err *err);

enum boxes_finish {
    BOXES_NEW,     /* E_CONFLICT if there is one */
    BOXES_REPLACE, /* the old one goes to the trash, if there is one */
};

/* The box in the making becomes the box: in one step, on disk when it returns. */
MUST_USE bool boxes_finish(
    const struct boxes *boxes, struct str name, enum boxes_finish how, struct err *err);

/* The box in the making is thrown away; the lock, too, if there is no other of the name. */
void boxes_abandon(const struct boxes *boxes, struct str name);

/* The box is no more, in one step; deleting its files is for the trash. */
MUST_USE bool boxes_destroy(const struct boxes *boxes, struct str name, struct err *err);

/* Layers of a directory in a box: made when the box is. The mode is that of the directory itself.
 */
struct box_layers {
    int upper, work;
};
MUST_USE bool box_make_layers(int box_fd, struct str host_path, mode_t mode, struct err *err);
MUST_USE bool box_open_layers(
    int box_fd, struct str host_path, struct box_layers *ret_layers, struct err *err);

/* A part of a box made anew, beside it, and put in its place in one step; the old one goes to the
 * trash. The part is "home", or "work" with the project's path, which begins with empty layers. */
MUST_USE bool box_begin_part(
    const struct boxes *boxes, struct str name, mode_t layers_mode, int *ret_fd, struct err *err);
MUST_USE bool box_swap_part(const struct boxes *boxes, struct str name, const char *part,
    struct str host_path, struct err *err);

/* The layers become empty, in one step; the old ones go to the trash. */
MUST_USE bool box_reset_layers(
    const struct boxes *boxes, struct str name, struct str host_path, mode_t mode, struct err *err);

#endif
