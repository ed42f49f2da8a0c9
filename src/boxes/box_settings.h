/* The additions to the sandbox in the user's settings, for a new box: as if they had been options
 * of `box new`.
 *
 *     if (!box_settings_add(&(struct box_settings){.arena = a, .project = path, …}, &setup, &meta,
 *             err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXES_BOX_SETTINGS_H
#define BOXES_BOX_SETTINGS_H

#include "base/notice.h"
#include "box/box.h"

struct box_settings {
    struct arena *arena;
    struct str project; /* resolved; its own settings may only narrow them */
    struct str state;   /* $CORDON_HOME; may have no value */
    const struct box_agent *agent;
    bool network_chosen; /* by --network: hosts are not added */
    struct notices warnings;
};

/* Directories that contain the project or another directory of the box, or are inside one, are left
 * out with a warning; so are files. */
MUST_USE bool box_settings_add(
    const struct box_settings *in, struct box_setup *setup, struct box_meta *meta, struct err *err);

#endif
