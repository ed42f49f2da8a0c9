/* Toolbox made from options and settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tool_setup.h"

#include "config/config.h"
#include "config/own.h"
#include "job/prepare.h"
#include "job/trust_held.h"
#include "path/home.h"
#include "path/lexical.h"
#include "path/workspace.h"
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
static void tool_setup_open_terminal(struct tool_setup *s)
{
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

static bool tool_setup_load_settings(
    struct arena *a, const struct tool_setup_options *o, struct tool_setup *s, struct err *err)
{
    struct config config;
    if (!config_load_user(a, &config, err))
        return false;
    s->options.approve.allow = config.allow;
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

static bool tool_setup_open_workspace(
    struct arena *a, const char *name, struct tool_setup *s, struct err *err)
{
    if (!project_find(a, ".", &s->project, err) ||
        !project_recover(a, &s->project, s->warnings, err))
        return false;
    s->workspace_fd = workspace_open(s->project.fd, name ? name : "cordon", err);
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
        return err_set(err, E_CLI_INVALID_ARG, "--agent is for --fs-mode workspace");
    switch (s->options.mode) {
    case TOOLBOX_WORKSPACE:
        return tool_setup_open_workspace(a, o->workspace, s, err);
    case TOOLBOX_UNRESTRICTED:
        return tool_setup_open_root(a, "/", s, err);
    default:
        return tool_setup_open_root(a, s->options.cwd, s, err);
    }
}

static bool tool_setup_is_mode(const char *name, enum policy_sandbox mode)
{
    return prepare_sandbox_mode(name) == mode;
}

static bool tool_setup_check_unsafe(
    const struct tool_setup_options *o, const struct tool_setup *s, struct err *err)
{
    if (o->sandbox && o->no_sandbox)
        return err_set(err, E_CLI_INVALID_ARG, "--sandbox or --no-sandbox, not both");
    if (s->options.landlock && !o->ack_sandbox)
        return err_set(err, E_POLICY_DENIED,
            "with --sandbox landlock much of the system stays visible to commands: add "
            "--ack-unsafe-sandbox");
    if (!s->options.no_sandbox)
        return true;
    if (s->options.mode != TOOLBOX_UNRESTRICTED)
        return err_set(err, E_CLI_INVALID_ARG, "--no-sandbox needs --fs-mode unrestricted");
    if (!o->ack_sandbox || !o->ack_network)
        return err_set(err, E_POLICY_DENIED,
            "commands without a sandbox can do all that you can: add --ack-unsafe-sandbox and "
            "--ack-unsafe-network");
    return true;
}

static void tool_setup_tell_held(void *context, struct str text)
{
    struct tool_setup *s = context;
    struct str line;
    while (str_cut(text, '\n', &line, &text))
        notice_send(s->warnings, STR_FMT, STR_ARG(line));
}

bool tool_setup_open(struct arena *a, const struct tool_setup_options *o, struct notices warnings,
    struct tool_setup *s, struct err *err)
{
    struct str cwd;
    /* Read the policy, possibly a pipe, while signals still terminate the process. */
    if (o->policy && !policy_load(o->policy, a, &s->policy, err))
        return false;
    s->warnings = warnings;
    s->options = (struct toolbox_options){
        .mode = (enum toolbox_mode)tool_setup_choice(toolbox_mode_names, o->fs_mode),
        .approve.mode = (enum approve_mode)tool_setup_choice(approve_mode_names, o->approval),
        .home = home_dir(a),
        .no_sandbox =
            o->no_sandbox || (o->sandbox && tool_setup_is_mode(o->sandbox, POLICY_NO_SANDBOX)),
        .landlock = o->sandbox && tool_setup_is_mode(o->sandbox, POLICY_LANDLOCK),
        .tell_held = tool_setup_tell_held,
        .held_context = s,
        .signals = interrupt_open(false, &s->set),
    };
    bool ok = lexical_cwd(a, &cwd, err) && tool_setup_check_unsafe(o, s, err) &&
              config_state_path(a, "journal", &s->options.journal_dir, err) &&
              config_state_path(a, "logs", &s->options.log_dir, err) &&
              config_state_path(a, "repositories", &s->options.sessions, err) &&
              config_state_path(a, "trust", &s->trust_dir, err);
    if (ok) {
        s->options.cwd = cwd.p;
        s->options.accepts = trust_held_accepts;
        s->options.accepts_context = (void *)s->trust_dir;
        ok = tool_setup_load_settings(a, o, s, err) && tool_setup_open_mode(a, o, s, err) &&
             tool_setup_open_events(s, o->events, err);
        tool_setup_open_terminal(s);
    }
    if (ok && o->policy)
        s->options.policy = &s->policy;
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
    interrupt_close(&s->set);
    int *fds[] = {&s->workspace_fd, &s->options.signals};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    event_log_close(&s->events);
    ask_tty_close(&s->ask);
    project_done(&s->project);
}
