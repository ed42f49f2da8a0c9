/* Gives a task to an agent and prints its events as they come; Ctrl+C cancels the turn.
 *
 *     cc -o agent agent.c $(pkg-config --cflags --libs cordon)
 *     ./agent DIR script.json 'how many lines has README.md?'
 *
 * The answers come from a script (cordon-agent(1)), so that no key is needed. With a key in the
 * environment, leave out provider and script.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static struct cordon_cancel *cancel;

/* All that a signal handler may do: cordon_cancel_trigger() is async-signal-safe. */
static void interrupted(int sig)
{
    (void)sig;
    cordon_cancel_trigger(cancel);
}

/* Each event is a JSON object: {"protocol_version":1,"type":"text_delta",…}. A server sends it to
 * its client. 0 would stop the turn. */
static int show(void *context, const char *event)
{
    (void)context;
    puts(event);
    fflush(stdout);
    return 1;
}

int main(int argc, char **argv)
{
    struct cordon_error error = {0};
    char *done = NULL;
    if (argc < 4) {
        fprintf(stderr, "usage: agent DIR SCRIPT PROMPT\n");
        return 12;
    }
    const struct cordon_tools_options tools = {.size = sizeof(tools), .dir = argv[1]};
    const struct cordon_agent_options options = {
        .size = sizeof(options),
        .tools = &tools,
        .provider = "scripted",
        .script = argv[2],
        .event = show,
    };
    cancel = cordon_cancel_new(&error);
    struct cordon_agent *agent = cancel ? cordon_agent_open(&options, &error) : NULL;
    if (agent) {
        const struct cordon_turn turn = {.size = sizeof(turn), .prompt = argv[3], .cancel = cancel};
        signal(SIGINT, interrupted);
        done = cordon_agent_turn(agent, &turn, &error);
        signal(SIGINT, SIG_DFL);
        printf("conversation %s\n", cordon_agent_session(agent));
    }
    if (!done)
        fprintf(stderr, "agent: %s (%s)\n", error.message, error.code);
    int status = done ? 0 : error.exit_status;
    free(done);
    cordon_agent_free(agent);
    cordon_cancel_free(cancel);
    cordon_error_clear(&error);
    return status;
}
