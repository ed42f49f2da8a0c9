/* cordon box new: create a box for a project. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "box/command.h"
#include "box/installed.h"
#include "box/name.h"
#include "box/new.h"
#include "box/reset.h"
#include "box/trash.h"
#include "boxd/bounds.h"
#include "boxd/client.h"
#include "cli/box_cmds.h"
#include "config/config.h"
#include "config/project.h"
#include "io/file.h"
#include "path/dirarg.h"
#include "path/exact.h"
#include "path/home.h"
#include "path/lexical.h"
#include "proxy/proxy.h"
#include "tui/display.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    NOTES_SHOWN = 5,
    ARGS_MAX = 1000,
    CPUS_MAX = 100 * 1000,
    CPU_MILLIS_MIN = 10, /* minimum that the kernel accepts */
};

struct box_new_options {
    const char *agent, *model, *prompt, *prompt_file, *network, *memory, *cpus, *disk;
    struct opt_words dirs, hosts, ports;
    int64_t processes, cpu;
    bool include_ignored, ack_inexact, replace, abandon, no_start, attach, yes;
};

struct box_new_ctx {
    struct cli *cli;
    const struct args *args;
    const struct box_new_options *o;
    struct boxes boxes;
    struct agent_rows rows;
    const struct box_agent *agent;
    struct dirs_host host;
    struct box old; /* the box being replaced */
    int hold;       /* lock that keeps the old box from running */
    struct dirarg *dirargs;
    struct box_dir *dirs; /* the project, then the additional directories */
    size_t n_dirs;
    struct new_input in;
    struct str_list gaps; /* limits that are weaker than requested */
};

static bool box_new_bad_option(
    struct err *err, const char *option, const char *value, const char *right)
{
    err_set(err, E_CLI_INVALID_ARG, "--%s '%s': %s", option, value, right);
    return err_ctx(err, "word", "%s", value);
}

/* Options ------------------------------------------------------------------------------------- */

