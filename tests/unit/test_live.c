/* The live region at the bottom of the screen, through our own terminal: after each step its
 * scrollback and screen are the permanent output, and the region below that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "shown.h"

#include "base/utf8.h"
#include "term/term.h"
#include "tui/console.h"
#include "tui/live.h"
#include "tui/markdown.h"
#include "tui/theme.h"

enum {
    OUT_MAX = 64 << 20,
    KEPT_ROWS = 20000,
};

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* Cells as text: the style where it changes. Blanks at the end count only with a style. */
struct cellmark {
    struct buf *out;
    char style[128];
    size_t end;
};

static void mark_cell(struct cellmark *m, struct str text, const struct style *s, struct str uri)
{
    char now[sizeof(m->style)];
    snprintf(now, sizeof(now), "<%x.%x.%x.%x.%.*s>", s->attrs, s->underline, s->fg, s->bg,
        (int)MIN(uri.n, (size_t)60), uri.n ? uri.p : "");
    if (strcmp(now, m->style) != 0)
        buf_add_z(m->out, now);
    snprintf(m->style, sizeof(m->style), "%s", now);
    buf_add_str(m->out, text);
    if (!str_is(text, " ") || strcmp(now, "<0.0.0.0.>") != 0)
        m->end = m->out->n;
}

static void mark_end(struct cellmark *m)
{
    buf_truncate(m->out, m->end);
    buf_add_byte(m->out, '\n');
    m->style[0] = 0;
    m->end = m->out->n;
}

static void mark_text(struct cellmark *m, const struct text *t, size_t line, unsigned cols)
{
    size_t width = 0;
    for (size_t i = 0; i < t->lines[line].n; i++) {
        const struct text_span *span = text_spans(t, line) + i;
        for (struct str rest = text_bytes(t, span); rest.n;) {
            unsigned w;
            size_t n = text_cluster(rest, &w);
            if (width + w <= cols)
                mark_cell(m, str_head(rest, n), &span->style, text_uri(t, span->style.link));
            width += w;
            rest = str_skip(rest, n);
        }
    }
    mark_end(m);
}

static void mark_row(struct cellmark *m, const struct term *t, int row)
{
    bool wraps = term_row_wraps(t, row);
    for (unsigned col = 0; col < term_cols(t); col++) {
        struct term_cell cell;
        char text[128] = " ";
        size_t n = 0;
        term_cell(t, row, col, &cell);
        for (unsigned i = 0; i < cell.n; i++)
            n += utf8_write(cell.codepoints[i], text + n);
        if (cell.width == 0 || (wraps && cell.n == 0))
            continue; /* half of a wide character, or a gap where one did not fit */
        mark_cell(m, str_n(text, n ? n : 1), &cell.style, term_link(t, cell.style.link));
    }
    if (!wraps)
        mark_end(m);
}

static void trim_lines(struct buf *b)
{
    while (b->n && b->p[b->n - 1] == '\n')
        buf_truncate(b, b->n - 1);
}

static void mark_screen(const struct term *t, struct buf *out)
{
    struct cellmark m = {.out = out};
    for (int row = -(int)term_scrollback(t); row < (int)term_rows(t); row++)
        mark_row(&m, t, row);
    trim_lines(out);
}

/* Prints and redraws, and keeps the expected result. */
struct scene {
    struct term *t;
    struct live_region *l;
    unsigned rows, cols;
    struct text stayed; /* as it was wrapped when it was printed */
    struct text region;
    struct live_cursor cursor;
    bool drawn;
    size_t bytes; /* of the last frame */
};

static void scene_open(struct scene *s, unsigned rows, unsigned cols)
{
    *s = (struct scene){.rows = rows, .cols = cols, .stayed = TEXT_INIT, .region = TEXT_INIT};
    s->t = term_new(&(struct term_options){.rows = rows, .cols = cols, .scrollback = KEPT_ROWS});
    s->l = live_new(&(struct live_options){.rows = rows, .cols = cols, .colors = LIVE_RGB});
    text_add_z(&s->stayed, "$ chat", NULL);
    text_end(&s->stayed);
    term_feed(s->t, STR("$ chat\r\n"));
}

static void scene_close(struct scene *s)
{
    term_free(s->t);
    live_free(s->l);
    text_done(&s->stayed);
    text_done(&s->region);
}

static void scene_want(const struct scene *s, struct buf *out)
{
    struct cellmark m = {.out = out};
    size_t height = live_height(s->l), n = s->region.n;
    for (size_t i = 0; i < s->stayed.n; i++)
        mark_text(&m, &s->stayed, i, UINT32_MAX);
    for (size_t i = n > height ? n - height : 0; s->drawn && i < n; i++)
        mark_text(&m, &s->region, i, s->cols);
    trim_lines(out);
}

