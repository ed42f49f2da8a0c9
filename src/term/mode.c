/* Modes: numbered settings that are on or off. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

static void on_columns(struct term *t, bool on)
{
    if (!mode_is(t, MODE_ALLOW_132))
        return;
    if (t->options.may_resize) {
        term_tell(t, TERM_EVENT_RESIZE, (struct str){0}, (unsigned)t->rows << 16 | (on ? 132 : 80));
        screen_resize(t, t->rows, on ? 132 : 80);
    }
    margins_reset(t);
    t->modes &= ~MODE_BIT(MODE_MARGINS);
    if (!mode_is(t, MODE_KEEP_132) || t->level < 65)
        erase_screen(t, 2, ERASE_ALL);
    cursor_set(t, 0, 0);
}

static void on_origin(struct term *t, bool on)
{
    (void)on;
    cursor_address(t, 0, 0);
}

static void on_autowrap(struct term *t, bool on)
{
    if (!on)
        t->pending = false;
}

static void on_margins(struct term *t, bool on)
{
    if (on && t->level < 64)
        t->modes &= ~MODE_BIT(MODE_MARGINS);
    t->left = 0;
    t->right = t->cols - 1;
}

static void on_text(struct term *t, bool on)
{
    (void)on;
    text_mode_changed(t);
}

/* 47: only switches the screen. */
static void on_alt_47(struct term *t, bool on)
{
    screen_use(t, on, false);
}

/* 1047: clears the alternate screen before leaving it. */
static void on_alt_1047(struct term *t, bool on)
{
    if (!on && t->screen == &t->screens[1])
        erase_screen(t, 2, ERASE_ALL);
    screen_use(t, on, false);
}

static void on_save_cursor(struct term *t, bool on)
{
    if (on)
        cursor_save(t);
    else
        cursor_restore(t);
}

static void on_alt_1049(struct term *t, bool on)
{
    bool was = t->screen == &t->screens[1];
    if (on) {
        cursor_save(t);
        screen_use(t, true, true);
    } else {
        screen_use(t, false, false);
        if (was)
            cursor_restore(t);
    }
}

static void on_sync(struct term *t, bool on)
{
    if (!on)
        term_tell(t, TERM_EVENT_FRAME, (struct str){0}, 0);
}

static void on_resize_reports(struct term *t, bool on)
{
    if (on)
        reply_csi(t, "48;%d;%d;%d;%dt", t->rows, t->cols, t->rows * CELL_PIXELS_HEIGHT,
            t->cols * CELL_PIXELS_WIDTH);
}

struct mode_row {
    uint16_t number;
    uint8_t dec;
    uint8_t bit;                             /* enum mode */
    void (*changed)(struct term *, bool on); /* called after the bit has changed */
};

enum {
    ANSI,
    DEC,
};

static const struct mode_row rows[] = {
    {2, ANSI, MODE_KEYBOARD_LOCK, NULL},
    {4, ANSI, MODE_INSERT, on_text},
    {12, ANSI, MODE_ECHO_OFF, NULL},
    {20, ANSI, MODE_NEWLINE, NULL},
    {1, DEC, MODE_CURSOR_KEYS, NULL},
    {3, DEC, MODE_COLUMNS_132, on_columns},
    {4, DEC, MODE_SMOOTH, NULL},
    {5, DEC, MODE_REVERSE_SCREEN, NULL},
    {6, DEC, MODE_ORIGIN, on_origin},
    {7, DEC, MODE_AUTOWRAP, on_autowrap},
    {8, DEC, MODE_AUTOREPEAT, NULL},
    {9, DEC, MODE_MOUSE_X10, NULL},
    {12, DEC, MODE_BLINK, NULL},
    {18, DEC, MODE_PRINT_FF, NULL},
    {19, DEC, MODE_PRINT_EXTENT, NULL},
    {25, DEC, MODE_CURSOR, NULL},
    {40, DEC, MODE_ALLOW_132, NULL},
    {41, DEC, MODE_MORE_FIX, NULL},
    {42, DEC, MODE_NATIONAL, NULL},
    {44, DEC, MODE_MARGIN_BELL, NULL},
    {45, DEC, MODE_REVERSE_WRAP, NULL},
    {47, DEC, MODE_ALT_47, on_alt_47},
    {66, DEC, MODE_KEYPAD, NULL},
    {67, DEC, MODE_BACKSPACE, NULL},
    {69, DEC, MODE_MARGINS, on_margins},
    {95, DEC, MODE_KEEP_132, NULL},
    {1000, DEC, MODE_MOUSE_NORMAL, NULL},
    {1002, DEC, MODE_MOUSE_BUTTON, NULL},
    {1003, DEC, MODE_MOUSE_ANY, NULL},
    {1004, DEC, MODE_FOCUS, NULL},
    {1005, DEC, MODE_MOUSE_UTF8, NULL},
    {1006, DEC, MODE_MOUSE_SGR, NULL},
    {1007, DEC, MODE_ALTERNATE_SCROLL, NULL},
    {1015, DEC, MODE_MOUSE_URXVT, NULL},
    {1016, DEC, MODE_MOUSE_PIXELS, NULL},
    {1034, DEC, MODE_META_8BIT, NULL},
    {1035, DEC, MODE_NUM_LOCK, NULL},
    {1036, DEC, MODE_META_SENDS_ESC, NULL},
    {1039, DEC, MODE_ALT_SENDS_ESC, NULL},
    {1042, DEC, MODE_URGENT_BELL, NULL},
    {1043, DEC, MODE_RAISE_BELL, NULL},
    {1045, DEC, MODE_REVERSE_WRAP_MORE, NULL},
    {1047, DEC, MODE_ALT_1047, on_alt_1047},
    {1048, DEC, MODE_SAVE_CURSOR, on_save_cursor},
    {1049, DEC, MODE_ALT_1049, on_alt_1049},
    {2004, DEC, MODE_PASTE, NULL},
    {2026, DEC, MODE_SYNC, on_sync},
    {2027, DEC, MODE_GRAPHEMES, NULL},
    {2031, DEC, MODE_COLOR_SCHEME, NULL},
    {2048, DEC, MODE_RESIZE_REPORTS, on_resize_reports},
};

