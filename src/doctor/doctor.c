/* Support for sandboxes on this machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include "path/exact.h"
#include "path/home.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "sandbox/launch.h"
#include "session/confined.h"

/* Mechanisms that limit the number of processes. */
static const char *const limiter_words[LIMITER_WAYS] = {
    [LIMITER_UNKNOWN] = "unknown: no sandbox could be planned",
    [LIMITER_NOTHING] = "not limited",
    [LIMITER_PID_MAX] = "kernel.pid_max of the sandbox's pid namespace",
    [LIMITER_NPROC] = "RLIMIT_NPROC, counted per user namespace",
    [LIMITER_GROUP] = "pids.max of a cgroup for each sandbox",
    [LIMITER_UID] = "RLIMIT_NPROC of a separate kernel user, with id-mapped mounts",
    [LIMITER_COUNT] =
        "counted every 10 ms; all processes are killed if there are too many (not exact)",
};
_Static_assert(LIMITER_COUNT_MS == 10, "the words above");

/* Checks -------------------------------------------------------------------------------------- */

/* Goes through the whole sequence, without a command, for a policy that allows only the
 * baseline. */
static bool doctor_rehearse(
    const char *text, struct arena *a, struct limiter_kept *ret_kept, struct err *err)
{
    struct confined c;
    if (!policy_parse(str_z(text), "doctor", a, &c.policy, err) ||
        !confined_make(&c, &(struct confined_options){0}, a, err))
        return false;
    *ret_kept = limiter_probe(&c.plan);
    return launch_rehearse(&c.plan, err);
}

static void doctor_add_check(struct doctor *d, const struct doctor_check *check)
{
    BUG_ON(d->n_checks == DOCTOR_CHECKS_MAX);
    d->checks[d->n_checks++] = *check;
}

static void check_weaker(struct doctor *d)
{
    AUTO_ERR struct err failure = {0};
    bool ok = doctor_rehearse(
        "{\"policy_version\": 4, \"sandbox\": \"landlock\", \"sandbox_unsafe_ack\": true}",
        d->arena, &(struct limiter_kept){0}, &failure);
    doctor_add_check(
        d, &(struct doctor_check){"weaker mode", ok,
               ok ? "commands, but not boxes, can run without namespaces: --sandbox landlock "
                    "--ack-unsafe-sandbox"
                  : arena_printf(d->arena, "%s", failure.message),
               NULL});
}

void doctor_check_machine(struct doctor *d)
{
    const struct machine *m = machine_get();
    const struct err *failure = &d->failure;
    const struct err_pair *remedy = err_ctx_get(failure, "remedy");
    const struct diagnose_finding *cause = diagnose_cause(&d->findings);
    enum limiter_method way = d->kept.processes;
    doctor_add_check(d, &(struct doctor_check){"sandbox", !failure->code,
                            failure->code ? failure->message : "a complete sandbox can be built",
                            remedy ? remedy->text : NULL});
    doctor_add_check(
        d, &(struct doctor_check){"landlock", m->landlock_abi > 0,
               m->landlock_abi ? arena_printf(d->arena, "ABI version %d", m->landlock_abi)
                               : "not there",
               cause ? cause->remedy : NULL});
    doctor_add_check(
        d, &(struct doctor_check){"process limit", way > LIMITER_NOTHING && way != LIMITER_COUNT,
               limiter_words[way],
               "mount cgroup2 writable, run cordon as an ordinary user, or boot Linux 6.14 or "
               "newer"});
    doctor_add_check(
        d, &(struct doctor_check){"IPC limits", m->ipc_in_namespace,
               m->ipc_in_namespace
                   ? "separate SysV IPC settings for each sandbox"
                   : "SysV shared memory only in segments of 4096 bytes; queues and semaphores "
                     "unlimited",
               "boot Linux 6.9 or newer"});
    if (failure->code)
        check_weaker(d);
}