/* The row of the screen where a line of all that was printed begins. */
static int row_of_line(const struct term *t, size_t line)
{
    int row = -(int)term_scrollback(t);
    for (; line > 0 && row < (int)term_rows(t); row++)
        line -= !term_row_wraps(t, row);
    return row;
}

static bool scene_check(const struct scene *s)
{
    AUTO_BUF struct buf got = BUF_INIT(OUT_MAX), want = BUF_INIT(OUT_MAX);
    struct term_cursor cursor = term_cursor(s->t);
    mark_screen(s->t, &got);
    scene_want(s, &want);
    if (!CHECK_STR(buf_str(&got), buf_str(&want)) || !CHECK_INT(term_in_frame(s->t), false))
        return false;
    size_t n = s->region.n, height = live_height(s->l), skip = n > height ? n - height : 0;
    if (!s->drawn || n == 0 || s->cursor.row < skip)
        return true;
    return CHECK_INT(cursor.row, row_of_line(s->t, s->stayed.n + s->cursor.row - skip)) &&
           CHECK_INT(cursor.col, MIN(s->cursor.col, s->cols - 1)) &&
           CHECK_INT(cursor.visible, s->cursor.visible);
}

static void never_in(struct str bytes)
{
    static const char *const never[] = {
        "\033[2J", "\033[3J", "\033[?1049", "\033[?47", "\033[H", "\033c"};
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        CHECK(!memmem(bytes.p, bytes.n, never[i], strlen(never[i])));
}

static void scene_frame(struct scene *s, const struct text *stay)
{
    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX), again = BUF_INIT(OUT_MAX);
    live_frame(s->l, stay, &s->region, &s->cursor, &out);
    never_in(buf_str(&out));
    s->bytes = out.n;
    term_feed(s->t, buf_str(&out));
    for (size_t i = 0; i < stay->n; i++)
        text_wrap(&s->stayed, stay, i, &(struct text_wrap){.width = s->cols, .letters = true});
    s->drawn = true;
    live_frame(s->l, NULL, &s->region, &s->cursor, &again);
    CHECK_INT(again.n, 0);
}

static void random_line(struct text *t, unsigned most)
{
    static const char *const clusters[] = {"a", "b", "c", " ", "word", "日", "한", "e\xcc\x81",
        "👩‍👧", "❤\xef\xb8\x8f", "🇩🇪", "│", "🇩", "\xe0\xa4\xbe", "✓"};
    static const enum theme looks[] = {THEME_TEXT, THEME_TEXT, THEME_TEXT, THEME_TITLE, THEME_LINK,
        THEME_DIM, THEME_CHOSEN, THEME_ADDED};
    for (uint32_t spans = next_random(4); spans > 0; spans--) {
        struct style style = theme[looks[next_random(ARRAY_LEN(looks))]];
        if (next_random(5) == 0)
            style.link = text_link(t, STR("https://example.org/x"));
        for (uint32_t n = next_random(most / 3 + 1); n > 0; n--)
            text_add_z(t, clusters[next_random(ARRAY_LEN(clusters))], &style);
    }
    text_end(t);
}

/* A region mostly changes a little. */
static void change_region(struct scene *s)
{
    AUTO_TEXT struct text next = TEXT_INIT;
    size_t n = next_random(3) ? s->region.n : next_random(5);
    for (size_t i = 0; i < n; i++) {
        if (i < s->region.n && next_random(3))
            text_append(&next, &s->region, i);
        else if (i < s->region.n && next_random(2)) {
            text_append(&next, &s->region, i);
            text_add_z(&next, "more", NULL);
        } else {
            random_line(&next, s->cols);
            continue;
        }
        text_end(&next);
    }
    text_reset(&s->region);
    for (size_t i = 0; i < next.n; i++)
        text_copy(&s->region, &next, i);
    s->cursor = (struct live_cursor){.row = n ? next_random((uint32_t)n) : 0,
        .col = next_random(s->cols),
        .visible = next_random(4) != 0};
}

/* The height of the region after a terminal has wrapped it at another width, rounded up. */
static size_t height_at(const struct scene *s, unsigned cols)
{
    size_t rows = 1;
    for (size_t i = 0; i < s->region.n; i++)
        rows +=
            1 + MIN(s->region.lines[i].width + s->cols / 2, s->cols) / (cols > 1 ? cols - 1 : 1);
    return rows;
}

