/* cordon doctor: check this machine's support for sandboxes, and how to fix it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/apparmor.h"
#include "cli/box_cmds.h"
#include "cli/cmds.h"
#include "policy/load.h"
#include "sandbox/host_plan.h"
#include "sandbox/launch.h"
#include "sandbox/machine_facts.h"

struct doctor_options {
    bool fix, yes;
};

/* A line of the report. */
struct doctor_check {
    const char *name;
    bool ok;
    const char *detail;
    const char *remedy; /* if not ok */
};

enum {
    CHECKS_MAX = 5,
};

struct doctor {
    struct cli *cli;
    struct err failure; /* failure of the sandbox; code is 0 if it works */
    struct limiter_kept kept;
    struct facts facts;
    struct findings findings;
    struct doctor_check checks[CHECKS_MAX];
    size_t n_checks;
    bool fixed;
};

/* Mechanisms that limit the number of processes. */
static const char *const limiter_words[LIMITER_WAYS] = {
    [LIMITER_UNKNOWN] = "not known: no sandbox could be planned",
    [LIMITER_NOTHING] = "not limited",
    [LIMITER_PID_MAX] = "kernel.pid_max of the sandbox's own",
    [LIMITER_NPROC] = "RLIMIT_NPROC, counted by user namespace",
    [LIMITER_GROUP] = "pids.max of a cgroup for each sandbox",
    [LIMITER_UID] = "RLIMIT_NPROC of another user of the kernel's, on id-mapped mounts",
    [LIMITER_COUNT] = "counted every 10 ms, and all killed if there are too many: not exact",
};
_Static_assert(LIMITER_COUNT_MS == 10, "the words above");

/* Checks -------------------------------------------------------------------------------------- */

/* Goes through the whole sequence, without a command, for a policy that allows only the
 * baseline. */
static bool doctor_rehearse(
    const char *text, struct arena *a, struct limiter_kept *ret_kept, struct err *err)
{
    struct policy policy;
    struct verdict v;
    struct plan plan;
    if (!policy_parse(str_z(text), "doctor", a, &policy, err))
        return false;
    policy_validate(&policy, &(struct policy_host){0}, a, &v);
    if (!host_plan(&(struct host_plan_input){.verdict = &v}, a, &plan, err))
        return false;
    *ret_kept = limiter_look(&plan);
    return launch_rehearse(&plan, err);
}

static void doctor_add_check(struct doctor *d, const struct doctor_check *check)
{
    BUG_ON(d->n_checks == CHECKS_MAX);
    d->checks[d->n_checks++] = *check;
}

static void check_weaker(struct doctor *d)
{
    AUTO_ERR struct err failure = {0};
    bool ok = doctor_rehearse("{\"policy_version\": 4, \"sandbox\": \"landlock\", "
                              "\"sandbox_unsafe_ack\": true}",
        d->cli->arena, &(struct limiter_kept){0}, &failure);
    doctor_add_check(
        d, &(struct doctor_check){"weaker mode", ok,
               ok ? "commands, not boxes, can run without namespaces: --sandbox landlock "
                    "--ack-unsafe-sandbox"
                  : arena_printf(d->cli->arena, "%s", failure.message),
               NULL});
}

static void doctor_check_machine(struct doctor *d)
{
    const struct machine *m = machine_get();
    const struct err *failure = &d->failure;
    const struct err_pair *remedy = err_ctx_get(failure, "remedy");
    const struct finding *cause = findings_cause(&d->findings);
    enum limiter_way way = d->kept.processes;
    doctor_add_check(d, &(struct doctor_check){"sandbox", !failure->code,
                            failure->code ? failure->message : "the whole sequence works",
                            remedy ? remedy->text : NULL});
    doctor_add_check(d, &(struct doctor_check){"landlock", m->landlock_abi > 0,
                            m->landlock_abi ? arena_printf(d->cli->arena,
                                                  "version %d of the kernel's", m->landlock_abi)
                                            : "not there",
                            cause ? cause->remedy : NULL});
    doctor_add_check(
        d, &(struct doctor_check){"process limit", way > LIMITER_NOTHING && way != LIMITER_COUNT,
               limiter_words[way],
               "mount cgroup2 so that it can be written, run it as an ordinary user, or boot "
               "Linux 6.14 or newer"});
    doctor_add_check(
        d, &(struct doctor_check){"IPC limits", m->ipc_in_namespace,
               m->ipc_in_namespace ? "settings of the sandbox's own for SysV IPC"
                                   : "SysV shared memory in segments of 4096 bytes only; queues "
                                     "and semaphores unlimited",
               "boot Linux 6.9 or newer"});
    if (failure->code)
        check_weaker(d);
}

