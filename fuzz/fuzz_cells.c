/* Rows of cells as a client of a box gets them: any bytes are drawn or refused, and the output for
 * the user's terminal is characters and a few known sequences, which make a terminal show what was
 * drawn. A row taken from that terminal is drawn the same.
 *
 * The first three bytes are rows, columns and the first column shown; each row is its length in a
 * byte and its bytes. The rows are drawn as two frames. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "term/look.h"
#include "term/restyle.h"
#include "tui/canvas.h"

enum {
    ROWS = 4,
    COLS = 12,
    OUT_MAX = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks one of the sequences that are written; returns its length. */
static size_t check_sequence(struct str s)
{
    size_t i = 2;
    BUG_ON(s.n < 3 || s.p[1] != '[');
    while (i < s.n && strchr("0123456789;:? ", s.p[i]) && s.p[i])
        i++;
    BUG_ON(i == s.n || !s.p[i] || !strchr("HCmJhlq", s.p[i]));
    struct str body = str_n(s.p + 2, i - 2);
    bool private = str_is(body, "?2026") || str_is(body, "?25");
    BUG_ON((s.p[i] == 'h' || s.p[i] == 'l') != private);
    BUG_ON(!private && str_find(body, '?') >= 0);
    BUG_ON(s.p[i] == 'J' && !str_is(body, "2"));
    BUG_ON((s.p[i] == 'q') != (body.n == 2 && body.p[1] == ' '));
    if (s.p[i] == 'm' && body.n) /* a code between each two separators, of at most three digits */
        for (size_t k = 0, digits = 0; k <= body.n; k++) {
            bool digit = k < body.n && body.p[k] >= '0' && body.p[k] <= '9';
            bool empty =
                k > 1 && body.p[k - 1] == ':' && str_ends_with(str_head(body, k), STR("2:"));
            BUG_ON(!digit && digits == 0 && !(empty && k < body.n && body.p[k] == ':'));
            digits = digit ? digits + 1 : 0;
            BUG_ON(digits > 3);
        }
    return i + 1;
}

static void check_output(struct str out)
{
    while (out.n) {
        uint32_t codepoint;
        size_t n = utf8_decode(out, &codepoint);
        BUG_ON(n == 0);
        if (codepoint == '\033')
            n = check_sequence(out);
        else
            BUG_ON(!look_drawable(codepoint));
        out = str_skip(out, n);
    }
}

static void cell_of_term(
    const struct term *t, unsigned row, unsigned col, struct canvas_cell *ret_cell)
{
    struct term_cell cell;
    size_t n = 0;
    term_cell(t, (int)row, col, &cell);
    *ret_cell = (struct canvas_cell){.style = cell.style, .width = (uint8_t)cell.width};
    for (unsigned i = 0; i < cell.n && n + UTF8_MAX <= CANVAS_TEXT; i++)
        n += utf8_write(cell.codepoints[i], ret_cell->text + n);
    if (n == 0 && cell.width == 1)
        ret_cell->text[n++] = ' ';
    ret_cell->n = (uint8_t)n;
}

static void check_shown(const struct canvas *c, const struct term *t)
{
    for (unsigned row = 0; row < canvas_rows(c); row++)
        for (unsigned col = 0; col < canvas_cols(c); col++) {
            struct canvas_cell got;
            cell_of_term(t, row, col, &got);
            BUG_ON(memcmp(&got, canvas_cell(c, row, col), sizeof(got)) != 0);
        }
}

/* Sends the terminal's contents once more. */
static void check_again(const struct canvas *c, const struct term *t)
{
    struct canvas *direct = canvas_new(canvas_rows(c), canvas_cols(c));
    struct canvas *sent = canvas_new(canvas_rows(c), canvas_cols(c));
    canvas_show(direct, t, &(struct canvas_part){0, 0, canvas_rows(c), canvas_cols(c), 0, 0});
    for (unsigned row = 0; row < canvas_rows(c); row++) {
        AUTO_BUF struct buf bytes = BUF_INIT(OUT_MAX);
        cells_put(t, (int)row, canvas_cols(c), &bytes);
        BUG_ON(!canvas_put_row(
            sent, buf_str(&bytes), &(struct canvas_place){row, 0, 0, canvas_cols(c)}));
        for (unsigned col = 0; col < canvas_cols(c); col++)
            BUG_ON(memcmp(canvas_cell(sent, row, col), canvas_cell(direct, row, col),
                       sizeof(struct canvas_cell)) != 0);
    }
    canvas_free(direct);
    canvas_free(sent);
}

static void write_frame(struct canvas *c, struct term *t)
{
    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX), none = BUF_INIT(OUT_MAX);
    canvas_write(c, &out);
    BUG_ON(!buf_ok(&out));
    check_output(buf_str(&out));
    term_feed(t, buf_str(&out));
    check_shown(c, t);
    check_again(c, t);
    canvas_write(c, &none);
    BUG_ON(none.n);
}

/* Any bytes as two styles: the change from one to the other is a sequence, or nothing. */
static void check_restyle(struct str bytes)
{
    struct style from, to;
    if (bytes.n < sizeof(from) + sizeof(to))
        return;
    memcpy(&from, bytes.p, sizeof(from));
    memcpy(&to, bytes.p + sizeof(from), sizeof(to));
    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX);
    restyle(&from, &to, &out);
    BUG_ON(!buf_ok(&out) || (out.n && check_sequence(buf_str(&out)) != out.n));
    BUG_ON(memcmp(&from, &to, sizeof(to)) != 0);
}

static struct str take_row(struct str *rest)
{
    size_t n = (unsigned char)rest->p[0];
    struct str row = str_head(str_skip(*rest, 1), n);
    *rest = str_skip(*rest, 1 + row.n);
    return row;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    unsigned rows = 1 + data[0] % ROWS, cols = 1 + data[1] % COLS, from = data[2] % COLS;
    struct canvas *c = canvas_new(rows, cols);
    struct term *t = term_new(&(struct term_options){.rows = rows, .cols = cols});
    struct str rest = str_n((const char *)data + 3, size - 3);
    check_restyle(rest);
    for (int frame = 0; frame < 2; frame++) {
        canvas_clear(c);
        for (unsigned row = 0; row < rows && rest.n; row++)
            (void)!canvas_put_row(
                c, take_row(&rest), &(struct canvas_place){row, 0, from, from + cols});
        write_frame(c, t);
    }
    canvas_free(c);
    term_free(t);
    return 0;
}
