/* The command tree: lookup, names, suggestions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"

#include "base/choice.h"

static const char *const colors[] = {"auto", "always", "never", NULL};

const struct opt global_opts[] = {
    OPT_SET("help", 'h', struct global_options, help, "show help for the command"),
    OPT_SET("version", 0, struct global_options, version, "show the version"),
    OPT_SET("json", 0, struct global_options, json,
        "print only JSON on standard output, including errors"),
    OPT_SET("verbose", 'v', struct global_options, verbose,
        "print more: the code of an error, each step of a run, details of the build"),
    OPT_ONE_OF("color", 0, struct global_options, color, "WHEN", colors,
        "when to use colours: auto, always or never; auto: if standard output is a "
        "terminal and NO_COLOR is not set"),
};
const size_t n_global_opts = ARRAY_LEN(global_opts);

/* Whether the command replaces or refuses the global option. */
static bool is_replaced(const struct cmd *cmd, const struct opt *global)
{
    if (cmd->no_json && strcmp(global->name, "json") == 0)
        return true;
    for (size_t i = 0; i < cmd->n_opts; i++)
        if (cmd->opts[i].replaces && strcmp(cmd->opts[i].name, global->name) == 0)
            return true;
    return false;
}

const struct opt *cmd_option(const struct cmd *cmd, size_t i)
{
    if (i < cmd->n_opts)
        return &cmd->opts[i];
    i -= cmd->n_opts;
    for (size_t g = 0; g < n_global_opts; g++)
        if (!is_replaced(cmd, &global_opts[g]) && i-- == 0)
            return &global_opts[g];
    return NULL;
}

const char *cmd_heading(const struct cmd *cmd, const struct opt *opt)
{
    for (size_t i = 0; i < cmd->n_groups; i++)
        if (strcmp(cmd->groups[i].first, opt->name) == 0)
            return cmd->groups[i].title;
    if (opt == cmd->opts)
        return "Options";
    return opt == global_opts ? "Global options" : NULL;
}

static bool opt_names_choices(const struct opt *opt)
{
    for (size_t i = 0; opt->choices && opt->choices[i]; i++)
        if (!strstr(opt->help, opt->choices[i]))
            return false;
    return true;
}

const char *opt_help(const struct opt *opt, struct buf *b)
{
    static const char mark[] = "{choices}";
    const char *at = opt->choices ? strstr(opt->help, mark) : NULL;
    if (!at && opt_names_choices(opt))
        return opt->help;
    buf_add(b, opt->help, at ? (size_t)(at - opt->help) : strlen(opt->help));
    if (!at)
        buf_add_z(b, ": ");
    choice_join(opt->choices, " or ", b);
    if (at)
        buf_add_z(b, at + sizeof(mark) - 1);
    return buf_z(b);
}

bool cmd_needs_command(const struct cmd *cmd, struct err *err)
{
    AUTO_BUF struct buf full = BUF_INIT(256), list = BUF_INIT(4096);
    cmd_full_name(cmd, &full);
    for (size_t i = 0; cmd->subs[i]; i++)
        if (!cmd->subs[i]->hidden)
            buf_printf(&list, "%s%s", list.n ? ", " : "", cmd->subs[i]->name);
    err_set(err, E_CLI_INVALID_ARG, "'%s' needs a command: %s", buf_z(&full), buf_z(&list));
    return err_ctx(err, "command", "%s", buf_z(&full));
}

static bool cmd_unknown_error(const struct cmd *parent, const char *word, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_z(word));
    for (size_t i = 0; parent->subs && parent->subs[i]; i++)
        if (!parent->subs[i]->hidden)
            choice_add(&c, parent->subs[i]->name);
    AUTO_BUF struct buf full = BUF_INIT(256), hint = BUF_INIT(256);
    cmd_full_name(parent, &full);
    choice_hint(&c, "", &hint);
    err_set(err, E_CLI_INVALID_ARG, "'%s' has no command '%s'%s", buf_z(&full), word, buf_z(&hint));
    return err_ctx(err, "word", "%s", word);
}

bool cmd_find(
    const struct cmd *parent, const char *name, const struct cmd **ret_cmd, struct err *err)
{
    for (size_t i = 0; parent->subs && parent->subs[i]; i++) {
        if (strcmp(name, parent->subs[i]->name) == 0) {
            *ret_cmd = parent->subs[i];
            return true;
        }
    }
    return cmd_unknown_error(parent, name, err);
}

bool cmd_find_path(const char *const *words, size_t n, const struct cmd **ret_cmd, struct err *err)
{
    const struct cmd *cmd = &cmd_cordon;
    for (size_t i = 0; i < n; i++)
        if (!cmd_find(cmd, words[i], &cmd, err))
            return false;
    *ret_cmd = cmd;
    return true;
}

/* Depth-first search through a few dozen commands: cheaper than storing parents in const data. */
static bool name_below(const struct cmd *at, const struct cmd *cmd, struct buf *b)
{
    size_t start = b->n;
    if (b->n)
        buf_add_byte(b, ' ');
    buf_add_z(b, at->name);
    if (at == cmd)
        return true;
    for (size_t i = 0; at->subs && at->subs[i]; i++)
        if (name_below(at->subs[i], cmd, b))
            return true;
    buf_truncate(b, start);
    return false;
}

void cmd_full_name(const struct cmd *cmd, struct buf *b)
{
    BUG_ON(!name_below(&cmd_cordon, cmd, b));
}
