/* A conversation without a terminal on standard input or output: one prompt per line, one after the
 * other, and plain lines as output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/talk.h"

bool talk_take_lines(struct talk *t)
{
    struct str line;
    if (t->console.outlet.broken && !t->end.code)
        err_set(&t->end, E_IO, "cannot write to standard output");
    if (t->console.too_long && !t->end.code)
        err_set(&t->end, E_CLI_INVALID_ARG, "a line of standard input has more than %d bytes",
            CONSOLE_INPUT_MAX);
    if (t->end.code) {
        t->leave = true;
        return true;
    }
    if (t->busy)
        return false;
    if (console_line(&t->console, &line)) {
        if (!str_is_blank(line))
            talk_say(t, line);
        t->dirty = true;
        return true;
    }
    t->leave = t->console.gone;
    return t->leave;
}

void talk_draw_lines(struct talk *t)
{
    int cancel_fd = t->job.bench.options.signals;
    bool ok = !t->console.outlet.broken;
    for (t->dirty = true; ok && t->dirty;) {
        talk_draw(t);
        ok = console_flush(&t->console, cancel_fd);
    }
    if (!ok && !t->end.code)
        err_set(&t->end, E_IO, "cannot write to standard output");
}
