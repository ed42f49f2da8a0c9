/* The user's terminal, taken over to draw on and given back as it was, however that ends.
 *
 *     struct display d = DISPLAY_NONE;
 *     if (!display_open(&d, colors, err)) return false;       no terminal: a usage error
 *     canvas_text(d.canvas, ...);
 *     display_draw(&d);                 never blocks: while the terminal does not read, no frame
 *     display_close(&d);
 *
 * While it is open, the alternate screen is shown and keys come as bytes; nothing else may be
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
    enum term_mouse mouse; /* which reports it was asked for */
    bool pastes;           /* it brackets what is pasted */
};

#define DISPLAY_NONE ((struct display){.in = -1, .outlet = OUTLET_NONE, .tty = TTY_NONE})

/* Whether standard input and output are a terminal that can be drawn on; E_CLI_INVALID_ARG. */
MUST_USE bool display_check(struct err *err);

/* On standard input and output. The canvas has the terminal's size. */
MUST_USE bool display_open(struct display *d, bool colors, struct err *err);

/* Also for one that is not open. */
void display_close(struct display *d);

/* The terminal may have another size: true if so, and the canvas has it now. */
bool display_resize(struct display *d);

/* Writes what has changed, if the terminal has taken all that came before it. */
void display_draw(struct display *d);

/* Whether there is something to write, as soon as there is room; and writes some of it. */
bool display_waits(const struct display *d);
void display_pump(struct display *d);

/* Asks the terminal for reports of the mouse, and for brackets around pastes. */
void display_want_mouse(struct display *d, enum term_mouse mouse);
void display_want_pastes(struct display *d);

#endif
