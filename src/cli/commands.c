/* Root of the command tree: `cordon` itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"

static const struct cmd *const commands[] = {
    &cmd_exec,
    &cmd_run,
    &cmd_record,
    &cmd_driver,
    &cmd_trace,
    &cmd_replay,
    &cmd_replay_report,
    &cmd_protocol_help,
    &cmd_agent,
    &cmd_chat,
    &cmd_sessions,
    &cmd_box,
    &cmd_tool,
    &cmd_tools,
    &cmd_policy,
    &cmd_trust,
    &cmd_path,
    &cmd_render,
    &cmd_serve_script,
    &cmd_config,
    &cmd_doctor,
    &cmd_self_test,
    &cmd_version,
    &cmd_help,
    &cmd_completions,
    &cmd_manual,
    &cmd_self_test_act,
    NULL,
};

static const struct example examples[] = {
    {"cordon exec -- ls -la", "run ls with read-only access to this directory and no network"},
};

const struct cmd cmd_cordon = {
    .name = "cordon",
    .summary = "run coding agents and terminal programs inside a boundary",
    .about = "A policy names the files, programs and network that they may use; the kernel "
             "enforces it.",
    CMD_EXAMPLES(examples),
    .subs = commands,
};