static void doctor_diagnose(struct doctor *d)
{
    struct machine_failure failure;
    struct arena *a = d->cli->arena;
    bool ok = doctor_rehearse("{\"policy_version\": 4}", a, &d->kept, &d->failure);
    machine_facts(
        !ok && machine_facts_failed(&d->failure, &failure) ? &failure : NULL, a, &d->facts);
    if (d->fixed) /* the profile applies to programs started from now on */
        d->facts.apparmor = "cordon";
    diagnose(&d->facts, a, &d->findings);
}

/* Fixing -------------------------------------------------------------------------------------- */

static void show_fix(struct cli *cli, const struct apparmor *profile)
{
    struct str line, rest = buf_str(&profile->text);
    out_note(cli, "This writes %s:", APPARMOR_FILE);
    if (apparmor_look(APPARMOR_FILE, profile) == APPARMOR_FILE_OTHER)
        out_warn(cli, "it replaces a file with other content; changes of your own belong in "
                      "/etc/apparmor.d/local/cordon");
    while (rest.n && str_cut(rest, '\n', &line, &rest))
        out_note(cli, "    " STR_FMT, STR_ARG(line));
    out_note(cli, "and loads it: /usr/sbin/apparmor_parser -r %s", APPARMOR_FILE);
    out_note(cli,
        "Then every user of this machine can get user namespaces by cordon: programs that it "
        "starts without a sandbox have the same profile.");
}

static bool install_profile(struct doctor *d, bool yes, struct apparmor *profile, struct err *err)
{
    struct cli *cli = d->cli;
    if (!apparmor_make(apparmor_text, d->facts.self, profile, err))
        return false;
    if (apparmor_is_there(profile)) {
        out_note(cli, "nothing to fix: the AppArmor profile is installed");
        return true;
    }
    show_fix(cli, profile);
    if (geteuid() != 0) {
        err_set(err, E_SANDBOX_UNAVAILABLE, "only root can install an AppArmor profile");
        return err_ctx(err, "remedy", "sudo %s doctor --fix", d->facts.self);
    }
    if (!yes && !box_use_consent(cli, "Install the profile?", "give --yes", err))
        return false;
    d->fixed = apparmor_install(profile, err);
    return d->fixed;
}

static bool doctor_fix(struct doctor *d, bool yes, struct err *err)
{
    for (size_t i = 0; i < d->findings.n; i++) {
        if (!d->findings.p[i].fixable)
            continue;
        struct apparmor profile = APPARMOR_INIT;
        bool ok = install_profile(d, yes, &profile, err);
        apparmor_done(&profile);
        return ok;
    }
    out_note(d->cli, "nothing to fix%s",
        findings_cause(&d->findings) ? " by this command: see the remedies" : "");
    return true;
}

/* Output -------------------------------------------------------------------------------------- */

static void doctor_print_row(
    struct cli *cli, enum out_style style, const char *word, const char *name, const char *text)
{
    out_styled(cli, style, arena_printf(cli->arena, "%-8s", word));
    out_line(cli, "%-16s %s", name, text);
}

/* Whether an earlier line has the same remedy. */
static bool doctor_has_same_remedy(const struct doctor *d, size_t which)
{
    const char *remedy = d->findings.p[which].remedy;
    const struct err_pair *first = err_ctx_get(&d->failure, "remedy");
    if (first && first->text && strcmp(first->text, remedy) == 0)
        return true;
    for (size_t i = 0; i < which; i++)
        if (d->findings.p[i].remedy && strcmp(d->findings.p[i].remedy, remedy) == 0)
            return true;
    return false;
}

