/* cordon chat: a conversation with an agent in a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"
#include "cli/agent_opts.h"
#include "cli/cmds.h"
#include "cli/out.h"

struct chat_command {
    struct agent_options agent;
    bool plain;
};

static bool run_chat(struct cli *cli, const struct args *args, struct err *err)
{
    const struct chat_command *o = args->options;
    const struct chat_options options = {
        .arena = cli->arena,
        .agent = o->agent,
        .plain = o->plain,
        .color = cli->color_asked,
        .warnings = out_notices(cli),
        .notes = out_notes(cli),
    };
    if (cli->json)
        return err_set(
            err, E_CLI_INVALID_ARG, "'cordon chat' does not support --json; use 'cordon agent'");
    return chat_run(&options, err);
}

static const struct opt chat_opts[] = {
    OPT_SET("plain", 0, struct chat_command, plain,
        "print plain lines and redraw nothing, for screen readers; default if TERM is "
        "dumb"),
    AGENT_OPTS(struct chat_command, agent),
    TOOL_SETUP_OPTS(struct chat_command, agent.tools),
};

static const struct opt_group chat_groups[] = {AGENT_GROUPS};

static const struct example chat_examples[] = {
    {"cordon chat", "chat in this directory"},
    {"cordon chat < prompts.txt > answers.txt", "one prompt per line, without a terminal"},
    {"cordon chat --continue --approval on-request", "resume, and ask before changes"},
};

const struct cmd cmd_chat = {
    .name = "chat",
    .summary = "chat with a model that works with tools",
    .about = "Starts a conversation in the terminal. The conversation stays in the terminal's "
             "own scrollback; below it are the current activity and an editor. /help lists "
             "commands and keys.",
    .usage = "",
    .no_json = true,
    CMD_OPTS(chat_opts, struct chat_command),
    CMD_GROUPS(chat_groups),
    CMD_EXAMPLES(chat_examples),
    .run = run_chat,
};
