/* cordon replay, cordon replay-report: compare a recording with a new run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "cli/cli_prepare.h"
#include "cli/cmds.h"
#include "io/interrupt.h"
#include "job/replay_job.h"
#include "path/beneath.h"
#include "path/exact.h"
#include "replay/replay_source.h"

enum {
    ROWS_SHOWN = 40,
    LINE_MAX_BYTES = 64 * 1024,
};

struct replay_options {
    const char *artifacts;
    bool strict, offline, require_events, require_checksums;
    struct opt_list normalize;
    struct consent consent;
};

/* Messages ------------------------------------------------------------------------------------ */

static void replay_print_line(
    struct cli *cli, enum out_style style, char sign, const json_t *row, const char *key)
{
    AUTO_BUF struct buf text = BUF_INIT(LINE_MAX_BYTES);
    struct str line = json_str(json_object_get(row, key));
    buf_printf(&text, "  %c ", sign);
    utf8_add_printable(&text, line.p ? line : STR(""));
    out_styled(cli, style, buf_z(&text));
    out_text(cli, STR("\n"));
}

/* Prints the first cell that differs in style where the text is equal. */
static void say_cells(struct cli *cli, const json_t *row)
{
    const json_t *cells = json_object_get(row, "cells"), *first = json_array_get(cells, 0);
    if (!first)
        return;
    AUTO_BUF struct buf was = BUF_INIT(1024), is = BUF_INIT(1024);
    json_add_compact(&was, json_object_get(first, "expected"));
    json_add_compact(&is, json_object_get(first, "actual"));
    out_line(cli, "  column %lld: expected %s, got %s",
        (long long)json_integer_value(json_object_get(first, "col")), buf_z(&was), buf_z(&is));
}

static void say_rows(struct cli *cli, const json_t *rows)
{
    size_t n = json_array_size(rows);
    for (size_t i = 0; i < MIN(n, (size_t)ROWS_SHOWN); i++) {
        const json_t *row = json_array_get(rows, i);
        out_line(cli, "row %lld:", (long long)json_integer_value(json_object_get(row, "row")));
        replay_print_line(cli, OUT_RED, '-', row, "expected");
        replay_print_line(cli, OUT_GREEN, '+', row, "actual");
        say_cells(cli, row);
    }
    if (n > ROWS_SHOWN)
        out_line(cli, "and %zu more rows", n - ROWS_SHOWN);
}

/* If there is a mismatch (`m`), its message is printed later, with the error. */
static void say_report(
    struct cli *cli, struct str dir, const struct report *r, const struct mismatch *m)
{
    struct str status = json_str(json_object_get(r->replay, "status"));
    bool passed = str_is(status, "passed");
    out_styled(cli, passed ? OUT_GREEN : OUT_RED, passed ? "passed" : "failed");
    out_text(cli, STR(": "));
    out_name(cli, dir, '\n');
    if (passed)
        return;
    const json_t *context = json_object_get(r->diff, "context");
    struct str message = json_str(json_object_get(r->diff, "message")),
               more = json_str(json_object_get(context, "difference"));
    if (!m)
        out_name(
            cli, message.p ? message : STR("the reason is unknown: there is no diff.json"), '\n');
    if (more.p)
        out_name(cli, more, '\n');
    say_rows(cli, json_object_get(r->diff, "rows"));
}

static bool replay_print_report(
    struct cli *cli, int dir, const struct report *r, const struct mismatch *m, struct err *err)
{
    AUTO_FREE char *where = beneath_name(dir);
    AUTO_BUF struct buf path = BUF_INIT(64 * 1024);
    buf_printf(&path, "%s/%s", where ? where : "", r->name);
    if (!cli->json) {
        say_report(cli, buf_str(&path), r, m);
        return true;
    }
    json_t *object = json_object();
    json_put(object, "replay", json_incref(r->replay));
    json_put(object, "diff", json_incref(r->diff));
    exact_put(object, "dir", buf_str(&path));
    if (m && m->kind)
        json_put(object, "error", err_to_json(&m->error));
    return out_json(cli, object, err);
}

