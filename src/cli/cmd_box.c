/* cordon box: run agents on disposable copies of a project. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"
#include "cli/cmds.h"

/* In the order in which they are typically used. */
static const struct cmd *const subs[] = {
    &cmd_box_new,
    &cmd_box_attach,
    &cmd_box_list,
    &cmd_box_show,
    &cmd_box_diff,
    &cmd_box_apply,
    &cmd_box_exec,
    &cmd_box_log,
    &cmd_box_start,
    &cmd_box_stop,
    &cmd_box_reset,
    &cmd_box_destroy,
    &cmd_box_prune,
    &cmd_box_doctor,
    NULL,
};

const struct cmd cmd_box = {
    .name = "box",
    .summary = "run agents on a copy; review and apply their changes",
    .about = "A box consists of a snapshot of a project, an agent that works on it in a "
             "sandbox, and a layer that holds the agent's changes. The project itself is not "
             "modified until you apply the changes. Boxes are stored in "
             "$CORDON_HOME/sandboxes, which only you can read.",
    .subs = subs,
};
