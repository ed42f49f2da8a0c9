/* Regular expressions: places of matches, options, limits, replacements. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"
#include "test.h"

enum {
    NONE = -1,
};

TEST(regex_finds_start_and_end)
{
    static const struct {
        const char *pattern, *text;
        size_t from;
        int flags;
        int start, end; /* NONE: no match */
    } rows[] = {
        {"b+", "abbc", 0, 0, 1, 3},
        {"b+", "abbc", 2, 0, 2, 3},
        {"b+", "abbc", 3, 0, NONE, 0},
        {"", "abc", 1, 0, 1, 1},
        {"x", "", 0, 0, NONE, 0},
        {"^", "", 0, 0, 0, 0},
        {"^b", "a\nb", 0, 0, 2, 3},
        {"a$", "a\nb", 0, 0, 0, 1},
        {"^a", "a", 0, REGEX_NOT_BEGIN, NONE, 0},
        {"^a", "a\na", 0, REGEX_NOT_BEGIN, 2, 3},
        {"a$", "a", 0, REGEX_NOT_END, NONE, 0},
        {"a$", "a\na", 0, REGEX_NOT_END, 0, 1},
        {"日", "x日", 0, 0, 1, 4},
        {".", "日", 0, 0, 0, 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct regex *r = NULL;
        struct regex_match m = {0};
        test_row(i, rows[i].pattern);
        if (!CHECK_OK(regex_new(str_z(rows[i].pattern), &r, &err), &err))
            continue;
        bool found = regex_find_part(r, str_z(rows[i].text), rows[i].from, rows[i].flags, &m);
        CHECK_INT(found ? (int)m.start : NONE, rows[i].start);
        CHECK_INT(m.end, rows[i].end);
        CHECK(!regex_gave_up(r));
        regex_free(r);
    }
}

TEST(regex_options_change_letters)
{
    static const struct {
        const char *name, *pattern;
        struct regex_options options;
        struct str text;
        bool want;
    } rows[] = {
        {"case", "A", {0}, STR("a"), false},
        {"no case", "A", {.ignore_case = true}, STR("a"), true},
        {"no case in other scripts", "Ä", {.ignore_case = true}, STR("ä"), true},
        {"a pattern", "a.c", {0}, STR("abc"), true},
        {"literally", "a.c", {.literal = true}, STR("abc"), false},
        {"literally itself", "a.c", {.literal = true}, STR("a.c"), true},
        {"ASCII words", "^\\w$", {0}, STR("ä"), false},
        {"words of all scripts", "^\\w$", {.unicode = true}, STR("ä"), true},
        {"words in bytes", "^\\w+$", {.unicode = true, .bytes = true}, STR("ä"), false},
        {"bytes", "^..$", {.bytes = true}, STR("ä"), true},
        {"characters", "^..$", {0}, STR("ä"), false},
        {"invalid text", "a", {.any_bytes = true},
            STR("\xff"
                "a"),
            true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct regex *r = NULL;
        struct regex_match m;
        test_row(i, rows[i].name);
        if (!CHECK_OK(regex_new_with(str_z(rows[i].pattern), &rows[i].options, &r, &err), &err))
            continue;
        CHECK_INT(regex_find(r, rows[i].text, 0, &m), rows[i].want);
        regex_free(r);
    }
}

TEST(regex_replaces_every_match)
{
    static const struct {
        const char *pattern, *with, *want;
    } rows[] = {
        {"b", "x", "axcax"},
        {"(a)(b)", "$2$1", "bacba"},
        {"(?<n>b)", "<${n}>", "a<b>ca<b>"},
        {"z", "x", "abcab"},
        {"b", "", "aca"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf out = BUF_INIT(100);
        struct regex *r = NULL;
        test_row(i, rows[i].pattern);
        if (!CHECK_OK(regex_new(str_z(rows[i].pattern), &r, &err), &err))
            continue;
        buf_add_byte(&out, '>');
        CHECK_OK(regex_replace(r, STR("abcab"), str_z(rows[i].with), &out, &err), &err);
        CHECK(str_starts_with(buf_str(&out), STR(">")));
        CHECK_STR(str_skip(buf_str(&out), 1), str_z(rows[i].want));
        regex_free(r);
    }
}
