/* Replays a recording: from its files to the report. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/replay_job.h"

#include "path/beneath.h"
#include "policy/load.h"
#include "replay/offline.h"
#include "replay/rerun.h"
#include "repo/protect.h"

struct replay_work {
    const struct replay_job_options *options;
    struct replay_result *result;
    struct replay_source source;
    struct policy policy;
    struct normalization n;
    bool has_n;
    struct timeline timeline;
    char run_id[ID_SIZE];
    struct artifacts artifacts; /* record of the new run, in replay-ID/ */
};

void replay_result_done(struct replay_result *r)
{
    auto_fd(&r->dir);
    r->dir = -1;
    report_done(&r->report);
    mismatch_done(&r->mismatch);
    buf_done(&r->held);
}

static void replay_name_report(const struct replay_work *x, char ret_name[REPORT_NAME])
{
    snprintf(ret_name, REPORT_NAME, "replay-%s", x->run_id);
}

/* New run ------------------------------------------------------------------------------------- */

static const char *replay_run_text(const struct replay_work *x, const char *key)
{
    struct str s = json_str(json_object_get(x->source.files.run, key));
    return s.p ? arena_strdup(x->options->arena, s) : NULL;
}

static const char *const *replay_argv(const struct replay_work *x, const struct scenario *s)
{
    struct arena *a = x->options->arena;
    const json_t *args = json_object_get(x->source.files.run, "args");
    const char *argv0 = replay_run_text(x, "argv0");
    size_t n = json_array_size(args);
    const char **argv = ARENA_NEW(a, const char *, MAX(n, s ? s->args.n : 0) + 2);
    argv[0] = s ? arena_strdup(a, s->command) : argv0 ? argv0 : replay_run_text(x, "command");
    for (size_t i = 0; !s && i < n; i++) {
        struct str arg = json_str(json_array_get(args, i));
        argv[i + 1] = arena_strdup(a, arg.p ? arg : STR(""));
    }
    for (size_t i = 0; s && i < s->args.n; i++)
        argv[i + 1] = arena_strdup(a, s->args.p[i]);
    return argv;
}

/* Directory in which the recorded run started; no value if none was allowed. */
static struct str replay_start_dir(const struct replay_work *x)
{
    struct str cwd = json_str(json_object_get(x->source.files.run, "cwd"));
    bool nowhere = str_is(cwd, "/tmp") && !x->policy.fs.working_dir.p;
    return nowhere ? (struct str){0} : cwd;
}

/* Writes the parts of the new run's record that are known before it starts. */
static bool replay_begin_record(struct replay_work *x, struct err *err)
{
    char name[REPORT_NAME];
    replay_name_report(x, name);
    return artifacts_open_below(x->source.files.dir, name, true, &x->artifacts, err) &&
           artifacts_put(&x->artifacts, "policy.json", buf_str(&x->source.policy), err) &&
           (!x->source.has_scenario ||
               artifacts_put(&x->artifacts, "scenario.json", buf_str(&x->source.scenario), err));
}

static bool replay_run_prepared(struct replay_work *x, const struct prepared *p,
    const struct scenario *scenario, struct err *err)
{
    const struct replay_job_options *o = x->options;
    const struct rerun_options options = {
        .files = &x->source.files,
        .timeline = &x->timeline,
        .n = &x->n,
        .scenario = scenario,
        .confined = &p->confined,
        .artifacts = &x->artifacts,
        .run_id = x->run_id,
        .cancel = o->begin ? o->begin(o->context, p) : -1,
    };
    bool ok = replay_begin_record(x, err) && rerun(&options, &x->result->mismatch, err);
    if (o->end)
        o->end(o->context);
    return ok;
}

/* Uses the goldens of the recording. */
static bool replay_read_scenario(struct replay_work *x, struct scenario *scenario, struct err *err)
{
    return scenario_parse_recorded(
               buf_str(&x->source.scenario), "scenario.json", x->options->arena, scenario, err) &&
           source_goldens(x->source.files.dir, scenario, err);
}

static bool replay_prepare_and_run(
    struct replay_work *x, struct prepared *p, const struct scenario *scenario, struct err *err)
{
    const struct replay_job_options *o = x->options;
    bool ok = (!o->settle || o->settle(o->context, p, err)) && prepare_policy(p, err) &&
              prepare_run(p, err) && replay_run_prepared(x, p, scenario, err);
    prepare_check(p);
    if (p->protect)
        protect_print(p->protect, &x->result->held);
    prepared_done(p);
    return ok;
}

