/* Control characters and escape sequences of one or two bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

/* Controls ------------------------------------------------------------------------------------ */

static void esc_shift(struct term *t, uint8_t set)
{
    t->charsets.gl = set;
    text_mode_changed(t);
}

static void shift_once(struct term *t, uint8_t set)
{
    t->charsets.once = set;
    text_mode_changed(t);
}

void control(void *context, uint8_t byte)
{
    struct term *t = context;
    if (t->n_utf8)
        text_flush(t);
    t->joinable = false;
    switch (byte) {
    case '\a':
        term_tell(t, TERM_EVENT_BELL, (struct str){0}, 0);
        break;
    case '\b':
        cursor_back(t, 1);
        break;
    case '\t':
        if (t->pending && mode_is(t, MODE_MORE_FIX))
            cursor_wrap(t);
        cursor_tab(t, 1);
        break;
    case '\n':
        if (t->options.onlcr)
            cursor_return(t);
        cursor_newline(t);
        break;
    case '\v':
    case '\f':
        cursor_newline(t);
        break;
    case '\r':
        cursor_return(t);
        break;
    case 0x0E: /* SO */
    case 0x0F: /* SI */
        esc_shift(t, byte == 0x0E);
        break;
    default:
        break; /* NUL, ENQ (no answerback) and others have no effect */
    }
}

/* Escape sequences ---------------------------------------------------------------------------- */

static void nel(struct term *t)
{
    cursor_index(t);
    cursor_return(t);
}

static void hts(struct term *t)
{
    tab_set(t, t->col, true);
}

/* DECBI, DECFI: move sideways, scroll at the margin. */
static void decbi(struct term *t)
{
    bool inside = t->row >= t->top && t->row <= t->bottom;
    if (t->col == t->left && inside)
        scroll_left(t, -1);
    else if (t->col > 0 && t->col != t->left)
        t->col--;
    t->pending = false;
}

static void decfi(struct term *t)
{
    bool inside = t->row >= t->top && t->row <= t->bottom;
    if (t->col == t->right && inside)
        scroll_left(t, 1);
    else if (t->col < t->cols - 1 && t->col != t->right)
        t->col++;
    t->pending = false;
}

static void esc_set_guard(struct term *t, bool on)
{
    t->pen.attrs = (uint16_t)((t->pen.attrs & ~STYLE_GUARDED) | (on ? STYLE_GUARDED : 0));
    t->guards |= on;
    pen_changed(t);
}

static void decaln(struct term *t)
{
    margins_reset(t);
    cursor_set(t, 0, 0);
    t->modes &= ~MODE_BIT(MODE_ORIGIN);
    for (int y = 0; y < t->rows; y++) {
        struct row *row = grid_row(t->grid, y);
        row_clear(row, t->cols, 0);
        row_fill(row, 0, t->cols, 'E');
    }
}

static void esc_designate(struct term *t, unsigned slot, uint8_t final)
{
    uint8_t set = CHARSET_ASCII;
    if (final == '0' || final == '2')
        set = CHARSET_LINES;
    else if (final == 'A')
        set = CHARSET_UK;
    t->charsets.g[slot] = set;
    text_mode_changed(t);
}

/* Returns the set that an intermediate byte designates, G0 to G3, or -1. */
static int esc_charset_slot(uint8_t intermediate)
{
    static const char slots[] = "()*+,-./"; /* sets of 94 characters, then sets of 96 */
    const char *slot = intermediate == ',' ? NULL : strchr(slots, intermediate);
    return slot ? (int)(slot - slots) % 4 : -1;
}

/* Escape sequences with an intermediate byte. */
static void two_bytes(struct term *t, uint8_t intermediate, uint8_t final)
{
    int slot = esc_charset_slot(intermediate);
    if (slot >= 0) /* no 96-character sets are supported */
        esc_designate(t, (unsigned)slot, strchr("-./", intermediate) ? 'B' : final);
    else if (intermediate == '#' && final == '8')
        decaln(t);
    else if (intermediate == ' ' && (final == 'F' || final == 'G'))
        t->c1_replies = final == 'G';
    else if (intermediate == '#' && final >= '3' && final <= '6')
        return; /* double-size lines are shown as normal ones */
    else if (intermediate == '%' && (final == 'G' || final == '@'))
        return; /* always UTF-8 */
    else if (intermediate == ' ' && final >= 'L' && final <= 'N')
        return; /* ANSI conformance levels */
    else
        term_unknown(t);
}

static void one_byte(struct term *t, uint8_t final)
{
    switch (final) {
    case '6':
        decbi(t);
        break;
    case '7':
        cursor_save(t);
        break;
    case '8':
        cursor_restore(t);
        break;
    case '9':
        decfi(t);
        break;
    case '=':
    case '>':
        mode_set(t, 66, true, final == '=');
        break;
    case 'D':
        cursor_index(t);
        break;
    case 'E':
        nel(t);
        break;
    case 'H':
        hts(t);
        break;
    case 'M':
        t->drawn++;
        cursor_reverse_index(t);
        break;
    case 'N':
    case 'O':
        shift_once(t, final == 'N' ? 2 : 3);
        break;
    case 'V':
    case 'W':
        esc_set_guard(t, final == 'V');
        break;
    case 'Z':
        report_attributes(t);
        break;
    case 'c':
        term_reset(t);
        break;
    case 'n':
    case 'o':
        esc_shift(t, final == 'n' ? 2 : 3);
        break;
    case '\\': /* ST without a string */
    case '|':
    case '}':
    case '~': /* GR locking shifts, meaningless in UTF-8 */
    case 'l':
    case 'm': /* memory lock */
        break;
    default:
        term_unknown(t);
    }
}

void esc_dispatch(void *context, uint8_t final)
{
    struct term *t = context;
    const struct parser *p = &t->parser;
    if (t->n_utf8)
        text_flush(t);
    t->joinable = false;
    if (p->n_intermediates == 0)
        one_byte(t, final);
    else if (p->n_intermediates == 1)
        two_bytes(t, p->intermediates[0], final);
    else if (esc_charset_slot(p->intermediates[0]) >= 0)
        esc_designate(t, (unsigned)esc_charset_slot(p->intermediates[0]), 'B');
    else
        term_unknown(t);
}
