/* Creates boxes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_create.h"

#include "base/utf8.h"
#include "box/box_home.h"
#include "box/command.h"
#include "box/installed.h"
#include "box/name.h"
#include "box/reset.h"
#include "box/state.h"
#include "box/toolchains.h"
#include "box/trash.h"
#include "boxd/bounds.h"
#include "boxd/client.h"
#include "boxes/box_settings.h"
#include "config/boxes.h"
#include "config/config.h"
#include "config/project.h"
#include "io/file.h"
#include "path/dirarg.h"
#include "path/exact.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/host.h"

#include <errno.h>
#include <fcntl.h>

enum {
    BYTES_MIN = 1 << 20, /* as for limits.memory_bytes of a policy */
    CPUS_MAX = 100 * 1000,
    CPU_MILLIS_MIN = 10, /* minimum that the kernel accepts */
    OMITTED_NAMED = 5,
};

static bool box_create_bad_option(
    struct err *err, const char *option, const char *value, const char *right)
{
    err_set(err, E_CLI_INVALID_ARG, "--%s '%s': %s", option, value, right);
    return err_ctx(err, "word", "%s", value);
}

/* Options ------------------------------------------------------------------------------------- */

/* "512M", at least 1M: with less, no program starts, or the first file ends the box. */
static bool box_create_bytes(
    const char *option, const char *text, uint64_t *ret_bytes, struct err *err)
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
        return box_create_bad_option(
            err, option, text, "expected a number of bytes, such as 512M or 4G");
    if (n << shift < BYTES_MIN)
        return box_create_bad_option(err, option, text, "expected at least 1M");
    *ret_bytes = (uint64_t)n << shift;
    return true;
}

/* "2" or "0.5", in thousandths of a CPU. */
static bool box_create_cpus(const char *text, uint64_t *ret_millis, struct err *err)
{
    struct str whole, part = {0};
    int64_t n, rest = 0;
    bool ok = str_cut(str_z(text), '.', &whole, &part) && str_to_int(whole, 0, CPUS_MAX, &n);
    if (ok && part.n)
        ok = part.n <= 3 && str_to_int(part, 0, 999, &rest);
    for (size_t i = part.n; i < 3; i++)
        rest *= 10;
    if (!ok || n * 1000 + rest < CPU_MILLIS_MIN)
        return box_create_bad_option(
            err, "cpus", text, "expected a number of CPUs, such as 2 or 0.5");
    *ret_millis = (uint64_t)(n * 1000 + rest);
    return true;
}

static struct str_list box_create_str_list(struct arena *a, const char *const *v, size_t n)
{
    struct str_list list = {ARENA_NEW(a, struct str, n + 1), n};
    for (size_t i = 0; i < n; i++)
        list.p[i] = str_z(v[i]);
    return list;
}

static bool box_create_network(struct box_create *m, struct err *err)
{
    const struct box_create_options *o = m->o;
    struct box_meta *meta = &m->in.meta;
    bool on = o->network && strcmp(o->network, "on") == 0;
    if (o->network && o->hosts.n)
        return err_set(
            err, E_CLI_INVALID_ARG, "--network %s and --allow-host cannot be combined", o->network);
    if (on && o->ports.n)
        return err_set(err, E_CLI_INVALID_ARG,
            "--network on and --port cannot be combined: the box uses the host's ports");
    for (size_t i = 0; i < o->ports.n; i++)
        if (!meta_port_valid(str_z(o->ports.v[i])))
            return box_create_bad_option(err, "port", o->ports.v[i],
                "expected HOST:BOX, two ports from 1 to 65535, such as 8080:3000");
    for (size_t i = 0; i < o->hosts.n; i++)
        if (!host_check(str_z(o->hosts.v[i]), "--network on", err))
            return err_wrap(err, "--allow-host");
    if (o->network)
        meta->network_mode = on ? BOX_NETWORK_ON : BOX_NETWORK_NONE;
    if (o->hosts.n)
        meta->network_mode = BOX_NETWORK_ALLOW;
    meta->ports = box_create_str_list(m->arena, o->ports.v, o->ports.n);
    m->in.setup.hosts = box_create_str_list(m->arena, o->hosts.v, o->hosts.n);
    return true;
}

