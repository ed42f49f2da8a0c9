/* Caret encoding and directory arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/utf8.h"
#include "path/caret.h"
#include "path/dirarg.h"

static const struct {
    struct str plain;
    const char *encoded;
} pairs[] = {
    {STR(""), ""},
    {STR("/"), "^2F"},
    {STR("/home/user/project"), "^2Fhome^2Fuser^2Fproject"},
    {STR("/tmp/test"), "^2Ftmp^2Ftest"},
    {STR("simple"), "simple"},
    {STR("/my dir"), "^2Fmy^20dir"},
    {STR("/foo^bar"), "^2Ffoo^5Ebar"},
    {STR("/foo:bar"), "^2Ffoo^3Abar"},
    {STR("/foo.bar"), "^2Ffoo^2Ebar"},
    {STR("~"), "^7E"},
    {STR("-_`{}09azAZ"), "-_`{}09azAZ"},
    {STR("!\"#$%&'()*+,/:;<=>?@[\\]|~"),
        "^21^22^23^24^25^26^27^28^29^2A^2B^2C^2F^3A^3B^3C^3D^3E^3F^40^5B^5C^5D^7C^7E"},
    {STR("\t\n\x7F"), "^09^0A^7F"},
    {STR("/données"), "^2Fdonn^E9es"},
    {STR("/Łódź"), "^2F^g141^F3d^g17A"},
    {STR("/日本"), "^2F^h65E5^h672C"},
    {STR("‡"), "^h2021"},
    {STR("/test/🎉"), "^2Ftest^2F^i1F389"},
    {STR("\xF4\x8F\xBF\xBF"), "^j10FFFF"},
    {STR("\xC2\x80"), "^80"},
    /* not UTF-8: each byte by itself, with a marker that text never gives */
    {STR("\x80"), "^x80"},
    {STR("a\xFF\xFE z"), "a^xFF^xFE^20z"},
    {STR("\xC3("), "^xC3^28"},
    {STR("\xE6\x97/"), "^xE6^x97^2F"},
    {STR("\xED\xA0\x80"), "^xED^xA0^x80"},
    {STR("\xC0\xAF"), "^xC0^xAF"},
    {STR("\xF0\x9F\x8E"), "^xF0^x9F^x8E"},
};

TEST(caret_table_both_ways)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        test_row(i, pairs[i].encoded);
        AUTO_BUF struct buf encoded = BUF_INIT(1000), decoded = BUF_INIT(1000);
        AUTO_ERR struct err err = {0};
        caret_encode(pairs[i].plain, &encoded);
        CHECK_Z(buf_z(&encoded), pairs[i].encoded);
        CHECK_OK(caret_decode(buf_str(&encoded), CARET_PATH, &decoded, &err), &err);
        CHECK_STR(buf_str(&decoded), pairs[i].plain);
    }
}

TEST(caret_decode_is_generous)
{
    static const struct {
        const char *encoded;
        const char *plain;
    } rows[] = {
        {"^2f", "/"},
        {"^G141", "Ł"},
        {"^g141", "Ł"},
        {"^h00e9", "é"},
        {"^H00E9", "é"},
        {"^j00002F", "/"},
        {"^Xff", "\xFF"},
        {"plain.text é", "plain.text é"},
        {"^I1f389", "🎉"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].encoded);
        AUTO_BUF struct buf decoded = BUF_INIT(1000);
        AUTO_ERR struct err err = {0};
        CHECK_OK(caret_decode(str_z(rows[i].encoded), CARET_PATH, &decoded, &err), &err);
        CHECK_Z(buf_z(&decoded), rows[i].plain);
    }
}

