/* Starting a box: its agent, or only what `exec` needs. */
#include "box/supervisor.h"
#include "cli/box_cmds.h"
#include "io/tty.h"

extern char **environ;

static bool start(const struct box *box, enum supervise mode, struct err *err)
{
    struct tty_size size = tty_size(STDOUT_FILENO);
    const struct supervisor_options options = {
        .box = box,
        .mode = mode,
        .environ = (const char *const *)environ,
        .home = getenv("HOME"),
        .rows = MIN(size.rows, (uint16_t)500),
        .cols = MIN(size.cols, (uint16_t)500),
    };
    return supervisor_start(&options, err);
}

bool box_use_start(struct cli *cli, const struct box *box, bool with_prompt, struct err *err)
{
    (void)cli;
    return start(box, with_prompt ? SUPERVISE_AGENT : SUPERVISE_WITHOUT_PROMPT, err);
}

bool box_use_start_idle(const struct box *box, struct err *err)
{
    return start(box, SUPERVISE_COMMANDS, err);
}
