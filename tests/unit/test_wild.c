/* Wildcard patterns: a table, a slow second matcher, and patterns that are slow elsewhere. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "path/wild.h"
#include "slow_wild.h"

static bool matches(const char *pattern, const char *text, int options)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    return wild_match(wild_compile(str_z(pattern), options, &a), str_z(text));
}

static const struct {
    const char *pattern, *text;
    int options;
    bool want;
} table[] = {
    {"", "", WILD_PATH, true},
    {"", "a", WILD_PATH, false},
    {"a", "", WILD_PATH, false},
    {"a?c", "abc", WILD_PATH, true},
    {"a?c", "a/c", WILD_PATH, false},
    {"a?c", "a/c", 0, true},
    {"*", "", WILD_PATH, true},
    {"*", "a/b", WILD_PATH, false},
    {"*", "a/b", 0, true},
    {"*/b", "a/b", WILD_PATH, true},
    {"*/b", "x/a/b", WILD_PATH, false},
    {"a*c*e", "abcde", WILD_PATH, true},
    /* Two stars cross '/' only as a whole component. */
    {"**", "a/b/c", WILD_PATH, true},
    {"**/c", "c", WILD_PATH, true},
    {"**/c", "a/b/c", WILD_PATH, true},
    {"**/c", "/c", WILD_PATH, true},
    {"**/c", "bc", WILD_PATH, false},
    {"a/**", "a/", WILD_PATH, true},
    {"a/**", "a", WILD_PATH, false},
    {"a/**/b", "a/b", WILD_PATH, true},
    {"a/**/b", "a/x/y/b", WILD_PATH, true},
    {"a/**/b", "ab", WILD_PATH, false},
    {"a/***/b", "a/x/y/b", WILD_PATH, true},
    {"a**/b", "a/x/b", WILD_PATH, false},
    {"a**/b", "ax/b", WILD_PATH, true},
    {"a/**b", "a/x/b", WILD_PATH, false},
    {"a/**b", "a/xb", WILD_PATH, true},
    {"**\\/b", "b", WILD_PATH, false},
    {"**\\/b", "a/x/b", WILD_PATH, true},
    {"\\/**/b", "/b", WILD_PATH, true},
    {"**/", "", WILD_PATH, true},
    {"**/**/**/a", "a", WILD_PATH, true},
    {"**/**/**/a", "x/a", WILD_PATH, true},
    {"**/a/**/a/**", "x/a/y/a/z", WILD_PATH, true},
    {"**/a/**/a/**", "x/a/z", WILD_PATH, false},
    /* Classes. */
    {"[abc]", "b", WILD_PATH, true},
    {"[!abc]", "b", WILD_PATH, false},
    {"[^abc]", "x", WILD_PATH, true},
    {"[a-c]x", "bx", WILD_PATH, true},
    {"[c-a]", "b", WILD_PATH, false},
    {"[a-]", "-", WILD_PATH, true},
    {"[-a]", "-", WILD_PATH, true},
    {"[]]", "]", WILD_PATH, true},
    {"[]-a]", "^", WILD_PATH, true},
    {"[!]]", "a", WILD_PATH, true},
    {"[!]]", "]", WILD_PATH, false},
    {"[!a]", "/", WILD_PATH, false},
    {"[/]", "/", WILD_PATH, false},
    {"[/]", "/", 0, true},
    {"[\\]]", "]", WILD_PATH, true},
    {"[\\-x]", "-", WILD_PATH, true},
    {"[a-\\c]", "b", WILD_PATH, true},
    {"[a-c-e]", "d", WILD_PATH, false},
    {"[a-c-e]", "-", WILD_PATH, true},
    {"[[:digit:]x]", "7", WILD_PATH, true},
    {"[[:digit:]x]", "x", WILD_PATH, true},
    {"[![:digit:]]", "7", WILD_PATH, false},
    {"[[:digit:]-z]", "a", WILD_PATH, false},
    {"[[:space:]]", "\v", WILD_PATH, false},
    {"[[:foo:]]", "f", WILD_PATH, false},
    {"[[:]", ":", WILD_PATH, true},
    {"[[:a]", "[", WILD_PATH, true},
    {"[[::]]", ":", WILD_PATH, false},
    {"[[:alpha:", "a", WILD_PATH, false},
    {"[a", "a", WILD_PATH, false},
    {"[a", "[a", WILD_PATH, false},
    {"a[", "a[", WILD_PATH, false},
    {"*[", "x[", WILD_PATH, false},
    {"[]", "]", WILD_PATH, false},
    {"[!]", "!", WILD_PATH, false},
    {"[a\\", "a", WILD_PATH, false},
    /* Escapes. */
    {"\\*", "*", WILD_PATH, true},
    {"\\*", "a", WILD_PATH, false},
    {"\\a", "a", WILD_PATH, true},
    {"a\\", "a\\", WILD_PATH, false},
    {"a\\", "a", WILD_PATH, false},
    {"\\\\", "\\", WILD_PATH, true},
    /* Case, with git's limitations. */
    {"AbC", "aBc", WILD_CASEFOLD, true},
    {"AbC", "aBc", 0, false},
    {"[A-C]", "b", WILD_CASEFOLD, true},
    {"[A]", "a", WILD_CASEFOLD, false},
    {"\\A", "A", WILD_CASEFOLD, false},
    {"[[:upper:]]", "a", WILD_CASEFOLD, true},
    {"[[:upper:]]", "a", 0, false},
    /* Characters or bytes. */
    {"?", "é", 0, false},
    {"??", "é", 0, true},
    {"?", "é", WILD_UTF8, true},
    {"[é]", "é", WILD_UTF8, true},
    {"[à-ü]x", "éx", WILD_UTF8, true},
    {"[!a]", "日", WILD_UTF8, true},
    {"[一-龥]", "日", WILD_UTF8, true},
    {"[!一-龥]", "日", WILD_UTF8, false},
    {"日*", "日本", WILD_UTF8, true},
    {"*本", "日本", WILD_UTF8, true},
    {"\\日", "日", WILD_UTF8, true},
    {"?", "\xff", WILD_UTF8, true},
    {"\xff*", "\xff\xfe", WILD_UTF8, true},
    {"[\xff]", "\xff", WILD_UTF8, true},
    {"[\xff]", "ÿ", WILD_UTF8, false},
    {"*\xa9", "é", WILD_UTF8, false},
};

