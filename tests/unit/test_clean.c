/* tool/clean: the text that remains of a program's output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tool/clean.h"

static const struct {
    const char *name, *bytes, *text;
} cleaned[] = {
    {"plain", "a\tb\r\nc", "a\tb\nc"},
    {"colours", "\033[1;31mred\033[0m \033]0;title\a\033(Bx", "red x"},
    {"a progress bar", "10%\r50%\r100%\n", "100%\n"},
    {"a bar that gets shorter", "working 10%\r\033[Kdone\n", "done\n"},
    {"a bar that wipes with blanks", "working\r       \rdone\n", "done\n"},
    {"existing text stays", "abcdef\rxy\n", "xycdef\n"},
    {"a prompt keeps its blank", "\033[32m$ \033[0m", "$ "},
    {"backspaces", "abc\b \b\n", "ab\n"},
    {"overstriking", "b\bbo\bol\bld\bd\n", "bold\n"},
    {"a line editor that goes left and writes again", ">>> p\033[5D>>> pr\033[6D>>> pri",
        ">>> pri"},
    {"to a column", "abc\033[10Gx\033[1Gz", "zbc      x"},
    {"deleting and inserting", "abcd\033[3D\033[P\033[2@", "a  cd"},
    {"wide characters", "日本\033[2D語", "日語"},
    {"marks", "e\xCC\x81x\rE", "Ex"},
    {"marks that stay", "\033[me\xCC\x81x", "e\xCC\x81x"},
    {"no characters", "a\xFF\xC3", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"controls of one byte and of two",
        "a\001\x7F\xC2\x9B"
        "b\xC2\xA9",
        "ab\xC2\xA9"},
    {"a sequence that does not end", "a\033[12", "a"},
    {"a far column is not believed", "\033[999999999Gx\r\033[K-", "-"},
};

TEST(clean_shows_the_final_lines)
{
    for (size_t i = 0; i < ARRAY_LEN(cleaned); i++) {
        AUTO_BUF struct buf text = BUF_INIT(10000);
        test_row(i, cleaned[i].name);
        clean_text(str_z(cleaned[i].bytes), &text);
        CHECK_Z(buf_z(&text), cleaned[i].text);
    }
}

static const struct {
    const char *bytes;
    size_t open;
} opens[] = {
    {"", 0},
    {"abc", 0},
    {"a\xE6\x97", 2},
    {"a\xF0\x9F\x98", 3},
    {"a\xE6\x97\xA5", 0},
    {"a\xFF", 0},
    {"a\xED\xA0", 0}, /* half a surrogate is never whole */
    {"a\033", 1},
    {"a\033[", 2},
    {"a\033[1;3", 5},
    {"a\033[1;3m", 0},
    {"a\033]0;tit", 7},
    {"a\033]0;tit\033", 8},
    {"a\033]0;tit\033\\", 0},
    {"a\033(", 2},
    {"\033[1;3\nb", 0}, /* no sequence continues past a line break */
    {"\033[mx\033[", 2},
};

TEST(clean_waits_for_incomplete_sequences)
{
    for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
        test_row(i, opens[i].bytes);
        CHECK(clean_open(str_z(opens[i].bytes)) == opens[i].open);
    }
}

/* However output is cut, the parts together equal the whole, as long as no line is cut. */
TEST(clean_in_parts)
{
    static const char bytes[] = "a\033[31m日\033[0m😀\033]0;t\a\nb\xE6\n";
    AUTO_BUF struct buf whole = BUF_INIT(1000);
    clean_text(str_z(bytes), &whole);
    for (size_t cut = 0; cut < sizeof(bytes); cut++) {
        AUTO_BUF struct buf text = BUF_INIT(1000);
        struct str first = str_n(bytes, cut);
        first.n -= clean_open(first);
        clean_text(first, &text);
        clean_text(str_skip(str_z(bytes), first.n), &text);
        test_row(cut, "cut");
        CHECK_Z(buf_z(&text), buf_z(&whole));
    }
}

TEST(clean_is_bounded)
{
    AUTO_BUF struct buf bytes = BUF_INIT(1 << 20), text = BUF_INIT(64 << 20);
    for (int i = 0; i < 10000; i++)
        buf_add_z(&bytes, "\033[500Gx\033[99@");
    clean_text(buf_str(&bytes), &text);
    CHECK(buf_ok(&text) && text.n < 1 << 20);
}