void doctor_diagnose(struct doctor *d)
{
    struct machine_failure failure;
    struct arena *a = d->arena;
    err_done(&d->failure);
    d->failure = (struct err){0};
    bool ok = doctor_rehearse("{\"policy_version\": 4}", a, &d->kept, &d->failure);
    machine_facts(
        !ok && machine_facts_failed(&d->failure, &failure) ? &failure : NULL, a, &d->facts);
    if (d->fixed) /* the profile applies to programs started from now on */
        d->facts.apparmor = "cordon";
    diagnose(&d->facts, a, &d->findings);
}

/* The policy is that of a preset, so that directories of the system are not listed. */
void doctor_list_toolchains(struct doctor *d)
{
    const struct developer_input input = {
        .home = home_dir(d->arena), .environ = (const char *const *)environ};
    AUTO_ERR struct err ignored = {0};
    struct policy policy;
    if (preset_load("readonly", STR("/usr/share"), d->arena, &policy, &ignored))
        developer_add(&input, d->arena, &policy, &d->developer);
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *findings_json(const struct diagnose_findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < findings->n; i++) {
        const struct diagnose_finding *f = &findings->p[i];
        json_t *row = json_object();
        json_put(row, "name", json_string(f->name));
        json_put(row, "detail", json_text(str_z(f->text)));
        json_put(row, "remedy", json_text_or_null(f->remedy));
        json_put(row, "blocks", json_boolean(f->blocks));
        json_put(row, "fixable", json_boolean(f->fixable));
        json_push(list, row);
    }
    return list;
}

static json_t *developer_json(const struct developer *developer)
{
    json_t *object = json_object(), *shown = json_array(), *omitted = json_array();
    json_t *hidden = json_array();
    for (size_t i = 0; i < developer->n_hidden; i++) {
        json_t *row = json_object();
        exact_put(row, "path", developer->hidden[i].path);
        json_put(row, "reason", json_string(developer->hidden[i].reason));
        json_push(hidden, row);
    }
    for (size_t i = 0; i < developer->shown.n; i++)
        json_push(shown, json_text(developer->shown.p[i]));
    for (size_t i = 0; i < developer->n_omitted; i++) {
        json_t *row = json_object();
        exact_put(row, "dir", developer->omitted[i].dir);
        json_put(row, "reason", json_string(developer->omitted[i].reason));
        json_push(omitted, row);
    }
    json_put(object, "shown", shown);
    json_put(object, "omitted", omitted);
    json_put(object, "hidden", hidden);
    return object;
}

json_t *doctor_json(const struct doctor *d)
{
    json_t *object = json_object(), *sandbox = machine_json(), *list = json_array();
    const struct err *failure = &d->failure;
    json_put(sandbox, "available", json_boolean(!failure->code));
    json_put(sandbox, "user", json_string(d->facts.root ? "root" : "ordinary"));
    json_put(sandbox, "container", json_text_or_null(diagnose_container(&d->facts)));
    json_put(sandbox, "error", failure->code ? err_to_json(failure) : json_null());
    json_put(sandbox, "findings", findings_json(&d->findings));
    for (size_t i = 0; i < d->n_checks; i++) {
        const struct doctor_check *c = &d->checks[i];
        json_t *check = json_object();
        json_put(check, "name", json_string(c->name));
        json_put(check, "status", json_string(c->ok ? "ok" : "missing"));
        json_put(check, "detail", json_text(str_z(c->detail)));
        json_put(check, "remedy", json_text_or_null(c->ok ? NULL : c->remedy));
        json_push(list, check);
    }
    json_put(object, "sandbox", sandbox);
    json_put(object, "checks", list);
    json_put(object, "fixed", json_boolean(d->fixed));
    json_put(object, "developer", developer_json(&d->developer));
    return object;
}

void doctor_done(struct doctor *d)
{
    err_done(&d->failure);
}
