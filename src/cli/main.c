/* cordon: parses the command line, runs the command, prints errors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "cli/cmds.h"
#include "cli/help.h"
#include "cli/opt.h"

#include <fcntl.h>
#include <signal.h>

enum {
    ARENA_MAX = 1 << 30,
};

/* Returns the value of CORDON_LOG if it is not the name of a level, otherwise NULL. */
static const char *init_log(void)
{
    const char *name = getenv("CORDON_LOG");
    enum log_level level;
    if (!name || !name[0])
        return NULL;
    if (!log_level_parse(str_z(name), &level))
        return name;
    log_init(level, STDERR_FILENO);
    return NULL;
}

static bool print_version(struct cli *cli, struct err *err)
{
    if (cli->json)
        return out_json(cli, json_pack("{s:s}", "version", CORDON_VERSION), err);
    out_line(cli, "cordon %s", CORDON_VERSION);
    return true;
}

static bool main_run_command(struct cli *cli, const struct parsed *parsed, struct err *err)
{
    if (parsed->global.version)
        return print_version(cli, err);
    if (parsed->global.help && parsed->cmd != &cmd_cordon) {
        help_command(cli, parsed->cmd);
        return out_wrap(cli, "help", err);
    }
    if (parsed->cmd->run)
        return parsed->cmd->run(cli, &parsed->args, err);
    if (parsed->cmd == &cmd_cordon) {
        help_overview(cli);
        return out_wrap(cli, "help", err);
    }
    return cmd_needs_command(parsed->cmd, err);
}

/* Occupies standard descriptors that are closed, so that no file opened later gets their numbers.
 * The wrong access mode keeps using them an error. */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(err_status(E_IO));
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    const char *bad_level = init_log();
    /* Report a file that exceeds its size limit as an error instead of being killed. */
    signal(SIGXFSZ, SIG_IGN);
    AUTO_ARENA struct arena arena = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    const char *const *words = (const char *const *)argv + (argc > 0);
    size_t n = argc > 0 ? (size_t)argc - 1 : 0;
    struct parsed parsed;
    bool ok = opt_parse(words, n, &arena, &parsed, &err);
    AUTO(out_done) struct cli cli;
    /* --json among another program's arguments is that program's. */
    bool asked = !(ok && parsed.cmd->own_args) && opt_wants_json(words, n);
    out_init(&cli, &arena, parsed.global.json || asked, parsed.global.color);
    if (bad_level)
        out_warn(
            &cli, "CORDON_LOG: unknown level '%s': expected off, warn, info or debug", bad_level);
    cli.verbose = parsed.global.verbose || (!ok && opt_wants_verbose(words, n));
    ok = ok && main_run_command(&cli, &parsed, &err) && out_flush(&cli, &err);
    return ok ? cli.status : out_error(&cli, &err);
}
