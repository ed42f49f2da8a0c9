/* Widths and grapheme clusters, against the files of the Unicode Character Database. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "term/unicode.h"

#define DATA "/usr/share/unicode/"

enum {
    CODEPOINTS = 0x110000,
    BREAK_TESTS = 602, /* cases of GraphemeBreakTest.txt in 15.0 */
};

/* The next line, without its comment; false at the end. */
static bool next_line(char **rest, char **ret_line)
{
    char *line = strsep(rest, "\n");
    if (!line)
        return false;
    line[strcspn(line, "#")] = '\0';
    *ret_line = line;
    return true;
}

/* The file, which must exist and, if it names a version, have ours: for free(). */
static char *data_read(const char *path, const char *stem)
{
    char *text = test_read(path);
    if (!CHECK(text != NULL))
        return NULL;
    char head[80];
    snprintf(head, sizeof(head), "# %s-" UNICODE_VERSION ".", stem ? stem : "");
    if (stem && !CHECK_STR(str_head(str_z(text), strlen(head)), str_z(head))) {
        free(text);
        return NULL;
    }
    return text;
}

typedef void (*range_fn)(uint8_t *values, uint32_t first, uint32_t last, const char *value);

/* Calls set() for each line "FIRST[..LAST] ; VALUE"; returns how many there were. */
static size_t each_range(const char *path, const char *stem, uint8_t *values, range_fn set)
{
    AUTO_FREE char *text = data_read(path, stem);
    size_t n = 0;
    char *rest = text, *line;
    while (text && next_line(&rest, &line)) {
        char value[64];
        unsigned first, last;
        if (sscanf(line, "%x..%x ; %63s", &first, &last, value) != 3) {
            if (sscanf(line, "%x ; %63s", &first, value) != 2)
                continue;
            last = first;
        }
        BUG_ON(first > last || last >= CODEPOINTS);
        set(values, first, last, value);
        n++;
    }
    return n;
}

TEST(unicode_break_tests)
{
    AUTO_FREE char *text = data_read(DATA "auxiliary/GraphemeBreakTest.txt", "GraphemeBreakTest");
    size_t n = 0;
    char *rest = text, *line;
    while (text && next_line(&rest, &line)) {
        AUTO_FREE char *shown = strdup(line);
        struct grapheme g = GRAPHEME_START;
        bool want_joined = false;
        size_t codepoints = 0;
        for (char *word; (word = strsep(&line, " \t")) != NULL;) {
            if (strcmp(word, "÷") == 0 || strcmp(word, "×") == 0) {
                want_joined = strcmp(word, "×") == 0;
            } else if (*word) {
                test_row(n, shown);
                uint32_t cp = (uint32_t)strtoul(word, NULL, 16);
                CHECK_INT(grapheme_joins(&g, unicode_class(cp)), want_joined);
                codepoints++;
            }
        }
        n += codepoints > 0;
    }
    test_row(0, NULL);
    CHECK_INT(n, BREAK_TESTS);
}

