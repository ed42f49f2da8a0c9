/* The canvas: its output makes a terminal show what was drawn, whatever that was. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/utf8.h"
#include "tui/canvas.h"

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* A terminal's cell, as the canvas writes it. */
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

static bool same_screen(const struct canvas *c, const struct term *t)
{
    for (unsigned row = 0; row < canvas_rows(c); row++)
        for (unsigned col = 0; col < canvas_cols(c); col++) {
            const struct canvas_cell *want = canvas_cell(c, row, col);
            struct canvas_cell got;
            cell_of_term(t, row, col, &got);
            if (memcmp(&got, want, sizeof(got)) == 0)
                continue;
            CHECK_INT(got.width, want->width);
            CHECK_STR(str_n(got.text, got.n), str_n(want->text, want->n));
            CHECK_INT(got.style.attrs, want->style.attrs);
            CHECK_INT(got.style.fg, want->style.fg);
            CHECK_INT(got.style.bg, want->style.bg);
            CHECK_INT(got.style.underline, want->style.underline);
            CHECK_INT(got.style.underline_color, want->style.underline_color);
            return check_true(false, __FILE__, __LINE__, "the cells are the same");
        }
    return true;
}

static const struct {
    const char *text;
    unsigned width;
} clusters[] = {
    {"a", 1},
    {" ", 1},
    {"│", 1},
    {"日", 2},
    {"é", 1},
    {"e\xcc\x81", 1},
    {"❤", 1},
    {"❤\xef\xb8\x8f", 2},
    {"👨‍👩‍👧", 2},
    {"🇩🇪", 2},
    {"🇩", 1},
    {"한", 2},
    {"क\xe0\xa4\xbe", 1}, /* with a spacing mark */
    {"\xe0\xa4\xbe", 1},  /* that mark alone, which would join the character before it */
    {"⌚\xef\xb8\x8e", 1},
    /* Not one cluster of its width: replaced. */
    {"\033[2J", 1},
    {"\xff", 1},
    {"", 1},
    {"日", 1},
    {"a", 2},
    {"\xe2\x80\xae", 1},
    {"\xcc\x81", 1},
    {"ab", 1},
    {"\n", 1},
    {"\xc2\x9b", 1},
    {"a\xe2\x80\xae", 1},
};

static struct style random_style(void)
{
    static const color colors[] = {0, (uint32_t)COLOR_ANSI << 24 | 1,
        (uint32_t)COLOR_ANSI << 24 | 9, (uint32_t)COLOR_INDEXED << 24 | 200,
        (uint32_t)COLOR_RGB << 24 | 0x123456};
    struct style s = {.fg = colors[next_random(ARRAY_LEN(colors))]};
    if (next_random(3) == 0)
        s.bg = colors[next_random(ARRAY_LEN(colors))];
    if (next_random(3) == 0)
        s.attrs = (uint16_t)next_random(1 << 11);
    if (next_random(4) == 0) {
        s.underline = (uint8_t)next_random(6);
        s.underline_color = colors[next_random(ARRAY_LEN(colors))];
    }
    s.link = next_random(3);
    return s;
}

static void scribble(struct canvas *c)
{
    unsigned rows = canvas_rows(c), cols = canvas_cols(c);
    if (next_random(5) == 0)
        canvas_clear(c);
    for (unsigned n = next_random(rows * cols + 1); n > 0; n--) {
        size_t i = next_random(ARRAY_LEN(clusters));
        struct style s = random_style();
        canvas_put(c, next_random(rows + 1), next_random(cols + 1), str_z(clusters[i].text),
            clusters[i].width, &s);
    }
    const struct canvas_cursor cursor = {
        next_random(2), next_random(rows), next_random(cols), next_random(3)};
    canvas_set_cursor(c, &cursor);
}

static bool draw(struct canvas *c, struct term *t)
{
    AUTO_BUF struct buf out = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
    canvas_write(c, &out);
    term_feed(t, buf_str(&out));
    canvas_write(c, &again);
    return CHECK_INT(again.n, 0) && same_screen(c, t);
}

static bool many_frames(unsigned seed)
{
    random_state = seed;
    unsigned rows = 1 + next_random(6), cols = 1 + next_random(12);
    struct canvas *c = canvas_new(rows, cols);
    struct term *t = term_new(&(struct term_options){.rows = rows, .cols = cols});
    bool ok = true;
    for (int frame = 0; ok && frame < 12; frame++) {
        if (next_random(6) == 0) {
            rows = 1 + next_random(6);
            cols = 1 + next_random(12);
            canvas_resize(c, rows, cols);
            term_resize(t, rows, cols);
        }
        scribble(c);
        ok = draw(c, t);
        ok = ok && CHECK_INT(term_in_frame(t), false);
    }
    canvas_free(c);
    term_free(t);
    return ok;
}

TEST(canvas_frames_arrive_as_they_are)
{
    for (unsigned seed = 0; seed < 600; seed++) {
        test_row(seed, "seed");
        if (!many_frames(seed))
            return;
    }
}

TEST(term_is_drawn_after_a_synchronized_update_or_its_longest_time)
{
    static const struct {
        const char *feed;
        uint64_t now;
        bool want;
    } rows[] = {
        {"a", 10, true}, {"\033[?2026hb", 20, false}, {"c", 119, false}, {"d", 120, true},
        {"\033[?2026l", 121, true},
        {"\033[?2026h", 200, false}, /* counted again from its own start */
    };
    struct term *t = term_new(&(struct term_options){.rows = 3, .cols = 5});
    uint64_t since = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].feed);
        term_feed(t, str_z(rows[i].feed));
        CHECK_INT(term_may_draw(t, rows[i].now, 100, &since), rows[i].want);
    }
    term_free(t);
}

