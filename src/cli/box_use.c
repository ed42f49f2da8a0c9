/* Functions shared by the `cordon box` commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"

#include "box/runs.h"
#include "boxd/start.h"
#include "io/tty.h"

#include <stdlib.h>

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

/* Starting ------------------------------------------------------------------------------------ */

static struct start_options box_use_start_options(const struct box *box)
{
    struct tty_size size = tty_size(STDOUT_FILENO);
    return (struct start_options){.box = box,
        .environ = (const char *const *)environ,
        .home = getenv("HOME"),
        .rows = size.rows,
        .cols = size.cols};
}

bool box_use_start(const struct box *box, bool with_prompt, struct err *err)
{
    const struct start_options options = box_use_start_options(box);
    return start_agent(&options, with_prompt, err);
}

bool box_use_start_idle(const struct box *box, struct err *err)
{
    const struct start_options options = box_use_start_options(box);
    return start_for_commands(&options, err);
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
