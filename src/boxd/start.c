/* Starting a box, with its agent or only for commands of `exec`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/start.h"

#include "base/clock.h"
#include "box/state.h"
#include "boxd/client.h"
#include "boxd/supervisor.h"

#include <poll.h>
#include <time.h>

enum {
    COMMANDS_MS = 3000,
    KILLED_MS = 200,
    SIZE_MAX_CELLS = 500,
};

static bool start_supervisor(const struct start_options *o, enum supervise mode, struct err *err)
{
    const struct supervisor_options options = {
        .box = o->box,
        .mode = mode,
        .environ = o->environ,
        .home = o->home,
        .rows = MIN(o->rows, (uint16_t)SIZE_MAX_CELLS),
        .cols = MIN(o->cols, (uint16_t)SIZE_MAX_CELLS),
        .self = o->self,
        .no_denials = o->no_denials,
    };
    return supervisor_start(&options, err);
}

/* Whether the box is in use by a running agent. Otherwise it will be free soon: commands of `exec`
 * keep the box while they run and a moment longer, and a supervisor that was killed takes a moment
 * to exit, which closes the connection. */
static bool has_agent(const struct box *box)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = -1;
    struct box_state state;
    bool held;
    if (!client_connect(box, &fd, &ignored))
        return false;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, KILLED_MS) > 0)
        return false;
    return !state_load(box->host, &arena, &state, &held, &ignored) ||
           (held && (state.status == BOX_RUNNING || state.status == BOX_IDLE));
}

bool start_agent(const struct start_options *o, bool with_prompt, struct err *err)
{
    const struct box *box = o->box;
    const struct timespec moment = {0, 5 * 1000 * 1000};
    uint64_t until = clock_mono_ms() + COMMANDS_MS;
    for (;;) {
        AUTO_ERR struct err failed = {0};
        if (start_supervisor(o, with_prompt ? SUPERVISE_AGENT : SUPERVISE_WITHOUT_PROMPT, &failed))
            return true;
        /* A port used by another program does not become free when the box ends. */
        bool may_end = failed.code == E_CONFLICT && !err_ctx_get(&failed, "port");
        if (!may_end || has_agent(box))
            return err_move(err, &failed);
        if (clock_mono_ms() >= until)
            return err_set(err, E_CONFLICT,
                "the box '" STR_FMT
                "' is still in use: by 'cordon box exec', or by a supervisor that is shutting "
                "down",
                STR_ARG(box->name));
        nanosleep(&moment, NULL);
    }
}

bool start_for_commands(const struct start_options *o, struct err *err)
{
    return start_supervisor(o, SUPERVISE_COMMANDS, err);
}