static void doctor_print(const struct doctor *d)
{
    struct cli *cli = d->cli;
    const char *container = diagnose_container(&d->facts);
    out_line(cli, "kernel %s, as %s%s%s", d->facts.release,
        d->facts.root ? "root" : "an ordinary user", container ? ", in a container: " : "",
        container ? container : "");
    for (size_t i = 0; i < d->n_checks; i++) {
        const struct doctor_check *c = &d->checks[i];
        doctor_print_row(
            cli, c->ok ? OUT_GREEN : OUT_RED, c->ok ? "ok" : "missing", c->name, c->detail);
        if (!c->ok && c->remedy)
            out_line(cli, "        remedy: %s", c->remedy);
    }
    for (size_t i = 0; i < d->findings.n; i++) {
        const struct finding *f = &d->findings.p[i];
        doctor_print_row(cli, f->blocks ? OUT_RED : OUT_YELLOW, "found", f->name, f->text);
        if (f->remedy && !doctor_has_same_remedy(d, i))
            out_line(cli, "        remedy: %s", f->remedy);
    }
}

static json_t *text_or_null(const char *text)
{
    return text ? json_text(str_z(text)) : json_null();
}

static json_t *findings_json(const struct findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->p[i];
        json_t *row = json_object();
        json_put(row, "name", json_string(f->name));
        json_put(row, "detail", json_text(str_z(f->text)));
        json_put(row, "remedy", text_or_null(f->remedy));
        json_put(row, "blocks", json_boolean(f->blocks));
        json_put(row, "fixable", json_boolean(f->fixable));
        json_push(list, row);
    }
    return list;
}

static json_t *doctor_json(const struct doctor *d)
{
    json_t *object = json_object(), *sandbox = machine_json(), *list = json_array();
    const struct err *failure = &d->failure;
    json_put(sandbox, "available", json_boolean(!failure->code));
    json_put(sandbox, "user", json_string(d->facts.root ? "root" : "ordinary"));
    json_put(sandbox, "container", text_or_null(diagnose_container(&d->facts)));
    json_put(sandbox, "error", failure->code ? err_to_json(failure) : json_null());
    json_put(sandbox, "findings", findings_json(&d->findings));
    for (size_t i = 0; i < d->n_checks; i++) {
        const struct doctor_check *c = &d->checks[i];
        json_t *check = json_object();
        json_put(check, "name", json_string(c->name));
        json_put(check, "status", json_string(c->ok ? "ok" : "missing"));
        json_put(check, "detail", json_text(str_z(c->detail)));
        json_put(check, "remedy", text_or_null(c->ok ? NULL : c->remedy));
        json_push(list, check);
    }
    json_put(object, "sandbox", sandbox);
    json_put(object, "checks", list);
    json_put(object, "fixed", json_boolean(d->fixed));
    return object;
}

static bool diagnose_and_fix(struct doctor *d, const struct doctor_options *o, struct err *err)
{
    doctor_diagnose(d);
    if (o->fix && !doctor_fix(d, o->yes, err))
        return false;
    if (d->fixed) {
        err_done(&d->failure);
        d->failure = (struct err){0};
        doctor_diagnose(d);
    }
    doctor_check_machine(d);
    d->cli->status = d->failure.code ? err_status(E_SANDBOX_UNAVAILABLE) : 0;
    if (d->cli->json)
        return out_json(d->cli, doctor_json(d), err);
    doctor_print(d);
    return true;
}

static bool doctor_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct doctor_options *o = args->options;
    struct doctor d = {.cli = cli};
    if (o->yes && !o->fix)
        return err_set(err, E_CLI_INVALID_ARG, "--yes goes with --fix");
    bool ok = diagnose_and_fix(&d, o, err);
    err_done(&d.failure);
    return ok;
}

static const struct opt doctor_opts[] = {
    OPT_SET("fix", 0, struct doctor_options, fix,
        "show what would be changed so that sandboxes work, ask, and change it: the AppArmor "
        "profile that Ubuntu needs"),
    OPT_SET("yes", 'y', struct doctor_options, yes, "with --fix: do not ask"),
};

static const struct example doctor_examples[] = {
    {"cordon doctor", "can this machine enforce policies?"},
    {"sudo cordon doctor --fix", "install the AppArmor profile where one is needed"},
};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "say what this machine offers a sandbox",
    .about = "Builds a whole sandbox once, without running anything in it, and names what stands "
             "in its way with the remedy. Exit status: 0 if it works, 3 if not.",
    .usage = "",
    CMD_OPTS(doctor_opts, struct doctor_options),
    CMD_EXAMPLES(doctor_examples),
    .run = doctor_run,
};