static bool box_create_limits(struct box_create *m, struct err *err)
{
    const struct box_create_options *o = m->o;
    struct box_limits *limits = &m->in.setup.limits;
    limits->processes = (uint64_t)o->processes;
    limits->cpu_seconds = (uint64_t)o->cpu;
    m->in.setup.inexact_limits = o->ack_inexact;
    return (!o->memory || box_create_bytes("memory", o->memory, &limits->memory_bytes, err)) &&
           (!o->cpus || box_create_cpus(o->cpus, &limits->cpu_millis, err)) &&
           (!o->disk || box_create_bytes("disk", o->disk, &limits->disk_bytes, err));
}

static bool box_create_prompt(struct box_create *m, struct err *err)
{
    const char *name = m->o->prompt_file;
    AUTO_BUF struct buf text = BUF_INIT(2 * COMMAND_PROMPT_MAX);
    if (m->o->prompt && name)
        return err_set(err, E_CLI_INVALID_ARG, "--prompt and --prompt-file cannot be combined");
    if (m->o->prompt)
        m->in.prompt = str_z(m->o->prompt);
    if (!name)
        return true;
    AUTO_FD int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC)
                                       : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "--prompt-file: cannot open '%s'", name);
    if (!file_read(fd, COMMAND_PROMPT_MAX, name, &text, err))
        return err_wrap(err, "--prompt-file");
    m->in.prompt = arena_str(m->arena, buf_str(&text));
    return true;
}

/* Builds the command now, so that a prompt that cannot be passed fails before the box is
 * created. */
static bool box_create_agent(struct box_create *m, struct err *err)
{
    const char *name = m->o->agent ? m->o->agent : "claude";
    struct command command;
    if (!config_box_rows(m->arena, &m->rows, err) ||
        !agent_find(str_z(name), &m->rows, &m->agent, err) || !box_create_prompt(m, err))
        return false;
    if (m->in.prompt.p && str_find(m->in.prompt, '\0') >= 0)
        return err_set(err, E_CLI_INVALID_ARG, "the prompt contains a NUL character");
    if (!utf8_valid(m->in.prompt))
        return err_set(err, E_CLI_INVALID_ARG, "the prompt is not UTF-8");
    if (!utf8_valid(str_z(m->o->model)))
        return err_set(err, E_CLI_INVALID_ARG, "--model is not UTF-8");
    m->in.agent = m->agent;
    m->in.meta.agent = m->agent->name;
    if (m->o->model)
        m->in.meta.model = agent_model(m->agent, str_z(m->o->model));
    m->in.setup.args = box_create_str_list(m->arena, m->o->args.v, m->o->args.n);
    for (size_t i = 0; i < m->in.setup.args.n; i++)
        if (!utf8_valid(m->in.setup.args.p[i]))
            return err_set(
                err, E_CLI_INVALID_ARG, "argument %zu for the agent is not UTF-8", i + 1);
    if (!command_make(
            &(struct command_input){m->agent, m->in.prompt, m->in.meta.model, m->in.setup.args},
            m->arena, &command, err))
        return false;
    if (command.model_ignored)
        notice_send(
            m->o->warnings, "the agent '%s' has no option for a model: --model is ignored", name);
    return true;
}

/* Directories --------------------------------------------------------------------------------- */

static bool box_create_parse_dirs(struct box_create *m, struct err *err)
{
    struct arena *a = m->arena;
    const struct box_create_words *more = &m->o->dirs;
    struct str cwd;
    m->n_dirs = 1 + more->n;
    m->dirargs = ARENA_NEW(a, struct dirarg, m->n_dirs);
    m->dirs = ARENA_NEW(a, struct box_dir, m->n_dirs);
    if (!lexical_cwd(a, &cwd, err) || !dirarg_parse(str_z(m->o->dir), cwd, a, &m->dirargs[0], err))
        return false;
    for (size_t i = 0; i < more->n; i++) {
        struct dirarg *dir = &m->dirargs[i + 1];
        if (!dirarg_parse(str_z(more->v[i]), cwd, a, dir, err))
            return err_wrap(err, "--dir");
        if (dir->mode != DIRARG_DEFAULT && dir->mode != DIRARG_RW)
            return box_create_bad_option(
                err, "dir", more->v[i], "an additional directory can only be read-only or ':rw'");
    }
    return true;
}

