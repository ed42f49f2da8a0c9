/* cordon doctor: check this machine's support for sandboxes, and how to fix it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_cmds.h"
#include "cli/cmds.h"
#include "doctor/apparmor.h"
#include "doctor/box_doctor.h"
#include "doctor/doctor.h"
#include "tui/columns.h"

struct doctor_options {
    bool fix, yes;
};

/* Fixing -------------------------------------------------------------------------------------- */

static void show_fix(struct cli *cli, const struct apparmor *profile)
{
    struct str line, rest = buf_str(&profile->text);
    out_note(cli, "This writes %s:", APPARMOR_FILE);
    if (apparmor_look(APPARMOR_FILE, profile) == APPARMOR_FILE_OTHER)
        out_warn(cli, "this replaces a file with different contents; put your own changes in "
                      "/etc/apparmor.d/local/cordon");
    while (rest.n && str_cut(rest, '\n', &line, &rest))
        out_note(cli, "    " STR_FMT, STR_ARG(line));
    out_note(cli, "and loads it: /usr/sbin/apparmor_parser -r %s", APPARMOR_FILE);
    out_note(cli, "Then every user of this machine can create user namespaces through cordon: "
                  "programs that it starts without a sandbox have the same profile.");
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
    if (!yes && !box_use_consent(cli, "Install the profile?", "use --yes", err))
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
        diagnose_cause(&d->findings) ? " with this command: see the remedies" : "");
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
        const struct diagnose_finding *f = &d->findings.p[i];
        doctor_print_row(cli, f->blocks ? OUT_RED : OUT_YELLOW, "found", f->name, f->text);
        if (f->remedy && !doctor_has_same_remedy(d, i))
            out_line(cli, "        remedy: %s", f->remedy);
    }
}

/* Toolchains, several on a line; the home directory as ~. */
static void doctor_print_toolchains(struct cli *cli, const struct developer *developer)
{
    enum {
        WIDTH = 70
    };
    size_t width = 0;
    out_line(cli, "toolchains, shown read-only to presets, tools and boxes");
    for (size_t i = 0; i < developer->shown.n; i++) {
        AUTO_BUF struct buf dir = BUF_INIT(64 << 10);
        columns_dir(&dir, developer->shown.p[i], UINT16_MAX);
        bool last = i + 1 == developer->shown.n, wraps = width + dir.n > WIDTH;
        out_text(cli, width == 0 ? STR("        ") : wraps ? STR(",\n        ") : STR(", "));
        out_text(cli, buf_str(&dir));
        width = wraps ? dir.n : width + 2 + dir.n;
        if (last)
            out_text(cli, STR("\n"));
    }
    if (!developer->shown.n)
        out_line(cli, "        none outside the system's directories");
    for (size_t i = 0; i < developer->n_omitted; i++) {
        out_styled(cli, OUT_YELLOW, "omitted ");
        out_name(cli, developer->omitted[i].dir, ' ');
        out_line(cli, "%s%s", developer->omitted[i].in_path ? "of PATH: " : "of HOME: ",
            developer->omitted[i].reason);
    }
    for (size_t i = 0; i < developer->n_hidden; i++) {
        out_styled(cli, OUT_GREEN, "hidden  ");
        out_name(cli, developer->hidden[i].path, ' ');
        out_line(cli, "in them: %s", developer->hidden[i].reason);
    }
}

static bool doctor_report(
    struct cli *cli, const struct doctor *d, const struct box_doctor *boxes, struct err *err)
{
    if (cli->json) {
        json_t *object = doctor_json(d);
        json_put(object, "boxes", box_doctor_json(boxes));
        return out_json(cli, object, err);
    }
    doctor_print(cli, d);
    doctor_print_toolchains(cli, &d->developer);
    out_line(cli, "boxes");
    box_doctor_print(cli, boxes, "sandbox"); /* which was reported above */
    return true;
}

/* The exit status is that of the sandbox: commands work if only boxes don't. */
static bool diagnose_and_fix(
    struct cli *cli, struct doctor *d, const struct doctor_options *o, struct err *err)
{
    struct box_doctor boxes = {
        .arena = cli->arena, .warnings = out_notices(cli), .boxes = BOXES_NONE};
    doctor_diagnose(d);
    if (o->fix && !doctor_fix(cli, d, o->yes, err))
        return false;
    if (d->fixed)
        doctor_diagnose(d);
    doctor_check_machine(d);
    doctor_list_toolchains(d);
    if (!box_doctor_examine(&boxes, o->fix, err))
        return false;
    cli->status = d->failure.code ? err_status(E_SANDBOX_UNAVAILABLE) : 0;
    return doctor_report(cli, d, &boxes, err);
}

static bool doctor_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct doctor_options *o = args->options;
    struct doctor d = {.arena = cli->arena};
    if (o->yes && !o->fix)
        return err_set(err, E_CLI_INVALID_ARG, "--yes requires --fix");
    bool ok = diagnose_and_fix(cli, &d, o, err);
    doctor_done(&d);
    return ok;
}

static const struct opt doctor_opts[] = {
    OPT_SET("fix", 0, struct doctor_options, fix,
        "show the changes that make sandboxes work, ask, and apply them: the AppArmor "
        "profile that Ubuntu needs; delete leftovers of boxes, as 'cordon box doctor --fix'"),
    OPT_SET("yes", 'y', struct doctor_options, yes, "with --fix: do not ask"),
};

static const struct example doctor_examples[] = {
    {"cordon doctor", "check whether this machine can enforce policies"},
    {"sudo cordon doctor --fix", "install the AppArmor profile where one is needed"},
    {"cordon doctor --fix", "delete leftovers of boxes"},
};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "check whether sandboxing and boxes work here",
    .about = "Builds a complete sandbox once, without running anything in it, and reports "
             "obstacles with their remedies. Lists the toolchains that presets, tools and boxes "
             "show, the directories of PATH that they do not, and files with credentials that stay "
             "hidden. Then checks boxes and their leftovers, as 'cordon box doctor' does. Exit "
             "status: 0 if the sandbox works, 3 if not.",
    .usage = "",
    CMD_OPTS(doctor_opts, struct doctor_options),
    CMD_EXAMPLES(doctor_examples),
    .run = doctor_run,
};