static bool replay_usage_error(const char *command, const char *what, struct err *err)
{
    err_set(err, E_CLI_INVALID_ARG, "%s", what);
    return err_ctx(err, "command", "%s", command);
}

/* Options ------------------------------------------------------------------------------------- */

static bool replay_parse_options(
    const struct replay_options *o, struct normalization_options *ret_options, struct err *err)
{
    struct normalization_options options = {.strict = o->strict, .given = o->normalize.n > 0};
    bool none = false;
    for (size_t i = 0; i < o->normalize.n; i++) {
        unsigned filters;
        if (!normalization_filter(str_z(o->normalize.v[i]), E_CLI_INVALID_ARG, &filters, err))
            return false;
        none |= strcmp(o->normalize.v[i], "none") == 0;
        options.filters |= filters;
    }
    if (o->strict && options.given && options.filters)
        return replay_usage_error(
            "cordon replay", "--strict can only be combined with --normalize none", err);
    if (none && options.filters)
        return replay_usage_error(
            "cordon replay", "--normalize none cannot be combined with other filters", err);
    options.strict |= none;
    *ret_options = options;
    return true;
}

/* Command ------------------------------------------------------------------------------------- */

struct replay_caller {
    struct cli *cli;
    int cancel;
    sigset_t set;
};

static bool replay_settle(void *context, struct prepared *p, struct err *err)
{
    const struct replay_caller *x = context;
    prepare_own(x->cli, p);
    return prepare_settings(x->cli, p, err);
}

static int replay_begin(void *context, const struct prepared *p)
{
    struct replay_caller *x = context;
    x->cancel = interrupt_open(false, &x->set);
    prepare_warn(x->cli, p);
    signal(SIGPIPE, SIG_IGN);
    return x->cancel;
}

static void replay_end(void *context)
{
    struct replay_caller *x = context;
    interrupt_close(&x->set);
    auto_fd(&x->cancel);
}

static bool run_replay(struct cli *cli, const struct args *args, struct err *err)
{
    const struct replay_options *o = args->options;
    struct replay_caller caller = {.cli = cli, .cancel = -1};
    struct replay_job_options options = {
        .arena = cli->arena,
        .recording = o->artifacts,
        .needs = {o->require_events, o->require_checksums},
        .offline = o->offline,
        .ack = o->consent,
        .settle = replay_settle,
        .begin = replay_begin,
        .end = replay_end,
        .context = &caller,
    };
    AUTO(replay_result_done) struct replay_result r = REPLAY_RESULT_NONE;
    if (!o->artifacts)
        return replay_usage_error(
            "cordon replay", "'cordon replay' needs a recording: --artifacts DIR", err);
    if (!replay_parse_options(o, &options.normalization, err))
        return false;
    bool ok = replay_job(&options, &r, err);
    prepare_warn_lines(cli, buf_str(&r.held));
    if (!ok || !replay_print_report(cli, r.dir, &r.report, &r.mismatch, err))
        return false;
    if (r.mismatch.kind) {
        out_say_error(cli, &r.mismatch.error);
        cli->status = err_status(r.mismatch.error.code);
    }
    return true;
}

static bool run_report(struct cli *cli, const struct args *args, struct err *err)
{
    const struct replay_options *options = args->options;
    AUTO(replay_source_close) struct replay_source source = REPLAY_SOURCE_NONE;
    struct report report;
    if (!options->artifacts)
        return replay_usage_error("cordon replay-report",
            "'cordon replay-report' needs a recording: --artifacts DIR", err);
    if (!replay_source_open(options->artifacts, &source, err) ||
        !report_latest(source.files.dir, &report, err))
        return false;
    bool ok = replay_print_report(cli, source.files.dir, &report, NULL, err);
    report_done(&report);
    return ok;
}