static void scene_resize(struct scene *s, unsigned rows, unsigned cols)
{
    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX);
    live_resize(s->l, rows, cols, &out);
    never_in(buf_str(&out));
    term_resize(s->t, rows, cols);
    term_feed(s->t, buf_str(&out));
    s->rows = rows;
    s->cols = cols;
    s->drawn = false;
}

static bool many_steps(unsigned seed)
{
    struct scene s;
    bool ok = true;
    random_state = seed;
    scene_open(&s, 12 + next_random(20), 6 + next_random(40));
    for (int step = 0; ok && step < 30; step++) {
        AUTO_TEXT struct text stay = TEXT_INIT;
        unsigned rows = 8 + next_random(30), cols = 5 + next_random(50);
        test_row(seed, "seed");
        if (next_random(6) == 0 && height_at(&s, cols) <= MIN(rows, s.rows)) {
            scene_resize(&s, rows, cols);
            ok = scene_check(&s);
        }
        for (uint32_t n = next_random(3) ? 0 : next_random(10); n > 0; n--)
            random_line(&stay, 2 * s.cols);
        change_region(&s);
        scene_frame(&s, &stay);
        ok = ok && scene_check(&s);
    }
    scene_close(&s);
    return ok;
}

TEST(live_shows_the_expected_rows)
{
    for (unsigned seed = 0; seed < 60; seed++)
        if (!many_steps(seed))
            return;
}

/* A region that is higher than the screen when it is made smaller can't be erased completely; the
 * permanent output is still there, in order. */
TEST(live_never_loses_committed_rows)
{
    for (unsigned seed = 0; seed < 60; seed++) {
        struct scene s;
        AUTO_TEXT struct text all = TEXT_INIT;
        AUTO_BUF struct buf got = BUF_INIT(OUT_MAX);
        random_state = seed;
        test_row(seed, "seed");
        scene_open(&s, 10, 30);
        for (int step = 0; step < 30; step++) {
            AUTO_TEXT struct text stay = TEXT_INIT;
            char line[32];
            snprintf(line, sizeof(line), "[%d]", step);
            text_add_z(&stay, line, NULL);
            text_end(&stay);
            text_copy(&all, &stay, 0);
            change_region(&s);
            scene_frame(&s, &stay);
            if (next_random(3) == 0)
                scene_resize(&s, 1 + next_random(20), 4 + next_random(40));
        }
        mark_screen(s.t, &got);
        struct str rest = buf_str(&got);
        for (size_t i = 0; i < all.n && rest.n; i++) {
            struct str line = text_bytes(&all, text_spans(&all, i));
            const char *at = memmem(rest.p, rest.n, line.p, line.n);
            if (!CHECK(at))
                break;
            rest = str_skip(rest, (size_t)(at - rest.p));
        }
        scene_close(&s);
    }
}

/* Lines, some rows below them, and a cursor there. */
static void long_region(struct scene *s, int n, const char *typed)
{
    text_reset(&s->region);
    for (int i = 0; i < n; i++) {
        char line[64];
        snprintf(line, sizeof(line), "%d %d a line of it", i, i * i);
        text_add_z(&s->region, line, &theme[i % 3 ? THEME_TEXT : THEME_STRONG]);
        text_end(&s->region);
    }
    text_add_z(&s->region, "\n> ", NULL);
    text_add_z(&s->region, typed, NULL);
    text_add_z(&s->region, "\nin the project's directory, ", NULL);
    text_add_z(&s->region, typed, NULL);
    text_end(&s->region);
    s->cursor = (struct live_cursor){.row = s->region.n - 2, .col = 2, .visible = true};
}

/* Rows that do not fit on the screen move up in it, below the permanent output, and are not written
 * again. */
TEST(live_moves_rows_up)
{
    AUTO_TEXT struct text none = TEXT_INIT;
    struct scene s;
    scene_open(&s, 12, 40);
    for (int n = 1, ok = 1, whole = 1; n < 200 && ok; n += 1 + n % 3) {
        test_row((size_t)n, "lines");
        long_region(&s, n, n % 7 ? "x" : "y");
        scene_frame(&s, &none);
        ok = scene_check(&s) && CHECK(s.bytes < (whole ? 600 : 160));
        whole = n < 12 || n % 50 == 0;
        if (n % 50 == 0)
            scene_resize(&s, 12, 60);
    }
    scene_close(&s);
}