static bool box_create_home(struct box_create *m, struct err *err)
{
    struct box_home_choice choice = {.agent = m->agent, .home = m->host.home};
    choice.shown.p = ARENA_NEW(m->arena, struct str, m->n_dirs);
    for (size_t i = 0; i < m->n_dirs; i++)
        choice.shown.p[choice.shown.n++] = m->dirs[i].path;
    struct str home = box_home_choose(&choice, m->arena);
    for (size_t i = 0; i < m->n_dirs; i++)
        if (lexical_is_below(m->dirs[i].path, home))
            return err_set(err, E_CLI_INVALID_ARG,
                "'" STR_FMT "' holds '" STR_FMT "', which is the agent's home directory in the box",
                STR_ARG(m->dirs[i].path), STR_ARG(home));
    m->in.setup.home = home;
    return true;
}

/* Root has no capabilities in a box. */
static void box_create_warn_owner(struct box_create *m)
{
    for (size_t i = 0; i < m->n_dirs; i++)
        if (m->dirargs[i].mode == DIRARG_RW && geteuid() == 0 && m->dirs[i].owner != 0)
            notice_send(m->o->warnings,
                "'" STR_FMT "' belongs to another user (uid %u): in the box its files can be "
                "changed only as far as their modes allow it to all users; use ':copy', or create "
                "the box as that user",
                STR_ARG(m->dirs[i].path), (unsigned)m->dirs[i].owner);
}

static bool box_create_dirs(struct box_create *m, struct err *err)
{
    static const enum box_mode modes[] = {[DIRARG_DEFAULT] = BOX_COPY,
        [DIRARG_COPY] = BOX_COPY,
        [DIRARG_OVERLAY] = BOX_OVERLAY,
        [DIRARG_RW] = BOX_RW};
    struct box_setup *setup = &m->in.setup;
    m->host.home = home_dir(m->arena);
    if (!config_state_path(m->arena, "", &m->host.state, err) || !box_create_parse_dirs(m, err) ||
        !dirs_check(m->dirargs, m->n_dirs, &m->host, m->arena, m->dirs, err))
        return false;
    if (!box_create_home(m, err))
        return false;
    for (size_t i = 0; i < m->n_dirs; i++)
        if (m->dirs[i].danger)
            notice_send(m->o->warnings,
                "'" STR_FMT "' is dangerous for a box, and is used because of ':force': %s",
                STR_ARG(m->dirs[i].path), m->dirs[i].danger->reason);
    box_create_warn_owner(m);
    setup->n_extras = m->n_dirs - 1;
    setup->extras = ARENA_NEW(m->arena, struct box_extra, setup->n_extras + 1);
    for (size_t i = 0; i < setup->n_extras; i++)
        setup->extras[i] = (struct box_extra){
            .path = m->dirs[i + 1].path, .writable = m->dirargs[i + 1].mode == DIRARG_RW};
    m->in.project = &m->dirs[0];
    m->in.state = m->host.state;
    m->in.home = m->host.home;
    m->in.meta.workdir = (struct box_workdir){.host_path = m->dirs[0].path,
        .mount_path = m->dirs[0].path,
        .mode = modes[m->dirargs[0].mode]};
    return true;
}

static bool box_create_settings(struct box_create *m, struct err *err)
{
    const struct box_settings in = {
        .arena = m->arena,
        .project = m->dirs[0].path,
        .state = str_z(m->host.state),
        .agent = m->agent,
        .network_chosen = m->o->network != NULL,
        .warnings = m->o->warnings,
    };
    return box_settings_add(&in, &m->in.setup, &m->in.meta, err);
}

