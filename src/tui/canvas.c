/* Grid of styled cells to draw on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/canvas.h"

#include "base/utf8.h"
#include "term/look.h"
#include "term/restyle.h"
#include "term/unicode.h"

enum {
    VARIATION_TEXT = 0xFE0E,
    VARIATION_EMOJI = 0xFE0F,
    SAFE_BELOW = 0x2600, /* terminals agree about the width of narrow characters below this */
};

struct canvas {
    unsigned rows, cols;
    bool plain;
    bool known; /* `shown` matches the terminal */
    struct canvas_cell *cells, *shown;
    struct canvas_cursor cursor, shown_cursor;
};

static const struct style no_style = {0};
static const struct canvas_cell blank = {.width = 1, .n = 1, .text = " "};

/* Clusters ------------------------------------------------------------------------------------ */

static unsigned joined_width(unsigned width, uint32_t first, uint32_t codepoint, unsigned class)
{
    bool varies = unicode_class(first) & UNICODE_EMOJI_VARIATION;
    if (varies && codepoint == VARIATION_TEXT)
        return 1;
    if ((varies && codepoint == VARIATION_EMOJI) || unicode_width(class) == 2 ||
        (class & UNICODE_BREAK_MASK) == BREAK_REGIONAL)
        return 2;
    return width;
}

size_t canvas_cluster(struct str text, unsigned *ret_width)
{
    struct grapheme state = GRAPHEME_START;
    uint32_t first = 0;
    size_t at = 0;
    *ret_width = 1;
    while (at < text.n) {
        uint32_t codepoint;
        size_t n = utf8_decode(str_skip(text, at), &codepoint);
        if (n == 0)
            return at ? at : utf8_invalid_length(text);
        unsigned class = unicode_class(codepoint);
        bool joins = grapheme_joins(&state, class);
        if (at && !joins)
            break;
        if (at == 0)
            first = codepoint;
        *ret_width =
            at == 0 ? unicode_width(class) : joined_width(*ret_width, first, codepoint, class);
        at += n;
    }
    return at;
}

/* Puts a cluster into the cell, up to CANVAS_TEXT bytes. Returns false if it is not drawable or not
 * of this width. A cluster that starts wide and is made narrow by a later code point would damage
 * the next cell. */
static bool canvas_set_cell_text(struct canvas_cell *cell, struct str text, unsigned width)
{
    unsigned natural;
    uint32_t codepoint;
    text = str_head(text, canvas_cluster(text, &natural));
    cell->n = 0;
    for (struct str rest = text; rest.n;) {
        size_t n = utf8_decode(rest, &codepoint);
        if (n == 0 || !look_drawable(codepoint) ||
            (cell->n == 0 && unicode_width(unicode_class(codepoint)) > width))
            return false;
        if (cell->n + n > CANVAS_TEXT || (cell->n && natural != width))
            break;
        memcpy(cell->text + cell->n, rest.p, n);
        cell->n = (uint8_t)(cell->n + n);
        rest = str_skip(rest, n);
    }
    (void)canvas_cluster(str_n(cell->text, cell->n), &natural);
    return cell->n && natural == width;
}

/* Cells --------------------------------------------------------------------------------------- */

static struct canvas_cell *cell_at(const struct canvas *c, unsigned row, unsigned col)
{
    return &c->cells[(size_t)row * c->cols + col];
}

static struct canvas_cell blank_in(struct style style)
{
    struct canvas_cell cell = blank;
    cell.style = style;
    return cell;
}

static struct style canvas_shown_style(const struct canvas *c, const struct style *style)
{
    struct style s = style ? *style : no_style;
    s.attrs &= (uint16_t)STYLE_VISIBLE;
    s.link = 0;
    if (c->plain)
        s.fg = s.bg = s.underline_color = 0;
    if (!s.underline)
        s.underline_color = 0;
    if (color_kind(s.underline_color) == COLOR_ANSI) /* has no SGR code */
        s.underline_color = color_indexed(color_value(s.underline_color));
    return s;
}

/* Blanks the other half if the cell is half of a wide character. */
static void canvas_cut_wide(struct canvas *c, unsigned row, unsigned col)
{
    struct canvas_cell *cell = cell_at(c, row, col);
    if (cell->width == 0 && col > 0)
        cell[-1] = blank_in(cell[-1].style);
    if (cell->width == 2)
        cell[1] = blank_in(cell[1].style);
}

void canvas_put(struct canvas *c, unsigned row, unsigned col, struct str text, unsigned width,
    const struct style *style)
{
    struct canvas_cell cell = {.style = canvas_shown_style(c, style), .width = (uint8_t)width};
    if (row >= c->rows || col >= c->cols || width < 1 || width > 2)
        return;
    if (col + width > c->cols) {
        width = 1;
        text = STR(" ");
    }
    if (!canvas_set_cell_text(&cell, text, width)) {
        cell = blank_in(cell.style);
        cell.n = (uint8_t)utf8_write(UTF8_REPLACEMENT, cell.text);
    }
    if (width == 1)
        cell.width = 1;
    memset(cell.text + cell.n, 0, sizeof(cell.text) - cell.n);
    canvas_cut_wide(c, row, col);
    if (width == 2)
        canvas_cut_wide(c, row, col + 1);
    *cell_at(c, row, col) = cell;
    if (width == 2)
        *cell_at(c, row, col + 1) =
            cell.width == 2 ? (struct canvas_cell){.style = cell.style} : blank_in(cell.style);
}