/* "512M" */
static bool parse_bytes(const char *option, const char *text, uint64_t *ret_bytes, struct err *err)
{
    static const char units[] = "KMGT";
    struct str digits = str_z(text);
    const char *unit = digits.n ? strchr(units, digits.p[digits.n - 1] & ~0x20) : NULL;
    unsigned shift = 0;
    int64_t n;
    if (unit && *unit) {
        digits.n--;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (!str_to_int(digits, 1, INT64_MAX, &n) || n > (INT64_MAX >> shift))
        return box_new_bad_option(err, option, text, "give a number of bytes, such as 512M or 4G");
    *ret_bytes = (uint64_t)n << shift;
    return true;
}

/* "2" or "0.5", in thousandths of a CPU. */
static bool parse_cpus(const char *text, uint64_t *ret_millis, struct err *err)
{
    struct str whole, part = {0};
    int64_t n, rest = 0;
    bool ok = str_cut(str_z(text), '.', &whole, &part) && str_to_int(whole, 0, CPUS_MAX, &n);
    if (ok && part.n)
        ok = part.n <= 3 && str_to_int(part, 0, 999, &rest);
    for (size_t i = part.n; i < 3; i++)
        rest *= 10;
    if (!ok || n * 1000 + rest < CPU_MILLIS_MIN)
        return box_new_bad_option(err, "cpus", text, "give a number of CPUs, such as 2 or 0.5");
    *ret_millis = (uint64_t)(n * 1000 + rest);
    return true;
}

static struct str_list box_new_str_list(struct arena *a, const char *const *v, size_t n)
{
    struct str_list list = {ARENA_NEW(a, struct str, n + 1), n};
    for (size_t i = 0; i < n; i++)
        list.p[i] = str_z(v[i]);
    return list;
}

static bool take_network(struct box_new_ctx *m, struct err *err)
{
    const struct box_new_options *o = m->o;
    struct box_meta *meta = &m->in.meta;
    bool on = o->network && strcmp(o->network, "on") == 0;
    if (o->network && o->hosts.n)
        return box_new_bad_option(
            err, "network", o->network, "with --allow-host there is nothing to choose");
    if (on && o->ports.n)
        return box_new_bad_option(
            err, "port", o->ports.v[0], "with --network on the box has the host's ports");
    for (size_t i = 0; i < o->ports.n; i++)
        if (!meta_port_valid(str_z(o->ports.v[i])))
            return box_new_bad_option(
                err, "port", o->ports.v[i], "give HOST:BOX, such as 8080:3000");
    for (size_t i = 0; i < o->hosts.n; i++)
        if (!proxy_host_check(str_z(o->hosts.v[i]), err))
            return err_wrap(err, "--allow-host");
    if (o->network)
        meta->network_mode = on ? BOX_NETWORK_ON : BOX_NETWORK_NONE;
    if (o->hosts.n)
        meta->network_mode = BOX_NETWORK_ALLOW;
    meta->ports = box_new_str_list(m->cli->arena, o->ports.v, o->ports.n);
    m->in.setup.hosts = box_new_str_list(m->cli->arena, o->hosts.v, o->hosts.n);
    return true;
}

static bool take_limits(struct box_new_ctx *m, struct err *err)
{
    const struct box_new_options *o = m->o;
    struct box_limits *limits = &m->in.setup.limits;
    limits->processes = (uint64_t)o->processes;
    limits->cpu_seconds = (uint64_t)o->cpu;
    m->in.setup.inexact_limits = o->ack_inexact;
    return (!o->memory || parse_bytes("memory", o->memory, &limits->memory_bytes, err)) &&
           (!o->cpus || parse_cpus(o->cpus, &limits->cpu_millis, err)) &&
           (!o->disk || parse_bytes("disk", o->disk, &limits->disk_bytes, err));
}

static bool read_prompt(struct box_new_ctx *m, struct err *err)
{
    const char *name = m->o->prompt_file;
    AUTO_BUF struct buf text = BUF_INIT(2 * COMMAND_PROMPT_MAX);
    if (m->o->prompt && name)
        return box_new_bad_option(err, "prompt-file", name, "there is a --prompt already");
    if (m->o->prompt)
        m->in.prompt = str_z(m->o->prompt);
    if (!name)
        return true;
    AUTO_FD int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC)
                                       : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", name);
    if (!file_read(fd, COMMAND_PROMPT_MAX, name, &text, err))
        return false;
    m->in.prompt = arena_str(m->cli->arena, buf_str(&text));
    return true;
}

/* Builds the command now, so that a prompt that cannot be passed fails before the box is
 * created. */
static bool take_agent(struct box_new_ctx *m, struct err *err)
{
    const char *name = m->o->agent ? m->o->agent : "claude";
    struct command command;
    if (!config_box_rows(m->cli->arena, &m->rows, err) ||
        !agent_find(str_z(name), &m->rows, &m->agent, err) || !read_prompt(m, err))
        return false;
    if (m->in.prompt.p && str_find(m->in.prompt, '\0') >= 0)
        return err_set(err, E_CLI_INVALID_ARG, "the prompt has a NUL in it");
    m->in.agent = m->agent;
    m->in.meta.agent = m->agent->name;
    if (m->o->model)
        m->in.meta.model = agent_model(m->agent, str_z(m->o->model));
    m->in.setup.args = box_new_str_list(m->cli->arena, m->args->v + 2, m->args->n - 2);
    for (size_t i = 0; i < m->in.setup.args.n; i++)
        if (!utf8_valid(m->in.setup.args.p[i]))
            return err_set(
                err, E_CLI_INVALID_ARG, "argument %zu for the agent is not UTF-8", i + 1);
    if (!command_make(
            &(struct command_input){m->agent, m->in.prompt, m->in.meta.model, m->in.setup.args},
            m->cli->arena, &command, err))
        return false;
    if (command.model_ignored)
        out_warn(m->cli, "the agent '%s' has no option for a model: --model is not used", name);
    return true;
}

/* Directories --------------------------------------------------------------------------------- */

