/* Options shared by the commands that run agents or call tools. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_AGENT_OPTS_H
#define CLI_AGENT_OPTS_H

#include "agent/agent_setup.h"
#include "cli/cmd.h"
#include "job/prepare.h"

/* Rows for the option table of a command whose options have a member `m`, a struct agent_options.
 */
#define AGENT_OPTS(type, m)                                                                        \
    OPT_ONE_OF("provider", 0, type, m.provider, "NAME", provider_names,                            \
        "anthropic, openai (any server that speaks Chat Completions) or scripted; default: by "    \
        "the "                                                                                     \
        "key that is set, or scripted"),                                                           \
        OPT_STRING("model", 0, type, m.model, "NAME", ARG_ANY, "which model answers"),             \
        OPT_STRING("base-url", 0, type, m.base_url, "URL", ARG_ANY,                                \
            "where the service is, such as http://127.0.0.1:8080/v1"),                             \
        OPT_STRING("script", 0, type, m.script, "FILE", ARG_FILE,                                  \
            "what the scripted provider says; default: a script that comes with cordon"),          \
        OPT_STRING("session", 0, type, m.session, "FILE|ID", ARG_FILE,                             \
            "go on with this session; a file that is not there is made"),                          \
        OPT_SET("continue", 0, type, m.go_on, "go on with the newest session of this directory"),  \
        OPT_STRING("fork", 0, type, m.fork, "ID@N", ARG_ANY,                                       \
            "start a new session with the first N messages of another; without @N with all"),      \
        OPT_STRING("system", 0, type, m.system, "TEXT", ARG_ANY,                                   \
            "the system prompt, or @FILE, instead of cordon's own; the project's AGENTS.md files " \
            "and a "                                                                               \
            "few facts are added to either"),                                                      \
        OPT_INT("max-turns", 0, type, m.max_turns, "N", 1, 1000 * 1000,                            \
            "how often the model may be asked; default: 500"),                                     \
        OPT_INT("max-tokens", 0, type, m.max_tokens, "N", 0, AGENT_TOKENS_MAX,                     \
            "how long one answer may be; 0 or not given: what the provider takes for it"),         \
        OPT_INT("max-total-tokens", 0, type, m.max_total_tokens, "N", 1, INT64_C(1) << 50,         \
            "after so many tokens of all requests and answers the model is not asked again"),      \
        OPT_INT("max-time-ms", 0, type, m.max_time_ms, "N", 1, 7 * 86400 * 1000,                   \
            "how long it may take in all"),                                                        \
        OPT_STRING("max-retries", 0, type, m.max_retries, "N", ARG_ANY,                            \
            "how often a request that failed is tried again; default: 4"),                         \
        OPT_INT("context-window", 0, type, m.context_window, "N", 1, AGENT_TOKENS_MAX,             \
            "how many tokens the model takes: when they are nearly used up, the conversation "     \
            "goes on "                                                                             \
            "with a summary; default: by the settings, or what is known of the model"),            \
        OPT_STRING("temperature", 0, type, m.temperature, "F", ARG_ANY,                            \
            "from 0 to 2; default: the provider's"),                                               \
        OPT_STRING("box", 0, type, m.box, "NAME", ARG_BOX,                                         \
            "work in this box: files and commands are the box's, its project is the working "      \
            "directory")

/* Rows for the option table of a command whose options have a member `m`, a struct
 * tool_setup_options. */
#define TOOL_SETUP_OPTS(type, m)                                                                 \
    OPT_ONE_OF("fs-mode", 0, type, m.fs_mode, "MODE", toolbox_mode_names,                        \
        "restricted: the working directory; workspace: the project to read and the agent's "     \
        "workspace to write; unrestricted: any path; default: restricted"),                      \
        OPT_ONE_OF("approval", 0, type, m.approval, "MODE", approve_mode_names,                  \
            "never, on-request or always: when to ask before a change; default: the settings', " \
            "or never"),                                                                         \
        OPT_STRING("agent", 0, type, m.workspace, "NAME", ARG_ANY,                               \
            "whose workspace it is in workspace mode; default: cordon"),                         \
        OPT_STRING("policy", 0, type, m.policy, "FILE", ARG_FILE,                                \
            "the policy for commands, instead of the one made from the mode"),                   \
        OPT_STRING("events", 0, type, m.events, "FILE", ARG_FILE,                                \
            "append an event to it for every start, end, error and truncation"),                 \
        OPT_ONE_OF("sandbox", 0, type, m.sandbox, "MODE", prepare_sandboxes,                     \
            "of commands: native, landlock (weaker: works where namespaces are refused) or, in " \
            "unrestricted mode, none; default: the settings', or native"),                       \
        OPT_SET("no-sandbox", 0, type, m.no_sandbox,                                             \
            "in unrestricted mode: run commands without a sandbox: --sandbox none"),             \
        OPT_SET("ack-unsafe-sandbox", 0, type, m.ack_sandbox,                                    \
            "yes, without a sandbox or with a weaker one"),                                      \
        OPT_SET("ack-unsafe-network", 0, type, m.ack_network, "yes, with the network")

#endif
