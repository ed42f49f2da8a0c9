/* Setup of code that calls tools: a toolbox made from options and the user's settings.
 *
 *     struct tool_setup tools = TOOL_SETUP_INIT;
 *     if (!tool_setup_open(arena, &options, warnings, &tools, err)) return false;
 *     tool_call(tools.box, ...);
 *     tool_setup_done(&tools);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TOOL_SETUP_H
#define AGENT_TOOL_SETUP_H

#include "config/project.h"
#include "io/interrupt.h"
#include "tool/ask_tty.h"
#include "tool/event_log.h"
#include "tool/tool.h"

/* Programs without a terminal and signals of their own: servers and the library. */
struct tool_setup_host {
    int interrupts;              /* from interrupt_set_new(); stays open */
    const struct policy *policy; /* for commands; NULL: derived from the mode */
    /* Asks the user; NULL: not possible. */
    enum approve_answer (*ask)(
        void *context, const struct approve_question *question, struct str rule);
    void *ask_context;
    struct tool_event_sink events;
    const char *program; /* path of cordon(1), for tools in a box; NULL: looked up in PATH */
};

/* NULL means the default, or the user's setting. */
struct tool_setup_options {
    const struct tool_setup_host *host;       /* NULL: a command */
    const char *dir;                          /* working directory; NULL: the current one */
    const char *fs_mode;                      /* one of toolbox_mode_names */
    const char *approval;                     /* one of approve_mode_names */
    const char *workspace;                    /* its name, in workspace mode */
    const char *workspace_flag;               /* that gave the name; NULL: --workspace */
    const char *policy;                       /* file */
    struct str_list read, write, exec, hosts; /* added to the policy of commands; as typed */
    const char *events;                       /* file */
    const char *sandbox;                      /* one of POLICY_SANDBOX_OPTIONS */
    bool no_sandbox, ack_sandbox, ack_network, no_denials;
};

/* Does not move while it is open. */
struct tool_setup {
    struct toolbox_options options;
    struct toolbox *box;
    struct project project; /* only its fd, unless in workspace mode */
    struct policy policy;
    struct policy_extra extra; /* from the settings and the options */
    int workspace_fd;
    struct event_log events;
    struct ask_tty ask;
    struct notices warnings;
    const char *trust_dir;
    bool by_settings; /* the settings chose the weaker sandbox */
    bool hosted;      /* the descriptor for interruptions is the host's */
    sigset_t set;     /* signals that cancel the running call */
};

#define TOOL_SETUP_INIT                           \
    ((struct tool_setup){.project = PROJECT_INIT, \
        .workspace_fd = -1,                       \
        .events = EVENT_LOG_INIT,                 \
        .ask = ASK_TTY_INIT,                      \
        .options.signals = -1})

/* Blocks the signals that cancel a call until tool_setup_done(), unless there is a host. */
MUST_USE bool tool_setup_open(struct arena *a, const struct tool_setup_options *options,
    struct notices warnings, struct tool_setup *ret_setup, struct err *err);
void tool_setup_done(struct tool_setup *setup);

/* Sends warnings that apply to running commands. */
void tool_setup_warn(const struct tool_setup *setup);

#endif
