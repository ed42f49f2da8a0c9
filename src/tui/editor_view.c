/* Renders the editor. Only the text around the cursor is laid out, regardless of the content's
 * size. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "tui/editor_state.h"
#include "tui/theme.h"

enum {
    STRIDE = 16 << 10, /* a long line is laid out from a multiple of this */
    LABEL_MAX = 64,
};

struct editor_layout {
    const struct editor *e;
    struct text rows;  /* without the prompt */
    struct text piece; /* current cluster as displayed */
    size_t width;
    size_t most; /* maximum number of rows */
    bool found;
    struct editor_place cursor;
};

static void editor_end_row(struct editor_layout *l)
{
    text_end(&l->rows);
}

static void thousands(size_t n, char out[LABEL_MAX])
{
    if (n < 1000)
        snprintf(out, LABEL_MAX, "%zu", n);
    else if (n < 1000 * 1000)
        snprintf(out, LABEL_MAX, "%zu,%03zu", n / 1000, n % 1000);
    else
        snprintf(out, LABEL_MAX, "%zu,%03zu,%03zu", n / 1000000, n / 1000 % 1000, n % 1000);
}

/* Label displayed for a paste. */
static void paste_label(const struct editor *e, int paste, char out[2 * LABEL_MAX])
{
    size_t lines = e->paste_lines[paste];
    char number[LABEL_MAX];
    thousands(lines > 1 ? lines : e->paste_n[paste], number);
    snprintf(out, 2 * (size_t)LABEL_MAX, "[pasted %s %s]", number, lines > 1 ? "lines" : "bytes");
}

/* Puts a cluster as displayed into line 0 of `piece`. */
static void make_piece(struct editor_layout *l, struct str cluster)
{
    uint32_t codepoint = 0;
    char label[2 * LABEL_MAX];
    text_reset(&l->piece);
    int paste = utf8_decode(cluster, &codepoint) ? editor_paste_of(l->e, codepoint) : -1;
    if (paste >= 0) {
        paste_label(l->e, paste, label);
        text_add_z(&l->piece, label, &theme[THEME_HUNK]);
    } else {
        text_add(&l->piece, cluster, NULL);
    }
    text_end(&l->piece);
}

static void put_piece(struct editor_layout *l, struct str cluster)
{
    make_piece(l, cluster);
    size_t width = l->piece.lines[0].width;
    if (l->rows.open.width && l->rows.open.width + width > l->width)
        editor_end_row(l);
    text_cut(&l->rows, &l->piece, 0, 0, l->width);
}

static void editor_put_cursor(struct editor_layout *l, size_t at, size_t line_end)
{
    if (l->found || at != l->e->cursor)
        return;
    /* If the character at the cursor does not fit in this row, the cursor moves to the next one. */
    size_t need = 1;
    if (at < line_end) {
        make_piece(l, str_n(l->e->text.p + at, editor_next(l->e, at) - at));
        need = MIN(l->piece.lines[0].width, l->width);
    }
    if (l->rows.open.width + MAX(need, (size_t)1) > l->width && l->rows.open.width)
        editor_end_row(l);
    l->found = true;
    l->cursor = (struct editor_place){l->rows.n, l->rows.open.width};
}

/* Lays out one line of the content from an offset in it. */
static void lay_line(struct editor_layout *l, size_t at, size_t line_end)
{
    while (at < line_end) {
        editor_put_cursor(l, at, line_end);
        if (l->found && l->rows.n > l->cursor.row + l->most)
            return;
        size_t next = editor_next(l->e, at);
        put_piece(l, str_n(l->e->text.p + at, next - at));
        at = next;
    }
    editor_put_cursor(l, line_end, line_end);
    editor_end_row(l);
}

/* Returns the offset to start from: some lines before the cursor's, but not too far. */
static size_t first_place(const struct editor *e, size_t lines)
{
    size_t start = editor_line_start(e, e->cursor);
    if (e->cursor - start > 2 * (size_t)STRIDE) {
        start += ((e->cursor - start) / STRIDE - 1) * STRIDE;
        while (((uint8_t)e->text.p[start] & 0xC0) == 0x80)
            start++;
        return start;
    }
    for (; lines > 0 && start > 0; lines--) {
        size_t before = editor_line_start(e, start - 1);
        if (e->cursor - before > 2 * (size_t)STRIDE)
            break;
        start = before;
    }
    return start;
}

