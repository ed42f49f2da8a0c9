/* Help for a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

enum {
    INDENT = 2,
    NAME_WIDTH = 24,
    LINE_WIDTH = 79,
};

/* Adds text wrapped at blanks; `column` is the current column. */
static void add_wrapped(struct buf *b, const char *text, size_t column, size_t indent)
{
    struct str word, rest = str_z(text);
    bool first = true;
    while (str_cut(rest, ' ', &word, &rest)) {
        if (!first && column + 1 + word.n > LINE_WIDTH) {
            buf_printf(b, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            buf_add_byte(b, ' ');
            column++;
        }
        buf_add_str(b, word);
        column += word.n;
        first = false;
    }
    buf_add_byte(b, '\n');
}

/* Adds "  name           description". */
static void help_add_row(struct cli *cli, const char *name, const char *text)
{
    struct buf *b = &cli->stdout_buf;
    buf_printf(b, "%*s%-*s", INDENT, "", NAME_WIDTH, name);
    size_t column = INDENT + MAX(strlen(name), (size_t)NAME_WIDTH);
    if (strlen(name) >= NAME_WIDTH) {
        buf_printf(b, "\n%*s", INDENT + NAME_WIDTH, "");
        column = INDENT + NAME_WIDTH;
    }
    add_wrapped(b, text, column, INDENT + NAME_WIDTH);
}

static void add_heading(struct cli *cli, const char *text)
{
    out_text(cli, STR("\n"));
    out_styled(cli, OUT_BOLD, text);
    out_text(cli, STR("\n"));
}

static void help_add_options(struct cli *cli, const struct cmd *cmd)
{
    const struct opt *opt;
    for (size_t i = 0; (opt = cmd_option(cmd, i)); i++) {
        char name[128], letter[8] = "    ";
        if (cmd_heading(cmd, opt))
            add_heading(cli, cmd_heading(cmd, opt));
        if (opt->letter)
            snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
        const char *value = opt->value ? opt->value : "";
        if (opt->bare)
            snprintf(name, sizeof(name), "%s--%s[=%s]", letter, opt->name, value);
        else
            snprintf(
                name, sizeof(name), "%s--%s%s%s", letter, opt->name, opt->value ? " " : "", value);
        AUTO_BUF struct buf help = BUF_INIT(OPT_HELP_MAX);
        help_add_row(cli, name, opt_help(opt, &help));
    }
}

static void add_commands(struct cli *cli, const struct cmd *cmd)
{
    for (size_t i = 0; cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden && !cmd->subs[i]->minor)
            help_add_row(cli, cmd->subs[i]->name, cmd->subs[i]->summary);
}

/* Commands that are only listed by name, so that the overview fits on a screen. */
static void add_minor_commands(struct cli *cli, const struct cmd *cmd)
{
    AUTO_BUF struct buf names = BUF_INIT(1024);
    for (size_t i = 0; cmd->subs[i]; i++)
        if (cmd->subs[i]->minor)
            buf_printf(&names, "%s%s", names.n ? ", " : "", cmd->subs[i]->name);
    if (!names.n)
        return;
    out_text(cli, STR("\n"));
    AUTO_BUF struct buf line = BUF_INIT(1024);
    buf_printf(&line, "Other commands: %s", buf_z(&names));
    add_wrapped(&cli->stdout_buf, buf_z(&line), 0, 0);
}

static void add_examples(struct cli *cli, const struct cmd *cmd)
{
    for (size_t i = 0; i < cmd->n_examples; i++) {
        buf_printf(&cli->stdout_buf, "%*s%s\n", INDENT, "", cmd->examples[i].command);
        buf_printf(&cli->stdout_buf, "%*s", 2 * INDENT, "");
        out_styled(cli, OUT_DIM, cmd->examples[i].about);
        out_text(cli, STR("\n"));
    }
}

/* One line each. */
static void add_short_examples(struct cli *cli, const struct cmd *cmd)
{
    size_t width = 0;
    for (size_t i = 0; i < cmd->n_examples; i++)
        width = MAX(width, strlen(cmd->examples[i].command));
    for (size_t i = 0; i < cmd->n_examples; i++) {
        buf_printf(
            &cli->stdout_buf, "%*s%-*s", INDENT, "", (int)width + INDENT, cmd->examples[i].command);
        out_styled(cli, OUT_DIM, cmd->examples[i].about);
        out_text(cli, STR("\n"));
    }
}

static void add_paragraphs(struct cli *cli, const char *text)
{
    struct str line, rest = str_z(text);
    while (str_cut(rest, '\n', &line, &rest)) {
        if (!line.n)
            continue;
        out_text(cli, STR("\n"));
        add_wrapped(&cli->stdout_buf, arena_strdup(cli->arena, line), 0, 0);
    }
}

void help_command(struct cli *cli, const struct cmd *cmd)
{
    AUTO_BUF struct buf full = BUF_INIT(256);
    cmd_full_name(cmd, &full);
    out_line(cli, "%s: %s", buf_z(&full), cmd->summary);
    add_heading(cli, "Usage");
    const char *words = cmd->subs ? "COMMAND" : cmd->usage;
    out_line(cli, "%*s%s [OPTION…]%s%s", INDENT, "", buf_z(&full), words[0] ? " " : "", words);
    if (cmd->about)
        add_paragraphs(cli, cmd->about);
    if (cmd->subs) {
        add_heading(cli, "Commands");
        add_commands(cli, cmd);
    }
    help_add_options(cli, cmd);
    if (cmd->n_examples) {
        add_heading(cli, "Examples");
        add_examples(cli, cmd);
    }
}

void help_overview(struct cli *cli)
{
    out_styled(cli, OUT_BOLD, "cordon");
    out_line(cli, " %s: %s", CORDON_VERSION, cmd_cordon.summary);
    add_heading(cli, "Commands");
    add_commands(cli, &cmd_cordon);
    add_minor_commands(cli, &cmd_cordon);
    add_heading(cli, "Try");
    add_short_examples(cli, &cmd_cordon);
    out_line(cli, "\nDetails: 'cordon help COMMAND'; exit statuses and files: 'man cordon'.");
}