/* A missing program is an error before anything is copied; only a warning with --no-start. */
static bool box_create_program(struct box_create *m, struct err *err)
{
    AUTO_ERR struct err missing = {0};
    struct str_list argv;
    struct installed found;
    if (!command_split(m->agent->command, m->arena, &argv, err))
        return false;
    const struct installed_input input = {
        .program = arena_strdup(m->arena, argv.p[0]),
        .path = str_z(getenv("PATH")),
        .cwd = m->dirs[0].path,
        .inside = {&m->dirs[0].path, 1},
    };
    if (str_is(argv.p[0], "cordon") || installed_find(&input, m->arena, &found, &missing))
        return true;
    if (m->o->start)
        return err_move(err, &missing);
    notice_send(m->o->warnings, "%s", missing.message);
    return true;
}

/* Old box ------------------------------------------------------------------------------------- */

static bool box_create_name_taken(struct str name, struct err *err)
{
    err_set(err, E_CONFLICT, "the box '" STR_FMT "' already exists", STR_ARG(name));
    err_ctx(err, "name", STR_FMT, STR_ARG(name));
    return err_ctx(err, "remedy", "choose another name, or use --replace");
}

/* The old box is kept, and continues to run, until the new one is complete. */
static bool box_create_check_old(struct box_create *m, struct err *err)
{
    AUTO_FD int fd = -1;
    AUTO_ERR struct err none = {0}, why = {0};
    struct str name = m->in.meta.name;
    struct box_state state;
    bool running;
    if (!boxes_find(&m->boxes, name, &fd, &none))
        return none.code == E_NOT_FOUND || err_move(err, &none);
    if (!m->o->replace)
        return box_create_name_taken(name, err);
    if (!box_open(&m->boxes, name, &m->rows, m->arena, &m->old, &why)) {
        err_ctx(&why, "remedy", "use --abandon-unapplied to replace it anyway");
        return m->o->abandon || err_move(err, &why);
    }
    return state_load(m->old.host, m->arena, &state, &running, err) &&
           (config_box_recover(m->arena, &m->old, m->o->warnings, &why) || m->o->abandon ||
               err_move(err, &why)) &&
           (m->o->abandon || reset_refuse_loss(&m->old, "replacing", err)) &&
           (!m->o->agree_replace || m->o->agree_replace(m->o->context, running, err));
}

/* Checks for unapplied changes again: the old box kept running until now. */
static bool box_create_stop_old(void *context, struct err *err)
{
    struct box_create *m = context;
    return m->old.fd < 0 || (client_halt(&m->old, &m->hold, err) &&
                                (m->o->abandon || reset_refuse_loss(&m->old, "replacing", err)));
}

/* Questions ----------------------------------------------------------------------------------- */

static bool box_create_confirm_dirty(void *context, const struct dirty *dirty, struct err *err)
{
    struct box_create *m = context;
    if (m->o->yes || !dirty->is_git || dirty->changed + dirty->untracked == 0)
        return true;
    const char *question = arena_printf(m->arena,
        "Create a box from '" STR_FMT "' with its uncommitted changes (%zu changed, %zu new)?",
        STR_ARG(m->dirs[0].path), dirty->changed, dirty->untracked);
    if (m->o->agree_dirty)
        return m->o->agree_dirty(m->o->context, question, err);
    return err_set(err, E_APPROVAL_REQUIRED,
        "'" STR_FMT "' has uncommitted changes (%zu changed, %zu new); commit them, or use --yes",
        STR_ARG(m->dirs[0].path), dirty->changed, dirty->untracked);
}

/* Making -------------------------------------------------------------------------------------- */

/* Finishes or undoes an interrupted change first, so that the copy contains all of it or
 * nothing. */
