/* cordon doctor: check this machine's support for sandboxes, and how to fix it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"
#include "cli/cmds.h"
#include "doctor/apparmor.h"
#include "doctor/doctor.h"

struct doctor_options {
    bool fix, yes;
};

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

static bool install_profile(
    struct cli *cli, struct doctor *d, bool yes, struct apparmor *profile, struct err *err)
{
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

static bool doctor_fix(struct cli *cli, struct doctor *d, bool yes, struct err *err)
{
    for (size_t i = 0; i < d->findings.n; i++) {
        if (!d->findings.p[i].fixable)
            continue;
        struct apparmor profile = APPARMOR_INIT;
        bool ok = install_profile(cli, d, yes, &profile, err);
        apparmor_done(&profile);
        return ok;
    }
    out_note(cli, "nothing to fix%s",
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

static void doctor_print(struct cli *cli, const struct doctor *d)
{
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

static bool diagnose_and_fix(
    struct cli *cli, struct doctor *d, const struct doctor_options *o, struct err *err)
{
    doctor_diagnose(d);
    if (o->fix && !doctor_fix(cli, d, o->yes, err))
        return false;
    if (d->fixed)
        doctor_diagnose(d);
    doctor_check_machine(d);
    cli->status = d->failure.code ? err_status(E_SANDBOX_UNAVAILABLE) : 0;
    if (cli->json)
        return out_json(cli, doctor_json(d), err);
    doctor_print(cli, d);
    return true;
}

static bool doctor_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct doctor_options *o = args->options;
    struct doctor d = {.arena = cli->arena};
    if (o->yes && !o->fix)
        return err_set(err, E_CLI_INVALID_ARG, "--yes goes with --fix");
    bool ok = diagnose_and_fix(cli, &d, o, err);
    doctor_done(&d);
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
