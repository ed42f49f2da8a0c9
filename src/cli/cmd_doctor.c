/* cordon doctor: what this machine offers, what is missing and how to get it. */
#include "cli/cmds.h"
#include "policy/load.h"
#include "run/exec.h"
#include "sandbox/launch.h"
#include "sandbox/machine.h"

/* The plan of a policy that allows nothing but the baseline: the whole sequence, without a
 * command. */
static bool rehearse(struct arena *a, struct err *err)
{
    struct policy policy;
    struct verdict v;
    struct plan plan;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "doctor", a, &policy, err))
        return false;
    policy_validate(&policy, &(struct policy_host){0}, a, &v);
    return exec_plan(&v, (struct str){0}, a, &plan, err) && launch_rehearse(&plan, err);
}

static void say(struct cli *cli, bool good, const char *what, const char *how)
{
    out_styled(cli, good ? OUT_GREEN : OUT_RED, good ? "ok      " : "missing ");
    out_line(cli, "%-18s %s", what, how);
}

static void print(struct cli *cli, const struct err *err)
{
    const struct machine *m = machine_get();
    const struct err_pair *found = err_ctx_get(err, "found"), *remedy = err_ctx_get(err, "remedy");
    AUTO_BUF struct buf text = BUF_INIT(1024);
    out_line(cli, "kernel %s, as %s%s%s", m->release, geteuid() == 0 ? "root" : "an ordinary user",
        m->container ? ", in a container: " : "", m->container ? m->container : "");
    say(cli, !err->code, "sandbox", err->code ? err->message : "the whole sequence works");
    buf_printf(&text, "version %d of the kernel's", m->landlock_abi);
    say(cli, m->landlock_abi > 0, "landlock", m->landlock_abi ? buf_z(&text) : "not there");
    bool limited = m->pid_max_in_namespace || geteuid() != 0;
    say(cli, limited, "process limit",
        m->pid_max_in_namespace ? "kernel.pid_max of the sandbox's own"
        : limited               ? "RLIMIT_NPROC (as root it would need Linux 6.14)"
                                : "as root it needs Linux 6.14 or newer");
    if (err->code) {
        out_line(cli, "found:  %s", found ? found->text : "nothing that explains it");
        out_line(cli, "remedy: %s", remedy ? remedy->text : "none known");
    }
}

static bool run_doctor(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO_ERR struct err failure = {0};
    (void)args;
    bool works = rehearse(cli->arena, &failure);
    cli->status = works ? 0 : err_status(E_SANDBOX_UNAVAILABLE);
    if (!cli->json) {
        print(cli, &failure);
        return true;
    }
    json_t *object = json_object();
    json_put(object, "sandbox", json_boolean(works));
    json_put(object, "user", json_string(geteuid() == 0 ? "root" : "ordinary"));
    json_put(object, "machine", machine_json());
    json_put(object, "error", works ? json_null() : err_to_json(&failure));
    return out_json(cli, object, err);
}

static const struct example doctor_examples[] = {
    {"cordon doctor", "can this machine enforce policies?"},
};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "say what this machine offers a sandbox, and what is missing",
    .about = "Builds a whole sandbox once, without running anything in it. Exit status: 0 if that "
             "works, 3 if not.",
    .usage = "",
    CMD_EXAMPLES(doctor_examples),
    .run = run_doctor,
};