static bool box_create_recover(struct box_create *m, struct err *err)
{
    AUTO_FD int fd = open(m->dirs[0].path.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || project_recover(m->arena, &(struct project){.fd = fd}, m->o->warnings, err);
}

static bool box_create_new(struct box_create *m, struct err *err)
{
    AUTO_BOX_LOCK int lock = -1;
    if (!boxes_lock(&m->boxes, m->in.meta.name, &lock, err) || !box_create_check_old(m, err) ||
        !box_create_recover(m, err))
        return false;
    bool ok = new_make(&m->boxes, &m->in, &m->report, err);
    /* Free the disk space of a failed or replaced box before returning. */
    if (!ok || m->o->replace)
        trash_empty_soon(&m->boxes);
    return ok;
}

static bool box_create_options(struct box_create *m, struct err *err)
{
    const struct box_create_options *o = m->o;
    m->in.meta.name = str_z(o->name);
    m->in.setup.include_ignored = o->include_ignored;
    m->in.replace = o->replace;
    m->in.ask_git = !o->yes;
    m->in.go_on = box_create_confirm_dirty;
    m->in.make_way = box_create_stop_old;
    m->in.context = m;
    return box_name_check(m->in.meta.name, err) && box_create_network(m, err) &&
           box_create_limits(m, err) && box_create_agent(m, err) && box_create_dirs(m, err) &&
           box_create_settings(m, err) &&
           bounds_check(&m->in.setup, m->in.meta.workdir.mode != BOX_RW, err) &&
           box_create_program(m, err) && config_boxes(m->arena, BOXES_MAKE, &m->boxes, err);
}

/* Names directories of PATH that the box does not show: programs in them are missing in it. */
static void box_create_name_omitted(struct box_create *m)
{
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(1 << 16);
    struct developer machine = {0};
    if (!box_open(&m->boxes, m->in.meta.name, &m->rows, m->arena, &box, &ignored) ||
        !toolchains_list(
            &box, (const char *const *)environ, m->host.home, m->arena, &machine, &ignored) ||
        machine.n_omitted == 0)
        return;
    size_t named = MIN(machine.n_omitted, (size_t)OMITTED_NAMED);
    for (size_t i = 0; i < named; i++)
        buf_printf(&text, "%s'" STR_FMT "' (%s)", i ? ", " : "", STR_ARG(machine.omitted[i].dir),
            machine.omitted[i].reason);
    if (named < machine.n_omitted)
        buf_printf(&text, ", and %zu more", machine.n_omitted - named);
    notice_send(m->o->warnings, "directories of PATH that are not in the box: %s", buf_z(&text));
}

bool box_create_make(struct box_create *m, struct err *err)
{
    if (!box_create_options(m, err))
        return false;
    bool ok = box_create_new(m, err);
    if (ok)
        box_create_name_omitted(m);
    box_close(&m->old);
    m->old = BOX_NONE;
    auto_fd(&m->hold);
    m->hold = -1;
    return ok;
}

bool box_create_start(struct box_create *m, struct start_options start, struct err *err)
{
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    bool held;
    if (!m->o->start)
        return true;
    if (!box_open(&m->boxes, m->in.meta.name, &m->rows, m->arena, &box, err))
        return false;
    start.box = &box;
    if (!start_agent(&start, true, err))
        return err_wrap(err,
            "the box '" STR_FMT "' was created, but its agent could not be started",
            STR_ARG(box.name));
    if (state_load(box.host, m->arena, &state, &held, &ignored))
        m->gaps = state.gaps;
    return true;
}

void box_create_done(struct box_create *m)
{
    box_close(&m->old);
    auto_fd(&m->hold);
    boxes_close(&m->boxes);
    new_report_done(&m->report);
}

json_t *box_create_json(const struct box_create *m)
{
    const struct box_meta *meta = &m->in.meta;
    const struct new_report *r = &m->report;
    json_t *object = json_object(), *gaps = json_array();
    json_put(object, "name", json_text(meta->name));
    exact_put(object, "workdir", meta->workdir.host_path);
    json_put(object, "mode", json_string(box_mode_name(meta->workdir.mode)));
    json_put(object, "layering", json_string(box_layering_names[r->layering]));
    json_put(object, "agent", json_text(meta->agent));
    json_put(object, "files", json_integer((json_int_t)r->copied.files));
    json_put(object, "bytes", json_integer((json_int_t)r->copied.bytes));
    json_put(object, "started", json_boolean(m->o->start));
    for (size_t i = 0; i < m->gaps.n; i++)
        json_push(gaps, json_text(m->gaps.p[i]));
    json_put(object, "gaps", gaps);
    return object;
}
