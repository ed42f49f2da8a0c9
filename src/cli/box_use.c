/* Functions shared by the `cordon box` commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"

#include "box/runs.h"
#include "config/config.h"
#include "config/project.h"

#include <errno.h>

bool box_use_boxes(struct cli *cli, enum boxes_use use, struct boxes *ret_boxes, struct err *err)
{
    const char *dir;
    return config_state_path(cli->arena, "sandboxes", &dir, err) &&
           boxes_open(dir, use, ret_boxes, err);
}

bool box_use_rows(struct cli *cli, struct agent_rows *ret_rows, struct err *err)
{
    struct config config;
    if (!config_load_user(cli->arena, &config, err))
        return false;
    *ret_rows = (struct agent_rows){config.agents, config.n_agents};
    return true;
}

void box_use_done(struct box_use *use)
{
    box_close(&use->box);
    auto_fd(&use->lock);
    boxes_close(&use->boxes);
}

/* Looks up the box first, so that an unknown name creates nothing on disk. */
static bool lock_box(struct cli *cli, struct str name, struct box_use *use, struct err *err)
{
    AUTO_FD int found = -1;
    if (!boxes_find(&use->boxes, name, &found, err))
        return false;
    if (use->boxes.locks < 0) {
        boxes_close(&use->boxes);
        if (!box_use_boxes(cli, BOXES_MAKE, &use->boxes, err))
            return false;
    }
    return boxes_lock(&use->boxes, name, &use->lock, err);
}

/* Adds an empty row for the box's agent if the settings no longer have one: its changes must stay
 * accessible. */
static void add_gone_agent(
    struct cli *cli, const struct boxes *boxes, struct str name, struct agent_rows *rows)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = -1;
    struct box_meta meta;
    const struct box_agent *agent;
    if (!boxes_find(boxes, name, &fd, &ignored) ||
        !meta_load(fd, name, cli->arena, &meta, &ignored) ||
        agent_find(meta.agent, rows, &agent, &ignored))
        return;
    struct box_agent *more = ARENA_NEW(cli->arena, struct box_agent, rows->n + 1);
    for (size_t i = 0; i < rows->n; i++)
        more[i] = rows->p[i];
    more[rows->n] = (struct box_agent){.name = meta.agent};
    *rows = (struct agent_rows){more, rows->n + 1};
}

bool box_use_open(
    struct cli *cli, const char *name, unsigned purpose, struct box_use *ret_use, struct err *err)
{
    struct agent_rows rows;
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    if (!box_use_boxes(cli, BOXES_LOOK, &use.boxes, err) ||
        ((purpose & BOX_USE_CHANGE) && !lock_box(cli, str_z(name), &use, err)) ||
        !box_use_rows(cli, &rows, err))
        return false;
    if (purpose & BOX_USE_NO_AGENT)
        add_gone_agent(cli, &use.boxes, str_z(name), &rows);
    if (!box_open(&use.boxes, str_z(name), &rows, cli->arena, &use.box, err))
        return false;
    *ret_use = use;
    use = BOX_USE_NONE;
    return true;
}

bool box_use_recover(struct cli *cli, const struct box *box, struct err *err)
{
    AUTO(box_close_trees) struct box_trees trees = BOX_TREES_NONE;
    AUTO_ERR struct err gone = {0};
    /* A missing tree is reported by the command that needs it. */
    if (box->meta.workdir.mode == BOX_RW || !box_open_trees(box, &trees, &gone))
        return true;
    const int fds[] = {trees.project, trees.baseline};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0 &&
            !project_recover(cli->arena, &(struct project){.fd = fds[i]}, out_notices(cli), err))
            return false;
    return true;
}

const char *box_mode_name(enum box_mode mode)
{
    static const char *const names[] = {
        [BOX_COPY] = "copy",
        [BOX_OVERLAY] = "overlay",
        [BOX_RW] = "rw",
    };
    return names[mode];
}

/* Consent ------------------------------------------------------------------------------------- */

/* Reads a line and returns its first character that is not a space. */
static char box_use_read_answer(void)
{
    char first = 0, c;
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        first = first || c == ' ' ? first : c;
    return first;
}

bool box_use_consent(struct cli *cli, const char *question, const char *remedy, struct err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || cli->json) {
        err_set(err, E_APPROVAL_REQUIRED, "%s (there is nobody to be asked)", question);
        return err_ctx(err, "remedy", "%s", remedy);
    }
    /* Print pending output, which the question refers to, first. */
    if (!out_flush(cli, err))
        return false;
    out_ask(cli, "%s [y/N] ", question);
    char answer = box_use_read_answer();
    return answer == 'y' || answer == 'Y' || err_set(err, E_CANCELED, "nothing was done");
}

bool box_use_risk(struct cli *cli, const struct box_risk *risk, struct err *err)
{
    bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !cli->json;
    if (risk->yes || !asks || (!risk->running && !risk->abandon))
        return true;
    const char *question =
        arena_printf(cli->arena, "%s%s%s?", risk->act, risk->running ? ", which is running" : "",
            risk->abandon ? ", with what was not applied" : "");
    return box_use_consent(cli, question, "give --yes", err);
}

const char *box_use_proxy_ended(struct cli *cli, const struct box_state *state)
{
    if (!state->proxy_ends)
        return NULL;
    bool lost = state->proxy_ends > STATE_PROXY_RESTARTS;
    return arena_printf(cli->arena, "the proxy ended by itself %llu time%s, and was %s",
        (unsigned long long)state->proxy_ends, state->proxy_ends == 1 ? "" : "s",
        lost ? "not started again: the box has no network until it is started again"
             : "started again");
}

size_t box_use_old_runs(struct cli *cli, const struct box *box, bool only_count)
{
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    size_t removed;
    bool held;
    if (!state_load(box->host, cli->arena, &state, &held, &ignored))
        return 0;
    if (only_count)
        return runs_surplus(box->host, state.run);
    runs_prune(box->host, state.run, &removed);
    return removed;
}