static const char *const filters[] = {"none", "all", "snapshot_id", "run_id", "run_timestamps",
    "step_timestamps", "observation_timestamp", "session_id", NULL};

#define ARTIFACTS_OPT                                                            \
    OPT_STRING("artifacts", 0, struct replay_options, artifacts, "DIR", ARG_DIR, \
        "directory of the recording")

static const struct opt replay_opts[] = {
    ARTIFACTS_OPT,
    OPT_SET("offline", 0, struct replay_options, offline,
        "run nothing; only check that the recorded output produces the recorded screens"),
    OPT_SET("strict", 0, struct replay_options, strict,
        "compare everything exactly, including output, ids and times"),
    OPT_MANY_OF("normalize", 0, struct replay_options, normalize, "FILTER", filters,
        "values to ignore, instead of those in the policy: none, all, snapshot_id, "
        "run_id, run_timestamps, step_timestamps, observation_timestamp or session_id; "
        "may be repeated"),
    OPT_SET("require-events", 0, struct replay_options, require_events, "require events.jsonl"),
    OPT_SET(
        "require-checksums", 0, struct replay_options, require_checksums, "require checksums.json"),
    OPT_SET("ack-unsafe-sandbox", 0, struct replay_options, consent.sandbox,
        "acknowledge running with no sandbox or a weaker one, if the recorded policy "
        "requests it"),
    OPT_SET("ack-unsafe-network", 0, struct replay_options, consent.network,
        "acknowledge network access, if the recorded policy requests it"),
    OPT_SET("ack-unsafe-sockets", 0, struct replay_options, consent.sockets,
        "acknowledge access to the host's Unix sockets, if the recorded policy requests "
        "it"),
    OPT_SET("ack-unsafe-env", 0, struct replay_options, consent.env,
        "acknowledge that the recorded policy passes variables of your environment"),
    OPT_SET("ack-unsafe-write", 0, struct replay_options, consent.write,
        "acknowledge that the recorded policy grants read and write access to directories"),
    OPT_SET("ack-unsafe-read", 0, struct replay_options, consent.read,
        "acknowledge that the recorded policy grants read access to files outside the "
        "recording, the current directory and the system"),
    OPT_SET("ack-inexact-limits", 0, struct replay_options, consent.inexact,
        "acknowledge limits that this machine cannot enforce exactly"),
};

static const struct opt report_opts[] = {ARTIFACTS_OPT};

static const struct example replay_examples[] = {
    {"cordon replay --artifacts out", "run it again; exit status 11 if something differs"},
    {"cordon replay --artifacts out --offline", "without running it"},
    {"cordon replay --artifacts out --json", "print the summary and the differences as JSON"},
};

static const struct example report_examples[] = {
    {"cordon replay-report --artifacts out", "show the result of the last replay"},
};

const struct cmd cmd_replay = {
    .name = "replay",
    .summary = "repeat a recorded run and compare the results",
    .about = "Checks the recording's files, runs its command, scenario or requests again under "
             "the recorded policy, and compares step by step: the outcome of each step, and "
             "its screen, row by row. The first difference is shown, and written to replay-ID/ "
             "in the directory. Any access of that policy beyond the recording requires a flag "
             "here; acknowledgements in the policy are ignored. Exit status: 0, 11 if "
             "something differs, 2 if a flag is missing.",
    .usage = "--artifacts DIR",
    CMD_OPTS(replay_opts, struct replay_options),
    CMD_EXAMPLES(replay_examples),
    .run = run_replay,
};

const struct cmd cmd_replay_report = {
    .name = "replay-report",
    .minor = true,
    .summary = "show the result of the last replay",
    .about = "Reads the newest replay-ID/ in the directory, and runs nothing. Exit status: 0, "
             "even if that replay failed; 18 if there is none.",
    .usage = "--artifacts DIR",
    CMD_OPTS(report_opts, struct replay_options),
    CMD_EXAMPLES(report_examples),
    .run = run_report,
};
