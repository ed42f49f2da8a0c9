/* Opening a box by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/use.h"

#include "box/box_runs.h"

void box_use_done(struct box_use *use)
{
    box_close(&use->box);
    boxes_unlock(&use->lock);
    boxes_close(&use->boxes);
}

/* Looks up the box first, so that an unknown name creates nothing on disk. */
static bool lock_box(const char *dir, struct str name, struct box_use *use, struct err *err)
{
    AUTO_FD int found = -1;
    if (!boxes_find(&use->boxes, name, &found, err))
        return false;
    if (use->boxes.locks < 0) {
        boxes_close(&use->boxes);
        if (!boxes_open(dir, BOXES_MAKE, &use->boxes, err))
            return false;
    }
    return boxes_lock(&use->boxes, name, &use->lock, err);
}

bool box_use_find(
    const char *dir, struct str name, unsigned purpose, struct box_use *use, struct err *err)
{
    return boxes_open(dir, BOXES_LOOK, &use->boxes, err) &&
           (!(purpose & BOX_USE_CHANGE) || lock_box(dir, name, use, err));
}

/* Adds an empty row for the box's agent if the settings no longer have one: its changes must stay
 * accessible. */
static void add_gone_agent(
    const struct boxes *boxes, struct str name, struct agent_rows *rows, struct arena *arena)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = -1;
    struct box_meta meta;
    const struct box_agent *agent;
    if (!boxes_find(boxes, name, &fd, &ignored) || !meta_load(fd, name, arena, &meta, &ignored) ||
        agent_find(meta.agent, rows, &agent, &ignored))
        return;
    struct box_agent *more = ARENA_NEW(arena, struct box_agent, rows->n + 1);
    for (size_t i = 0; i < rows->n; i++)
        more[i] = rows->p[i];
    more[rows->n] = (struct box_agent){.name = meta.agent};
    *rows = (struct agent_rows){more, rows->n + 1};
}

bool box_use_read(struct box_use *use, struct str name, unsigned purpose,
    const struct agent_rows *rows, struct arena *arena, struct err *err)
{
    struct agent_rows known = *rows;
    if (purpose & BOX_USE_NO_AGENT)
        add_gone_agent(&use->boxes, name, &known, arena);
    return box_open(&use->boxes, name, &known, arena, &use->box, err);
}

const char *box_use_proxy_ended(const struct box_state *state, struct arena *arena)
{
    if (!state->proxy_ends)
        return NULL;
    bool lost = state->proxy_ends > STATE_PROXY_RESTARTS;
    return arena_printf(arena, "the proxy exited unexpectedly %llu time%s and was %s",
        (unsigned long long)state->proxy_ends, state->proxy_ends == 1 ? "" : "s",
        lost ? "not restarted: the box has no network until you restart the box" : "restarted");
}

size_t box_use_old_runs(const struct box *box, bool only_count, struct arena *arena)
{
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    size_t removed;
    bool held;
    if (!state_load(box->host, arena, &state, &held, &ignored))
        return 0;
    if (only_count)
        return runs_surplus(box->host, state.run);
    runs_prune(box->host, state.run, &removed);
    return removed;
}
