/* cordon run: run scenarios. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/box_cmds.h"
#include "cli/cli_prepare.h"
#include "cli/cmds.h"
#include "io/file.h"
#include "io/interrupt.h"
#include "job/job.h"
#include "policy/preset.h"
#include "run/golden_select.h"
#include "run/suite.h"
#include "tui/display.h"
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    REPORT_MAX = 256 << 20,
};

struct run_options {
    struct prepare_options prepare;
    const char *scenario;
    bool cells, tap, tui;
    const char *junit;
    const char *update_goldens;
    int64_t jobs; /* 0: not given */
};

struct run_ctx {
    struct cli *cli;
    const struct run_options *options;
    const char *name; /* file of the scenario */
    struct scenario scenario;
    struct prepared p;
    struct watch *watch; /* NULL: without --tui */
    json_t *kept;        /* the result, for a report */
};

/* Messages ------------------------------------------------------------------------------------ */

static void say_screen(struct cli *cli, const struct err *error)
{
    const struct err_pair *screen = err_ctx_get(error, "screen");
    struct str line, rest = screen && screen->text ? str_z(screen->text) : STR("");
    if (rest.n)
        out_note(cli, "the screen was:");
    while (str_cut(rest, '\n', &line, &rest))
        out_note(cli, "  | " STR_FMT, STR_ARG(line));
}

/* Prints a line for each finished step. */
static void run_on_progress(void *context, const struct runner_progress *now)
{
    struct run_ctx *r = context;
    if (r->watch)
        watch_progress(r->watch, now);
    if (now->begins || !r->cli->verbose || r->watch)
        return;
    /* Wait for a stalled reader no longer than the command may run. */
    r->cli->deadline.until_ms = session_ends_ms(now->session);
    out_note(r->cli, "%zu/%zu %-7s %6llu ms  " STR_FMT, now->index + 1, r->scenario.n_steps,
        step_status_name(now->status), (unsigned long long)now->duration_ms,
        STR_ARG(now->step->name));
}

static void run_on_output(void *context, struct str bytes)
{
    struct run_ctx *r = context;
    if (r->watch)
        watch_output(r->watch, bytes);
}

static void run_print_summary(struct run_ctx *r, const struct runner_result *result)
{
    size_t passed = 0, n = json_array_size(result->steps);
    for (size_t i = 0; i < n; i++) {
        const char *status =
            json_string_value(json_object_get(json_array_get(result->steps, i), "status"));
        passed += status && strcmp(status, "passed") == 0;
    }
    if (result->run.error.code) {
        say_screen(r->cli, &result->run.error);
        out_say_error(r->cli, &result->run.error);
    }
    if (result->goldens_written)
        out_note(r->cli, "%zu golden%s written", result->goldens_written,
            result->goldens_written == 1 ? "" : "s");
    if (!r->cli->json && !r->options->tap)
        out_line(r->cli, "%s: %zu of %zu steps passed, %llu ms",
            exec_status_name(result->run.status), passed, n,
            (unsigned long long)(result->run.ended_ms - result->run.started_ms));
}

/* Running ------------------------------------------------------------------------------------- */

static bool run_report_result(
    struct run_ctx *r, const struct runner_result *result, struct err *err)
{
    AUTO_JSON json_t *json = NULL;
    bool report = r->options->junit || r->options->tap;
    /* After an aborted run, use only the short write timeout. */
    r->cli->deadline.until_ms = TIMED_WRITE_ENDLESS;
    if (result->run.status == EXEC_ERRORED || result->run.status == EXEC_CANCELED)
        timed_write_end(&r->cli->deadline);
    run_print_summary(r, result);
    r->cli->status = result->run.error.code ? err_status(result->run.error.code) : 0;
    prepare_tell_denied(
        r->cli, &r->p, result->run.status == EXEC_FAILED || result->run.status == EXEC_ERRORED);
    job_run_end(&r->p, &r->scenario, result, r->cli->json || report ? &json : NULL);
    prepare_tell_record(r->cli, &r->p);
    prepare_tell_held(r->cli, &r->p);
    prepare_tell_refused(r->cli, &r->p);
    if (report)
        r->kept = json_incref(json);
    return !r->cli->json || out_json(r->cli, json_take(&json), err);
}

/* Opens the --tui view, which then handles signals and requests cancellation through
 * *ret_cancel. */