static bool parse_dirs(struct box_new_ctx *m, struct err *err)
{
    struct arena *a = m->cli->arena;
    const struct opt_words *more = &m->o->dirs;
    struct str cwd;
    m->n_dirs = 1 + more->n;
    m->dirargs = ARENA_NEW(a, struct dirarg, m->n_dirs);
    m->dirs = ARENA_NEW(a, struct box_dir, m->n_dirs);
    if (!lexical_cwd(a, &cwd, err) ||
        !dirarg_parse(str_z(m->args->v[1]), cwd, a, &m->dirargs[0], err))
        return false;
    for (size_t i = 0; i < more->n; i++) {
        struct dirarg *dir = &m->dirargs[i + 1];
        if (!dirarg_parse(str_z(more->v[i]), cwd, a, dir, err))
            return false;
        if (dir->mode != DIRARG_DEFAULT && dir->mode != DIRARG_RW)
            return box_new_bad_option(err, "dir", more->v[i],
                "beside the project there are only read-only directories and ':rw' ones");
    }
    return true;
}

static bool take_dirs(struct box_new_ctx *m, struct err *err)
{
    static const enum box_mode modes[] = {[DIRARG_DEFAULT] = BOX_COPY,
        [DIRARG_COPY] = BOX_COPY,
        [DIRARG_OVERLAY] = BOX_OVERLAY,
        [DIRARG_RW] = BOX_RW};
    struct box_setup *setup = &m->in.setup;
    m->host.home = home_dir(m->cli->arena);
    if (!config_state_path(m->cli->arena, "", &m->host.state, err) || !parse_dirs(m, err) ||
        !dirs_check(m->dirargs, m->n_dirs, &m->host, m->cli->arena, m->dirs, err))
        return false;
    for (size_t i = 0; i < m->n_dirs; i++)
        if (lexical_is_below(m->dirs[i].path, agent_home(m->agent)))
            return err_set(err, E_CLI_INVALID_ARG,
                "'" STR_FMT "' holds '" STR_FMT "', where the agent is at home in the box",
                STR_ARG(m->dirs[i].path), STR_ARG(agent_home(m->agent)));
    for (size_t i = 0; i < m->n_dirs; i++)
        if (m->dirs[i].danger)
            out_warn(m->cli, "'" STR_FMT "' is dangerous for a box, as you forced it: %s",
                STR_ARG(m->dirs[i].path), m->dirs[i].danger->reason);
    setup->n_extras = m->n_dirs - 1;
    setup->extras = ARENA_NEW(m->cli->arena, struct box_extra, setup->n_extras + 1);
    for (size_t i = 0; i < setup->n_extras; i++)
        setup->extras[i] = (struct box_extra){
            .path = m->dirs[i + 1].path, .writable = m->dirargs[i + 1].mode == DIRARG_RW};
    m->in.project = &m->dirs[0];
    m->in.state = m->host.state;
    m->in.meta.workdir = (struct box_workdir){.host_path = m->dirs[0].path,
        .mount_path = m->dirs[0].path,
        .mode = modes[m->dirargs[0].mode]};
    return true;
}

/* A missing program is an error before anything is copied; only a warning with --no-start. */
static bool check_program(struct box_new_ctx *m, struct err *err)
{
    AUTO_ERR struct err missing = {0};
    struct str_list argv;
    struct installed found;
    if (!command_split(m->agent->command, m->cli->arena, &argv, err))
        return false;
    const struct installed_input input = {
        .program = arena_strdup(m->cli->arena, argv.p[0]),
        .path = str_z(getenv("PATH")),
        .cwd = m->dirs[0].path,
        .inside = {&m->dirs[0].path, 1},
    };
    if (str_is(argv.p[0], "cordon") || installed_find(&input, m->cli->arena, &found, &missing))
        return true;
    if (!m->o->no_start)
        return err_move(err, &missing);
    out_warn(m->cli, "%s", missing.message);
    return true;
}

/* Old box ------------------------------------------------------------------------------------- */

static bool box_new_name_taken(struct str name, struct err *err)
{
    err_set(err, E_CONFLICT, "there is a box '" STR_FMT "' already", STR_ARG(name));
    err_ctx(err, "name", STR_FMT, STR_ARG(name));
    return err_ctx(err, "remedy", "another name, or --replace to make it anew");
}