TEST(caret_decode_refuses)
{
    static const struct {
        const char *encoded;
        const char *part;
        int64_t position;
    } rows[] = {
        {"^", "ends within", 0},
        {"^2", "ends within", 0},
        {"^ZZ", "not a hex digit", 0},
        {"^kk", "not a hex digit", 0},
        {"^g14", "ends within", 0},
        {"^g", "ends within", 0},
        {"ab^hD800", "surrogate", 2},
        {"^hDFFF", "surrogate", 0},
        {"^j110000", "above", 0},
        {"^jFFFFFF", "above", 0},
        {"a^00", "NUL", 1},
        {"^g000", "NUL", 0},
        {"^x7F", "use ^7F", 0},
        {"^x8", "ends within", 0},
        {"^x", "ends within", 0},
        {"^2G", "not a hex digit", 0},
        {"^ 2", "not a hex digit", 0},
        {"^^5E", "not a hex digit", 0},
        {"x^z0123456789abcdef", "was shortened", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].encoded);
        AUTO_BUF struct buf decoded = BUF_INIT(1000);
        AUTO_ERR struct err err = {0};
        if (!CHECK(!caret_decode(str_z(rows[i].encoded), CARET_PATH, &decoded, &err)))
            continue;
        CHECK_ERR(&err, E_CLI_INVALID_ARG, rows[i].part);
        CHECK_INT(err_ctx_get(&err, "position")->number, rows[i].position);
    }
    AUTO_BUF struct buf decoded = BUF_INIT(1000);
    AUTO_ERR struct err err = {0};
    CHECK_OK(caret_decode(STR("a^00"), CARET_BYTES, &decoded, &err), &err);
    CHECK_STR(buf_str(&decoded), STR("a\0"));
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool marker_in_text(struct str encoded)
{
    for (size_t i = 0; i + 1 < encoded.n; i++)
        if (encoded.p[i] == '^' && (encoded.p[i + 1] == 'x' || encoded.p[i + 1] == 'z'))
            return true;
    return false;
}

/* Any bytes round-trip; the marker of raw bytes appears exactly when the input was not UTF-8. */
TEST(caret_round_trips_any_bytes)
{
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t round = 0; round < 20000; round++) {
        char bytes[48];
        size_t n = next_random(&state) % sizeof(bytes);
        for (size_t i = 0; i < n; i++) {
            uint64_t r = next_random(&state);
            /* Mostly lead and continuation bytes, so that valid sequences happen. */
            bytes[i] = r & 0x300 ? (char)(0x80 | r) : (char)(r & 0x7F);
        }
        AUTO_BUF struct buf encoded = BUF_INIT(1000), decoded = BUF_INIT(1000);
        AUTO_ERR struct err err = {0};
        struct str plain = str_n(bytes, n);
        caret_encode(plain, &encoded);
        bool ok = caret_decode(buf_str(&encoded), CARET_BYTES, &decoded, &err);
        if (!CHECK(ok) || !CHECK_STR(buf_str(&decoded), plain) ||
            !CHECK(marker_in_text(buf_str(&encoded)) == !utf8_valid(plain)) ||
            !CHECK(utf8_valid(buf_str(&encoded))) || !CHECK(str_find(buf_str(&encoded), '/') < 0))
            return;
    }
}

TEST(caret_every_code_point_round_trips)
{
    size_t wrong = 0;
    for (uint32_t cp = 1; cp <= UTF8_LAST; cp += cp < 0x3000 ? 1 : 97) {
        if (!utf8_is_scalar(cp))
            continue;
        char bytes[UTF8_MAX];
        struct str plain = str_n(bytes, utf8_write(cp, bytes));
        AUTO_BUF struct buf encoded = BUF_INIT(100), decoded = BUF_INIT(100);
        AUTO_ERR struct err err = {0};
        caret_encode(plain, &encoded);
        wrong += !caret_decode(buf_str(&encoded), CARET_PATH, &decoded, &err) ||
                 !str_eq(buf_str(&decoded), plain) || marker_in_text(buf_str(&encoded));
    }
    CHECK_INT(wrong, 0);
}

/* A character across the boundary of two internal chunks stays whole. */
TEST(caret_long_input)
{
    for (size_t pad = 64 * 1024 - 4; pad <= 64 * 1024 + 1; pad++) {
        AUTO_BUF struct buf plain = BUF_INIT(1 << 20), encoded = BUF_INIT(1 << 20),
                            decoded = BUF_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        for (size_t i = 0; i < pad; i++)
            buf_add_byte(&plain, i % 7 ? 'a' : '/');
        buf_add_z(&plain, "🎉日x");
        caret_encode(buf_str(&plain), &encoded);
        CHECK(str_ends_with(buf_str(&encoded), STR("^i1F389^h65E5x")));
        CHECK_OK(caret_decode(buf_str(&encoded), CARET_PATH, &decoded, &err), &err);
        CHECK_STR(buf_str(&decoded), buf_str(&plain));
    }
}