unsigned canvas_text(struct canvas *c, unsigned row, unsigned col, unsigned end, struct str text,
    const struct style *style)
{
    end = MIN(end, c->cols);
    for (unsigned width; text.n && col < end;) {
        size_t n = canvas_cluster(text, &width);
        struct str rest = str_skip(text, n);
        width = MAX(width, 1u);
        if (col + width > end || (rest.n && col + width == end)) {
            canvas_put(c, row, col, STR("…"), 1, style);
            return col + 1;
        }
        canvas_put(c, row, col, str_head(text, n), width, style);
        col += width;
        text = rest;
    }
    return col;
}

void canvas_fill(
    struct canvas *c, unsigned row, unsigned col, unsigned end, const struct style *style)
{
    for (; col < MIN(end, c->cols); col++)
        canvas_put(c, row, col, STR(" "), 1, style);
}

static void put_part(
    struct canvas *c, const struct canvas_place *place, const struct cells_item *item)
{
    const unsigned end = item->col + item->width;
    const unsigned left = MAX(item->col, place->from), right = MIN(end, place->end);
    bool whole = left == item->col && right == end;
    if (left >= right)
        return;
    const unsigned at = place->col + left - place->from;
    if (whole && item->text.n)
        canvas_put(c, place->row, at, item->text, item->width, &item->style);
    else
        canvas_fill(c, place->row, at, place->col + right - place->from, &item->style);
}

bool canvas_put_row(struct canvas *c, struct str bytes, const struct canvas_place *place)
{
    struct cells_reader r = {.rest = bytes};
    struct cells_item item;
    while (r.rest.n && cells_next(&r, &item))
        put_part(c, place, &item);
    return !r.bad;
}

const struct canvas_cell *canvas_cell(const struct canvas *c, unsigned row, unsigned col)
{
    return cell_at(c, row, col);
}

/* Canvas -------------------------------------------------------------------------------------- */

struct canvas *canvas_new(unsigned rows, unsigned cols)
{
    struct canvas *c = base_alloc(sizeof(*c));
    canvas_resize(c, rows, cols);
    return c;
}

void canvas_free(struct canvas *c)
{
    if (!c)
        return;
    free(c->cells);
    free(c->shown);
    free(c);
}

void canvas_set_plain(struct canvas *c, bool plain)
{
    c->plain = plain;
}

void canvas_resize(struct canvas *c, unsigned rows, unsigned cols)
{
    c->rows = MAX(1u, MIN(rows, (unsigned)CANVAS_SIZE_MAX));
    c->cols = MAX(1u, MIN(cols, (unsigned)CANVAS_SIZE_MAX));
    size_t size = (size_t)c->rows * c->cols * sizeof(*c->cells);
    c->cells = base_realloc(c->cells, size);
    c->shown = base_realloc(c->shown, size);
    canvas_clear(c);
    canvas_forget(c);
}

void canvas_forget(struct canvas *c)
{
    c->known = false;
}

unsigned canvas_rows(const struct canvas *c)
{
    return c->rows;
}

unsigned canvas_cols(const struct canvas *c)
{
    return c->cols;
}

static void blank_all(const struct canvas *c, struct canvas_cell *cells)
{
    for (size_t i = 0; i < (size_t)c->rows * c->cols; i++)
        cells[i] = blank;
}

void canvas_clear(struct canvas *c)
{
    blank_all(c, c->cells);
    c->cursor = (struct canvas_cursor){0};
}

void canvas_set_cursor(struct canvas *c, const struct canvas_cursor *cursor)
{
    c->cursor = *cursor;
    if (cursor->row >= c->rows || cursor->col >= c->cols)
        c->cursor = (struct canvas_cursor){0};
}

/* Terminal screens ---------------------------------------------------------------------------- */

/* Replaces concealed text with blanks: not every terminal supports the attribute. */
static void show_cell(
    struct canvas *c, unsigned row, unsigned col, const struct term_cell *cell, bool reverse)
{
    char text[ARRAY_LEN(cell->codepoints) * UTF8_MAX];
    struct style style = cell->style;
    size_t n = 0;
    for (unsigned i = 0; i < cell->n; i++)
        n += utf8_write(cell->codepoints[i], text + n);
    if (reverse)
        style.attrs ^= STYLE_INVERSE;
    if (style.attrs & STYLE_CONCEAL || n == 0) {
        style.attrs &= (uint16_t)~STYLE_CONCEAL;
        for (unsigned i = 0; i < cell->width; i++)
            canvas_put(c, row, col + i, STR(" "), 1, &style);
        return;
    }
    canvas_put(c, row, col, str_n(text, n), cell->width, &style);
}

