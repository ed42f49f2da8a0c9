/* Root of the command tree: `cordon` itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"

static const struct cmd *const commands[] = {
    &cmd_box,
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
    {"cordon box new fix . --prompt 'Fix the bug'", "claude, on a copy of this project"},
    {"cordon exec -- ls -la", "ls, read-only and without network"},
};

const struct cmd cmd_cordon = {
    .name = "cordon",
    .summary = "run coding agents and terminal programs inside a boundary",
    .about = "A policy names the files, programs and network that they may use; the kernel "
             "enforces it.",
    CMD_EXAMPLES(examples),
    .subs = commands,
};