TEST(wild_table)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        test_row(i, table[i].pattern);
        CHECK_INT(matches(table[i].pattern, table[i].text, table[i].options), table[i].want);
    }
}

TEST(wild_may_extend_prunes)
{
    static const struct {
        const char *pattern, *start;
        bool want;
    } rows[] = {
        {"src/**/*.c", "", true},
        {"src/**/*.c", "src/", true},
        {"src/**/*.c", "src/a/b/", true},
        {"src/**/*.c", "lib/", false},
        {"src/*.c", "src/a/", false},
        {"*.c", "src/", false},
        {"*/x", "src/", true},
        {"src", "src", false},
        {"src*", "src", true},
        {"**", "a/b/", true},
        {"[", "", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].pattern);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        const struct wild *w = wild_compile(str_z(rows[i].pattern), WILD_PATH, &a);
        CHECK_INT(wild_may_extend(w, str_z(rows[i].start)), rows[i].want);
    }
}

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

static struct str random_text(char *room, size_t longest, const char *alphabet)
{
    size_t n = random_below((uint32_t)longest + 1);
    for (size_t i = 0; i < n; i++)
        room[i] = alphabet[random_below((uint32_t)strlen(alphabet))];
    return str_n(room, n);
}

/* Every random pattern against the slow matcher, and each prefix of a text that matches must be one
 * that may be extended. */
TEST(wild_agrees_with_the_slow_matcher)
{
    static const char *const alphabets[] = {"ab/**?", "a/*\\", "ab-]![^\\*", "a[]:alph*-", "**//a"};
    random_state = 42;
    for (size_t i = 0; i < 60000; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        char pattern_room[10], text_room[8];
        const char *alphabet = alphabets[i % ARRAY_LEN(alphabets)];
        struct str pattern = random_text(pattern_room, sizeof(pattern_room), alphabet);
        bool path = random_below(4) > 0;
        const struct wild *w = wild_compile(pattern, path ? WILD_PATH : 0, &a);
        for (size_t j = 0; j < 4; j++) {
            struct str text = random_text(text_room, sizeof(text_room), "aab//-]");
            bool want = slow_wild(pattern, text, path);
            if (wild_match(w, text) == want && wild_simulate(w, text) == want &&
                (!want || !text.n || wild_may_extend(w, str_head(text, text.n - 1))))
                continue;
            AUTO_FREE char *row = strndup(pattern.p, pattern.n);
            test_row(i, row);
            CHECK_INT(wild_match(w, text), want);
            CHECK_INT(wild_simulate(w, text), want);
            CHECK_STR(text, STR("above"));
            test_row(i, NULL);
        }
    }
}

/* Whole characters, longer texts and patterns: both ways of matching agree. */
TEST(wild_both_ways_agree)
{
    static const char *const pieces[] = {"a", "b", "/", "*", "**/", "**", "?", "[ab]", "[!a]", "é",
        "日", "[é-日]", "\xff", ".c", "*a*", "/**"};
    random_state = 7;
    size_t matches = 0;
    for (size_t i = 0; i < 40000; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_BUF struct buf pattern = BUF_INIT(1000), text = BUF_INIT(1000);
        for (size_t n = random_below(9); n > 0; n--)
            buf_add_z(&pattern, pieces[random_below(ARRAY_LEN(pieces))]);
        int options = (random_below(4) ? WILD_PATH : 0) | (random_below(3) ? WILD_UTF8 : 0);
        const struct wild *w = wild_compile(buf_str(&pattern), options, &a);
        for (size_t j = 0; j < 8; j++) {
            static const char *const words[] = {"a", "b", "/", "é", "日", "\xff", ".c", "ab/"};
            buf_reset(&text);
            for (size_t n = random_below(12); n > 0; n--)
                buf_add_z(&text, words[random_below(ARRAY_LEN(words))]);
            bool quick = wild_match(w, buf_str(&text));
            matches += quick;
            if (quick == wild_simulate(w, buf_str(&text)))
                continue;
            test_row(i, buf_z(&pattern));
            CHECK_STR(buf_str(&text), STR("the same both ways"));
            return;
        }
    }
    CHECK(matches > 10000);
}

