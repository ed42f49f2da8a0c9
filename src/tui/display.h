/* Full-screen drawing on the user's terminal, which is restored in every case, including crashes.
 *
 *     struct display d = DISPLAY_NONE;
 *     if (!display_open(&d, colors, err)) return false;       not a terminal: a usage error
 *     canvas_text(d.canvas, ...);
 *     display_draw(&d);                 never blocks; draws nothing while output is pending
 *     display_close(&d);
 *
 * While open, the alternate screen is used and the terminal is in raw mode; nothing else may be
 * printed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_DISPLAY_H
#define TUI_DISPLAY_H

#include "base/err.h"
#include "tui/canvas.h"
#include "tui/outlet.h"

struct display {
    int in; /* -1: not open */
    struct tty tty;
    struct outlet outlet;
    struct canvas *canvas;
    enum term_mouse mouse; /* mouse reports that were enabled */
    bool pastes;           /* bracketed paste was enabled */
};

#define DISPLAY_NONE ((struct display){.in = -1, .outlet = OUTLET_NONE, .tty = TTY_NONE})

/* Checks that standard input and output are a terminal that supports drawing. Fails with
 * E_CLI_INVALID_ARG; `what` needs it: "'cordon record'". */
MUST_USE bool display_check(const char *what, struct err *err);

/* Uses standard input and output. The canvas has the terminal's size. */
MUST_USE bool display_open(struct display *d, bool colors, struct err *err);

/* Also accepts one that is not open. */
void display_close(struct display *d);

/* Adjusts the canvas to the terminal's size. Returns true if it has changed. */
bool display_resize(struct display *d);

/* Writes the changes, unless earlier output is still pending. */
void display_draw(struct display *d);

/* Whether output is pending; display_pump() writes as much as possible without blocking. */
bool display_waits(const struct display *d);
void display_pump(struct display *d);

/* Enable mouse reports and bracketed paste. */
void display_want_mouse(struct display *d, enum term_mouse mouse);
void display_want_pastes(struct display *d);

#endif