TEST(caret_name_fits_a_directory_entry)
{
    char name[CARET_NAME_MAX + 1], other[CARET_NAME_MAX + 1];
    caret_name(STR("/a.b"), name);
    CHECK_Z(name, "^2Fa^2Eb");
    AUTO_BUF struct buf path = BUF_INIT(100000);
    for (size_t i = 0; i < 60; i++) {
        buf_add_z(&path, "/日本");
        caret_name(buf_str(&path), name);
        CHECK(strlen(name) <= CARET_NAME_MAX);
        CHECK(strchr(name, '/') == NULL);
    }
    CHECK(strstr(name, "^z") != NULL);
    buf_add_z(&path, "x");
    caret_name(buf_str(&path), other);
    CHECK(strcmp(name, other) != 0);
    AUTO_BUF struct buf decoded = BUF_INIT(1000);
    AUTO_ERR struct err err = {0};
    CHECK(!caret_decode(str_z(name), CARET_PATH, &decoded, &err));
    CHECK_ERR(&err, E_CLI_INVALID_ARG, "was shortened");
    /* exactly at the limit: not shortened */
    char plain[256];
    memset(plain, 'a', sizeof(plain));
    caret_name(str_n(plain, 255), name);
    CHECK_INT(strlen(name), 255);
    CHECK(strstr(name, "^z") == NULL);
    caret_name(str_n(plain, 256), name);
    CHECK(strstr(name, "^z") != NULL);
}

TEST(dirarg_table)
{
    static const struct {
        const char *arg, *path, *mode;
        bool force;
    } rows[] = {
        {"./app", "/cwd/app", "", false},
        {"./app:copy", "/cwd/app", "copy", false},
        {"./app:rw", "/cwd/app", "rw", false},
        {"./app:overlay", "/cwd/app", "overlay", false},
        {"./app:force", "/cwd/app", "", true},
        {"./app:rw:force", "/cwd/app", "rw", true},
        {"./app:force:copy", "/cwd/app", "copy", true},
        {"./app:copy:copy", "/cwd/app", "copy", false},
        {"./app:copy:force:copy:force", "/cwd/app", "copy", true},
        {"", "/cwd", "", false},
        {":rw", "/cwd", "rw", false},
        {"/", "/", "", false},
        {"..", "/", "", false},
        {"../../x", "/x", "", false},
        {"/a//b/./c/../d", "/a/b/d", "", false},
        {"/path/to/file:with:colons", "/path/to/file:with:colons", "", false},
        {"/a:b:rw", "/a:b", "rw", false},
        {"/a:rw:b", "/a:rw:b", "", false},
        {"/a:RW", "/a:RW", "", false},
        {"/a:", "/a:", "", false},
        {"~/x", "/cwd/~/x", "", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].arg);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct dirarg dir = {0};
        if (!CHECK_OK(dirarg_parse(str_z(rows[i].arg), STR("/cwd"), &a, &dir, &err), &err))
            continue;
        CHECK_STR(dir.path, str_z(rows[i].path));
        CHECK_Z(dirarg_mode_name(dir.mode), rows[i].mode);
        CHECK(dir.force == rows[i].force);
    }
}

TEST(dirarg_refuses_two_modes)
{
    static const char *const rows[] = {
        "./app:copy:rw", "./app:rw:force:copy", "x:overlay:rw", "x:copy:overlay", ":rw:copy"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i]);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct dirarg dir = {.force = true};
        CHECK(!dirarg_parse(str_z(rows[i]), STR("/cwd"), &a, &dir, &err));
        CHECK_ERR(&err, E_CLI_INVALID_ARG, "use only one of them");
        CHECK(dir.force && !dir.path.p);
    }
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct dirarg dir = {0};
    CHECK(!dirarg_parse(STR("a\0b"), STR("/cwd"), &a, &dir, &err));
}
