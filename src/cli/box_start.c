/* Starting a box's agent. */
#include "cli/box_cmds.h"

bool box_use_start(struct cli *cli, const struct box *box, bool with_prompt, struct err *err)
{
    (void)cli;
    (void)with_prompt;
    return err_set(err, E_SANDBOX_UNAVAILABLE, "the box '" STR_FMT "' can't be started yet",
        STR_ARG(box->name));
}