static bool open_watch(struct run_ctx *r, int signals, int *ret_cancel, struct err *err)
{
    *ret_cancel = signals;
    if (!r->options->tui)
        return true;
    const struct watch_look look = {
        .scenario = &r->scenario, .name = r->name, .colors = r->cli->color, .signals = signals};
    if (!watch_open(&look, &r->watch, err))
        return false;
    *ret_cancel = watch_cancel(r->watch);
    return true;
}

static bool run_and_report(struct run_ctx *r, const struct runner_options *options, struct err *err)
{
    struct runner_result result;
    bool ok = job_run(&r->p, &r->scenario, options, &result, err);
    if (ok && r->watch)
        watch_finish(r->watch, &result.run);
    watch_close(r->watch);
    r->watch = NULL;
    if (!ok)
        return false;
    ok = run_report_result(r, &result, err);
    runner_result_done(&result);
    return ok;
}

static bool run_watched(struct run_ctx *r, int signals, struct err *err)
{
    int cancel;
    prepare_warn(r->cli, &r->p);
    signal(SIGPIPE, SIG_IGN);
    if (!open_watch(r, signals, &cancel, err))
        return false;
    const struct runner_options options = {
        .cells = r->options->cells,
        .cancel = cancel,
        .progress = run_on_progress,
        .output = run_on_output,
        .context = r,
    };
    return run_and_report(r, &options, err);
}

/* Signals are handled from here on, since the record must be completed even if interrupted. */
static bool prepare_and_run(struct run_ctx *r, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = interrupt_open(r->options->tui, &set);
    r->cli->deadline.cancel = signals;
    bool ok = prepare_run(&r->p, err) && run_watched(r, signals, err);
    r->cli->deadline.cancel = -1;
    interrupt_close(&set);
    return ok;
}

/* Protects the scenario, and the files that it names by path, from changes by the command. */
static void keep_scenario(struct run_ctx *r)
{
    struct arena *a = r->cli->arena;
    const char *file = r->name, *slash = strrchr(file, '/');
    struct str dir = slash ? str_n(file, (size_t)(slash - file) + 1) : STR("");
    struct str policy = json_str(json_object_get(
        json_object_get(json_object_get(r->scenario.tree, "run"), "policy"), "path"));
    const struct golden *golden;
    prepare_keep(&r->p, str_z(file));
    if (policy.n)
        prepare_keep(&r->p, policy);
    for (size_t i = 0; (golden = scenario_golden(&r->scenario, i)); i++)
        prepare_keep(
            &r->p, str_z(arena_printf(a, STR_FMT STR_FMT, STR_ARG(dir), STR_ARG(golden->file))));
}