/* Missing in the file of cases: the memory that GB11 to GB13 need. */
TEST(unicode_breaks_remember)
{
    static const struct {
        const char *name;
        uint32_t cps[8];
        const char *joins; /* for each, '+' if it joins the one before */
    } rows[] = {
        {"family of three", {0x1F468, 0x200D, 0x1F469, 0x200D, 0x1F467}, "-++++"},
        {"skin tone, then a joiner", {0x1F468, 0x1F3FD, 0x200D, 0x1F4BB}, "-+++"},
        {"variation selector, then a joiner", {0x2764, 0xFE0F, 0x200D, 0x1F525}, "-+++"},
        {"two joiners do not join", {0x1F468, 0x200D, 0x200D, 0x1F469}, "-++-"},
        {"an extension after the joiner", {0x1F468, 0x200D, 0xFE0F, 0x1F469}, "-++-"},
        {"a letter joins nothing", {'a', 0x200D, 0x1F469}, "-+-"},
        {"a spacing mark in between", {0x1F468, 0x0903, 0x200D, 0x1F469}, "-++-"},
        {"a new line forgets", {0x1F468, 0x200D, '\n', 0x1F469}, "-+--"},
        {"five flags' halves", {0x1F1E9, 0x1F1EA, 0x1F1EB, 0x1F1F7, 0x1F1FA}, "-+-+-"},
        {"an extension parts halves", {0x1F1E9, 0x0308, 0x1F1EA, 0x1F1EB}, "-+-+"},
        {"a letter parts halves", {0x1F1E9, 'a', 0x1F1EA, 0x1F1EB}, "---+"},
        {"prepended to half a flag", {0x0600, 0x1F1E9, 0x1F1EA, 0x1F1EB}, "-++-"},
        {"prepended, but to nothing", {0x0600, '\r', '\n', 0x0308}, "--+-"},
        {"no GB9c in 15.0", {0x0915, 0x094D, 0x0924}, "-+-"},
        {"an extension alone", {0x0308, 0x0308}, "-+"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        struct grapheme g = GRAPHEME_START;
        char got[9] = "";
        for (size_t k = 0; k < strlen(rows[i].joins); k++)
            got[k] = grapheme_joins(&g, unicode_class(rows[i].cps[k])) ? '+' : '-';
        CHECK_Z(got, rows[i].joins);
    }
}

static const struct {
    const char *name;
    uint32_t cp;
    unsigned width;
    bool variation; /* U+FE0E and U+FE0F change it */
} widths[] = {
    {"NUL", 0x00, 0, false},
    {"line feed", '\n', 0, false},
    {"escape", 0x1B, 0, false},
    {"space", ' ', 1, false},
    {"letter", 'a', 1, false},
    {"digit, as in a keycap", '1', 1, true},
    {"tilde", '~', 1, false},
    {"delete", 0x7F, 0, false},
    {"next line, C1", 0x85, 0, false},
    {"last of C1", 0x9F, 0, false},
    {"no-break space", 0xA0, 1, false},
    {"copyright", 0xA9, 1, true},
    {"soft hyphen", 0xAD, 1, false},
    {"e with acute", 0xE9, 1, false},
    {"combining acute", 0x0301, 0, false},
    {"grapheme joiner", 0x034F, 0, false},
    {"ambiguous: Cyrillic", 0x0416, 1, false},
    {"enclosing, Me", 0x0488, 0, false},
    {"Arabic number sign, prepended", 0x0600, 1, false},
    {"Arabic number mark, prepended", 0x0605, 1, false},
    {"Arabic letter mark", 0x061C, 0, false},
    {"end of ayah, prepended", 0x06DD, 1, false},
    {"Syriac abbreviation, prepended", 0x070F, 1, false},
    {"Devanagari spacing mark, Mc", 0x0903, 1, false},
    {"Devanagari virama, Mn", 0x094D, 0, false},
    {"Thai vowel above", 0x0E31, 0, false},
    {"jamo, first consonant", 0x1100, 2, false},
    {"jamo, last first consonant", 0x115F, 2, false},
    {"jamo, vowel filler", 0x1160, 0, false},
    {"jamo, last final consonant", 0x11FF, 0, false},
    {"after the jamo", 0x1200, 1, false},
    {"zero width space", 0x200B, 0, false},
    {"zero width joiner", 0x200D, 0, false},
    {"right-to-left mark", 0x200F, 0, false},
    {"line separator", 0x2028, 0, false},
    {"paragraph separator", 0x2029, 0, false},
    {"word joiner", 0x2060, 0, false},
    {"keycap, enclosing", 0x20E3, 0, false},
    {"watch", 0x231A, 2, true},
    {"box drawing, ambiguous", 0x2500, 1, false},
    {"black square, narrow emoji", 0x25AA, 1, true},
    {"snowman, narrow emoji", 0x2603, 1, true},
    {"heart, narrow emoji", 0x2764, 1, true},
    {"ideographic space", 0x3000, 2, false},
    {"ideographic tone mark, wide but Mn", 0x302A, 0, false},
    {"Hiragana", 0x3042, 2, false},
    {"voiced sound mark, wide but Mn", 0x3099, 0, false},
    {"half fill space, narrow among wide", 0x303F, 1, false},
    {"hexagram, narrow", 0x4DC0, 1, false},
    {"CJK", 0x65E5, 2, false},
    {"jamo, extended first", 0xA960, 2, false},
    {"Hangul syllable", 0xAC00, 2, false},
    {"last Hangul syllable", 0xD7A3, 2, false},
    {"jamo, extended vowel", 0xD7B0, 0, false},
    {"jamo, extended final, not assigned", 0xD7FF, 0, false},
    {"private use", 0xE000, 1, false},
    {"CJK compatibility, not assigned", 0xFA6E, 2, false},
    {"text selector", 0xFE0E, 0, false},
    {"emoji selector", 0xFE0F, 0, false},
    {"byte order mark", 0xFEFF, 0, false},
    {"full-width A", 0xFF21, 2, false},
    {"half-width katakana", 0xFF71, 1, false},
    {"interlinear anchor", 0xFFF9, 0, false},
    {"replacement character", 0xFFFD, 1, false},
    {"noncharacter", 0xFFFF, 1, false},
    {"Tangut", 0x17000, 2, false},
    {"Mahjong red dragon, wide", 0x1F004, 2, true},
    {"regional indicator", 0x1F1E9, 1, false},
    {"thermometer, narrow emoji", 0x1F321, 1, true},
    {"skin tone", 0x1F3FB, 2, false},
    {"last skin tone", 0x1F3FF, 2, false},
    {"laptop", 0x1F4BB, 2, true},
    {"grinning face", 0x1F600, 2, false},
    {"shaking face, new in 15.0", 0x1FAE8, 2, false},
    {"CJK, plane 2", 0x20000, 2, false},
    {"plane 2, not assigned", 0x2FFFD, 2, false},
    {"plane 2, noncharacter", 0x2FFFE, 1, false},
    {"plane 3, not assigned", 0x3FFFD, 2, false},
    {"tag", 0xE0067, 0, false},
    {"variation selector 17", 0xE0100, 0, false},
    {"the last", 0x10FFFF, 1, false},
};

TEST(unicode_widths)
{
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        test_row(i, widths[i].name);
        unsigned class = unicode_class(widths[i].cp);
        CHECK_INT(unicode_width(class), widths[i].width);
        CHECK_INT((class & UNICODE_EMOJI_VARIATION) != 0, widths[i].variation);
    }
}