/* The old box is kept, and continues to run, until the new one is complete. */
static bool box_new_check_old(struct box_new_ctx *m, struct err *err)
{
    AUTO_FD int fd = -1;
    AUTO_ERR struct err none = {0}, why = {0};
    struct str name = m->in.meta.name;
    struct box_state state;
    bool running;
    if (!boxes_find(&m->boxes, name, &fd, &none))
        return none.code == E_NOT_FOUND || err_move(err, &none);
    if (!m->o->replace)
        return box_new_name_taken(name, err);
    if (!box_open(&m->boxes, name, &m->rows, m->cli->arena, &m->old, &why)) {
        err_ctx(&why, "remedy", "--abandon-unapplied replaces it all the same");
        return m->o->abandon || err_move(err, &why);
    }
    const char *act = arena_printf(m->cli->arena, "Replace '" STR_FMT "'", STR_ARG(name));
    return state_load(m->old.host, m->cli->arena, &state, &running, err) &&
           (config_box_recover(m->cli->arena, &m->old, out_notices(m->cli), &why) ||
               m->o->abandon || err_move(err, &why)) &&
           (m->o->abandon || reset_refuse_loss(&m->old, "replacing", err)) &&
           box_use_risk(m->cli,
               &(struct box_risk){
                   .act = act, .running = running, .abandon = m->o->abandon, .yes = m->o->yes},
               err);
}

/* Checks for unapplied changes again: the old box kept running until now. */
static bool box_new_stop_old(void *context, struct err *err)
{
    struct box_new_ctx *m = context;
    return m->old.fd < 0 || (client_halt(&m->old, &m->hold, err) &&
                                (m->o->abandon || reset_refuse_loss(&m->old, "replacing", err)));
}

/* Questions and results ----------------------------------------------------------------------- */

static bool box_new_confirm_dirty(void *context, const struct dirty *dirty, struct err *err)
{
    struct box_new_ctx *m = context;
    if (m->o->yes || !dirty->is_git || dirty->changed + dirty->untracked == 0)
        return true;
    const char *question = arena_printf(m->cli->arena,
        "'" STR_FMT "' has uncommitted work (%zu changed, %zu new): make a box of it as it is?",
        STR_ARG(m->dirs[0].path), dirty->changed, dirty->untracked);
    return box_use_consent(m->cli, question, "commit it, or give --yes", err);
}

static void box_new_print_notes(struct cli *cli, const struct copy_report *r)
{
    for (size_t i = 0; i < MIN(r->n_notes, (size_t)NOTES_SHOWN); i++)
        out_warn(cli, "left out: '" STR_FMT "' %s", STR_ARG(out_path(cli, r->notes[i].path)),
            r->notes[i].why);
    if (r->n_notes > NOTES_SHOWN)
        out_warn(cli, "left out: %zu more", r->n_notes - NOTES_SHOWN);
}

static bool box_new_print_result(struct box_new_ctx *m, const struct new_report *r, struct err *err)
{
    struct cli *cli = m->cli;
    const struct box_meta *meta = &m->in.meta;
    const char *name = m->args->v[0], *mode = box_mode_name(meta->workdir.mode);
    if (cli->json) {
        json_t *object = json_object();
        json_put(object, "name", json_string(name));
        exact_put(object, "workdir", meta->workdir.host_path);
        json_put(object, "mode", json_string(mode));
        json_put(object, "layering", json_string(box_layering_names[r->layering]));
        json_put(object, "agent", json_text(meta->agent));
        json_put(object, "files", json_integer((json_int_t)r->copied.files));
        json_put(object, "bytes", json_integer((json_int_t)r->copied.bytes));
        json_put(object, "started", json_boolean(!m->o->no_start));
        json_t *gaps = json_array();
        for (size_t i = 0; i < m->gaps.n; i++)
            json_push(gaps, json_text(m->gaps.p[i]));
        json_put(object, "gaps", gaps);
        return out_json(cli, object, err);
    }
    if (meta->workdir.mode == BOX_COPY)
        out_note(cli, "box '%s': a copy of " STR_FMT " (%zu file%s)", name,
            STR_ARG(meta->workdir.host_path), r->copied.files, r->copied.files == 1 ? "" : "s");
    else
        out_note(cli, "box '%s': " STR_FMT ":%s", name, STR_ARG(meta->workdir.host_path), mode);
    if (m->o->no_start)
        out_note(cli, "not started: cordon box start %s", name);
    else if (!m->o->attach)
        out_note(cli, "'" STR_FMT "' is at work: cordon box attach %s", STR_ARG(meta->agent), name);
    return true;
}

