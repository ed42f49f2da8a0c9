/* The user's terminal for a conversation: reads keys and draws the live region on the main screen.
 * The terminal is restored in every case, including crashes.
 *
 *     struct console c = CONSOLE_NONE;
 *     if (!console_open(&c, &(struct console_options){0}, err)) return false;
 *     poll(c.in for POLLIN, c.outlet.fd for POLLOUT if console_waits(&c), console_timeout(&c))
 *     console_read(&c);
 *     while (console_next(&c, &typed))
 *         editor_typed(editor, &typed);
 *     console_frame(&c, &stay, &region, &cursor);   never blocks
 *     console_close(&c);
 *
 * In plain mode (requested, or TERM=dumb) the terminal itself edits lines: a line is read as text
 * and "Enter", and nothing is redrawn.
 *
 * If standard input or output is not a terminal, plain mode is used as well, and input is read in
 * whole lines with console_line(): nothing in them is interpreted as a key. Output is never
 * dropped, however slow the reader: console_flush().
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
    CONSOLE_ESCAPE_MS = 50, /* timeout after which ESC is the Escape key */
    CONSOLE_INPUT_MAX = 2 * TYPED_PASTE_MAX,
};

struct console {
    int in; /* -1: not open */
    bool plain, gone;
    bool lines;    /* standard input or output is not a terminal */
    bool too_long; /* a line exceeded the input buffer */
    struct tty tty;
    struct outlet outlet;
    struct live_region *live;
    struct live_options look;
    struct typed_keys *keys;
    const struct bindings *bindings;
    struct buf input;
    size_t taken;      /* bytes already consumed */
    uint64_t since_ms; /* time of the last read */
};

#define CONSOLE_NONE ((struct console){.in = -1, .outlet = OUTLET_NONE, .tty = TTY_NONE})

struct console_options {
    bool plain;
    bool set_colors; /* override the environment with `colors` */
    enum live_colors colors;
    bool force_colors;               /* ignore NO_COLOR */
    const struct bindings *bindings; /* must outlive the console; NULL: none */
};

/* Uses standard input and output. */
MUST_USE bool console_open(struct console *c, const struct console_options *o, struct err *err);
void console_close(struct console *c); /* also accepts one that is not open */

/* console_leave() removes the region and restores the terminal before suspending or running another
 * program; console_return() resumes. */
void console_leave(struct console *c);
void console_return(struct console *c);

/* Reads available input; sets `gone` if the terminal was closed. Then console_next() returns one
 * item at a time. */
void console_read(struct console *c);
bool console_next(struct console *c, struct typed *ret_typed);
int console_timeout(const struct console *c); /* for poll(): until incomplete input times out */

/* Next whole line without its line break, valid until the next read; at end of file, the rest. */
bool console_line(struct console *c, struct str *ret_line);
/* Waits until all output is written. Returns false if cancel_fd becomes readable or writing
 * fails. */
bool console_flush(struct console *c, int cancel_fd);

/* Scrolls away anything written by other programs; the next frame is at the top. */
void console_clear(struct console *c);

/* Checks the terminal's size. Returns true if it has changed. */
bool console_resize(struct console *c);

/* Draws a frame. Returns false without drawing, and `stay` is not printed, while earlier output is
 * still pending. */
bool console_frame(struct console *c, const struct text *stay, const struct text *region,
    const struct live_cursor *cursor);
bool console_waits(const struct console *c);
void console_pump(struct console *c);

/* Derives display options from the environment, without side effects. NULL: not set. */
struct console_environment {
    const char *term, *colorterm, *no_color, *xterm_version;
};
struct live_options console_look(const struct console_environment *e);

#endif