static const struct {
    const char *name, *before, *after;
    size_t col_before, col_after;
    const char *frame; /* complete; NULL: any text between marks */
} key_rows[] = {
    {"a letter at the end", "> ab", "> abc", 4, 5, "c \b"},
    {"the last letter goes", "> abc", "> ab", 5, 4, "\b \033[K\b"},
    {"the first letter", ">", "> a", 2, 3, "a \b"},
    {"nothing", "> ab", "> ab", 4, 4, ""},
    {"one in the middle", "> ab", "> acb", 3, 4, "cb\b"},
    {"the cursor moves", "> ab", "> ab", 4, 2, NULL},
};

TEST(live_writes_little_for_a_key)
{
    for (size_t i = 0; i < ARRAY_LEN(key_rows); i++) {
        AUTO_BUF struct buf out = BUF_INIT(1 << 16);
        struct live_region *l = live_new(&(struct live_options){.rows = 5, .cols = 20});
        test_row(i, key_rows[i].name);
        for (int after = 0; after < 2; after++) {
            AUTO_TEXT struct text t = TEXT_INIT;
            text_add_z(&t, after ? key_rows[i].after : key_rows[i].before, NULL);
            text_end(&t);
            buf_reset(&out);
            live_frame(l, NULL, &t,
                &(struct live_cursor){
                    0, after ? key_rows[i].col_after : key_rows[i].col_before, true},
                &out);
        }
        if (key_rows[i].frame)
            CHECK_Z(buf_z(&out), key_rows[i].frame);
        else
            CHECK(str_starts_with(buf_str(&out), STR("\033[?2026h")) &&
                  str_ends_with(buf_str(&out), STR("\033[?2026l")));
        live_free(l);
    }
}

static void style_test(
    const struct live_options *options, const struct style *style, struct buf *out)
{
    AUTO_TEXT struct text t = TEXT_INIT;
    struct live_region *l = live_new(options);
    struct style linked = *style;
    linked.link = text_link(&t, STR("https://x.org"));
    text_add_z(&t, "x", &linked);
    text_end(&t);
    live_frame(l, &t, &t, &(struct live_cursor){.visible = true}, out);
    live_close(l, false, out);
    live_free(l);
}

static const struct {
    const char *name;
    struct live_options options;
    struct style style;
    const char *has, *has_not;
} style_rows[] = {
    {"true colours", {.rows = 5, .cols = 9, .colors = LIVE_RGB}, {.fg = 3u << 24 | 0xFF0000},
        "\033[38;2;255;0;0m", "\033[2J"},
    {"256", {.rows = 5, .cols = 9, .colors = LIVE_256}, {.fg = 3u << 24 | 0xFF0000}, "\033[38;5;",
        "38;2"},
    {"16", {.rows = 5, .cols = 9}, {.fg = 3u << 24 | 0xFF0000, .attrs = STYLE_BOLD}, "\033[1;",
        "38;"},
    {"16 of 256", {.rows = 5, .cols = 9}, {.fg = 2u << 24 | 200}, "\033[", "38;"},
    {"no colours", {.rows = 5, .cols = 9, .colors = LIVE_NO_COLORS},
        {.fg = 1u << 24 | 1, .attrs = STYLE_BOLD}, "\033[1m", "31"},
    {"links", {.rows = 5, .cols = 9}, {0}, "\033]8;;https://x.org\033\\x\033]8;;\033\\", "\033[2J"},
    {"no links", {.rows = 5, .cols = 9, .no_links = true}, {0}, "x", "]8;"},
    {"plain", {.rows = 5, .cols = 9, .plain = true}, {.attrs = STYLE_BOLD}, "x\n", "\033"},
};

TEST(live_styles)
{
    for (size_t i = 0; i < ARRAY_LEN(style_rows); i++) {
        AUTO_BUF struct buf out = BUF_INIT(1 << 16);
        test_row(i, style_rows[i].name);
        style_test(&style_rows[i].options, &style_rows[i].style, &out);
        CHECK(strstr(buf_z(&out), style_rows[i].has));
        CHECK(!strstr(buf_z(&out), style_rows[i].has_not));
    }
}

TEST(live_plain_is_only_lines)
{
    AUTO_TEXT struct text t = TEXT_INIT;
    AUTO_BUF struct buf out = BUF_INIT(1 << 16);
    struct live_region *l = live_new(&(struct live_options){.rows = 3, .cols = 4, .plain = true});
    struct live_cursor cursor = {.visible = true};
    text_add_z(&t, "longer than the width\nb", &theme[THEME_TITLE]);
    text_end(&t);
    live_frame(l, NULL, &t, &cursor, &out);
    live_resize(l, 5, 10, &out);
    live_clear(l, &out);
    CHECK_INT(out.n, 0);
    live_frame(l, &t, &t, &cursor, &out);
    live_close(l, true, &out);
    CHECK_Z(buf_z(&out), "longer than the width\nb\n");
    live_free(l);
}