/* Returns true if the user agrees to write the missing ones. */
static bool ask_for_missing(struct cli *cli, const struct scenario *s)
{
    AUTO_ERR struct err no = {0};
    struct str names = {0};
    if (!cli->json && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        names = golden_select_missing(cli->arena, s);
    if (!names.p)
        return false;
    const char *question = arena_printf(cli->arena,
        "Write the missing golden files (" STR_FMT ") from the actual screens?", STR_ARG(names));
    return box_use_consent(cli, question, "use --update-goldens", &no);
}

static bool select_goldens(
    struct cli *cli, const struct run_options *options, struct scenario *s, struct err *err)
{
    const char *which = options->update_goldens;
    if (!golden_select(cli->arena, which, s, err))
        return false;
    if (!which && !options->tap && scenario_golden(s, 0) && ask_for_missing(cli, s))
        s->goldens->mode = GOLDEN_MISSING;
    return true;
}

static bool run_file(
    struct cli *cli, const struct run_options *options, struct suite *s, struct err *err)
{
    struct suite_entry *entry = &s->entries[0];
    struct run_ctx r = {.cli = cli, .options = options, .name = entry->file};
    if (!scenario_load(entry->file, cli->arena, &r.scenario, err))
        return false;
    struct prepare_trust trust = {cli, &r.scenario, entry->file};
    r.p = (struct prepared){.arena = cli->arena,
        .options = &options->prepare,
        .document = entry->file,
        .is_trusted = prepare_is_trusted,
        .trust_context = &trust};
    prepare_scenario(&r.p, &r.scenario);
    prepare_own(cli, &r.p);
    keep_scenario(&r);
    uint64_t started_ms = clock_mono_ms();
    bool ok = prepare_settings(cli, &r.p, err) && prepare_policy(&r.p, err);
    if (ok && options->prepare.explain)
        ok = prepare_explain(cli, &r.p, err);
    else if (ok)
        ok = runner_check(&r.scenario, &r.p.confined.policy, err) && prepared_ok(&r.p, err) &&
             select_goldens(cli, options, &r.scenario, err) && prepare_and_run(&r, err);
    entry->ms = clock_mono_ms() - started_ms;
    entry->exit = cli->status;
    if (r.kept) {
        entry->result = r.kept;
        entry->status = json_string_value(json_object_get(r.kept, "status"));
    }
    prepared_done(&r.p);
    scenario_done(&r.scenario);
    return ok;
}

/* Suites -------------------------------------------------------------------------------------- */

struct run_words {
    struct cli *cli;
    const struct run_options *options;
    const char **p;
    size_t n;
};

static void run_add_word(struct run_words *w, const char *option, const char *value)
{
    if (value)
        w->p[w->n++] = arena_printf(w->cli->arena, "--%s=%s", option, value);
}

static void add_flag(struct run_words *w, const char *option, bool given)
{
    if (given)
        w->p[w->n++] = arena_printf(w->cli->arena, "--%s", option);
}

static void run_add_words(struct run_words *w, const char *option, const struct str_list *values)
{
    for (size_t i = 0; i < values->n; i++)
        run_add_word(w, option, values->p[i].p);
}

/* Arguments of a worker: the same options, one scenario, a separate artifacts directory. */
static const char *const *worker_words(void *context, const struct suite_entry *e)
{
    enum {
        MOST = 32 + 4 * OPT_WORDS_MAX
    };
    const struct run_words *suite = context;
    const struct run_options *o = suite->options;
    const struct prepare_options *p = &o->prepare;
    struct run_words w = *suite;
    w.p = ARENA_NEW(w.cli->arena, const char *, MOST);
    w.p[w.n++] = "cordon";
    w.p[w.n++] = "run";
    w.p[w.n++] = "--json";
    run_add_word(&w, "policy", p->policy);
    run_add_word(&w, "preset", p->preset);
    run_add_word(&w, "root", p->root);
    run_add_word(&w, "cwd", p->cwd);
    run_add_words(&w, "read", &p->read);
    run_add_words(&w, "write", &p->write);
    run_add_words(&w, "allow-exec", &p->exec);
    run_add_words(&w, "allow-host", &p->hosts);
    if (p->artifacts)
        run_add_word(&w, "artifacts", arena_printf(w.cli->arena, "%s/%s", p->artifacts, e->name));
    run_add_word(&w, "update-goldens", o->update_goldens);
    add_flag(&w, "verbose", w.cli->verbose);
    add_flag(&w, "cells", o->cells);
    run_add_word(&w, "sandbox", p->sandbox);
    add_flag(&w, "no-sandbox", p->no_sandbox);
    add_flag(&w, "ack-unsafe-sandbox", p->ack.sandbox);
    add_flag(&w, "enable-network", p->network);
    add_flag(&w, "ack-unsafe-network", p->ack.network);
    add_flag(&w, "ack-unsafe-sockets", p->ack.sockets);
    add_flag(&w, "ack-unsafe-env", p->ack.env);
    add_flag(&w, "ack-unsafe-write", p->ack.write);
    add_flag(&w, "ack-inexact-limits", p->ack.inexact);
    add_flag(&w, "strict-write", p->strict_write);
    run_add_word(&w, "scenario", e->file);
    BUG_ON(w.n >= MOST);
    return w.p;
}

/* Repeats a worker's stderr. */
static void repeat_words(
    void *context, const struct suite_entry *e, const struct suite_words *words)
{
    const struct run_words *w = context;
    struct str line, rest = words->text;
    if (rest.n || words->cut)
        out_note(w->cli, "%s:", e->name);
    if (words->cut)
        out_note(w->cli, "  [the first %llu bytes are omitted]", (unsigned long long)words->cut);
    while (str_cut(rest, '\n', &line, &rest))
        out_note(w->cli, "  " STR_FMT, STR_ARG(line));
}

static bool suite_run_canceled(struct cli *cli, struct suite *s, struct err *err)
{
    sigset_t set;
    AUTO_FD int cancel = interrupt_open(false, &set);
    cli->deadline.cancel = cancel;
    bool ok = suite_run(s, cancel, err);
    cli->deadline.cancel = -1;
    interrupt_close(&set);
    return ok;
}

static void print_suite(struct cli *cli, const struct suite *s)
{
    int width = 8;
    uint64_t ms = 0;
    for (size_t i = 0; i < s->n; i++)
        width = MAX(width, (int)strlen(s->entries[i].name));
    for (size_t i = 0; i < s->n; i++) {
        const struct suite_entry *e = &s->entries[i];
        char name[SUITE_NAME_MAX + 16];
        snprintf(name, sizeof(name), "%-*s", width, e->name);
        out_name(cli, str_z(name), ' ');
        out_text(cli, STR(" "));
        out_styled(cli, strcmp(e->status, "passed") == 0 ? OUT_GREEN : OUT_RED, e->status);
        out_line(cli, "%*s %7llu ms", 8 - (int)strlen(e->status), "", (unsigned long long)e->ms);
        ms += e->ms;
    }
    out_line(cli, "%zu of %zu scenarios passed, %llu ms", suite_count(s, "passed"), s->n,
        (unsigned long long)ms);
}

static bool run_suite(
    struct cli *cli, const struct run_options *options, struct suite *s, struct err *err)
{
    struct run_words w = {.cli = cli, .options = options};
    const char *dir = options->prepare.artifacts;
    if (options->prepare.explain || options->tui)
        return err_set(err, E_CLI_INVALID_ARG, "--%s requires a single scenario",
            options->tui ? "tui" : "explain-policy");
    if (dir && mkdir(dir, 0777) != 0 && errno != EEXIST)
        return err_errno(err, E_IO, errno, "cannot create the directory '%s'", dir);
    s->jobs = options->jobs ? (unsigned)options->jobs : 1;
    s->argv = worker_words;
    s->ended = repeat_words;
    s->context = &w;
    if (!suite_run_canceled(cli, s, err))
        return false;
    cli->status = suite_status(s);
    if (cli->json)
        return out_json(cli, suite_json(s), err);
    if (!options->tap)
        print_suite(cli, s);
    return true;
}

/* Opened before anything runs, so that an unwritable report fails early. An older report is kept
 * until the new one is written. */
static bool open_report(const struct run_options *options, int *ret_fd, struct err *err)
{
    int fd = -1;
    if (options->junit &&
        (fd = open(options->junit, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)) < 0)
        return err_errno(err, E_IO, errno, "cannot write '%s'", options->junit);
    *ret_fd = fd;
    return true;
}

static bool write_junit(const struct suite *s, int fd, const char *name, struct err *err)
{
    AUTO_BUF struct buf xml = BUF_INIT(REPORT_MAX);
    struct stat st;
    suite_add_junit(s, &xml);
    if (!buf_ok(&xml))
        return err_set(err, E_IO, "the report is larger than %d bytes", REPORT_MAX);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
        return err_errno(err, E_IO, errno, "cannot write '%s'", name);
    return file_write(fd, buf_str(&xml), name, err);
}

/* A report that cannot be written is an error message and sets the exit status; the results are
 * still printed. */
static void write_reports(
    struct cli *cli, const struct run_options *options, const struct suite *s, int junit)
{
    AUTO_ERR struct err error = {0};
    if (options->tap)
        suite_add_tap(s, &cli->stdout_buf);
    if (junit < 0 || write_junit(s, junit, options->junit, &error))
        return;
    out_say_error(cli, &error);
    cli->status = err_status(error.code);
}

static bool run_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool run_check_options(
    const struct cli *cli, const struct run_options *options, size_t n_args, struct err *err)
{
    bool report = options->tap || options->junit;
    if (n_args && options->scenario)
        return err_set(err, E_CLI_INVALID_ARG, "--scenario and FILE cannot be combined");
    if (n_args == 0 && !options->scenario)
        return err_set(err, E_CLI_INVALID_ARG,
            "'cordon run' needs FILE or DIR: cordon run [OPTION…] FILE…|DIR…");
    if (options->tap && cli->json)
        return err_set(err, E_CLI_INVALID_ARG, "--tap and --json cannot be combined");
    if (report && options->prepare.explain)
        return err_set(err, E_CLI_INVALID_ARG,
            "--explain-policy runs nothing and cannot be combined with --%s",
            options->tap ? "tap" : "junit");
    return !options->tui || display_check("'cordon run --tui'", err);
}

static bool run_scenarios(struct cli *cli, const struct args *args, struct err *err)
{
    const struct run_options *options = args->options;
    AUTO(suite_done) struct suite s = {.arena = cli->arena};
    AUTO_FD int junit = -1;
    bool many = args->n > 1 || (options->scenario && run_is_dir(options->scenario));
    if (!run_check_options(cli, options, args->n, err) ||
        (options->scenario && !suite_add(&s, options->scenario, err)))
        return false;
    for (size_t i = 0; i < args->n; i++) {
        many |= run_is_dir(args->v[i]);
        if (!suite_add(&s, args->v[i], err))
            return false;
    }
    if (!open_report(options, &junit, err))
        return false;
    bool ok = many ? run_suite(cli, options, &s, err) : run_file(cli, options, &s, err);
    if (!ok && many)
        return false;
    if (!ok) { /* a scenario that could not be started is also reported */
        s.entries[0].result = json_object();
        s.entries[0].status = "errored";
        json_put(s.entries[0].result, "error", err_to_json(err));
    }
    write_reports(cli, options, &s, junit);
    AUTO_ERR struct err ignored = {0};
    if (!ok && options->tap)
        (void)!out_flush(cli, &ignored);
    return ok;
}

static const struct opt run_opts[] = {
    OPT_STRING("scenario", 0, struct run_options, scenario, "FILE", ARG_FILE,
        "the scenario; same as the FILE argument"),
    OPT_SET("tui", 0, struct run_options, tui,
        "show the program's screen and the steps in this terminal during the run"),
    OPT_INT("jobs", 'j', struct run_options, jobs, "N", 1, SUITE_JOBS_MAX,
        "number of scenarios to run in parallel; default: 1"),
    OPT_STRING("junit", 0, struct run_options, junit, "FILE", ARG_FILE,
        "write a report in JUnit XML format: one suite per scenario, one case per step"),
    OPT_BARE_OR_ONE_OF("update-goldens", struct run_options, update_goldens, "WHICH",
        golden_select_modes, "stale",
        "write goldens from the actual screens: none, missing, changed, stale (missing or "
        "changed; the default without a value) or all. Without this option no golden is "
        "written, unless you agree on the terminal"),
    OPT_SET("tap", 0, struct run_options, tap, "print TAP: one line per scenario"),
    OPT_SET("cells", 0, struct run_options, cells, "record every cell with its style in snapshots"),
    PREPARE_OPTS(struct run_options),
    PREPARE_UNSAFE_OPTS(struct run_options),
    OPT_SET("ack-unsafe-env", 0, struct run_options, prepare.ack.env,
        "acknowledge that the scenario's own policy passes variables of your environment"),
};

static const struct opt_group run_groups[] = {PREPARE_GROUPS};

static const struct example run_examples[] = {
    {"cordon run login.yaml", "run it; exit status 5 if an assertion fails"},
    {"cordon run -v --artifacts out login.yaml",
        "print a line per step, and write a record to out/"},
    {"cordon run --tui login.yaml", "watch it; q cancels"},
    {"cordon run --json login.yaml", "the RunResult"},
    {"cordon run -j 2 --junit report.xml tests/", "all scenarios of a directory, two at a time"},
};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "run scenarios and check their results",
    .about = "A scenario (JSON or YAML) consists of a command and steps. Each step has an "
             "action and assertions that must hold after it. The complete scenario is checked "
             "before the command starts. A step ends as soon as its assertions hold, and fails "
             "at its timeout. Exit status: 0, 5 if an assertion fails, 4 for a timeout or a "
             "budget, 9 if the scenario is invalid.\nA scenario's own policy may reach beyond "
             "the scenario (no sandbox, the network, Unix sockets, your environment, writing "
             "elsewhere) only with a flag, or after 'cordon trust'; otherwise the exit status "
             "is 2.\nSeveral files, or a directory (its *.scenario.yaml, .yml and .json files; "
             "if it has none, all .yaml, .yml and .json files) form a suite: each scenario "
             "runs in its own process, a summary is printed, artifacts go to DIR/NAME/, and "
             "the exit status is that of the worst.",
    .usage = "FILE…|DIR…",
    .min_args = 0,
    .max_args = SUITE_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(run_opts, struct run_options),
    CMD_GROUPS(run_groups),
    CMD_EXAMPLES(run_examples),
    .run = run_scenarios,
};
