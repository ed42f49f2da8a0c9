/* Streaming Markdown. Cases are data: tests/tui/markdown (its README describes the format). Each is
 * fed whole, byte by byte and in random cuts; at every place the finished rows and the live ones
 * together are those of that much text at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cases.h"
#include "shown.h"

#include "tui/leaf.h"
#include "tui/markdown.h"
#include "tui/theme.h"

#include <time.h>

enum {
    SHOWN_MAX = 64 << 20,
};

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static void at_once(struct str source, unsigned width, struct buf *out)
{
    AUTO_TEXT struct text rows = TEXT_INIT;
    struct markdown *m = markdown_new(&(struct markdown_options){.width = width});
    markdown_feed(m, source, &rows);
    markdown_end(m, &rows);
    markdown_free(m);
    CHECK(shown_is_safe(&rows));
    for (size_t i = 0; i < rows.n; i++)
        if (rows.lines[i].width > width)
            CHECK_INT(rows.lines[i].width, width);
    shown(&rows, out);
}

/* In parts of the given size, 0 for random sizes. */
static bool check_cut(struct str source, unsigned width, size_t part)
{
    AUTO_TEXT struct text rows = TEXT_INIT;
    struct markdown *m = markdown_new(&(struct markdown_options){.width = width});
    bool same = true;
    for (size_t at = 0; same && at < source.n;) {
        size_t n = part ? part : 1 + next_random(40);
        n = MIN(n, source.n - at);
        AUTO_BUF struct buf got = BUF_INIT(SHOWN_MAX), want = BUF_INIT(SHOWN_MAX);
        AUTO_TEXT struct text all = TEXT_INIT;
        markdown_feed(m, str_n(source.p + at, n), &rows);
        at += n;
        for (size_t i = 0; i < rows.n; i++)
            text_copy(&all, &rows, i);
        markdown_live(m, &all);
        shown(&all, &got);
        at_once(str_head(source, at), width, &want);
        same = CHECK_STR(buf_str(&got), buf_str(&want));
    }
    markdown_free(m);
    return same;
}

static void check_text(struct str source, unsigned width, struct str want)
{
    AUTO_BUF struct buf got = BUF_INIT(SHOWN_MAX);
    at_once(source, width, &got);
    CHECK_STR(buf_str(&got), want);
    if (!check_cut(source, width, 1))
        return;
    for (int i = 0; i < 3; i++)
        if (!check_cut(source, width, 0))
            return;
}

/* "== NAME WIDTH", the text, ">>>", the expected rows. */
static void check_case(void *context, struct str title, struct str text)
{
    int64_t width = 0;
    ptrdiff_t blank = str_find_last(title, ' ');
    const char *middle = memmem(text.p, text.n, ">>>\n", 4);
    (void)context;
    if (!CHECK(middle) || !CHECK(str_to_int(str_skip(title, (size_t)blank + 1), 1, 1000, &width)))
        return;
    struct str source = str_n(text.p, (size_t)(middle - text.p));
    check_text(source, (unsigned)width, str_skip(text, source.n + 4));
}

TEST(markdown_cases)
{
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(leaf_check(&err), &err))
        return;
    CHECK(cases_run("tui/markdown/*.case", check_case, NULL) > 10);
}

static const struct {
    const char *name, *source, *want;
} rows[] = {
    {"nothing", "", ""},
    {"only blanks", "  \n\t\n\n", ""},
    {"two blanks break", "one  \ntwo", "one\ntwo\n"},
    {"no end", "# a", "⟦bu6:a⟧\n"},
    {"CRLF", "a\r\n\r\n- b\r\n", "a\n\n⟦6:• ⟧b\n"},
    {"too deep", ">>>>>>>>>>>>>>>>>>> x", ">>> x\n"},
};

TEST(markdown_small_texts)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        check_text(str_z(rows[i].source), 40, str_z(rows[i].want));
    }
}

/* A line that is too long is cut, and the text after the cut starts no new block, wherever that
 * is. */
TEST(markdown_long_lines_stay_text)
{
    static const char *const units[] = {"- x ", "# ", "> a ", "1. ", "<div> ", "| - "};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_BUF struct buf source = BUF_INIT(1 << 16), got = BUF_INIT(SHOWN_MAX);
        test_row(i, units[i]);
        buf_add_z(&source, "text ");
        while (source.n < 5 * LEAF_MAX)
            buf_add_z(&source, units[i]);
        at_once(buf_str(&source), 80, &got);
        CHECK(!strstr(buf_z(&got), "⟦"));
        (void)check_cut(buf_str(&source), 80, 1777);
    }
}

/* Inputs that would be slow if anything were read repeatedly: each is fed in small parts, and the
 * live rows are requested after every tenth. */
static long time_of(const char *start, const char *unit, size_t size)
{
    AUTO_BUF struct buf source = BUF_INIT(size + 1000);
    struct markdown *m = markdown_new(&(struct markdown_options){.width = 80});
    buf_add_z(&source, start);
    while (source.n < size)
        buf_add_z(&source, unit);
    clock_t began = clock();
    for (size_t at = 0, i = 0; at < source.n; at += 5, i++) {
        AUTO_TEXT struct text finished = TEXT_INIT, live = TEXT_INIT;
        markdown_feed(m, str_head(str_skip(buf_str(&source), at), 5), &finished);
        if (i % 10 == 0)
            markdown_live(m, &live);
    }
    markdown_free(m);
    return (clock() - began) / (CLOCKS_PER_SEC / 1000);
}

TEST(markdown_takes_linear_time)
{
    static const struct {
        const char *name, *start, *unit;
    } kinds[] = {
        {"words", "", "word "},
        {"one word", "", "a"},
        {"code", "```c\n", "int x = 1;\n"},
        {"a line of code", "```\n", "x"},
        {"a table", "|a|b|\n|-|-|\n", "|1|2|\n"},
        {"a wide table", "", "|a"},
        {"items", "", "- item\n"},
        {"deep items", "", "- - - - - - - - - x\n"},
        {"quotes", "", "> "},
        {"emphasis", "", "*a _b "},
        {"stars", "", "*"},
        {"brackets", "", "["},
        {"brackets and more", "", "[a]("},
        {"ticks", "", "`a``b"},
        {"angles", "", "<a"},
        {"an unclosed comment", "```c\n/*", "*\n"},
        {"paragraphs", "", "p\n\n"},
        {"marks", "a", "\xcc\x81"},
    };
    const size_t size = test_sampled() ? 8 << 10 : 64 << 10;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        test_row(i, kinds[i].name);
        long ms = time_of(kinds[i].start, kinds[i].unit, size);
        if (getenv("SHOW_TIMES"))
            printf("# %s: %ld ms\n", kinds[i].name, ms);
        CHECK(ms < 5000);
    }
}