/* Permanent settings for DECRQM: 3 is always on, 4 always off. */
static const struct {
    uint16_t number;
    uint8_t dec, answer;
} fixed[] = {
    {1, ANSI, 4},
    {3, ANSI, 4},
    {5, ANSI, 4},
    {7, ANSI, 4},
    {10, ANSI, 4},
    {11, ANSI, 4},
    {13, ANSI, 4},
    {14, ANSI, 4},
    {15, ANSI, 4},
    {16, ANSI, 4},
    {17, ANSI, 4},
    {18, ANSI, 4},
    {19, ANSI, 4},
    {2, DEC, 3},
    {60, DEC, 4},
    {61, DEC, 4},
    {64, DEC, 4},
    {68, DEC, 4},
    {73, DEC, 4},
    {81, DEC, 4},
};

#define ALT_BITS (MODE_BIT(MODE_ALT_47) | MODE_BIT(MODE_ALT_1047) | MODE_BIT(MODE_ALT_1049))
#define MOUSE_BITS                                                                          \
    (MODE_BIT(MODE_MOUSE_X10) | MODE_BIT(MODE_MOUSE_NORMAL) | MODE_BIT(MODE_MOUSE_BUTTON) | \
        MODE_BIT(MODE_MOUSE_ANY))

#define CODING_BITS                                                                      \
    (MODE_BIT(MODE_MOUSE_UTF8) | MODE_BIT(MODE_MOUSE_SGR) | MODE_BIT(MODE_MOUSE_URXVT) | \
        MODE_BIT(MODE_MOUSE_PIXELS))

static const struct mode_row *mode_find(int number, bool dec)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].number == number && rows[i].dec == dec)
            return &rows[i];
    return NULL;
}

/* Returns the bits that change together: one screen, one kind of mouse report and one mouse
 * encoding is active at a time. */
static uint64_t mode_group(uint64_t bit)
{
    static const uint64_t groups[] = {ALT_BITS, MOUSE_BITS, CODING_BITS};
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (bit & groups[i])
            return groups[i];
    return bit;
}

static void mode_apply(struct term *t, const struct mode_row *row, bool on)
{
    uint64_t bit = MODE_BIT(row->bit), all = mode_group(bit);
    if (on && all & ALT_BITS)
        t->modes |= all;
    else if (on)
        t->modes = (t->modes & ~all) | bit;
    else if (bit & CODING_BITS)
        t->modes &= ~bit; /* as in xterm: only the active encoding can be reset */
    else
        t->modes &= ~(bit & CODING_BITS ? bit : all);
    if (row->changed)
        row->changed(t, on);
}

void mode_set(struct term *t, int number, bool dec, bool on)
{
    const struct mode_row *row = mode_find(number, dec);
    if (row)
        mode_apply(t, row, on);
    else
        term_unknown(t);
}

int mode_report(const struct term *t, int number, bool dec)
{
    const struct mode_row *row = mode_find(number, dec);
    if (row)
        return mode_is(t, (enum mode)row->bit) ? 1 : 2;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (fixed[i].number == number && fixed[i].dec == dec)
            return fixed[i].answer;
    return 0;
}

void mode_save(struct term *t, int number, bool restore)
{
    const struct mode_row *row = mode_find(number, true);
    if (!row) {
        term_unknown(t);
        return;
    }
    uint64_t bit = MODE_BIT(row->bit);
    if (restore)
        mode_apply(t, row, t->saved_modes & bit);
    else
        t->saved_modes = (t->saved_modes & ~bit) | (t->modes & bit);
}

void modes_reset(struct term *t, bool soft)
{
    const uint64_t soft_off =
        MODE_BIT(MODE_INSERT) | MODE_BIT(MODE_ORIGIN) | MODE_BIT(MODE_KEYBOARD_LOCK) |
        MODE_BIT(MODE_CURSOR_KEYS) | MODE_BIT(MODE_KEYPAD) | MODE_BIT(MODE_REVERSE_WRAP) |
        MODE_BIT(MODE_REVERSE_WRAP_MORE) | MODE_BIT(MODE_NATIONAL) | MODE_BIT(MODE_MARGINS);
    const uint64_t start = MODE_BIT(MODE_AUTOWRAP) | MODE_BIT(MODE_CURSOR) |
                           MODE_BIT(MODE_AUTOREPEAT) | MODE_BIT(MODE_ALTERNATE_SCROLL) |
                           MODE_BIT(MODE_META_SENDS_ESC);
    uint64_t graphemes = t->options.width == TERM_WIDTH_GRAPHEME ? MODE_BIT(MODE_GRAPHEMES) : 0;
    if (soft)
        t->modes = (t->modes & ~soft_off) | MODE_BIT(MODE_CURSOR) | MODE_BIT(MODE_AUTOWRAP);
    else
        t->modes = t->saved_modes = start | graphemes;
    text_mode_changed(t);
}