static void lay_out(struct editor_layout *l)
{
    const struct editor *e = l->e;
    size_t at = first_place(e, l->most);
    for (;;) {
        size_t line_end = editor_line_end(e, at);
        lay_line(l, at, line_end);
        if (line_end >= e->text.n || (l->found && l->rows.n > l->cursor.row + l->most))
            return;
        at = line_end + 1;
    }
}

/* Returns the column in which the notes of a list are aligned. */
static size_t note_column(const struct editor_list *list)
{
    size_t widest = 0;
    for (size_t i = 0; i < list->n; i++) {
        AUTO_TEXT struct text word = TEXT_INIT;
        if (list->items[i].note[0])
            text_add_z(&word, list->items[i].text, NULL);
        widest = MAX(widest, word.open.width);
    }
    return widest + 4;
}

/* Adds the number of candidates that are not shown. */
static void draw_hidden(
    const struct editor_list *list, size_t shown, unsigned width, struct text *out)
{
    AUTO_TEXT struct text line = TEXT_INIT;
    char words[LABEL_MAX];
    if (list->n <= shown)
        return;
    snprintf(words, sizeof(words), "… %zu%s more", list->n - shown, list->more ? "+" : "");
    text_spaces(&line, 2, NULL);
    text_add_z(&line, words, &theme[THEME_DIM]);
    text_end(&line);
    text_cut(out, &line, 0, 0, width);
    text_end(out);
}

/* Returns the number of visible candidates: one less if a row is needed for the number of
 * others. */
static size_t list_rows(const struct editor_list *list, size_t most)
{
    size_t rows = MIN(list->n, (size_t)EDITOR_LIST);
    if (most == 0 || rows + (rows < list->n) <= most)
        return rows;
    return MAX(most, (size_t)2) - 1;
}

static void editor_draw_list(
    const struct editor *e, const struct editor_view *view, size_t most, struct text *out)
{
    const struct editor_list *list = &e->list;
    size_t shown = list_rows(list, most), notes = note_column(list);
    size_t first = list->chosen >= shown ? list->chosen - shown + 1 : 0;
    for (size_t i = first; i < MIN(list->n, first + shown); i++) {
        AUTO_TEXT struct text line = TEXT_INIT;
        const struct style *style = i == list->chosen ? &theme[THEME_CHOSEN] : NULL;
        text_spaces(&line, 2, NULL);
        text_add_z(&line, list->items[i].text, style);
        if (list->items[i].note[0]) {
            text_spaces(&line, notes - line.open.width, NULL);
            text_add_z(&line, list->items[i].note, &theme[THEME_DIM]);
        }
        text_end(&line);
        text_cut(out, &line, 0, 0, view->width);
        text_end(out);
    }
    if (most != 1)
        draw_hidden(list, shown, view->width, out);
}

/* Adds the visible rows, with the prompt. */
static void draw_rows(
    const struct editor_layout *l, const struct editor_view *view, size_t prompt, struct text *out)
{
    size_t first = l->cursor.row + 1 > l->most ? l->cursor.row + 1 - l->most : 0;
    for (size_t i = first; i < MIN(l->rows.n, first + l->most); i++) {
        bool begins = i == 0 && first_place(l->e, l->most) == 0;
        if (prompt && begins)
            text_add(out, view->prompt, &theme[THEME_BULLET]);
        else
            text_spaces(out, prompt, NULL);
        text_append(out, &l->rows, i);
        if (editor_empty(l->e) && prompt + view->hint.n < view->width)
            text_add(out, view->hint, &theme[THEME_DIM]);
        text_end(out);
    }
}

void editor_draw(const struct editor *e, const struct editor_view *view, struct text *out,
    struct editor_place *ret_cursor)
{
    AUTO_TEXT struct text prompt = TEXT_INIT;
    struct editor_layout l = {
        .e = e, .rows = TEXT_INIT, .piece = TEXT_INIT, .most = MAX(view->rows, 1u)};
    size_t before = out->n;
    text_add(&prompt, view->prompt, NULL);
    text_end(&prompt);
    size_t indent = prompt.lines[0].width;
    if (2 * indent >= view->width)
        indent = 0;
    l.width = MAX(view->width, 1u) - indent;
    lay_out(&l);
    draw_rows(&l, view, indent, out);
    size_t first = l.cursor.row + 1 > l.most ? l.cursor.row + 1 - l.most : 0;
    *ret_cursor = (struct editor_place){before + l.cursor.row - first, l.cursor.col + indent};
    size_t taken = out->n - before;
    editor_draw_list(e, view, view->all > taken ? view->all - taken : view->all ? 1 : 0, out);
    text_done(&l.rows);
    text_done(&l.piece);
}
