/* cordon box new: create a box for a project. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_create.h"
#include "cli/box_cmds.h"
#include "tui/display.h"

enum {
    NOTES_SHOWN = 5,
    ARGS_MAX = 1000,
};

struct box_new_options {
    struct box_create_options create; /* without words and callbacks */
    struct opt_words dirs, hosts, ports;
    bool no_start, attach, no_denials;
};

struct box_new_ctx {
    struct cli *cli;
    const struct args *args;
    struct box_create_options options;
    struct box_create create;
};

/* Questions ----------------------------------------------------------------------------------- */

static bool box_new_agree_dirty(void *context, const char *question, struct err *err)
{
    const struct box_new_ctx *m = context;
    return box_use_consent(m->cli, question, "commit them, or use --yes", err);
}

static bool box_new_agree_replace(void *context, bool running, struct err *err)
{
    const struct box_new_ctx *m = context;
    const char *act = arena_printf(m->cli->arena, "Replace '%s'", m->args->v[0]);
    return box_use_risk(m->cli,
        &(struct box_risk){
            .act = act, .running = running, .abandon = m->options.abandon, .yes = m->options.yes},
        err);
}

/* Results ------------------------------------------------------------------------------------- */

static void box_new_print_notes(struct cli *cli, const struct copy_report *r)
{
    for (size_t i = 0; i < MIN(r->n_notes, (size_t)NOTES_SHOWN); i++)
        out_warn(cli, "omitted: '" STR_FMT "' %s", STR_ARG(out_path(cli, r->notes[i].path)),
            r->notes[i].why);
    if (r->n_notes > NOTES_SHOWN)
        out_warn(cli, "omitted: %zu more", r->n_notes - NOTES_SHOWN);
}

static void box_new_print_text(const struct box_new_ctx *m, bool attach)
{
    struct cli *cli = m->cli;
    const struct box_meta *meta = &m->create.in.meta;
    const char *name = m->args->v[0];
    size_t files = m->create.report.copied.files;
    if (meta->workdir.mode == BOX_COPY)
        out_note(cli, "box '%s': a copy of " STR_FMT " (%zu file%s)", name,
            STR_ARG(meta->workdir.host_path), files, files == 1 ? "" : "s");
    else
        out_note(cli, "box '%s': " STR_FMT ":%s", name, STR_ARG(meta->workdir.host_path),
            box_mode_name(meta->workdir.mode));
    if (!m->options.start)
        out_note(cli, "not started: cordon box start %s", name);
    else if (!attach)
        out_note(cli, "'" STR_FMT "' is running: cordon box attach %s", STR_ARG(meta->agent), name);
}

/* Command ------------------------------------------------------------------------------------- */

static bool check_words(const struct args *args, struct err *err)
{
    const struct box_new_options *o = args->options;
    if (o->attach && o->no_start)
        return err_set(err, E_CLI_INVALID_ARG, "--attach and --no-start cannot be combined");
    if (o->create.abandon && !o->create.replace)
        return err_set(err, E_CLI_INVALID_ARG, "--abandon-unapplied requires --replace");
    if (o->attach && !display_check("'cordon box new --attach'", err))
        return false;
    if (args->n_before <= 2)
        return true;
    err_set(err, E_CLI_INVALID_ARG,
        "unexpected argument '%s'; arguments for the agent come after --", args->v[2]);
    return err_ctx(err, "word", "%s", args->v[2]);
}

static struct box_create_words box_new_words(const struct opt_words *words)
{
    return (struct box_create_words){words->v, words->n};
}

static void box_new_fill_in(struct box_new_ctx *m, const struct box_new_options *o)
{
    const struct args *args = m->args;
    m->options = o->create;
    m->options.name = args->v[0];
    m->options.dir = args->v[1];
    m->options.dirs = box_new_words(&o->dirs);
    m->options.hosts = box_new_words(&o->hosts);
    m->options.ports = box_new_words(&o->ports);
    m->options.args = (struct box_create_words){args->v + 2, args->n - 2};
    m->options.start = !o->no_start;
    m->options.warnings = out_notices(m->cli);
    m->options.agree_dirty = box_new_agree_dirty;
    m->options.agree_replace = box_new_agree_replace;
    m->options.context = m;
}

static bool box_new_finish(struct box_new_ctx *m, const struct box_new_options *o, struct err *err)
{
    struct cli *cli = m->cli;
    const struct args args = {.v = m->args->v, .n = 1, .n_before = 1};
    box_new_print_notes(cli, &m->create.report.copied);
    if (m->create.report.layering == BOX_LAYERS_SECOND_COPY)
        out_warn(cli, "overlayfs cannot be used here, so the box uses a second copy: %s",
            buf_z(&m->create.report.why));
    if (m->create.report.caches.n)
        out_warn(
            cli, "caches that are not shared with the box: %s", buf_z(&m->create.report.caches));
    struct start_options start = box_use_start_options(NULL);
    start.no_denials = o->no_denials;
    if (!box_create_start(&m->create, start, err))
        return false;
    box_use_warn_gaps(cli, &m->create.gaps);
    if (cli->json && !out_json(cli, box_create_json(&m->create), err))
        return false;
    if (!cli->json)
        box_new_print_text(m, o->attach);
    return !o->attach || cmd_box_attach.run(cli, &args, err);
}

