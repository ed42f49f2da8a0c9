/* Functions shared by the `cordon box` commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"

#include "box/box_runs.h"
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

/* "Destroy 'x'?": cannot ask whether to destroy 'x'. */
static bool box_use_cannot_ask(
    const struct cli *cli, const char *question, const char *remedy, struct err *err)
{
    const char *why = cli->json               ? "--json is given"
                      : !isatty(STDIN_FILENO) ? "standard input is not a terminal"
                                              : "standard error is not a terminal";
    struct str rest = str_trim_end(str_z(question + 1), '?');
    err_set(err, E_APPROVAL_REQUIRED, "cannot ask whether to %c" STR_FMT ": %s", question[0] | 0x20,
        STR_ARG(rest), why);
    return err_ctx(err, "remedy", "%s", remedy);
}

bool box_use_consent(struct cli *cli, const char *question, const char *remedy, struct err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || cli->json)
        return box_use_cannot_ask(cli, question, remedy, err);
    /* Print pending output, which the question refers to, first. */
    if (!out_flush(cli, err))
        return false;
    out_ask(cli, "%s [y/N] ", question);
    char answer = box_use_read_answer();
    return answer == 'y' || answer == 'Y' ||
           err_set(err, E_CANCELED, "not confirmed: nothing was changed");
}

bool box_use_risk(struct cli *cli, const struct box_risk *risk, struct err *err)
{
    bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !cli->json;
    if (risk->yes || !asks || (!risk->running && !risk->abandon))
        return true;
    const char *question =
        arena_printf(cli->arena, "%s%s%s?", risk->act, risk->running ? ", which is running" : "",
            risk->abandon ? ", discarding unapplied changes" : "");
    return box_use_consent(cli, question, "use --yes", err);
}

/* Starting ------------------------------------------------------------------------------------ */

struct start_options box_use_start_options(const struct box *box)
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

void box_use_warn_gaps(struct cli *cli, const struct str_list *gaps)
{
    for (size_t i = 0; i < gaps->n; i++)
        out_warn(cli, "weaker limit: " STR_FMT, STR_ARG(gaps->p[i]));
}

void box_use_gaps(struct cli *cli, const struct box *box)
{
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    bool held;
    if (state_load(box->host, cli->arena, &state, &held, &ignored))
        box_use_warn_gaps(cli, &state.gaps);
}
