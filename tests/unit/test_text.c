/* Styled lines: contents that are refused, and wrapping. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "shown.h"

#include "base/utf8.h"
#include "tui/theme.h"

#include <time.h>

static const struct {
    const char *name, *in, *want;
} clean_rows[] = {
    {"plain", "a b", "a b\n"},
    {"lines", "a\nb\r\n\nc", "a\nb\n\nc\n"},
    {"a tab", "a\tb\t\tc", "a   b       c\n"},
    {"an escape sequence", "a\033[2Jb", "a\\x1B[2Jb\n"},
    {"a title", "\033]0;x\a", "\\x1B]0;x\\x07\n"},
    {"C1",
        "a\xc2\x9b"
        "2J",
        "a\\u{9B}2J\n"},
    {"bytes",
        "a\xff\xfe"
        "b\xe2\x82",
        "a\\xFF\\xFEb\\xE2\\x82\n"},
    {"a carriage return", "abc\rX", "abc\\rX\n"},
    {"right to left",
        "a\xe2\x80\xae"
        "b\xe2\x81\xa6",
        "a\\u{202E}b\\u{2066}\n"},
    {"Arabic", "سلام", "سلام\n"},
    {"wide", "日本", "日本\n"},
    {"a letter with a mark", "e\xcc\x81", "e\xcc\x81\n"},
    {"a mark alone", "\xcc\x81x", "\xef\xbf\xbdx\n"},
    {"a family", "👨‍👩‍👧", "👨‍👩‍👧\n"},
    {"a joiner alone",
        "a \xe2\x80\x8d"
        "b",
        "a \\u{200D}b\n"},
    {"England", "🏴\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xbf",
        "🏴\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xbf\n"},
    {"hidden tags", "a\xf3\xa0\x81\xa7", "a\\u{E0067}\n"},
    {"no space at all",
        "a\xe2\x80\x8b"
        "b",
        "a\\u{200B}b\n"},
    {"a soft hyphen",
        "a\xc2\xad"
        "b",
        "a\\u{AD}b\n"},
    {"delete", "a\x7f", "a\\x7F\n"},
    {"a watch made narrow", "⌚\xef\xb8\x8e", "⌚\n"},
};

TEST(text_is_clean)
{
    for (size_t i = 0; i < ARRAY_LEN(clean_rows); i++) {
        AUTO_TEXT struct text t = TEXT_INIT;
        AUTO_BUF struct buf got = BUF_INIT(1 << 16);
        test_row(i, clean_rows[i].name);
        text_add(&t, str_z(clean_rows[i].in), NULL);
        text_end(&t);
        shown_plain(&t, &got);
        CHECK_Z(buf_z(&got), clean_rows[i].want);
        CHECK(shown_is_safe(&t));
    }
}

TEST(text_takes_any_bytes)
{
    static const char *const parts[] = {"a", " ", "\xcc\x81", "日", "👩", "\xe2\x80\x8d", "🇩",
        "\033", "\n", "\xff", "\xe2\x80\xae", "한", "\xe1\x85\xa1", "\xe0\xa4\xbe", "\xef\xb8\x8f",
        "❤", "\xd8\x80"};
    uint32_t seed = 1;
    for (int run = 0; run < 400; run++) {
        AUTO_TEXT struct text t = TEXT_INIT, rows = TEXT_INIT;
        test_row((size_t)run, "random");
        for (int i = 0; i < 30; i++) {
            seed = seed * 1664525u + 1013904223u;
            text_add(&t, str_z(parts[(seed >> 8) % ARRAY_LEN(parts)]),
                seed & 1 << 30 ? &theme[THEME_LINK] : NULL);
        }
        text_end(&t);
        for (size_t i = 0; i < t.n; i++)
            text_wrap(&rows, &t, i, &(struct text_wrap){.width = 1 + (unsigned)run % 9});
        if (!CHECK(shown_is_safe(&t)) || !CHECK(shown_is_safe(&rows)))
            return;
        for (size_t i = 0; i < rows.n; i++)
            CHECK(rows.lines[i].width <= 1 + (unsigned)run % 9);
    }
}

static const struct {
    const char *name, *in;
    unsigned width;
    bool letters;
    const char *first, *rest, *want;
} wrap_rows[] = {
    {"fits", "ab cd", 5, false, "", "", "ab cd\n"},
    {"nothing", "", 5, false, "", "", "\n"},
    {"between words", "ab cd ef", 5, false, "", "", "ab cd\nef\n"},
    {"blanks at the cut are left out", "ab    cd", 4, false, "", "", "ab\ncd\n"},
    {"blanks at the start stay", "  ab cd", 4, false, "", "", "  ab\ncd\n"},
    {"blanks at the end", "ab   ", 3, false, "", "", "ab\n"},
    {"a long word", "abcdefgh", 3, false, "", "", "abc\ndef\ngh\n"},
    {"a long word after a short one", "x abcdefgh", 4, false, "", "", "x\nabcd\nefgh\n"},
    {"wide ones can be cut", "日本語日本語", 5, false, "", "", "日本\n語日\n本語\n"},
    {"wide ones after a word", "ab日本", 4, false, "", "", "ab日\n本\n"},
    {"one column", "日a", 1, false, "", "", "\xef\xbf\xbd\na\n"},
    {"letters", "ab cd", 3, true, "", "", "ab \ncd\n"},
    {"hanging", "ab cd ef", 6, false, "- ", "  ", "- ab\n  cd\n  ef\n"},
    {"a prefix without room", "ab cd", 3, false, "-- ", "   ", "ab\ncd\n"},
    {"zero", "ab", 0, false, "", "", "a\nb\n"},
};

TEST(text_wraps)
{
    for (size_t i = 0; i < ARRAY_LEN(wrap_rows); i++) {
        AUTO_TEXT struct text t = TEXT_INIT, rows = TEXT_INIT, prefix = TEXT_INIT;
        AUTO_BUF struct buf got = BUF_INIT(1 << 16);
        test_row(i, wrap_rows[i].name);
        text_add_z(&prefix, wrap_rows[i].first, NULL);
        text_end(&prefix);
        text_add_z(&prefix, wrap_rows[i].rest, NULL);
        text_end(&prefix);
        text_add_z(&t, wrap_rows[i].in, NULL);
        text_end(&t);
        text_wrap(&rows, &t, 0,
            &(struct text_wrap){
                .width = wrap_rows[i].width, .letters = wrap_rows[i].letters, .prefix = &prefix});
        shown_plain(&rows, &got);
        CHECK_Z(buf_z(&got), wrap_rows[i].want);
        CHECK(shown_is_safe(&rows));
    }
}

static const struct {
    const char *uri;
    bool ok;
} link_rows[] = {
    {"https://example.org/a?b=c#d", true},
    {"http://x", true},
    {"mailto:a@b.c", true},
    {"javascript:alert(1)", false},
    {"file:///etc/passwd", false},
    {"https://a\033\\b", false},
    {"https://a b", false},
    {"https://\xc3\xa9", false},
    {"", false},
};

TEST(text_links)
{
    for (size_t i = 0; i < ARRAY_LEN(link_rows); i++) {
        AUTO_TEXT struct text t = TEXT_INIT;
        test_row(i, link_rows[i].uri);
        CHECK_INT(text_link(&t, str_z(link_rows[i].uri)) != 0, link_rows[i].ok);
    }
}

/* A line of a megabyte, of each kind: quadratic code would take minutes. */
TEST(text_long_lines_take_linear_time)
{
    static const char *const units[] = {
        "a", "ab ", " ", "日", "e\xcc\x81", "\xcc\x81", "\033", "👩\xe2\x80\x8d"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_TEXT struct text t = TEXT_INIT, rows = TEXT_INIT;
        AUTO_BUF struct buf line = BUF_INIT(2 << 20);
        test_row(i, units[i]);
        while (line.n < 1 << 20)
            buf_add_z(&line, units[i]);
        clock_t start = clock();
        text_add(&t, buf_str(&line), NULL);
        text_end(&t);
        text_wrap(&rows, &t, 0, &(struct text_wrap){.width = 80});
        CHECK((clock() - start) / CLOCKS_PER_SEC < 5);
        CHECK(rows.n >= 1);
    }
}

TEST(text_reset_frees_excess_memory)
{
    AUTO_TEXT struct text t = TEXT_INIT;
    for (size_t lines = 1; lines < 1 << 16; lines *= 4) {
        for (size_t i = 0; i < lines; i++)
            text_add_z(&t, "one of many lines\n", NULL);
        CHECK_INT(t.n, lines);
        text_reset(&t);
        CHECK_INT(t.n, 0);
        CHECK(t.bytes.cap + t.lines_cap * sizeof(*t.lines) <= TEXT_KEPT);
    }
}
