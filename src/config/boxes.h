/* The user's boxes: their directory in $CORDON_HOME, and the agents of the settings.
 *
 *     AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
 *     if (!config_box_open(&arena, name, BOX_USE_CHANGE, &use, err))
 *         return false;
 *     ... use.box, use.boxes ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_BOXES_H
#define CONFIG_BOXES_H

#include "base/notice.h"
#include "box/use.h"

/* Opens $CORDON_HOME/sandboxes. */
MUST_USE bool config_boxes(
    struct arena *a, enum boxes_use use, struct boxes *ret_boxes, struct err *err);

/* Agents from the user's settings. */
MUST_USE bool config_box_rows(struct arena *a, struct agent_rows *ret_rows, struct err *err);

/* Opens a box by name. Fails with E_NOT_FOUND, E_CLI_INVALID_ARG for an invalid name, or E_CONFLICT
 * if another command holds its lock. */
MUST_USE bool config_box_open(
    struct arena *a, const char *name, unsigned purpose, struct box_use *ret_use, struct err *err);

/* Finishes or undoes an interrupted change of files, in the project and in the box's copy of it.
 * Until then it is unknown which changes are applied. */
MUST_USE bool config_box_recover(
    struct arena *a, const struct box *box, struct notices warnings, struct err *err);

#endif
