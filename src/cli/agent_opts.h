/* Options shared by the commands that run agents or call tools. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_AGENT_OPTS_H
#define CLI_AGENT_OPTS_H

#include "agent/agent_setup.h"
#include "cli/cmd.h"
#include "policy/policy.h"

/* Rows for the option table of a command whose options have a member `m`, a struct agent_options.
 */
#define AGENT_OPTS(type, m)                                                                    \
    OPT_ONE_OF("provider", 0, type, m.provider, "NAME", provider_names,                        \
        "anthropic, openai (any server with the Chat Completions API) or scripted; "           \
        "default: from the settings, otherwise by the API key that is set, otherwise "         \
        "scripted"),                                                                           \
        OPT_STRING("model", 0, type, m.model, "NAME", ARG_ANY, "name of the model"),           \
        OPT_STRING("base-url", 0, type, m.base_url, "URL", ARG_ANY,                            \
            "base URL of the service, such as http://127.0.0.1:8080/v1"),                      \
        OPT_STRING("script", 0, type, m.script, "FILE", ARG_FILE,                              \
            "script for the scripted provider; default: the built-in demo script"),            \
        OPT_STRING("system", 0, type, m.system, "TEXT", ARG_ANY,                               \
            "system prompt, or @FILE, instead of the default; the project's AGENTS.md files "  \
            "and a few facts about the environment are always added"),                         \
        OPT_STRING("temperature", 0, type, m.temperature, "F", ARG_ANY,                        \
            "sampling temperature, from 0 to 2; default: the provider's"),                     \
        OPT_INT("context-window", 0, type, m.context_window, "N", 1, AGENT_TOKENS_MAX,         \
            "size of the model's context window in tokens: when it is nearly full, the "       \
            "conversation continues with a summary; default: from the settings, or the "       \
            "known size for the model"),                                                       \
        OPT_STRING("session", 0, type, m.session, "FILE|ID", ARG_SESSION,                      \
            "resume this session; a file that does not exist is created"),                     \
        OPT_SET("continue", 0, type, m.go_on, "resume the newest session of this directory"),  \
        OPT_STRING("fork", 0, type, m.fork, "ID@N", ARG_ANY,                                   \
            "start a new session with the first N messages of another; without @N, with all"), \
        OPT_INT("max-turns", 0, type, m.max_turns, "N", 1, 1000 * 1000,                        \
            "maximum number of requests to the model; default: 500"),                          \
        OPT_INT("max-tokens", 0, type, m.max_tokens, "N", 0, AGENT_TOKENS_MAX,                 \
            "maximum number of tokens of one answer; default, and for 0: the provider's"),     \
        OPT_INT("max-total-tokens", 0, type, m.max_total_tokens, "N", 1, INT64_C(1) << 50,     \
            "stop when all requests and answers together have used this many tokens"),         \
        OPT_INT("max-time-ms", 0, type, m.max_time_ms, "N", 1, 7 * 86400 * 1000,               \
            "time limit for the whole run"),                                                   \
        OPT_STRING("max-retries", 0, type, m.max_retries, "N", ARG_ANY,                        \
            "maximum number of retries of a failed request, from 0 to 4; default: 4"),         \
        OPT_STRING("box", 0, type, m.box, "NAME", ARG_BOX,                                     \
            "work in this box: tools use its files and run commands in it; its project is "    \
            "the working directory")

/* Headings for them. `box` is before the first of TOOL_SETUP_OPTS. */
#define AGENT_GROUPS                                                        \
    {"provider", "Model"}, {"session", "Session"}, {"max-turns", "Limits"}, \
    {                                                                       \
        "box", "Files and commands"                                         \
    }

/* Rows for the option table of a command whose options have a member `m`, a struct
 * tool_setup_options. */
#define TOOL_SETUP_OPTS(type, m)                                                                   \
    OPT_ONE_OF("fs-mode", 0, type, m.fs_mode, "MODE", toolbox_mode_names,                          \
        "restricted: access to the working directory; workspace: the project read-only "           \
        "and the agent's workspace writable; unrestricted: any path; default: "                    \
        "restricted"),                                                                             \
        OPT_ONE_OF("approval", 0, type, m.approval, "MODE", approve_mode_names,                    \
            "never, on-request or always: when to ask before a change; default: from the "         \
            "settings, or never"),                                                                 \
        OPT_STRING_WAS("agent", "workspace", type, m.workspace, m.workspace_flag, "NAME", ARG_ANY, \
            "name of the workspace in workspace mode; default: cordon"),                           \
        OPT_STRING("policy", 0, type, m.policy, "FILE", ARG_FILE,                                  \
            "policy for commands, instead of the one derived from the mode"),                      \
        OPT_STRS("read", type, m.read, "PATH", ARG_FILE,                                           \
            "let commands also read this file or directory; repeatable"),                          \
        OPT_STRS("write", type, m.write, "PATH", ARG_FILE, "let commands also read and write it"), \
        OPT_STRS("allow-exec", type, m.exec, "PATH", ARG_FILE,                                     \
            "let commands also run this program, or those in this directory"),                     \
        OPT_STRS("allow-host", type, m.hosts, "HOST", ARG_ANY,                                     \
            "let commands reach this host through a proxy; repeatable"),                           \
        OPT_STRING("events", 0, type, m.events, "FILE", ARG_FILE,                                  \
            "append an event to this file for every start, end, error and truncation"),            \
        OPT_ONE_OF("sandbox", 0, type, m.sandbox, "MODE", POLICY_SANDBOX_OPTIONS,                  \
            "sandbox of commands: native, landlock (weaker; works without namespaces) or, "        \
            "in unrestricted mode, none; default: from the settings, or native"),                  \
        OPT_SET("no-sandbox", 0, type, m.no_sandbox,                                               \
            "in unrestricted mode: run commands without a sandbox; same as --sandbox none"),       \
        OPT_SET("ack-unsafe-sandbox", 0, type, m.ack_sandbox,                                      \
            "acknowledge running with no sandbox or a weaker one"),                                \
        OPT_SET("ack-unsafe-network", 0, type, m.ack_network, "acknowledge network access"),       \
        OPT_SET("no-denials", 0, type, m.no_denials,                                               \
            "do not collect what the sandbox denies to commands")

#endif
