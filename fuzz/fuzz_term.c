/* The terminal: bytes, changes of size and key presses. For any input, every invariant of its state
 * holds, its memory is bounded, and a second terminal that gets the bytes one by one is in the same
 * state.
 *
 * The first three bytes are rows, columns and options. 0xFF, which no text has, is a mark: 0xFF 0 R
 * C is a resize, 0xFF 1 K M a key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/keys.h"
#include "term/term_state.h"

enum {
    MARK = 0xFF,
    OP_RESIZE = 0,
    OP_KEY = 1,
    OP_SIZE = 4,
    ROWS = 40,
    COLS = 120,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct term *t, const struct grid *g, int y)
{
    const struct row *row = grid_row(g, y);
    BUG_ON(row->used > g->cols);
    for (int x = 0; x < g->cols; x++) {
        cell c = row->cells[x];
        BUG_ON(x >= row->used && c != 0);
        BUG_ON(cell_style(c) >= t->styles.n);
        BUG_ON(c & CELL_CLUSTER && (cell_char(c) == 0 || cell_char(c) >= t->clusters.n));
        BUG_ON(c & CELL_WIDE && (x + 1 >= g->cols || !(row->cells[x + 1] & CELL_TAIL)));
        BUG_ON(c & CELL_TAIL && (x == 0 || !(row->cells[x - 1] & CELL_WIDE)));
        BUG_ON(c & (CELL_WIDE | CELL_TAIL) && !(row->flags & ROW_WIDE));
    }
}

static void check(const struct term *t)
{
    for (int i = 0; i < 2; i++) {
        const struct grid *g = &t->screens[i].grid;
        BUG_ON(g->rows != t->rows || g->cols != t->cols || g->history > g->history_max);
        for (int y = -g->history; y < g->rows; y++)
            check_row(t, g, y);
    }
    BUG_ON(t->row < 0 || t->row >= t->rows || t->col < 0 || t->col >= t->cols);
    BUG_ON(t->top < 0 || t->top > t->bottom || t->bottom >= t->rows);
    BUG_ON(t->left < 0 || t->left > t->right || t->right >= t->cols);
    BUG_ON(t->replies.n > TERM_REPLIES_MAX || t->parser.string.n > TERM_STRING_MAX);
    for (uint32_t i = 0; i < t->styles.n; i++)
        BUG_ON(t->styles.styles[i].link >= t->links.n);
    BUG_ON(t->pen.link >= t->links.n);
}

static void same(const struct term *a, const struct term *b)
{
    BUG_ON(term_hash(a) != term_hash(b));
    BUG_ON(!str_eq(term_replies(a), term_replies(b)));
    BUG_ON(term_scrollback(a) != term_scrollback(b) || a->modes != b->modes);
    BUG_ON(a->pending != b->pending || a->parser.state != b->parser.state);
}

static void press(const struct term *t, uint8_t name, uint8_t mods)
{
    AUTO_BUF struct buf out = BUF_INIT(4096);
    struct term_input input;
    const struct key key = {
        .name = (enum key_name)(name % KEY_NAMES), .codepoint = name, .mods = mods & 63};
    const struct mouse mouse = {.button = (enum mouse_button)(name % 10),
        .action = (enum mouse_action)(mods % 3),
        .row = mods,
        .col = name};
    term_input(t, &input);
    key_encode(&key, &input, &out);
    (void)mouse_encode(&mouse, &input, &out);
    BUG_ON(!buf_ok(&out));
}

/* Feeds one piece: an operation, or bytes up to the next mark. Returns its length. */
static size_t piece(struct term *whole, struct term *slow, const uint8_t *data, size_t size)
{
    if (data[0] == MARK && size >= OP_SIZE && data[1] == OP_RESIZE) {
        term_resize(whole, data[2] % ROWS + 1u, data[3] % COLS + 1u);
        term_resize(slow, data[2] % ROWS + 1u, data[3] % COLS + 1u);
        return OP_SIZE;
    }
    if (data[0] == MARK && size >= OP_SIZE && data[1] == OP_KEY) {
        press(whole, data[2], data[3]);
        return OP_SIZE;
    }
    const uint8_t *next = memchr(data + 1, MARK, size - 1);
    size_t n = next ? (size_t)(next - data) : size;
    term_feed(whole, str_n((const char *)data, n));
    for (size_t i = 0; i < n; i++)
        term_feed(slow, str_n((const char *)data + i, 1));
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct term_options options = {
        .rows = data[0] % ROWS + 1u,
        .cols = data[1] % COLS + 1u,
        .scrollback = data[2] & 1 ? 50 : 0,
        .width = data[2] & 2 ? TERM_WIDTH_WCWIDTH : TERM_WIDTH_GRAPHEME,
        .onlcr = data[2] & 4,
        .may_resize = data[2] & 8,
    };
    struct term *whole = term_new(&options), *slow = term_new(&options);
    for (size_t at = 3; at < size;) {
        at += piece(whole, slow, data + at, size - at);
        check(whole);
        same(whole, slow);
    }
    term_feed_end(whole);
    term_feed_end(slow);
    same(whole, slow);
    term_free(whole);
    term_free(slow);
    return 0;
}
