/* cordon record: record a user's session with a program as a scenario. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_prepare.h"
#include "cli/cmds.h"
#include "io/interrupt.h"
#include "job/recorded.h"
#include "path/lexical.h"
#include "policy/preset.h"
#include "watch/capture.h"

#include <signal.h>

enum {
    COMMAND_WORDS_MAX = 1000 * 1000,
};

struct record_options {
    struct prepare_options prepare;
    const char *output;
    bool force;
};

static bool record_save_and_report(struct cli *cli, const struct recorded *r, struct err *err)
{
    const struct recorder *rec = r->recorder;
    if (!recorded_save(r, err))
        return false;
    if (rec->secrets)
        out_warn(cli,
            "%zu input%s hidden by the program %s not recorded: replace '%s' with the text",
            rec->secrets, rec->secrets == 1 ? "" : "s", rec->secrets == 1 ? "was" : "were",
            RECORDER_SECRET);
    if (rec->lost)
        out_warn(cli, "%zu typed bytes are not text and were not recorded", rec->lost);
    out_note(cli, "%zu action%s recorded in '%s'; to repeat them: cordon run %s%s", rec->actions,
        rec->actions == 1 ? "" : "s", r->file, r->file, recorded_flags(r));
    return true;
}

/* Saves the recorded steps even if the session failed. */
static bool record_run_session(
    struct cli *cli, struct prepared *p, struct recorded *file, struct capture *c, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = interrupt_open(true, &set);
    AUTO_ERR struct err second = {0};
    const struct policy_budgets *b = &p->confined.policy.budgets;
    /* Users take time to think: apply only a time limit that was requested. */
    bool timed = p->options->policy || p->options->preset;
    const struct capture_options options = {
        .plan = &p->confined.plan,
        .argv = p->argv,
        .envp = p->confined.envp,
        .refused = p->confined.refused,
        .max_runtime_ms = timed ? b->max_runtime_ms : UINT64_MAX,
        .max_output_bytes = b->max_output_bytes,
        .colors = cli->color,
        .signals = signals,
    };
    prepare_warn(cli, p);
    signal(SIGPIPE, SIG_IGN);
    bool ok = capture_run(c, &options, err);
    file->rows = c->size.rows;
    file->cols = c->size.cols;
    if (c->any && !record_save_and_report(cli, file, ok ? err : &second))
        ok = false;
    capture_close(c);
    interrupt_close(&set);
    return ok;
}

static const char *record_file(struct cli *cli, const struct record_options *o, const char *command)
{
    return o->output ? o->output
                     : arena_printf(cli->arena, STR_FMT ".scenario.yaml",
                           STR_ARG(lexical_name(str_z(command))));
}

static bool run_record(struct cli *cli, const struct args *args, struct err *err)
{
    const struct record_options *options = args->options;
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    struct prepared p = {.arena = cli->arena, .options = &options->prepare, .argv = argv};
    struct capture c;
    struct recorded file = {.p = &p,
        .recorder = &c.recorder,
        .file = record_file(cli, options, argv[0]),
        .force = options->force};
    prepare_own(cli, &p);
    if (!prepare_settings(cli, &p, err) || !prepare_policy(&p, err))
        return false;
    if (options->prepare.explain)
        return prepare_explain(cli, &p, err);
    if (!display_check("'cordon record'", err) || !recorded_check(&file, err))
        return false;
    capture_init(&c);
    bool ok = prepare_run(&p, err) && record_run_session(cli, &p, &file, &c, err);
    prepare_check(&p);
    prepare_tell_held(cli, &p);
    prepare_tell_refused(cli, &p);
    if (ok && c.canceled)
        cli->status = err_status(E_CANCELED);
    capture_done(&c);
    prepared_done(&p);
    return ok;
}

static const struct opt record_opts[] = {
    OPT_STRING("output", 'o', struct record_options, output, "FILE", ARG_FILE,
        "output file: YAML, or JSON if the name ends in .json; default: "
        "COMMAND.scenario.yaml"),
    OPT_SET("force", 'f', struct record_options, force, "replace the file if it exists"),
    PREPARE_OPTS(struct record_options),
    PREPARE_UNSAFE_OPTS(struct record_options),
};

static const struct opt_group record_groups[] = {PREPARE_GROUPS};

static const struct example record_examples[] = {
    {"cordon record -- vim notes.txt", "use vim; vim.scenario.yaml is written when it exits"},
    {"cordon record -o login.yaml --policy p.yaml -- /usr/bin/ssh host", "under a policy"},
};

const struct cmd cmd_record = {
    .name = "record",
    .summary = "record a scenario while you use a program",
    .about = "Use the program as usual; it runs under its policy in a terminal of the same "
             "size. When it exits, or after Ctrl+] q, a scenario is written that 'cordon run' "
             "can repeat: your input, and before each action a wait for the state of the "
             "screen at that time. Ctrl+] twice sends Ctrl+].\nText that you type while the "
             "terminal does not echo, or after a word like 'Password:', is not recorded; a "
             "placeholder replaces it.",
    .usage = "[--] COMMAND [ARGUMENT…]",
    .min_args = 1,
    .max_args = COMMAND_WORDS_MAX,
    .own_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(record_opts, struct record_options),
    CMD_GROUPS(record_groups),
    CMD_EXAMPLES(record_examples),
    .run = run_record,
};