static void set_break(uint8_t *values, uint32_t first, uint32_t last, const char *value)
{
    static const char *const names[] = {
        [BREAK_CR] = "CR",
        [BREAK_LF] = "LF",
        [BREAK_CONTROL] = "Control",
        [BREAK_EXTEND] = "Extend",
        [BREAK_ZWJ] = "ZWJ",
        [BREAK_REGIONAL] = "Regional_Indicator",
        [BREAK_PREPEND] = "Prepend",
        [BREAK_SPACING] = "SpacingMark",
        [BREAK_L] = "L",
        [BREAK_V] = "V",
        [BREAK_T] = "T",
        [BREAK_LV] = "LV",
        [BREAK_LVT] = "LVT",
        [BREAK_PICTOGRAPH] = "Extended_Pictographic",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i] && strcmp(names[i], value) == 0)
            memset(values + first, (int)i, last - first + 1);
}

static void set_wide(uint8_t *values, uint32_t first, uint32_t last, const char *value)
{
    memset(values + first, strcmp(value, "W") == 0 || strcmp(value, "F") == 0 ? 2 : 1,
        last - first + 1);
}

static void set_prepended(uint8_t *values, uint32_t first, uint32_t last, const char *value)
{
    if (strcmp(value, "Prepended_Concatenation_Mark") == 0)
        memset(values + first, 1, last - first + 1);
}

/* The marks, controls and separators of UnicodeData.txt: "CP;NAME;CATEGORY;...". Its ranges have
 * none. */
static size_t set_empty(uint8_t *values)
{
    AUTO_FREE char *text = data_read(DATA "UnicodeData.txt", NULL);
    size_t n = 0;
    for (char *rest = text, *line; text && (line = strsep(&rest, "\n")) != NULL;) {
        unsigned cp;
        char category[3];
        if (sscanf(line, "%x;%*[^;];%2[A-Za-z];", &cp, category) != 2)
            continue;
        BUG_ON(cp >= CODEPOINTS);
        n++;
        if (strstr("Mn Me Cf Cc Zl Zp", category))
            values[cp] = 0;
    }
    return n;
}

/* Number of code points that differ; shows the first few. */
static size_t differences(const uint8_t *want, unsigned shift, unsigned mask)
{
    size_t n = 0;
    for (uint32_t cp = 0; cp < CODEPOINTS; cp++) {
        unsigned got = unicode_class(cp) >> shift & mask;
        if (got != want[cp] && n++ < 10)
            printf("# U+%04X: %u, not %u\n", cp, got, want[cp]);
    }
    return n;
}

/* The two-stage table, against a plain one that is filled from the files here. */
TEST(unicode_breaks_of_all)
{
    AUTO_FREE uint8_t *want = base_alloc(CODEPOINTS);
    memset(want, BREAK_OTHER, CODEPOINTS);
    CHECK(each_range(DATA "auxiliary/GraphemeBreakProperty.txt", "GraphemeBreakProperty", want,
              set_break) > 1000);
    CHECK(each_range(DATA "emoji/emoji-data.txt", NULL, want, set_break) > 1000);
    CHECK_INT(differences(want, 0, UNICODE_BREAK_MASK), 0);
}

TEST(unicode_widths_of_all)
{
    AUTO_FREE uint8_t *want = base_alloc(CODEPOINTS);
    memset(want, 1, CODEPOINTS);
    CHECK(each_range(DATA "EastAsianWidth.txt", "EastAsianWidth", want, set_wide) > 1000);
    CHECK(set_empty(want) > 30000);
    CHECK(each_range(DATA "PropList.txt", "PropList", want, set_prepended) > 1000);
    want[0xAD] = 1;
    memset(want + 0x1160, 0, 0x1200 - 0x1160);
    memset(want + 0xD7B0, 0, 0xD800 - 0xD7B0);
    CHECK_INT(differences(want, UNICODE_WIDTH_SHIFT, UNICODE_WIDTH_MASK), 0);
}

/* Bit 6, and that bit 7 is free. */
TEST(unicode_variations_of_all)
{
    AUTO_FREE uint8_t *want = base_alloc(CODEPOINTS);
    memset(want, 0, CODEPOINTS);
    AUTO_FREE char *text = data_read(DATA "emoji/emoji-variation-sequences.txt", NULL);
    size_t n = 0;
    char *rest = text, *line;
    while (text && next_line(&rest, &line)) {
        unsigned cp;
        if (sscanf(line, "%x FE0F ;", &cp) == 1 && strstr(line, " FE0F")) {
            BUG_ON(cp >= CODEPOINTS);
            want[cp] = 1;
            n++;
        }
    }
    CHECK_INT(n, 354);
    CHECK_INT(differences(want, 6, 3), 0);
}
