/* cordon completions: print completion scripts for shells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"
#include "cli/cmds.h"
#include "cli/complete.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static bool run_completions(struct cli *cli, const struct args *args, struct err *err)
{
    static void (*const make[])(struct buf *) = {complete_bash, complete_zsh, complete_fish};
    for (size_t i = 0; shells[i]; i++) {
        if (strcmp(args->v[0], shells[i]) == 0) {
            make[i](&cli->stdout_buf);
            return out_wrap(cli, "script", err);
        }
    }
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_z(args->v[0]));
    choice_add_all(&c, shells);
    AUTO_BUF struct buf hint = BUF_INIT(256);
    choice_hint(&c, "", &hint);
    err_set(err, E_CLI_INVALID_ARG, "completions are available for %s, not for '%s'%s",
        choice_list(&c), args->v[0], buf_z(&hint));
    err_ctx(err, "word", "%s", args->v[0]);
    return err_ctx(err, "command", "cordon completions");
}

static const struct example examples[] = {
    {"source <(cordon completions bash)", "in ~/.bashrc"},
    {"cordon completions zsh > ~/.zfunc/_cordon", "with ~/.zfunc in fpath"},
    {"cordon completions fish > ~/.config/fish/completions/cordon.fish", "for fish"},
};

const struct cmd cmd_completions = {
    .name = "completions",
    .minor = true,
    .summary = "print shell completions",
    .about = "SHELL is bash, zsh or fish. The completions cover commands, options and option "
             "values.",
    .usage = "SHELL",
    .min_args = 1,
    .max_args = 1,
    .arg_choices = shells,
    CMD_EXAMPLES(examples),
    .run = run_completions,
};
