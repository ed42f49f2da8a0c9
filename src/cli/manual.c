/* The manual's source (scdoc), with parts filled in from the tables.
 *
 * A template is copied line by line. These lines are replaced:
 *     @commands NAME…@   a list of the command's subcommands
 *     @usage NAME…@      synopsis, description and options of the command
 *     @global@           options that most commands take
 *     @errors@           exit statuses and error codes
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

static void manual_add_escaped(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\*_~[]#<>`", *text))
            buf_add_byte(b, '\\');
        buf_add_byte(b, *text);
    }
}

/* Headings as paragraphs, if the command has groups; scdoc has none below "##". */
static void manual_add_options(
    struct buf *b, const struct cmd *cmd, const struct opt *opts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *heading = cmd && cmd->n_groups ? cmd_heading(cmd, &opts[i]) : NULL;
        if (heading)
            buf_printf(b, "%s:\n\n", heading);
        if (opts[i].letter)
            buf_printf(b, "*-%c*, ", opts[i].letter);
        buf_printf(b, "*--%s*", opts[i].name);
        if (opts[i].bare)
            buf_printf(b, "[=_%s_]", opts[i].value);
        else if (opts[i].value)
            buf_printf(b, " _%s_", opts[i].value);
        buf_add_z(b, "\n\t");
        AUTO_BUF struct buf help = BUF_INIT(OPT_HELP_MAX);
        manual_add_escaped(b, opt_help(&opts[i], &help));
        buf_add_z(b, "\n\n");
    }
}

static void expand_commands(struct buf *b, const struct cmd *cmd)
{
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++) {
        if (cmd->subs[i]->hidden)
            continue;
        buf_printf(b, "*%s*\n\t", cmd->subs[i]->name);
        manual_add_escaped(b, cmd->subs[i]->summary);
        buf_add_z(b, "\n\n");
    }
}

/* For a command with subcommands, expands those instead. */
static void expand_usage(struct buf *b, const struct cmd *cmd)
{
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden)
            expand_usage(b, cmd->subs[i]);
    if (cmd->subs)
        return;
    AUTO_BUF struct buf full = BUF_INIT(256);
    cmd_full_name(cmd, &full);
    /* Headings do not support escapes. */
    buf_printf(b, "## %s [OPTION…]%s%s\n\n", buf_z(&full), cmd->usage[0] ? " " : "", cmd->usage);
    struct str line, rest = str_z(cmd->about ? cmd->about : cmd->summary);
    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO_FREE char *z = strndup(line.p, line.n);
        BUG_ON(!z);
        manual_add_escaped(b, z);
        buf_add_z(b, "\n\n");
    }
    manual_add_options(b, cmd, cmd->opts, cmd->n_opts);
    for (size_t i = 0; i < cmd->n_examples; i++)
        buf_printf(b, "%s```\n%s\n```\n\n", i ? "" : "Examples:\n\n", cmd->examples[i].command);
}

static void expand_errors(struct buf *b)
{
    buf_add_z(b, "*0*\n\tSuccess.\n\n");
    for (int code = ERR_NONE + 1; code < ERR_COUNT; code++) {
        buf_printf(b, "*%d* ", err_status((enum err_code)code));
        manual_add_escaped(b, err_name((enum err_code)code));
        buf_add_z(b, "\n\t");
        manual_add_escaped(b, err_about((enum err_code)code));
        buf_add_z(b, "\n\n");
    }
}

static bool manual_expand_line(struct cli *cli, struct str line, struct err *err)
{
    struct buf *b = &cli->stdout_buf;
    const char *words[8];
    size_t n = 0;
    struct str word, rest = str_n(line.p + 1, line.n - 2);
    while (n < ARRAY_LEN(words) && str_cut(rest, ' ', &word, &rest))
        words[n++] = arena_strdup(cli->arena, word);
    const struct cmd *cmd;
    if (n && strcmp(words[0], "errors") == 0)
        expand_errors(b);
    else if (n && strcmp(words[0], "global") == 0)
        manual_add_options(b, NULL, global_opts, n_global_opts);
    else if (!n || !cmd_find_path(words + 1, n - 1, &cmd, err))
        return false;
    else if (strcmp(words[0], "commands") == 0)
        expand_commands(b, cmd);
    else if (strcmp(words[0], "usage") == 0)
        expand_usage(b, cmd);
    else
        return err_set(
            err, E_CONFIG, "unknown directive in a manual template: '" STR_FMT "'", STR_ARG(line));
    return true;
}

bool help_manual(struct cli *cli, struct str template, struct err *err)
{
    while (template.n) {
        ptrdiff_t end = str_find(template, '\n');
        struct str line = str_head(template, end < 0 ? template.n : (size_t)end);
        template = str_skip(template, line.n + 1);
        bool directive = line.n > 2 && line.p[0] == '@' && line.p[line.n - 1] == '@';
        if (directive && !manual_expand_line(cli, line, err))
            return false;
        if (!directive) {
            out_text(cli, line);
            out_text(cli, STR("\n"));
        }
    }
    return true;
}
