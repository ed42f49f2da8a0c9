/* Toolbox made from options and settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tool_setup.h"

#include "config/config.h"
#include "config/own.h"
#include "job/trust_held.h"
#include "path/beneath.h"
#include "path/home.h"
#include "path/lexical.h"
#include "path/workspace.h"
#include "policy/dir_list.h"
#include "policy/load.h"

#include <errno.h>
#include <fcntl.h>

static unsigned tool_setup_choice(const char *const *names, const char *word)
{
    for (unsigned i = 0; word && names[i]; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return 0;
}

/* Approval can be asked for if there is a terminal, whatever stdin and stdout are. */
static void tool_setup_open_terminal(struct tool_setup *s, const struct tool_setup_host *host)
{
    if (host) {
        s->options.approve.ask = host->ask;
        s->options.approve.context = host->ask_context;
        s->options.events = host->events;
        return;
    }
    if (s->options.approve.mode == APPROVE_NEVER || !ask_tty_open(&s->ask))
        return;
    s->options.approve.ask = ask_tty_question;
    s->options.approve.context = &s->ask;
}

static bool tool_setup_open_events(struct tool_setup *s, const char *path, struct err *err)
{
    if (!path)
        return true;
    if (!event_log_open(&s->events, path, s->warnings, err))
        return false;
    s->options.events = event_log_sink(&s->events);
    return true;
}

static struct str_list tool_setup_paths(
    struct arena *a, const struct tool_setup *s, const struct str_list *given)
{
    struct str_list list = {ARENA_NEW(a, struct str, given->n), given->n};
    for (size_t i = 0; i < given->n; i++)
        list.p[i] = lexical_absolute(a, str_z(s->options.cwd), given->p[i]);
    return list;
}

/* Adds to the policy of commands: the options, and the settings unless there is a policy file. */
static bool tool_setup_extend(struct arena *a, const struct tool_setup_options *o,
    const struct config *config, struct tool_setup *s, struct err *err)
{
    static const struct extra_names names = {
        "--read", "--write", "--allow-exec", "", "", "--allow-host", false, E_POLICY_DENIED};
    const struct policy_host host = {.home = s->options.home};
    const struct policy_extra flags = {.read = tool_setup_paths(a, s, &o->read),
        .write = tool_setup_paths(a, s, &o->write),
        .exec = tool_setup_paths(a, s, &o->exec),
        .hosts = o->hosts};
    if (!extra_check(&flags, &host, &names, true, a, err))
        return false;
    if (o->hosts.n && (s->options.landlock || s->options.no_sandbox))
        return err_set(err, E_CLI_INVALID_ARG,
            "--allow-host requires the native sandbox: without a network namespace other hosts "
            "stay reachable");
    if (!o->policy && !(o->host && o->host->policy))
        s->extra = config->sandbox.extra;
    s->extra.read = dir_list_join(a, s->extra.read, flags.read);
    s->extra.write = dir_list_join(a, s->extra.write, flags.write);
    s->extra.exec = dir_list_join(a, s->extra.exec, flags.exec);
    s->extra.hosts = dir_list_join(a, s->extra.hosts, flags.hosts);
    s->options.extra = &s->extra;
    return true;
}

/* The project's own settings may only take away from the user's. */
static bool tool_setup_narrow(
    struct arena *a, const struct tool_setup *s, struct config *config, struct err *err)
{
    AUTO_PROJECT struct project project = PROJECT_INIT;
    if (extra_is_empty(&config->sandbox.extra))
        return true; /* nothing to take away */
    return project_find(a, s->options.cwd, &project, err) &&
           config_add_project(project.fd, a, config, err);
}

