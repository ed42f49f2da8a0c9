/* Calls the tools that a model may call, in a working directory; asks before each change.
 *
 *     cc -o tools tools.c $(pkg-config --cflags --libs cordon)
 *     ./tools DIR read_file '{"path": "README.md"}'
 *
 * Without a tool, it prints the specifications to send to a model.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>
#include <stdlib.h>

/* The question is JSON. A server passes it to its client; here the user answers. The text comes
 * from a model: make it printable before writing it to a terminal. */
static enum cordon_answer ask(void *context, const char *question)
{
    (void)context;
    fprintf(stderr, "%s\nallow? [y/N] ", question);
    int c = getchar();
    return c == 'y' ? CORDON_ANSWER_YES : c == EOF ? CORDON_ANSWER_CANCELED : CORDON_ANSWER_NO;
}

static void show(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    struct cordon_error error = {0};
    char *text = NULL;
    if (argc < 4) {
        text = cordon_tools_specs();
    } else {
        const struct cordon_tools_options options = {
            .size = sizeof(options),
            .dir = argv[1],
            .approval = "always",
            .approve = ask,
            .warning = show,
        };
        struct cordon_tools *tools = cordon_tools_open(&options, &error);
        if (tools)
            text = cordon_tools_call(tools, argv[2], argv[3], NULL, &error);
        cordon_tools_close(tools);
    }
    if (text)
        puts(text);
    else
        fprintf(stderr, "tools: %s (%s)\n", error.message, error.code);
    int status = text ? 0 : error.exit_status;
    free(text);
    cordon_error_clear(&error);
    return status;
}