static bool box_new_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct box_new_options *o = args->options;
    struct box_new_ctx m = {.cli = cli, .args = args};
    if (!check_words(args, err))
        return false;
    box_new_fill_in(&m, o);
    m.create = BOX_CREATE_INIT(cli->arena, &m.options);
    bool ok = box_create_make(&m.create, err) && box_new_finish(&m, o, err);
    box_create_done(&m.create);
    return ok;
}

static const char *const networks[] = {"none", "on", NULL};

#define TEXT(name, member, value, kind, help) \
    OPT_STRING(name, 0, struct box_new_options, create.member, value, kind, help)
#define SET(name, member, help) OPT_SET(name, 0, struct box_new_options, member, help)

static const struct opt new_opts[] = {
    OPT_SUGGEST("agent", 0, struct box_new_options, create.agent, "AGENT", agent_builtin_names,
        "agent to run in the box: {choices}, or one from your settings; default: claude"),
    TEXT("model", model, "MODEL", ARG_ANY, "name of a model, or the agent's alias for it"),
    TEXT("prompt", prompt, "TEXT", ARG_ANY, "task for the agent"),
    TEXT("prompt-file", prompt_file, "FILE", ARG_FILE,
        "read the prompt from a file; - is standard input"),
    SET("no-start", no_start, "do not start the agent"),
    SET("attach", attach, "attach to the agent's terminal at once"),
    SET("no-denials", no_denials, BOX_NO_DENIALS_HELP),
    OPT_WORDS("dir", 0, struct box_new_options, dirs, "DIR[:rw][:force]",
        "also show this directory in the box, read-only unless ':rw'; may be repeated"),
    SET("include-ignored", create.include_ignored, "also copy files that git ignores"),
    SET("replace", create.replace, "replace an existing box"),
    SET("abandon-unapplied", create.abandon,
        "with --replace: discard unapplied changes of the old box"),
    OPT_SET("yes", 'y', struct box_new_options, create.yes, "do not ask about uncommitted changes"),
    OPT_ONE_OF("network", 0, struct box_new_options, create.network, "HOW", networks,
        "none, or on for full access; default: the hosts listed for the agent, if any"),
    OPT_WORDS("allow-host", 0, struct box_new_options, hosts, "HOST",
        "limit network access to this host, instead of the agent's hosts; may be repeated"),
    OPT_WORDS("port", 0, struct box_new_options, ports, "HOST:BOX",
        "forward a host port to a port in the box; may be repeated"),
    TEXT("memory", memory, "BYTES", ARG_ANY, "limit memory: 512M, 4G; at least 1M"),
    OPT_INT("processes", 0, struct box_new_options, create.processes, "N", 1, 4000000,
        "limit processes and threads; default: 4096"),
    TEXT("cpus", cpus, "N", ARG_ANY, "limit the number of CPUs in use: 2, 0.5"),
    OPT_INT(
        "cpu", 0, struct box_new_options, create.cpu, "SECONDS", 1, INT32_MAX, "limit CPU time"),
    TEXT("disk", disk, "BYTES", ARG_ANY,
        "limit the size of changes and home directory: 500M, 10G; at least 1M"),
    SET("ack-inexact-limits", create.ack_inexact,
        "acknowledge that this machine cannot enforce --processes or --cpus exactly"),
};

static const struct opt_group new_groups[] = {
    {"agent", "Agent"},
    {"dir", "Box"},
    {"network", "Network"},
    {"memory", "Limits"},
};

static const struct example new_examples[] = {
    {"cordon box new fix-login ./app --prompt 'Fix the login bug'",
        "claude works on a copy; the project is not modified"},
    {"cordon box new try ~/big:overlay --agent test --no-start",
        "no copy: a layer on top of the project itself"},
    {"cordon box new web . --dir ~/assets --allow-host api.anthropic.com "
     "--allow-host registry.npmjs.org -- --verbose",
        "with another directory, only these two hosts, and an option for the agent"},
};

const struct cmd cmd_box_new = {
    .name = "new",
    .summary = "create a box and start an agent in it",
    .about = "In the box, the project has the same path as outside. Without a suffix, or with "
             "':copy', the project is copied: later changes to it do not reach the box, and "
             "files that git ignores are not copied. With ':overlay' nothing is copied, "
             "ignored files are visible, and later changes to the project may conflict with "
             "those of the box. With ':rw' the box changes the directory itself, except its "
             ".git.\n\nRefuses directories that would expose too much (':force' overrides "
             "this, with a warning), directories inside each other, and a work tree with "
             "uncommitted changes, unless you confirm or use --yes.",
    .usage = "NAME DIR[:copy|:overlay|:rw][:force] [-- ARG…]",
    .min_args = 2,
    .max_args = ARGS_MAX,
    .arg_kind = ARG_DIR,
    CMD_OPTS(new_opts, struct box_new_options),
    CMD_GROUPS(new_groups),
    CMD_EXAMPLES(new_examples),
    .run = box_new_run,
};