static bool tool_setup_load_settings(
    struct arena *a, const struct tool_setup_options *o, struct tool_setup *s, struct err *err)
{
    struct config config;
    if (!config_load_user(a, &config, err) || !tool_setup_narrow(a, s, &config, err) ||
        !tool_setup_extend(a, o, &config, s, err))
        return false;
    s->options.approve.allow = config.allow;
    s->options.approve.by_settings = !o->approval;
    if (!o->approval)
        s->options.approve.mode = config.approval;
    s->by_settings = !o->sandbox && !o->no_sandbox && config_is_weaker(&config);
    s->options.landlock |= s->by_settings;
    struct str_list own = own_files_and(a, config.key_command);
    if (o->policy)
        own.p[own.n++] = lexical_absolute(a, str_z(s->options.cwd), str_z(o->policy));
    s->options.own = own.p;
    s->options.n_own = own.n;
    s->options.settings = own_settings(a);
    return true;
}

static const char *tool_setup_workspace_flag(const struct tool_setup_options *o)
{
    return o->workspace_flag ? o->workspace_flag : "--workspace";
}

static bool tool_setup_open_workspace(
    struct arena *a, const struct tool_setup_options *o, struct tool_setup *s, struct err *err)
{
    const char *name = o->workspace;
    if (!project_find(a, o->dir ? s->options.cwd : ".", &s->project, err) ||
        !project_recover(a, &s->project, s->warnings, err))
        return false;
    s->workspace_fd = workspace_open(s->project.fd, name ? name : "cordon", err);
    if (s->workspace_fd < 0 && name && err->code == E_CLI_INVALID_ARG)
        err_wrap(err, "%s", tool_setup_workspace_flag(o));
    s->options.root_fd = s->project.fd;
    s->options.workspace_fd = s->workspace_fd;
    return s->workspace_fd >= 0;
}

/* Uses exactly this directory, without searching for a project root. */
static bool tool_setup_open_root(
    struct arena *a, const char *dir, struct tool_setup *s, struct err *err)
{
    s->project.fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->project.fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", dir);
    s->options.root_fd = s->project.fd;
    return project_recover(a, &s->project, s->warnings, err);
}

static bool tool_setup_open_mode(
    struct arena *a, const struct tool_setup_options *o, struct tool_setup *s, struct err *err)
{
    if (o->workspace && s->options.mode != TOOLBOX_WORKSPACE)
        return err_set(err, E_CLI_INVALID_ARG, "%s requires --fs-mode workspace",
            tool_setup_workspace_flag(o));
    switch (s->options.mode) {
    case TOOLBOX_WORKSPACE:
        return tool_setup_open_workspace(a, o, s, err);
    case TOOLBOX_UNRESTRICTED:
        return tool_setup_open_root(a, "/", s, err);
    default:
        return tool_setup_open_root(a, s->options.cwd, s, err);
    }
}

static bool tool_setup_check_unsafe(
    const struct tool_setup_options *o, const struct tool_setup *s, struct err *err)
{
    if (o->sandbox && o->no_sandbox)
        return err_set(err, E_CLI_INVALID_ARG, "--sandbox and --no-sandbox cannot be combined");
    if (s->options.landlock && !o->ack_sandbox)
        return err_set(err, E_POLICY_DENIED,
            "with --sandbox landlock much of the system stays visible to commands: "
            "acknowledge this with --ack-unsafe-sandbox");
    if (!s->options.no_sandbox)
        return true;
    if (s->options.mode != TOOLBOX_UNRESTRICTED)
        return err_set(err, E_CLI_INVALID_ARG, "--no-sandbox requires --fs-mode unrestricted");
    if (!o->ack_sandbox || !o->ack_network)
        return err_set(err, E_POLICY_DENIED,
            "commands without a sandbox have all your permissions: acknowledge this with "
            "--ack-unsafe-sandbox and --ack-unsafe-network");
    return true;
}

static void tool_setup_tell_held(void *context, struct str text)
{
    struct tool_setup *s = context;
    struct str line;
    while (str_cut(text, '\n', &line, &text))
        notice_send(s->warnings, STR_FMT, STR_ARG(line));
}

