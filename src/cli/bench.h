/* Setup of a command that calls tools: a toolbox made from options and settings.
 *
 *     struct bench bench = BENCH_INIT;
 *     if (!bench_open(cli, &options->bench, &bench, err)) return false;
 *     tool_call(bench.box, ...);
 *     bench_done(&bench);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/cmd.h"
#include "cli/out.h"
#include "config/project.h"
#include "io/interrupt.h"
#include "job/prepare.h"
#include "tool/tool.h"

struct bench_options {
    const char *fs_mode, *approval, *agent, *policy, *events;
    const char *sandbox; /* one of prepare_sandboxes */
    bool no_sandbox, ack_sandbox, ack_network;
};

/* Rows for the option table of a command whose options have a member `bench`. */
#define BENCH_OPTS(type)                                                                         \
    OPT_ONE_OF("fs-mode", 0, type, bench.fs_mode, "MODE", toolbox_mode_names,                    \
        "restricted: the working directory; workspace: the project to read and the agent's "     \
        "workspace to write; unrestricted: any path; default: restricted"),                      \
        OPT_ONE_OF("approval", 0, type, bench.approval, "MODE", approve_mode_names,              \
            "never, on-request or always: when to ask before a change; default: the settings', " \
            "or never"),                                                                         \
        OPT_STRING("agent", 0, type, bench.agent, "NAME", ARG_ANY,                               \
            "whose workspace it is in workspace mode; default: cordon"),                         \
        OPT_STRING("policy", 0, type, bench.policy, "FILE", ARG_FILE,                            \
            "the policy for commands, instead of the one made from the mode"),                   \
        OPT_STRING("events", 0, type, bench.events, "FILE", ARG_FILE,                            \
            "append an event to it for every start, end, error and truncation"),                 \
        OPT_ONE_OF("sandbox", 0, type, bench.sandbox, "MODE", prepare_sandboxes,                 \
            "of commands: native, landlock (weaker: works where namespaces are refused) or, in " \
            "unrestricted mode, none; default: the settings', or native"),                       \
        OPT_SET("no-sandbox", 0, type, bench.no_sandbox,                                         \
            "in unrestricted mode: run commands without a sandbox: --sandbox none"),             \
        OPT_SET("ack-unsafe-sandbox", 0, type, bench.ack_sandbox,                                \
            "yes, without a sandbox or with a weaker one"),                                      \
        OPT_SET("ack-unsafe-network", 0, type, bench.ack_network, "yes, with the network")

enum {
    EVENT_MAX = 1 << 20, /* maximum length of an event */
};

struct bench {
    struct toolbox_options options;
    struct toolbox *box;
    struct project project; /* only its fd, unless in workspace mode */
    struct policy policy;
    int workspace_fd, events_fd, tty_fd;
    struct cli *cli;
    const char *events_path, *trust_dir;
    bool events_lost;     /* and a warning was printed */
    bool by_settings;     /* the settings chose the weaker sandbox */
    struct buf event_cut; /* unwritten rest of an event */
    size_t event_cut_at;
    sigset_t set; /* signals that cancel the running call */
};

#define BENCH_INIT                           \
    ((struct bench){.project = PROJECT_INIT, \
        .workspace_fd = -1,                  \
        .events_fd = -1,                     \
        .event_cut = BUF_INIT(EVENT_MAX),    \
        .tty_fd = -1,                        \
        .options.signals = -1})

MUST_USE bool bench_open(
    struct cli *cli, const struct bench_options *options, struct bench *ret_bench, struct err *err);
void bench_done(struct bench *bench);

/* Prints warnings that apply to running commands. */
void bench_warn(const struct bench *bench);

#endif