TEST(wild_is_never_slow)
{
    enum {
        N = 10000
    };
    AUTO_ARENA struct arena a = ARENA_INIT(8 << 20);
    AUTO_FREE char *stars = base_alloc(N), *text = base_alloc(4 * 1024), *pairs = base_alloc(N);
    memset(stars, '*', N);
    memset(text, 'a', 4 * 1024);
    for (size_t i = 0; i < 4000; i++)
        pairs[i] = i % 2 ? 'a' : '*';
    pairs[4000] = 'b';
    CHECK(wild_match(wild_compile(str_n(stars, N), WILD_PATH, &a), str_n(text, 4096)));
    const struct wild *w = wild_compile(str_n(pairs, 4001), WILD_PATH, &a);
    CHECK(!wild_too_long(w));
    CHECK(!wild_match(w, str_n(text, 4096)));
    memset(text + 4095, 'b', 1);
    CHECK(wild_match(w, str_n(text, 4096)));
    for (size_t i = 0; i < 3999; i++)
        pairs[i] = "**/"[i % 3];
    w = wild_compile(str_n(pairs, 3999), WILD_PATH, &a);
    CHECK(!wild_match(w, str_n(text, 4096)) && wild_match(w, STR("")));
}

TEST(wild_reports_patterns_that_are_too_long)
{
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    AUTO_FREE char *text = base_alloc(20000);
    memset(text, 'a', 20000);
    const struct wild *w = wild_compile(str_n(text, WILD_TOKENS_MAX), WILD_PATH, &a);
    CHECK(!wild_too_long(w) && wild_match(w, str_n(text, WILD_TOKENS_MAX)));
    w = wild_compile(str_n(text, WILD_TOKENS_MAX + 1), WILD_PATH, &a);
    CHECK(wild_too_long(w) && !wild_match(w, str_n(text, WILD_TOKENS_MAX + 1)));
    for (size_t i = 0; i + 3 <= 20000; i += 3)
        memcpy(text + i, "[a]", 3);
    w = wild_compile(str_n(text, 19998), WILD_PATH, &a);
    CHECK(wild_too_long(w) && !wild_may_extend(w, STR("")));
}

TEST(wild_memory_is_enough)
{
    static const char *const units[] = {
        "[é]", "[a]", "*?", "a", "**/", "é", "[日本]", "[ééééééé]", "[\xff\xfe\xff\xfe]"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_BUF struct buf pattern = BUF_INIT(1 << 20);
        while (pattern.n < 9000)
            buf_add_z(&pattern, units[i]);
        AUTO_ARENA struct arena a = ARENA_INIT(0);
        a.max = wild_memory(buf_str(&pattern)) + 128;
        test_row(i, units[i]);
        CHECK(wild_compile(buf_str(&pattern), WILD_PATH | WILD_UTF8, &a) != NULL);
    }
}

/* "\\" and "\t" as the data file writes them. */
static struct str unescape(char *line)
{
    size_t n = 0;
    for (char *p = line; *p; p++, n++) {
        bool escape = p[0] == '\\' && (p[1] == '\\' || p[1] == 't');
        line[n] = escape ? (*++p == 't' ? '\t' : '\\') : *p;
    }
    return str_n(line, n);
}

TEST(wild_public_vectors)
{
    static const int modes[] = {WILD_PATH, WILD_PATH | WILD_CASEFOLD, 0, WILD_CASEFOLD};
    const char *dir = getenv("CORDON_VECTORS");
    char path[4096];
    snprintf(path, sizeof(path), "%s/wildmatch.tsv", dir ? dir : "");
    AUTO_FREE char *all = dir ? test_read(path) : NULL;
    if (!all) {
        test_skip("no public vectors here (CORDON_VECTORS)");
        return;
    }
    size_t rows = 0;
    struct str line, rest = str_z(all);
    for (size_t row = 0; str_cut(rest, '\n', &line, &rest); row++) {
        struct str field[6] = {0}, left = line;
        if (line.n == 0 || line.p[0] == '#')
            continue;
        for (size_t i = 0; i < 6; i++)
            if (!str_cut(left, '\t', &field[i], &left))
                field[i] = STR("");
        AUTO_FREE char *text = strndup(field[4].p, field[4].n);
        AUTO_FREE char *pattern = strndup(field[5].p, field[5].n);
        test_row(row, pattern);
        struct str t = unescape(text), p = unescape(pattern);
        for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
            AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
            CHECK_INT(wild_match(wild_compile(p, modes[i], &a), t), str_is(field[i], "1"));
        }
        rows++;
    }
    CHECK(rows > 100);
}
