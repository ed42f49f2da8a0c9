/* cordon doctor: what this machine offers, what is missing and how to get it. */
#include "cli/cmds.h"
#include "policy/load.h"
#include "sandbox/host_plan.h"
#include "sandbox/launch.h"
#include "sandbox/machine.h"

/* The plan of a policy that allows nothing but the baseline: the whole sequence, without a
 * command. */
static bool rehearse(struct arena *a, struct limiter_kept *ret_kept, struct err *err)
{
    struct policy policy;
    struct verdict v;
    struct plan plan;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "doctor", a, &policy, err))
        return false;
    policy_validate(&policy, &(struct policy_host){0}, a, &v);
    if (!host_plan(&(struct host_plan_input){.verdict = &v}, a, &plan, err))
        return false;
    *ret_kept = limiter_look(&plan);
    return launch_rehearse(&plan, err);
}

/* One line of the report. */
struct check {
    const char *name;
    bool ok;
    const char *detail;
    const char *remedy; /* if it is not */
};

enum {
    CHECKS = 4,
};

/* How the number of processes is limited. */
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

static void make_checks(
    struct arena *a, enum limiter_way way, const struct err *err, struct check checks[CHECKS])
{
    const struct machine *m = machine_get();
    const struct err_pair *remedy = err_ctx_get(err, "remedy");
    checks[0] = (struct check){"sandbox", !err->code,
        err->code ? err->message : "the whole sequence works", remedy ? remedy->text : NULL};
    checks[1] = (struct check){"landlock", m->landlock_abi > 0,
        m->landlock_abi ? arena_printf(a, "version %d of the kernel's", m->landlock_abi)
                        : "not there",
        "boot a kernel with Landlock (5.13 or newer), and 'landlock' in its lsm= list"};
    checks[2] = (struct check){"process limit", way > LIMITER_NOTHING && way != LIMITER_COUNT,
        limiter_words[way],
        "mount cgroup2 so that it can be written, run it as an ordinary user, or boot Linux 6.14 "
        "or newer"};
    checks[3] = (struct check){"IPC limits", m->ipc_in_namespace,
        m->ipc_in_namespace
            ? "settings of the sandbox's own for SysV IPC"
            : "SysV shared memory in segments of 4096 bytes only; queues and semaphores unlimited",
        "boot Linux 6.9 or newer"};
}

static void print(struct cli *cli, const struct check checks[CHECKS], const char *found)
{
    const struct machine *m = machine_get();
    out_line(cli, "kernel %s, as %s%s%s", m->release, geteuid() == 0 ? "root" : "an ordinary user",
        m->container ? ", in a container: " : "", m->container ? m->container : "");
    for (size_t i = 0; i < CHECKS; i++) {
        const struct check *c = &checks[i];
        out_styled(cli, c->ok ? OUT_GREEN : OUT_RED, c->ok ? "ok      " : "missing ");
        out_line(cli, "%-14s %s", c->name, c->detail);
        if (!c->ok && c->remedy)
            out_line(cli, "        remedy: %s", c->remedy);
    }
    if (found[0])
        out_line(cli, "found: %s", found);
}

static json_t *to_json(const struct check checks[CHECKS], const struct err *err)
{
    json_t *object = json_object(), *sandbox = machine_json(), *list = json_array();
    json_put(sandbox, "available", json_boolean(!err->code));
    json_put(sandbox, "user", json_string(geteuid() == 0 ? "root" : "ordinary"));
    json_put(sandbox, "error", err->code ? err_to_json(err) : json_null());
    for (size_t i = 0; i < CHECKS; i++) {
        const struct check *c = &checks[i];
        json_t *check = json_object();
        json_put(check, "name", json_string(c->name));
        json_put(check, "status", json_string(c->ok ? "ok" : "missing"));
        json_put(check, "detail", json_text(str_z(c->detail)));
        json_put(check, "remedy", c->ok || !c->remedy ? json_null() : json_text(str_z(c->remedy)));
        json_push(list, check);
    }
    json_put(object, "sandbox", sandbox);
    json_put(object, "checks", list);
    return object;
}

static bool run_doctor(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO_ERR struct err failure = {0};
    struct check checks[CHECKS];
    struct limiter_kept kept = {0};
    (void)args;
    cli->status = rehearse(cli->arena, &kept, &failure) ? 0 : err_status(E_SANDBOX_UNAVAILABLE);
    make_checks(cli->arena, kept.processes, &failure, checks);
    if (cli->json)
        return out_json(cli, to_json(checks, &failure), err);
    AUTO_BUF struct buf found = BUF_INIT(4096);
    if (failure.code)
        machine_findings(&found);
    print(cli, checks, buf_z(&found));
    return true;
}

static const struct example doctor_examples[] = {
    {"cordon doctor", "can this machine enforce policies?"},
};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "say what this machine offers a sandbox",
    .about = "Builds a whole sandbox once, without running anything in it. Exit status: 0 if that "
             "works, 3 if not.",
    .usage = "",
    CMD_EXAMPLES(doctor_examples),
    .run = run_doctor,
};
