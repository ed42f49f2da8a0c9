/* Top-level commands, one file each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CMDS_H
#define CLI_CMDS_H

#include "cli/cmd.h"
#include "cli/out.h"

extern const struct cmd cmd_agent;
extern const struct cmd cmd_box;
extern const struct cmd cmd_chat;
extern const struct cmd cmd_completions;
extern const struct cmd cmd_config;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_driver;
extern const struct cmd cmd_exec;
extern const struct cmd cmd_help;
extern const struct cmd cmd_manual;
extern const struct cmd cmd_path;
extern const struct cmd cmd_policy;
extern const struct cmd cmd_policy_learn;
extern const struct cmd cmd_policy_new;
extern const struct cmd cmd_protocol_help;
extern const struct cmd cmd_record;
extern const struct cmd cmd_render;
extern const struct cmd cmd_replay;
extern const struct cmd cmd_replay_report;
extern const struct cmd cmd_run;
extern const struct cmd cmd_self_test;
extern const struct cmd cmd_self_test_act;
extern const struct cmd cmd_serve_script;
extern const struct cmd cmd_sessions;
extern const struct cmd cmd_tool;
extern const struct cmd cmd_tools;
extern const struct cmd cmd_trace;
extern const struct cmd cmd_trust;
extern const struct cmd cmd_version;

#endif
