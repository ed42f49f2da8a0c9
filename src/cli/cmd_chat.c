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
        return err_set(err, E_CLI_INVALID_ARG, "a conversation has no JSON; 'cordon agent' has");
    return chat_run(&options, err);
}

static const struct opt chat_opts[] = {
    OPT_SET("plain", 0, struct chat_command, plain,
        "only lines, nothing is redrawn: for a screen reader; also where TERM is dumb"),
    AGENT_OPTS(struct chat_command, agent),
    TOOL_SETUP_OPTS(struct chat_command, agent.tools),
};

static const struct example chat_examples[] = {
    {"cordon chat", "in this directory"},
    {"cordon chat < prompts.txt > answers.txt", "a prompt a line, without a terminal"},
    {"cordon chat --continue --approval on-request", "goes on, and asks before changes"},
};

const struct cmd cmd_chat = {
    .name = "chat",
    .summary = "talk to a model that works with the tools",
    .about = "A conversation in the terminal. What is said stays in the terminal's own scrollback; "
             "below it are what is at work and an editor. /help says which keys and commands there "
             "are.",
    .usage = "",
    CMD_OPTS(chat_opts, struct chat_command),
    CMD_EXAMPLES(chat_examples),
    .run = run_chat,
};