void canvas_show(struct canvas *c, const struct term *t, const struct canvas_part *part)
{
    bool reverse = term_reverse_screen(t);
    unsigned rows = MIN(part->rows, term_rows(t) - MIN(part->from_row, term_rows(t)));
    unsigned cols = MIN(part->cols, term_cols(t) - MIN(part->from_col, term_cols(t)));
    for (unsigned row = 0; row < rows; row++)
        for (unsigned col = 0; col < cols; col++) {
            struct term_cell cell;
            term_cell(t, (int)(part->from_row + row), part->from_col + col, &cell);
            if (cell.width == 0 && col > 0)
                continue; /* covered by the wide character before it */
            if (cell.width == 0 || col + cell.width > cols) {
                cell.n = 0; /* the other half is outside the part */
                cell.width = 1;
            }
            show_cell(c, part->row + row, part->col + col, &cell, reverse);
        }
}

/* Output -------------------------------------------------------------------------------------- */

/* State of the terminal while a frame is written. */
struct canvas_writer {
    struct buf *out;
    struct style pen;
    bool placed; /* row and col are the cursor's position */
    unsigned row, col;
};

/* Whether all terminals treat the cell as one column and never join it with its neighbours. */
static bool is_safe(const struct canvas_cell *cell)
{
    uint32_t codepoint;
    size_t n = utf8_decode(str_n(cell->text, cell->n), &codepoint);
    return n == cell->n && cell->width == 1 && codepoint < SAFE_BELOW &&
           (unicode_class(codepoint) & UNICODE_BREAK_MASK) == BREAK_OTHER;
}

static void canvas_move_to(struct canvas_writer *h, unsigned row, unsigned col)
{
    if (h->placed && h->row == row && h->col == col)
        return;
    if (h->placed && h->row == row && h->col < col)
        buf_printf(h->out, "\033[%uC", col - h->col);
    else
        buf_printf(h->out, "\033[%u;%uH", row + 1, col + 1);
    h->row = row;
    h->col = col;
    h->placed = true;
}

static void write_cell(const struct canvas *c, struct canvas_writer *h, unsigned row, unsigned col)
{
    const struct canvas_cell *cell = cell_at(c, row, col);
    bool safe = is_safe(cell);
    if (!safe)
        h->placed = false; /* position explicitly, so that it does not join the previous cell */
    canvas_move_to(h, row, col);
    restyle(&h->pen, &cell->style, h->out);
    buf_add(h->out, cell->text, cell->n);
    h->col += cell->width;
    h->placed = safe && h->col < c->cols;
}

static void write_cells(struct canvas *c, struct canvas_writer *h)
{
    for (unsigned row = 0; row < c->rows; row++) {
        size_t first = (size_t)row * c->cols;
        if (memcmp(c->cells + first, c->shown + first, c->cols * sizeof(*c->cells)) == 0)
            continue;
        for (unsigned col = 0; col < c->cols; col++) {
            struct canvas_cell *cell = c->cells + first + col, *shown = c->shown + first + col;
            if (memcmp(cell, shown, sizeof(*cell)) != 0 && cell->width)
                write_cell(c, h, row, col);
            *shown = *cell;
        }
    }
    restyle(&h->pen, &no_style, h->out);
}

/* By shape; always steady, even if the program asked for a blinking cursor. */
static const char *const shapes[] = {"\033[2 q", "\033[4 q", "\033[6 q"};

static void write_cursor(struct canvas *c, struct canvas_writer *h)
{
    const struct canvas_cursor *cursor = &c->cursor;
    if (!cursor->visible)
        return;
    h->placed = false;
    canvas_move_to(h, cursor->row, cursor->col);
    if (cursor->shape != c->shown_cursor.shape || !c->known)
        buf_add_z(h->out, shapes[MIN(cursor->shape, 2u)]);
    buf_add_z(h->out, "\033[?25h");
}

static bool canvas_same_cursor(const struct canvas_cursor *a, const struct canvas_cursor *b)
{
    return a->visible == b->visible &&
           (!a->visible || (a->row == b->row && a->col == b->col && a->shape == b->shape));
}

void canvas_write(struct canvas *c, struct buf *out)
{
    struct canvas_writer h = {.out = out};
    size_t size = (size_t)c->rows * c->cols * sizeof(*c->cells);
    bool same = c->known && memcmp(c->cells, c->shown, size) == 0;
    if (same && canvas_same_cursor(&c->cursor, &c->shown_cursor))
        return;
    buf_add_z(out, "\033[?2026h\033[?25l");
    if (!c->known) {
        buf_add_z(out, "\033[m\033[2J");
        blank_all(c, c->shown);
    }
    write_cells(c, &h);
    write_cursor(c, &h);
    buf_add_z(out, "\033[?2026l");
    unsigned shape = c->cursor.visible ? c->cursor.shape : c->shown_cursor.shape;
    c->shown_cursor = c->cursor;
    c->shown_cursor.shape = shape;
    c->known = true;
}
