/* cordon self-test: test the main functions on this machine, in a temporary directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/cmds.h"
#include "config/config.h"
#include "doctor/self_test.h"
#include "sandbox/machine.h"

struct self_test_options {
    bool strict;
};

static const char *const status_names[] = {
    [OUTCOME_OK] = "ok", [OUTCOME_WEAKER] = "weaker", [OUTCOME_FAILED] = "failed"};

struct tally {
    json_t *checks; /* owned by the caller */
    size_t n[ARRAY_LEN(status_names)];
    uint64_t started_ms;
};

static void print_check(
    struct cli *cli, const struct self_test_check *check, const struct outcome *o)
{
    static const enum out_style styles[] = {
        [OUTCOME_OK] = OUT_GREEN, [OUTCOME_WEAKER] = OUT_YELLOW, [OUTCOME_FAILED] = OUT_RED};
    out_styled(cli, styles[o->status], arena_printf(cli->arena, "%-7s", status_names[o->status]));
    buf_printf(&cli->stdout_buf, " %-16s ", check->name);
    out_name(cli, str_z(o->detail), '\n');
    if (o->status == OUTCOME_OK || !o->remedy)
        return;
    out_text(cli, STR("        remedy: "));
    out_name(cli, str_z(o->remedy), '\n');
}

static void note_check(
    struct tally *t, const struct self_test_check *check, const struct outcome *o, uint64_t ms)
{
    json_t *one = json_object();
    bool remedy = o->status != OUTCOME_OK && o->remedy;
    json_put(one, "name", json_string(check->name));
    json_put(one, "status", json_string(status_names[o->status]));
    json_put(one, "detail", json_text(str_z(o->detail)));
    json_put(one, "remedy", remedy ? json_text(str_z(o->remedy)) : json_null());
    json_put(one, "duration_ms", json_integer((json_int_t)ms));
    json_push(t->checks, one);
    t->n[o->status]++;
}

static bool run_checks(struct cli *cli, struct bed *bed, struct tally *t, struct err *err)
{
    for (size_t i = 0; i < n_self_test_checks; i++) {
        uint64_t before = clock_mono_ms();
        struct outcome o = self_test_run(bed, &self_test_checks[i]);
        if (bed->interrupted)
            return err_set(err, E_CANCELED, "interrupted");
        note_check(t, &self_test_checks[i], &o, clock_mono_ms() - before);
        if (!cli->json)
            print_check(cli, &self_test_checks[i], &o);
    }
    return true;
}

static int self_test_exit_status(const struct tally *t, const struct bed *bed, bool strict)
{
    if (bed->no_sandbox)
        return err_status(E_SANDBOX_UNAVAILABLE);
    bool bad = t->n[OUTCOME_FAILED] || (strict && t->n[OUTCOME_WEAKER]);
    return bad ? err_status(E_ASSERTION_FAILED) : 0;
}

static json_t *self_test_json(const struct tally *t)
{
    json_t *object = json_object();
    json_put(object, "version", json_string(CORDON_VERSION));
    json_put(object, "kernel", json_string(machine_get()->release));
    json_put(object, "user", json_string(geteuid() == 0 ? "root" : "ordinary"));
    json_put(object, "checks", json_incref(t->checks));
    for (size_t i = 0; i < ARRAY_LEN(status_names); i++)
        json_put(object, status_names[i], json_integer((json_int_t)t->n[i]));
    return object;
}

static bool self_test_print_result(struct cli *cli, const struct tally *t, struct err *err)
{
    uint64_t ms = clock_mono_ms() - t->started_ms;
    if (cli->json)
        return out_json(cli, self_test_json(t), err);
    out_line(cli, "%zu ok, %zu weaker, %zu failed, in %llu.%llu s", t->n[OUTCOME_OK],
        t->n[OUTCOME_WEAKER], t->n[OUTCOME_FAILED], (unsigned long long)(ms / 1000),
        (unsigned long long)(ms % 1000 / 100));
    return true;
}

static bool self_test_open(struct cli *cli, struct bed *ret_bed, struct err *err)
{
    AUTO_ERR struct err no_state = {0};
    struct bed_options options = {.arena = cli->arena};
    if (!config_state_path(cli->arena, "", &options.state, &no_state))
        options.state_error = arena_printf(cli->arena, "%s", no_state.message);
    return bed_open(&options, ret_bed, err);
}

static void self_test_close(struct cli *cli, struct bed *bed)
{
    const char *warnings[BED_WARNINGS_MAX];
    size_t n = bed_close(bed, warnings);
    for (size_t i = 0; i < n; i++)
        out_warn(cli, "%s", warnings[i]);
}

static bool run_self_test(struct cli *cli, const struct args *args, struct err *err)
{
    const struct self_test_options *options = args->options;
    AUTO_JSON json_t *checks = json_array();
    struct tally t = {.checks = checks, .started_ms = clock_mono_ms()};
    struct bed bed = BED_INIT;
    if (!self_test_open(cli, &bed, err))
        return false;
    if (!cli->json)
        out_line(cli, "cordon %s on Linux %s, as %s", CORDON_VERSION, machine_get()->release,
            geteuid() == 0 ? "root" : "an ordinary user");
    bool ok = run_checks(cli, &bed, &t, err);
    if (ok)
        cli->status = self_test_exit_status(&t, &bed, options->strict);
    self_test_close(cli, &bed);
    return ok && self_test_print_result(cli, &t, err);
}

static const struct opt self_test_opts[] = {
    OPT_SET("strict", 0, struct self_test_options, strict,
        "exit with status 5 even if a check is only weaker"),
};

static const struct example self_test_examples[] = {
    {"cordon self-test", "check this machine"},
    {"cordon self-test --json --strict", "for scripts: exit status 5 unless every check is ok"},
};

const struct cmd cmd_self_test = {
    .name = "self-test",
    .minor = true,
    .summary = "test cordon's main functions on this machine",
    .about = "Tests commands in the sandbox, tools, a terminal program, a replay, an agent and "
             "boxes, in a temporary directory that is removed. Takes a second or two, at most "
             "30; requires no other program, no network and no API key, and does not change "
             "your settings, boxes and sessions. The result of each check is ok, weaker "
             "(usable, but with less) or failed.\nExit status: 0 if nothing failed, 3 if the "
             "sandbox does not work, 5 if something else failed.",
    .usage = "",
    CMD_OPTS(self_test_opts, struct self_test_options),
    CMD_EXAMPLES(self_test_examples),
    .run = run_self_test,
};

/* A hidden command: this program performs the acts itself, so that nothing else need be
 * installed. */
static bool run_act(struct cli *cli, const struct args *args, struct err *err)
{
    return self_test_act(args->v[0], args->v[1], &cli->stdout_buf, err);
}

const struct cmd cmd_self_test_act = {
    .name = SELF_TEST_ACT,
    .hidden = true,
    .summary = "try one act and print its result, for 'cordon self-test'",
    .usage = "ACT ARGUMENT",
    .min_args = 2,
    .max_args = 2,
    .run = run_act,
};
