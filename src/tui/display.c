/* Takes over the user's terminal and restores it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/display.h"

#include <errno.h>

#define ENTER "\033[?1049h\033[?7l\033[m\033[2J"
/* CAN aborts a partially written sequence. */
#define LEAVE \
    "\030\033[?2026l\033[?1000;1002;1003;1006;2004l\033[m\033[?7h\033[0 q\033[?25h\033[?1049l"

/* Opening and closing ------------------------------------------------------------------------- */

bool display_check(const char *what, struct err *err)
{
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, E_CLI_INVALID_ARG, "%s needs a terminal: standard %s is not one", what,
            isatty(STDIN_FILENO) ? "output" : "input");
    if (!term || !*term || strcmp(term, "dumb") == 0)
        return err_set(err, E_CLI_INVALID_ARG,
            "%s needs a terminal that supports cursor movement: TERM is %s", what,
            term && *term ? "dumb" : "not set");
    return true;
}

bool display_open(struct display *d, bool colors, struct err *err)
{
    if (!display_check("this display", err))
        return false;
    *d = DISPLAY_NONE;
    if (!tty_raw(&d->tty, STDIN_FILENO))
        return err_errno(err, E_IO, errno, "cannot change the terminal's modes");
    d->in = STDIN_FILENO;
    outlet_open(&d->outlet, STDOUT_FILENO);
    struct tty_size size = tty_size(STDOUT_FILENO);
    d->canvas = canvas_new(size.rows, size.cols);
    canvas_set_plain(d->canvas, !colors);
    buf_add_z(&d->outlet.pending, ENTER);
    outlet_guard(&d->outlet, &d->tty, LEAVE);
    display_pump(d);
    return true;
}

void display_close(struct display *d)
{
    if (d->in < 0)
        return;
    outlet_close(&d->outlet, STR(LEAVE), false);
    tty_restore(&d->tty);
    canvas_free(d->canvas);
    *d = DISPLAY_NONE;
}

/* Drawing ------------------------------------------------------------------------------------- */

bool display_resize(struct display *d)
{
    struct tty_size size = tty_size(STDOUT_FILENO);
    if (size.rows == canvas_rows(d->canvas) && size.cols == canvas_cols(d->canvas))
        return false;
    canvas_resize(d->canvas, size.rows, size.cols);
    return true;
}

bool display_waits(const struct display *d)
{
    return outlet_waits(&d->outlet);
}

void display_pump(struct display *d)
{
    outlet_pump(&d->outlet);
}

void display_draw(struct display *d)
{
    display_pump(d);
    if (display_waits(d))
        return;
    canvas_write(d->canvas, &d->outlet.pending);
    display_pump(d);
}

/* Mouse and paste ----------------------------------------------------------------------------- */

void display_want_mouse(struct display *d, enum term_mouse mouse)
{
    static const char *const modes[] = {
        [TERM_MOUSE_OFF] = NULL,
        [TERM_MOUSE_X10] = "\033[?1000;1006h",
        [TERM_MOUSE_NORMAL] = "\033[?1000;1006h",
        [TERM_MOUSE_BUTTON] = "\033[?1002;1006h",
        [TERM_MOUSE_ANY] = "\033[?1003;1006h",
    };
    if (d->mouse == mouse)
        return;
    d->mouse = mouse;
    buf_add_z(&d->outlet.pending, "\033[?1000;1002;1003;1006l");
    if (modes[mouse])
        buf_add_z(&d->outlet.pending, modes[mouse]);
    display_pump(d);
}

void display_want_pastes(struct display *d)
{
    if (!d->pastes)
        buf_add_z(&d->outlet.pending, "\033[?2004h");
    d->pastes = true;
    display_pump(d);
}