TEST(canvas_cursor_is_placed)
{
    struct canvas *c = canvas_new(3, 5);
    struct term *t = term_new(&(struct term_options){.rows = 3, .cols = 5});
    for (unsigned i = 0; i < 30; i++) {
        const struct canvas_cursor want = {i % 2, i % 3, i % 5, i / 2 % 3};
        test_row(i, "cursor");
        canvas_set_cursor(c, &want);
        draw(c, t);
        struct term_cursor got = term_cursor(t);
        CHECK_INT(got.visible, want.visible);
        if (want.visible) {
            CHECK_INT(got.row, want.row);
            CHECK_INT(got.col, want.col);
            CHECK_INT(got.shape, want.shape);
        }
    }
    canvas_free(c);
    term_free(t);
}

TEST(canvas_shows_a_terminal)
{
    static const char *const screens[] = {
        "plain \033[1;31mred\033[m\r\n日本語\r\n\033[44m  \033[K",
        "\033[?5hreverse",
        "a\033[8msecret\033[28mb",
        "\033[38;2;1;2;3m\033[4:3mcurly\033]8;;http://x\033\\link",
        "\033[?2027le\xcc\x81 ❤\xef\xb8\x8f",
    };
    for (size_t i = 0; i < ARRAY_LEN(screens); i++) {
        test_row(i, screens[i]);
        struct term *from = term_new(&(struct term_options){.rows = 4, .cols = 12});
        struct term *to = term_new(&(struct term_options){.rows = 6, .cols = 9});
        struct canvas *c = canvas_new(6, 9);
        term_feed(from, str_z(screens[i]));
        canvas_show(c, from, &(struct canvas_part){1, 1, 4, 7, 0, 1});
        draw(c, to);
        canvas_free(c);
        term_free(from);
        term_free(to);
    }
}

/* A character that is cut in half at an edge becomes a blank; hidden parts are not written. */
TEST(canvas_cuts_at_the_edges)
{
    struct term *t = term_new(&(struct term_options){.rows = 1, .cols = 8});
    struct canvas *c = canvas_new(1, 3);
    AUTO_BUF struct buf out = BUF_INIT(1 << 16);
    term_feed(t, STR("日本語\033[8mxy"));
    canvas_show(c, t, &(struct canvas_part){0, 0, 1, 3, 0, 1});
    CHECK_STR(str_n(canvas_cell(c, 0, 0)->text, 1), STR(" "));
    CHECK_INT(canvas_cell(c, 0, 1)->width, 2);
    canvas_show(c, t, &(struct canvas_part){0, 0, 1, 3, 0, 6});
    canvas_write(c, &out);
    CHECK(!memchr(out.p, 'x', out.n));
    canvas_free(c);
    term_free(t);
}

TEST(canvas_text_is_cut_with_an_ellipsis)
{
    static const struct {
        const char *text, *shown;
        unsigned end;
    } rows[] = {
        {"abc", "abc", 3},
        {"abcd", "ab…", 3},
        {"日本", "日本", 4},
        {"日本", "日…", 3},
        {"日本語", "日…", 4},
        {"a\033[mb", "a�[mb", 8},
        {"", "", 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        struct canvas *c = canvas_new(1, 10);
        AUTO_BUF struct buf line = BUF_INIT(256);
        unsigned end = canvas_text(c, 0, 0, rows[i].end, str_z(rows[i].text), NULL);
        for (unsigned col = 0; col < end; col++)
            buf_add(&line, canvas_cell(c, 0, col)->text, canvas_cell(c, 0, col)->n);
        CHECK_STR(buf_str(&line), str_z(rows[i].shown));
        canvas_free(c);
    }
}

/* Only changes are written. */
TEST(canvas_writes_differences)
{
    struct canvas *c = canvas_new(10, 40);
    AUTO_BUF struct buf out = BUF_INIT(1 << 16);
    for (unsigned row = 0; row < 10; row++)
        canvas_text(c, row, 0, 40, STR("the same text in every row"), NULL);
    canvas_write(c, &out);
    buf_reset(&out);
    canvas_put(c, 4, 7, STR("X"), 1, NULL);
    canvas_put(c, 4, 9, STR("Y"), 1, NULL);
    canvas_write(c, &out);
    CHECK_STR(buf_str(&out), STR("\033[?2026h\033[?25l\033[5;8HX\033[1CY\033[?2026l"));
    canvas_free(c);
}

TEST(canvas_without_colours)
{
    const struct style s = {.fg = color_ansi(1), .bg = color_rgb(1, 2, 3), .attrs = STYLE_BOLD};
    struct canvas *c = canvas_new(1, 4);
    canvas_set_plain(c, true);
    canvas_put(c, 0, 0, STR("a"), 1, &s);
    CHECK_INT(canvas_cell(c, 0, 0)->style.fg, 0);
    CHECK_INT(canvas_cell(c, 0, 0)->style.bg, 0);
    CHECK_INT(canvas_cell(c, 0, 0)->style.attrs, STYLE_BOLD);
    canvas_free(c);
}
