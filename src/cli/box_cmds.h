/* The commands of `cordon box`, one file each, and how each begins.
 *
 *     AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
 *     if (!box_use_open(cli, args->v[0], BOX_USE_LOCKED, &use, err))
 *         return false;
 *     ... use.box, use.boxes ...
 */
#ifndef CLI_BOX_CMDS_H
#define CLI_BOX_CMDS_H

#include "box/layout.h"
#include "box/rows.h"
#include "cli/cmd.h"
#include "cli/out.h"

extern const struct cmd cmd_box_list;

/* Opens $CORDON_HOME/sandboxes. */
MUST_USE bool box_use_boxes(
    struct cli *cli, enum boxes_use use, struct boxes *ret_boxes, struct err *err);

/* The agents of the user's settings. */
MUST_USE bool box_use_rows(struct cli *cli, struct agent_rows *ret_rows, struct err *err);

#endif