/* The working directory, absolute and existing. */
static bool tool_setup_find_dir(
    struct arena *a, const struct tool_setup_options *o, struct tool_setup *s, struct err *err)
{
    struct str cwd;
    if (o->dir && o->dir[0] == '/')
        cwd = STR("/");
    else if (!lexical_cwd(a, &cwd, err))
        return false;
    if (o->dir) {
        AUTO_FREE char *name = beneath_resolve(lexical_absolute(a, cwd, str_z(o->dir)).p);
        if (!name)
            return err_errno(err, E_IO, errno, "cannot open '%s'", o->dir);
        cwd = arena_str(a, str_z(name));
    }
    s->options.cwd = cwd.p;
    return true;
}

/* Each session has its own: its tools may read them. */
static bool tool_setup_find_logs(struct arena *a, struct tool_setup *s, struct err *err)
{
    char id[ID_SIZE];
    const char *all;
    if (!config_state_path(a, "logs", &all, err))
        return false;
    id_new(id);
    s->options.log_dir = arena_printf(a, "%s/%s", all, id);
    return true;
}

bool tool_setup_open(struct arena *a, const struct tool_setup_options *o, struct notices warnings,
    struct tool_setup *s, struct err *err)
{
    /* Read the policy, possibly a pipe, while signals still terminate the process. */
    if (o->policy && !policy_load(o->policy, a, &s->policy, err))
        return false;
    s->warnings = warnings;
    s->options = (struct toolbox_options){
        .mode = (enum toolbox_mode)tool_setup_choice(toolbox_mode_names, o->fs_mode),
        .approve.mode = (enum approve_mode)tool_setup_choice(approve_mode_names, o->approval),
        .home = home_dir(a),
        .no_denials = o->no_denials,
        .no_sandbox =
            o->no_sandbox || (o->sandbox && policy_sandbox_of(o->sandbox) == POLICY_NO_SANDBOX),
        .landlock = o->sandbox && policy_sandbox_of(o->sandbox) == POLICY_LANDLOCK,
        .tell_held = tool_setup_tell_held,
        .held_context = s,
        .signals = o->host ? o->host->interrupts : interrupt_open(false, &s->set),
    };
    s->hosted = o->host != NULL;
    bool ok = tool_setup_find_dir(a, o, s, err) && tool_setup_check_unsafe(o, s, err) &&
              config_state_path(a, "journal", &s->options.journal_dir, err) &&
              tool_setup_find_logs(a, s, err) &&
              config_state_path(a, "repositories", &s->options.sessions, err) &&
              config_state_path(a, "trust", &s->trust_dir, err);
    if (ok) {
        s->options.accepts = trust_held_accepts;
        s->options.accepts_context = (void *)s->trust_dir;
        ok = tool_setup_load_settings(a, o, s, err) && tool_setup_open_mode(a, o, s, err) &&
             tool_setup_open_events(s, o->events, err);
        tool_setup_open_terminal(s, o->host);
    }
    if (ok && o->policy)
        s->options.policy = &s->policy;
    else if (ok && o->host)
        s->options.policy = o->host->policy;
    if (ok && toolbox_open(&s->options, &s->box, err)) {
        s->ask.box = s->box;
        return true;
    }
    tool_setup_done(s);
    return false;
}

void tool_setup_warn(const struct tool_setup *s)
{
    if (s->by_settings)
        notice_send(s->warnings, CONFIG_WEAKER_WORDS);
}

void tool_setup_done(struct tool_setup *s)
{
    toolbox_close(s->box);
    s->box = NULL;
    if (!s->hosted) {
        interrupt_close(&s->set);
        auto_fd(&s->options.signals);
    }
    auto_fd(&s->workspace_fd);
    s->options.signals = s->workspace_fd = -1;
    event_log_close(&s->events);
    ask_tty_close(&s->ask);
    project_done(&s->project);
}