static bool replay_run_again(struct replay_work *x, struct err *err)
{
    const struct prepare_options options = {.ack = x->options->ack};
    struct arena *a = x->options->arena;
    AUTO(scenario_done) struct scenario scenario = {0};
    bool scripted = x->source.has_scenario;
    const char *program = replay_run_text(x, "command");
    AUTO_FREE char *where = beneath_name(x->source.files.dir);
    if (!program || !where)
        return err_set(err, E_PROTOCOL, "run.json: command: expected a string");
    if (json_object_get(x->source.files.run, "inexact"))
        return err_set(err, E_PROTOCOL,
            "run.json: the command's name or directory is not UTF-8: use --offline to replay "
            "it");
    if (json_object_get(x->source.files.run, "input_bytes"))
        return err_set(err, E_NOT_FOUND,
            "the recorded command received input, which is not in the record: use --offline "
            "to replay it");
    if (scripted && !replay_read_scenario(x, &scenario, err))
        return false;
    struct prepared p = {
        .arena = a,
        .options = &options,
        .argv = replay_argv(x, scripted ? &scenario : NULL),
        .program = program,
        .given = &x->policy,
        .author = CONSENT_RECORDING,
        .origin = arena_str(a, str_z(where)),
        .start = replay_start_dir(x),
        .replays = arena_str(a, str_z(where)),
    };
    return replay_prepare_and_run(x, &p, scripted ? &scenario : NULL, err);
}

/* Comparison ---------------------------------------------------------------------------------- */

/* Loads the files to be compared. */
static bool replay_load_files(struct replay_work *x, struct err *err)
{
    struct mismatch *m = &x->result->mismatch;
    if (!checksums_verify(x->source.files.dir, &x->options->needs, m, err))
        return false;
    if (m->kind) {
        offline_explain(&x->source, m);
        return true;
    }
    if (!replay_source_read(&x->source, m, err))
        return false;
    if (m->kind)
        return true;
    if (!policy_parse(
            buf_str(&x->source.policy), "policy.json", x->options->arena, &x->policy, err) ||
        !timeline_read_steps(x->source.files.run, x->source.files.transcript.n, &x->timeline, err))
        return false;
    x->has_n = normalization_init(&x->policy.replay, &x->options->normalization, &x->n, err);
    return x->has_n;
}

/* An invalid scenario is an error also if it is not run. */
static bool replay_check_scenario(struct replay_work *x, struct err *err)
{
    AUTO(scenario_done) struct scenario scenario = {0};
    return !x->source.has_scenario || scenario_parse_recorded(buf_str(&x->source.scenario),
                                          "scenario.json", x->options->arena, &scenario, err);
}

static bool replay_check(struct replay_work *x, struct err *err)
{
    if (x->result->mismatch.kind)
        return true;
    if (x->options->offline)
        return replay_check_scenario(x, err) &&
               offline_check(&x->source.files, &x->timeline, &x->n, &x->result->mismatch, err);
    return replay_run_again(x, err);
}

static bool replay_write_report(struct replay_work *x, struct err *err)
{
    struct replay_result *r = x->result;
    r->report.replay = mismatch_summary(&r->mismatch, x->has_n ? &x->n : NULL);
    r->report.diff = mismatch_json(&r->mismatch);
    replay_name_report(x, r->report.name);
    return report_write(x->source.files.dir, &x->artifacts, &r->report, err);
}

bool replay_job(const struct replay_job_options *options, struct replay_result *r, struct err *err)
{
    struct replay_work x = {
        .options = options, .result = r, .source = REPLAY_SOURCE_NONE, .artifacts = ARTIFACTS_NONE};
    if (!replay_source_open(options->recording, &x.source, err))
        return false;
    id_new(x.run_id);
    bool ok = replay_load_files(&x, err) && replay_check(&x, err) && replay_write_report(&x, err);
    if (x.has_n)
        normalization_done(&x.n);
    artifacts_close(&x.artifacts);
    timeline_done(&x.timeline);
    r->dir = TAKE_FD(x.source.files.dir);
    replay_source_close(&x.source);
    return ok;
}
