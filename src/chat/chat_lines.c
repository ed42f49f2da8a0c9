/* A conversation without a terminal on standard input or output: one prompt per line, one after the
 * other, and plain lines as output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"

bool chat_lines_take(struct chat *chat)
{
    struct str line;
    if (chat->console.outlet.broken && !chat->end.code)
        err_set(&chat->end, E_IO, "cannot write to standard output");
    if (chat->console.too_long && !chat->end.code)
        err_set(&chat->end, E_CLI_INVALID_ARG, "a line of standard input is longer than %d bytes",
            CONSOLE_INPUT_MAX);
    if (chat->end.code) {
        chat->leave = true;
        return true;
    }
    if (chat->busy)
        return false;
    if (console_line(&chat->console, &line)) {
        if (!str_is_blank(line))
            chat_loop_say(chat, line);
        chat->dirty = true;
        return true;
    }
    chat->leave = chat->console.gone;
    return chat->leave;
}

void chat_lines_draw(struct chat *chat)
{
    int cancel_fd = chat->setup.tools.options.signals;
    bool ok = !chat->console.outlet.broken;
    for (chat->dirty = true; ok && chat->dirty;) {
        chat_loop_draw(chat);
        ok = console_flush(&chat->console, cancel_fd);
    }
    if (!ok && !chat->end.code)
        err_set(&chat->end, E_IO, "cannot write to standard output");
}
