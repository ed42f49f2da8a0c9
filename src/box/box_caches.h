/* Caches of package managers in a box: the user's, each below a layer of the box that takes every
 * change. So packages that the user has need not be downloaded again, and nothing that a box writes
 * reaches the user or another box.
 *
 *     setup.caches = box_caches_choose(&input, &arena, &omitted);          when the box is created
 *     n = box_caches_overlays(&input, &arena, overlays);                   when it starts
 *
 * The layers are caches/<caret>/upper and work in the box. Without overlayfs a box has no such
 * caches.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOX_CACHES_H
#define BOX_BOX_CACHES_H

#include "box/box.h"
#include "sandbox/plan.h"

enum {
    BOX_CACHES_MAX = 32,
};

struct box_caches_input {
    const struct box *box;    /* may be under construction: its descriptor and path */
    struct str box_home;      /* HOME in the box */
    const char *home;         /* the user's, or NULL */
    struct str state;         /* $CORDON_HOME, resolved */
    struct str_list inside;   /* directories of the host that the box shows */
    struct str_list writable; /* those that it writes directly */
};

struct box_caches_choice {
    struct str_list shown;   /* paths of caches */
    struct str_list omitted; /* found, but their layers cannot be mounted */
    const char *why;         /* the reason; NULL: none */
};

/* Finds caches that exist, and tests whether they can be mounted. */
void box_caches_choose(const struct box_caches_input *input, struct arena *arena,
    struct box_caches_choice *ret_choice);

/* The mounts for the caches of the box's setup; missing ones are left out. Returns their number, at
 * most BOX_CACHES_MAX. */
size_t box_caches_overlays(
    const struct box_caches_input *input, struct arena *arena, struct plan_overlay *ret_overlays);

#endif