/* Command ------------------------------------------------------------------------------------- */

static bool box_new_start_agent(struct box_new_ctx *m, struct err *err)
{
    AUTO(box_close) struct box box = BOX_NONE;
    if (m->o->no_start)
        return true;
    if (!box_open(&m->boxes, m->in.meta.name, &m->rows, m->cli->arena, &box, err))
        return false;
    if (!box_use_start(&box, true, err))
        return err_wrap(err, "the box '" STR_FMT "' is there, but its agent could not be started",
            STR_ARG(box.name));
    m->gaps = box_use_gaps(m->cli, &box);
    return true;
}

static bool box_new_attach(struct box_new_ctx *m, struct err *err)
{
    const struct args args = {.v = m->args->v, .n = 1, .n_before = 1};
    return !m->o->attach || cmd_box_attach.run(m->cli, &args, err);
}

/* Finishes or undoes an interrupted change first, so that the copy contains all of it or
 * nothing. */
static bool recover_project(struct box_new_ctx *m, struct err *err)
{
    AUTO_FD int fd = open(m->dirs[0].path.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ||
           project_recover(m->cli->arena, &(struct project){.fd = fd}, out_notices(m->cli), err);
}

static bool box_new_create(struct box_new_ctx *m, struct new_report *report, struct err *err)
{
    AUTO_FD int lock = -1;
    if (!boxes_lock(&m->boxes, m->in.meta.name, &lock, err) || !box_new_check_old(m, err) ||
        !recover_project(m, err))
        return false;
    bool ok = new_make(&m->boxes, &m->in, report, err);
    /* Free the disk space of a failed or replaced box before returning. */
    if (!ok || m->o->replace)
        trash_empty_soon(&m->boxes);
    return ok;
}

static bool check_words(const struct args *args, struct err *err)
{
    const struct box_new_options *o = args->options;
    if (o->attach && o->no_start)
        return err_set(
            err, E_CLI_INVALID_ARG, "--attach: with --no-start there is nothing to show");
    if (o->attach && !display_check(err))
        return false;
    if (args->n_before <= 2)
        return true;
    err_set(err, E_CLI_INVALID_ARG,
        "'cordon box new' takes no further argument: '%s' (what is for the agent comes after --)",
        args->v[2]);
    return err_ctx(err, "word", "%s", args->v[2]);
}

static bool box_new_run(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(new_report_done) struct new_report report = NEW_REPORT_INIT;
    const struct box_new_options *o = args->options;
    struct box_new_ctx m = {
        .cli = cli, .args = args, .o = o, .boxes = BOXES_NONE, .old = BOX_NONE, .hold = -1};
    m.in.meta.name = str_z(args->v[0]);
    m.in.setup.include_ignored = o->include_ignored;
    m.in.replace = o->replace;
    m.in.ask_git = !o->yes;
    m.in.go_on = box_new_confirm_dirty;
    m.in.make_way = box_new_stop_old;
    m.in.context = &m;
    if (!check_words(args, err) || !box_name_check(m.in.meta.name, err) || !take_network(&m, err) ||
        !take_limits(&m, err) || !take_agent(&m, err) || !take_dirs(&m, err) ||
        !bounds_check(&m.in.setup, m.in.meta.workdir.mode != BOX_RW, err) ||
        !check_program(&m, err) || !config_boxes(cli->arena, BOXES_MAKE, &m.boxes, err))
        return false;
    bool ok = box_new_create(&m, &report, err);
    box_close(&m.old);
    auto_fd(&m.hold);
    if (ok) {
        box_new_print_notes(cli, &report.copied);
        if (report.layering == BOX_LAYERS_SECOND_COPY)
            out_warn(cli,
                "no overlay can be used here, so the box has a second copy of its own: %s",
                buf_z(&report.why));
        ok = box_new_start_agent(&m, err) && box_new_print_result(&m, &report, err) &&
             box_new_attach(&m, err);
    }
    boxes_close(&m.boxes);
    return ok;
}

static const char *const networks[] = {"none", "on", NULL};

#define TEXT(name, member, value, kind, help) \
    OPT_STRING(name, 0, struct box_new_options, member, value, kind, help)
#define SET(name, member, help) OPT_SET(name, 0, struct box_new_options, member, help)

static const struct opt new_opts[] = {
    TEXT("agent", agent, "AGENT", ARG_ANY, "who works in it; default: claude"),
    TEXT("model", model, "MODEL", ARG_ANY, "a model's name, or the agent's short one for it"),
    TEXT("prompt", prompt, "TEXT", ARG_ANY, "what the agent is to do"),
    TEXT("prompt-file", prompt_file, "FILE", ARG_FILE, "the same from a file; - is standard input"),
    OPT_WORDS("dir", 0, struct box_new_options, dirs, "DIR[:rw][:force]",
        "show this directory, too: read-only, unless ':rw'; may be repeated"),
    OPT_ONE_OF("network", 0, struct box_new_options, network, "HOW", networks,
        "none, or on: all of it; default: the hosts of the agent, if it names some"),
    OPT_WORDS("allow-host", 0, struct box_new_options, hosts, "HOST",
        "let the box reach this host, and no others but those named so; may be repeated"),
    OPT_WORDS("port", 0, struct box_new_options, ports, "HOST:BOX",
        "lead a port of this machine to one of the box; may be repeated"),
    TEXT("memory", memory, "BYTES", ARG_ANY, "limit its memory: 512M, 4G"),
    OPT_INT("processes", 0, struct box_new_options, processes, "N", 1, 4000000,
        "limit its processes and threads; default: 4096"),
    TEXT("cpus", cpus, "N", ARG_ANY, "limit the CPUs that it uses at one time: 2, 0.5"),
    SET("ack-inexact-limits", ack_inexact,
        "yes, --processes or --cpus that this machine can't keep exactly"),
    OPT_INT(
        "cpu", 0, struct box_new_options, cpu, "SECONDS", 1, INT32_MAX, "limit its processor time"),
    TEXT("disk", disk, "BYTES", ARG_ANY, "limit what its changes and home take: 500M, 10G"),
    SET("include-ignored", include_ignored, "copy what git ignores, too"),
    SET("replace", replace, "make it anew if it is there already"),
    SET("abandon-unapplied", abandon, "with --replace: lose what was not applied of the old box"),
    SET("no-start", no_start, "do not start the agent"),
    SET("attach", attach, "show the agent's terminal at once"),
    OPT_SET("yes", 'y', struct box_new_options, yes, "do not ask about uncommitted work"),
};

static const struct example new_examples[] = {
    {"cordon box new fix-login ./app --prompt 'Fix the login bug'",
        "claude works on a copy; the project stays as it is"},
    {"cordon box new try ~/big:overlay --agent test --no-start",
        "no copy: the project itself under a layer"},
    {"cordon box new web . --dir ~/assets --allow-host registry.npmjs.org -- --verbose",
        "with another directory, one host to reach, and an option for the agent"},
};

const struct cmd cmd_box_new = {
    .name = "new",
    .summary = "make a box, and let an agent work in it",
    .about =
        "The project is shown at its own path. Without a suffix, or with ':copy', as it is now: "
        "what you change later does not reach the box, and files that git ignores are left out. "
        "With ':overlay' nothing is copied, ignored files are seen, and changing the project "
        "meanwhile may stand in the way of applying. With ':rw' the box changes the directory "
        "itself, except its .git.\n\n"
        "Refused are directories that would show too much (':force' overrides this, with a "
        "warning), directories that lie in each other, and a work tree with uncommitted changes, "
        "unless you agree or give --yes.",
    .usage = "NAME DIR[:copy|:overlay|:rw][:force] [-- ARG…]",
    .min_args = 2,
    .max_args = ARGS_MAX,
    .arg_kind = ARG_DIR,
    CMD_OPTS(new_opts, struct box_new_options),
    CMD_EXAMPLES(new_examples),
    .run = box_new_run,
};