TEST(live_closes)
{
    for (int keep = 0; keep < 2; keep++) {
        struct scene s;
        AUTO_BUF struct buf out = BUF_INIT(1 << 16), screen = BUF_INIT(1 << 16);
        AUTO_TEXT struct text none = TEXT_INIT;
        test_row((size_t)keep, keep ? "kept" : "gone");
        scene_open(&s, 5, 20);
        text_add_z(&s.region, "one\ntwo\n", NULL);
        s.cursor = (struct live_cursor){0};
        scene_frame(&s, &none);
        live_close(s.l, keep, &out);
        term_feed(s.t, buf_str(&out));
        term_feed(s.t, STR("$ "));
        mark_screen(s.t, &screen);
        CHECK(!!strstr(buf_z(&screen), "two") == keep);
        CHECK_INT(term_cursor(s.t).row, keep ? 3 : 1);
        CHECK(term_cursor(s.t).visible);
        scene_close(&s);
    }
}

/* A conversation as it streams: words, code and lists, a frame for every tenth token, with a status
 * line and an editor below. The output is at most three times the text. */
TEST(live_writes_little)
{
    static const char *const words[] = {"The", " quick", " brown", " fox", " jumps", " over",
        " the", " lazy", " dog", ".", " It", " was", " `code`", " and", " **bold**", ".\n\n",
        "- item", " more\n", "- next\n\n"};
    struct scene s;
    struct markdown *m = markdown_new(&(struct markdown_options){.width = 80});
    size_t text = 0, written = 0;
    scene_open(&s, 24, 80);
    random_state = 1;
    AUTO_TEXT struct text stay = TEXT_INIT;
    for (int token = 1; token <= 10000; token++) {
        struct str word = str_z(words[next_random(ARRAY_LEN(words))]);
        AUTO_BUF struct buf out = BUF_INIT(OUT_MAX);
        markdown_feed(m, word, &stay);
        text += word.n;
        if (token % 10)
            continue;
        text_reset(&s.region);
        markdown_live(m, &s.region);
        text_add_z(&s.region, "\n> \n", NULL);
        text_add_z(
            &s.region, "~/src/project  main  model  12,345 tokens  $0.12", &theme[THEME_DIM]);
        text_end(&s.region);
        s.cursor = (struct live_cursor){.row = s.region.n - 2, .col = 2, .visible = true};
        live_frame(s.l, &stay, &s.region, &s.cursor, &out);
        term_feed(s.t, buf_str(&out));
        written += out.n;
        for (size_t i = 0; i < stay.n; i++)
            text_copy(&s.stayed, &stay, i);
        text_reset(&stay);
    }
    s.drawn = true;
    (void)scene_check(&s);
    if (getenv("SHOW_TIMES"))
        printf("# %zu bytes of text, %zu written: %.2f\n", text, written,
            (double)written / (double)text);
    CHECK(written <= 3 * text);
    markdown_free(m);
    scene_close(&s);
}

static const struct {
    const char *name;
    struct console_environment e;
    enum live_colors colors;
    bool plain, no_reflow;
} look_rows[] = {
    {"xterm", {.term = "xterm"}, LIVE_16, false, false},
    {"256", {.term = "screen-256color"}, LIVE_256, false, false},
    {"true colours", {.term = "xterm-256color", .colorterm = "truecolor"}, LIVE_RGB, false, false},
    {"NO_COLOR", {.term = "xterm-256color", .colorterm = "24bit", .no_color = "1"}, LIVE_NO_COLORS,
        false, false},
    {"NO_COLOR that is empty", {.term = "xterm", .no_color = ""}, LIVE_16, false, false},
    {"dumb", {.term = "dumb"}, LIVE_16, true, false},
    {"none", {0}, LIVE_16, true, false},
    {"empty", {.term = ""}, LIVE_16, true, false},
    {"the console", {.term = "linux"}, LIVE_16, false, true},
    {"xterm itself", {.term = "xterm", .xterm_version = "XTerm(379)"}, LIVE_16, false, true},
};

TEST(console_knows_terminals)
{
    for (size_t i = 0; i < ARRAY_LEN(look_rows); i++) {
        struct live_options look = console_look(&look_rows[i].e);
        test_row(i, look_rows[i].name);
        CHECK_INT(look.colors, look_rows[i].colors);
        CHECK_INT(look.plain, look_rows[i].plain);
        CHECK_INT(look.no_reflow, look_rows[i].no_reflow);
    }
}
