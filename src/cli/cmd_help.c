/* cordon help; cordon manual-source for the build. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "cli/help.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>

static bool run_help(struct cli *cli, const struct args *args, struct err *err)
{
    const struct cmd *cmd;
    if (!cmd_find_path(args->v, args->n, &cmd, err))
        return err_ctx(err, "command", "cordon help");
    if (cmd == &cmd_cordon)
        help_overview(cli);
    else
        help_command(cli, cmd);
    return out_wrap(cli, "help", err);
}

const struct cmd cmd_help = {
    .name = "help",
    .minor = true,
    .summary = "show help for a command",
    .usage = "[COMMAND…]",
    .max_args = 8,
    .arg_kind = ARG_COMMAND,
    .run = run_help,
};

static bool run_manual(struct cli *cli, const struct args *args, struct err *err)
{
    enum {
        TEMPLATE_MAX = 1 << 20,
    };
    AUTO_FD int fd = open(args->v[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", args->v[0]);
    AUTO_BUF struct buf template = BUF_INIT(2 * TEMPLATE_MAX);
    return file_read(fd, TEMPLATE_MAX, args->v[0], &template, err) &&
           help_manual(cli, buf_str(&template), err);
}

const struct cmd cmd_manual = {
    .name = "manual-source",
    .summary = "print a manual page's template with its tables filled in",
    .usage = "FILE",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    .hidden = true,
    .run = run_manual,
};
