/* Starting a box, with its agent or only for commands of `exec`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "boxd/client.h"
#include "boxd/supervisor.h"
#include "cli/box_cmds.h"
#include "io/tty.h"

#include <poll.h>
#include <time.h>

enum {
    COMMANDS_MS = 3000,
    KILLED_MS = 200,
};

extern char **environ;

static bool box_start_supervisor(const struct box *box, enum supervise mode, struct err *err)
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

/* Whether the box is in use by a running agent. Otherwise it will be free soon: commands of `exec`
 * keep the box while they run and a moment longer, and a supervisor that was killed takes a moment
 * to exit, which closes the connection. */
static bool has_agent(const struct box *box, struct arena *arena)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = -1;
    struct box_state state;
    bool held;
    if (!client_connect(box, &fd, &ignored))
        return false;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, KILLED_MS) > 0)
        return false;
    return !state_load(box->host, arena, &state, &held, &ignored) ||
           (held && (state.status == BOX_RUNNING || state.status == BOX_IDLE));
}

bool box_use_start(struct cli *cli, const struct box *box, bool with_prompt, struct err *err)
{
    const struct timespec moment = {0, 5 * 1000 * 1000};
    uint64_t until = clock_mono_ms() + COMMANDS_MS;
    for (;;) {
        AUTO_ERR struct err failed = {0};
        if (box_start_supervisor(
                box, with_prompt ? SUPERVISE_AGENT : SUPERVISE_WITHOUT_PROMPT, &failed))
            return true;
        /* A port used by another program does not become free when the box ends. */
        bool may_end = failed.code == E_CONFLICT && !err_ctx_get(&failed, "port");
        if (!may_end || has_agent(box, cli->arena))
            return err_move(err, &failed);
        if (clock_mono_ms() >= until)
            return err_set(err, E_CONFLICT,
                "the box '" STR_FMT "' is still in use: by commands of 'cordon box exec', or by a "
                "supervisor that is ending",
                STR_ARG(box->name));
        nanosleep(&moment, NULL);
    }
}

struct str_list box_use_gaps(struct cli *cli, const struct box *box)
{
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    bool held;
    if (!state_load(box->host, cli->arena, &state, &held, &ignored))
        return (struct str_list){0};
    for (size_t i = 0; i < state.gaps.n; i++)
        out_warn(cli, "weaker limit: " STR_FMT, STR_ARG(state.gaps.p[i]));
    return state.gaps;
}

bool box_use_start_idle(const struct box *box, struct err *err)
{
    return box_start_supervisor(box, SUPERVISE_COMMANDS, err);
}
