/* The user's terminal for a conversation: keys in, frames of the live region out, on the normal
 * screen; given back as it was, however that ends.
 *
 *     struct console c = CONSOLE_NONE;
 *     if (!console_open(&c, &(struct console_options){0}, err)) return false;
 *     poll(c.in for POLLIN, c.outlet.fd for POLLOUT if console_waits(&c), console_timeout(&c))
 *     console_read(&c);  while (console_next(&c, &typed)) editor_typed(editor, &typed);
 *     console_frame(&c, &stay, &region, &cursor);   never blocks
 *     console_close(&c);
 *
 * In plain mode (asked for, or TERM=dumb) the terminal edits lines itself: a line comes as text and
 * "Enter", and nothing is redrawn.
 *
 * Where standard input or output is no terminal, it is plain, too, and whole lines are taken with
 * console_line() instead of keys: nothing in them is a key. All that is written arrives, however
 * long its reader takes: console_flush().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CONSOLE_H
#define TUI_CONSOLE_H

#include "base/err.h"
#include "term/typed.h"
#include "tui/bind.h"
#include "tui/live.h"
#include "tui/outlet.h"

enum {
    CONSOLE_ESCAPE_MS = 50, /* after which an escape alone is the key */
    CONSOLE_INPUT_MAX = 2 * TYPED_PASTE_MAX,
};

struct console {
    int in; /* -1: not open */
    bool plain, gone;
    bool lines;    /* not both are terminals */
    bool too_long; /* a line of theirs */
    struct tty tty;
    struct outlet outlet;
    struct live *live;
    struct live_options look;
    struct typed_keys *keys;
    const struct bindings *bindings;
    struct buf input;
    size_t taken;      /* bytes of it that were handed out */
    uint64_t since_ms; /* when the last of them came */
};

#define CONSOLE_NONE ((struct console){.in = -1, .outlet = OUTLET_NONE, .tty = TTY_NONE})

struct console_options {
    bool plain;
    bool set_colors; /* to these, whatever the environment says */
    enum live_colors colors;
    bool force_colors;               /* NO_COLOR does not count */
    const struct bindings *bindings; /* must live as long; NULL: none */
};

/* On standard input and output. */
MUST_USE bool console_open(struct console *c, const struct console_options *o, struct err *err);
void console_close(struct console *c); /* also for one that is not open */

/* Before a stop or another program, the region goes away and the terminal is as it was; and after.
 */
void console_leave(struct console *c);
void console_return(struct console *c);

/* Takes what was typed; `gone`: the terminal is. Then one thing after the other. */
void console_read(struct console *c);
bool console_next(struct console *c, struct typed *ret_typed);
int console_timeout(const struct console *c); /* for poll(): until what is there counts as it is */

/* The next whole line, without its end, until the next read; at the end of all, what is left. */
bool console_line(struct console *c, struct str *ret_line);
/* Waits until all is written, or cancel_fd can be read: false, as if it can't be written. */
bool console_flush(struct console *c, int cancel_fd);

/* Whatever others wrote on it is scrolled away; the next frame is at the top. */
void console_anew(struct console *c);

/* The terminal may have another size: true if so. */
bool console_resize(struct console *c);

/* Nothing is drawn while the terminal has not taken what came before: false, and `stay` counts as
 * not printed. */
bool console_frame(struct console *c, const struct text *stay, const struct text *region,
    const struct live_cursor *cursor);
bool console_waits(const struct console *c);
void console_pump(struct console *c);

/* How a terminal is drawn on, by its environment; pure. NULL: not set. */
struct console_environment {
    const char *term, *colorterm, *no_color, *xterm_version;
};
struct live_options console_look(const struct console_environment *e);

#endif
