/* Strings, buffers, arenas, errors, UTF-8, time, ids, hashes, log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fnv.h"
#include "base/grow.h"
#include "base/id.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/utf8.h"

#include <errno.h>
#include <unistd.h>

TEST(str_order_and_search)
{
    CHECK(str_cmp(STR("a"), STR("b")) < 0);
    CHECK(str_cmp(STR("a"), STR("ab")) < 0);
    CHECK(str_cmp(STR("\xff"), STR("a")) > 0);
    CHECK(str_cmp(STR(""), STR("")) == 0);
    CHECK(str_eq(STR("a\0b"), STR("a\0b")));
    CHECK(!str_eq(STR("a\0b"), STR("a\0c")));
    CHECK_INT(str_find(STR("a/b/c"), '/'), 1);
    CHECK_INT(str_find_last(STR("a/b/c"), '/'), 3);
    CHECK_INT(str_find(STR("abc"), '/'), -1);
    CHECK_INT(str_find(STR(""), '/'), -1);
    CHECK_STR(str_trim_end(STR("a//"), '/'), STR("a"));
    CHECK_STR(str_trim(STR(" \ta b\t ")), STR("a b"));
    CHECK_STR(str_trim(STR(" \t")), STR(""));
    CHECK_STR(str_skip(STR("abc"), 5), STR(""));
    CHECK(str_starts_with(STR("abc"), STR("")));
    CHECK(!str_starts_with(STR("ab"), STR("abc")));
    CHECK(str_ends_with(STR("abc"), STR("bc")));
}

TEST(str_cut_gives_every_part)
{
    static const struct {
        const char *text;
        const char *parts; /* joined with '|' */
    } rows[] = {
        {"", ""},
        {"a", "a|"},
        {"a,b", "a|b|"},
        {",", "|"},
        {"a,,b", "a||b|"},
        {"a,", "a|"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        AUTO_BUF struct buf joined = BUF_INIT(100);
        struct str part, rest = str_z(rows[i].text);
        while (str_cut(rest, ',', &part, &rest)) {
            buf_add_str(&joined, part);
            buf_add_byte(&joined, '|');
        }
        CHECK_STR(buf_str(&joined), str_z(rows[i].parts));
    }
}

TEST(str_distance_counts_edits)
{
    static const struct {
        const char *a, *b;
        size_t want;
    } rows[] = {
        {"", "", 0},
        {"a", "", 1},
        {"glob", "glob", 0},
        {"golb", "glob", 1},
        {"encod", "encode", 1},
        {"dekode", "decode", 1},
        {"kitten", "sitting", 3},
        {"abcd", "badc", 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].a);
        CHECK_INT(str_distance(str_z(rows[i].a), str_z(rows[i].b)), rows[i].want);
        CHECK_INT(str_distance(str_z(rows[i].b), str_z(rows[i].a)), rows[i].want);
    }
    char far[65];
    memset(far, 'a', sizeof(far));
    CHECK(str_distance(str_n(far, sizeof(far)), STR("a")) == SIZE_MAX);
}

TEST(str_to_int_is_strict)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"0x1", false, 0},
        {"1e3", false, 0},
        {"99999999999999999999", false, 0},
        {"--1", false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        int64_t value = 7;
        CHECK(str_to_int(str_z(rows[i].text), INT64_MIN, INT64_MAX, &value) == rows[i].ok);
        CHECK_INT(value, rows[i].ok ? rows[i].value : 7);
    }
    int64_t value = 7;
    CHECK(!str_to_int(STR("11"), 0, 10, &value));
    CHECK(!str_to_int(STR("-1"), 0, 10, &value));
}

TEST(buf_stops_at_its_maximum)
{
    AUTO_BUF struct buf b = BUF_INIT(10);
    CHECK_Z(buf_z(&b), "");
    buf_add_z(&b, "0123456789");
    CHECK(buf_ok(&b));
    buf_add_byte(&b, 'x');
    CHECK(!buf_ok(&b));
    CHECK_STR(buf_str(&b), STR("0123456789"));
    buf_reset(&b);
    CHECK(buf_ok(&b));
    buf_printf(&b, "%d-%s", 7, "abc");
    CHECK_Z(buf_z(&b), "7-abc");
    buf_printf(&b, "%s", "too long for it");
    CHECK(!buf_ok(&b));
    CHECK_Z(buf_z(&b), "7-abc");
}

TEST(buf_keeps_nul_and_is_terminated)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    for (size_t i = 0; i < 5000; i++) {
        buf_add_byte(&b, (char)(i & 1));
        if (b.p[b.n] != '\0' && !CHECK(b.p[b.n] == '\0'))
            break;
    }
    CHECK_INT(b.n, 5000);
    buf_truncate(&b, 3);
    CHECK_STR(buf_str(&b), STR("\0\1\0"));
    AUTO_FREE char *taken = buf_take(&b);
    CHECK_INT(taken[1], 1);
    CHECK_INT(b.n, 0);
    AUTO_BUF struct buf empty = BUF_INIT(1);
    AUTO_FREE char *nothing = buf_take(&empty);
    CHECK_Z(nothing, "");
}

TEST(arena_gives_zeroed_aligned_memory)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    for (size_t size = 1; size < 3000; size += 7) {
        unsigned char *p = arena_alloc(&a, size);
        bool zero = true;
        for (size_t i = 0; i < size; i++)
            zero = zero && p[i] == 0;
        if (!CHECK(zero) || !CHECK((uintptr_t)p % _Alignof(max_align_t) == 0))
            break;
        memset(p, 0xFF, size);
    }
    CHECK_Z(arena_strdup(&a, STR("copy")), "copy");
    CHECK_Z(arena_printf(&a, "%d%s", 4, "x"), "4x");
    char *big = arena_alloc(&a, 200000);
    big[199999] = 1;
    CHECK(arena_left(&a) < (1 << 20) - 200000);
    arena_done(&a);
    CHECK_INT(a.used, 0);
}

TEST(err_table_is_complete)
{
    static const struct {
        enum err_code code;
        const char *name;
        int status;
    } rows[] = {
        {E_INTERNAL, "E_INTERNAL", 1},
        {E_POLICY_DENIED, "E_POLICY_DENIED", 2},
        {E_SANDBOX_UNAVAILABLE, "E_SANDBOX_UNAVAILABLE", 3},
        {E_TIMEOUT, "E_TIMEOUT", 4},
        {E_ASSERTION_FAILED, "E_ASSERTION_FAILED", 5},
        {E_PROCESS_EXIT, "E_PROCESS_EXIT", 6},
        {E_TERMINAL_PARSE, "E_TERMINAL_PARSE", 7},
        {E_PROTOCOL_VERSION_MISMATCH, "E_PROTOCOL_VERSION_MISMATCH", 8},
        {E_PROTOCOL, "E_PROTOCOL", 9},
        {E_IO, "E_IO", 10},
        {E_REPLAY_MISMATCH, "E_REPLAY_MISMATCH", 11},
        {E_CLI_INVALID_ARG, "E_CLI_INVALID_ARG", 12},
        {E_FS_VIOLATION, "E_FS_VIOLATION", 13},
        {E_PATCH_PARSE, "E_PATCH_PARSE", 14},
        {E_PATCH_APPLY, "E_PATCH_APPLY", 14},
        {E_TOOL_VALIDATION, "E_TOOL_VALIDATION", 15},
        {E_PROVIDER, "E_PROVIDER", 16},
        {E_CONFIG, "E_CONFIG", 17},
        {E_NOT_FOUND, "E_NOT_FOUND", 18},
        {E_CONFLICT, "E_CONFLICT", 19},
        {E_APPROVAL_REQUIRED, "E_APPROVAL_REQUIRED", 20},
        {E_CANCELED, "E_CANCELED", 130},
        {E_COMMAND_TIMEOUT, "E_COMMAND_TIMEOUT", 4},
        {E_COMMAND_FAILED, "E_COMMAND_FAILED", 6},
    };
    CHECK_INT(ARRAY_LEN(rows), ERR_COUNT - 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK_Z(err_name(rows[i].code), rows[i].name);
        CHECK_INT(err_status(rows[i].code), rows[i].status);
        CHECK(strlen(err_about(rows[i].code)) > 8);
    }
}

TEST(err_carries_message_and_context)
{
    AUTO_ERR struct err err = {0};
    CHECK(!err_set(&err, E_IO, "first"));
    CHECK(!err_errno(&err, E_IO, ENOENT, "cannot open '%s'", err.message));
    CHECK_Z(err.message, "cannot open 'first': No such file or directory");
    CHECK_Z(err_ctx_get(&err, "errno")->text, "ENOENT");
    CHECK(!err_wrap(&err, "while %s", "loading"));
    CHECK_Z(err.message, "while loading: cannot open 'first': No such file or directory");
    CHECK(!err_ctx(&err, "path", "%s", "/a"));
    CHECK(!err_ctx(&err, "path", "%s", "/b"));
    CHECK(!err_ctx_int(&err, "line", 12));
    CHECK_Z(err_ctx_get(&err, "path")->text, "/b");
    CHECK_INT(err_ctx_get(&err, "line")->number, 12);
    CHECK(err_ctx_get(&err, "none") == NULL);
    AUTO_ERR struct err other = {0};
    CHECK(!err_move(&other, &err));
    CHECK_INT(err.code, ERR_NONE);
    CHECK_ERR(&other, E_IO, "while loading");
}

TEST(utf8_accepts_only_valid_sequences)
{
    static const struct {
        struct str bytes;
        size_t length;
        uint32_t codepoint;
        size_t invalid_length; /* if length is 0 */
    } rows[] = {
        {STR("a"), 1, 'a', 0},
        {STR("\0"), 1, 0, 0},
        {STR("\xC3\xA9"), 2, 0xE9, 0},
        {STR("\xE6\x97\xA5"), 3, 0x65E5, 0},
        {STR("\xF0\x9F\x8E\x89"), 4, 0x1F389, 0},
        {STR("\xF4\x8F\xBF\xBF"), 4, 0x10FFFF, 0},
        {STR("\xEF\xBF\xBF"), 3, 0xFFFF, 0},
        {STR("\xED\x9F\xBF"), 3, 0xD7FF, 0},
        {STR("\x80"), 0, 0, 1},
        {STR("\xC0\xAF"), 0, 0, 1},
        {STR("\xC1\xBF"), 0, 0, 1},
        {STR("\xE0\x80\xAF"), 0, 0, 1},
        {STR("\xED\xA0\x80"), 0, 0, 1},
        {STR("\xF4\x90\x80\x80"), 0, 0, 1},
        {STR("\xF5\x80\x80\x80"), 0, 0, 1},
        {STR("\xFF"), 0, 0, 1},
        {STR("\xE6\x97"), 0, 0, 2},
        {STR("\xF0\x9F\x8E"), 0, 0, 3},
        {STR("\xF0\x9F\x41"), 0, 0, 2},
        {STR("\xC3"), 0, 0, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "bytes");
        uint32_t codepoint = 0;
        CHECK_INT(utf8_decode(rows[i].bytes, &codepoint), rows[i].length);
        CHECK_INT(codepoint, rows[i].codepoint);
        CHECK(utf8_valid(rows[i].bytes) == (rows[i].length > 0));
        if (!rows[i].length)
            CHECK_INT(utf8_invalid_length(rows[i].bytes), rows[i].invalid_length);
    }
}

TEST(utf8_round_trips_every_code_point)
{
    size_t wrong = 0;
    for (uint32_t cp = 0; cp <= UTF8_LAST; cp++) {
        if (!utf8_is_scalar(cp))
            continue;
        char bytes[UTF8_MAX];
        uint32_t back = 0;
        size_t n = utf8_write(cp, bytes);
        wrong += utf8_decode(str_n(bytes, n), &back) != n || back != cp;
    }
    CHECK_INT(wrong, 0);
}

TEST(utf8_lossy_and_printable)
{
    static const struct {
        struct str in;
        const char *lossy;
        const char *printable;
    } rows[] = {
        {STR("plain é 日"), "plain é 日", "plain é 日"},
        {STR("a\xFFz"), "a\xEF\xBF\xBDz", "a\\xFFz"},
        {STR("\xF0\x9F\x8Ex"), "\xEF\xBF\xBDx", "\\xF0\\x9F\\x8Ex"},
        {STR("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "\\xED\\xA0\\x80"},
        {STR("\x1B[31m\n\t\r"), "\x1B[31m\n\t\r", "\\x1B[31m\\n\\t\\r"},
        {STR("\xC2\x9B\xE2\x80\xAE"), "\xC2\x9B\xE2\x80\xAE", "\\u{9B}\\u{202E}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].printable);
        AUTO_BUF struct buf lossy = BUF_INIT(100), printable = BUF_INIT(100);
        size_t replaced = utf8_add_lossy(&lossy, rows[i].in);
        utf8_add_printable(&printable, rows[i].in);
        CHECK_Z(buf_z(&lossy), rows[i].lossy);
        CHECK((replaced > 0) == !utf8_valid(rows[i].in));
        CHECK_Z(buf_z(&printable), rows[i].printable);
        CHECK(utf8_printable(rows[i].in) == str_eq(rows[i].in, buf_str(&printable)));
    }
}

TEST(fnv_known_values)
{
    char hex[FNV_HEX];
    fnv_hex(fnv_add(FNV_START, STR("")), hex);
    CHECK_Z(hex, "cbf29ce484222325");
    fnv_hex(fnv_add(FNV_START, STR("a")), hex);
    CHECK_Z(hex, "af63dc4c8601ec8c");
    fnv_hex(fnv_add(fnv_add(FNV_START, STR("foo")), STR("bar")), hex);
    CHECK_Z(hex, "85944171f73967e8");
}

/* The examples of FIPS 180-4, and lengths around the end of a block. */
TEST(sha256_known_values)
{
    static const struct {
        char byte;
        size_t n;
        const char *text, *hex;
    } rows[] = {
        {0, 0, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {0, 0, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {0, 0, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {'a', 1000000, NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {'x', 55, NULL, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {'x', 56, NULL, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {'x', 63, NULL, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {'x', 64, NULL, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {'x', 65, NULL, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {'x', 119, NULL, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {'x', 120, NULL, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char hex[SHA256_HEX];
        struct sha256 s;
        if (rows[i].text) {
            sha256_text(str_z(rows[i].text), hex);
            CHECK_Z(hex, rows[i].hex);
            continue;
        }
        /* In pieces of 7 bytes, which never end at a block. */
        char piece[7];
        memset(piece, rows[i].byte, sizeof(piece));
        sha256_init(&s);
        for (size_t at = 0; at < rows[i].n; at += sizeof(piece))
            sha256_add(&s, str_n(piece, MIN(sizeof(piece), rows[i].n - at)));
        sha256_hex(&s, hex);
        CHECK_Z(hex, rows[i].hex);
    }
}

TEST(clock_formats_dates)
{
    char text[CLOCK_RFC3339];
    clock_rfc3339(0, text);
    CHECK_Z(text, "1970-01-01T00:00:00.000Z");
    clock_rfc3339(UINT64_C(1709210096789), text);
    CHECK_Z(text, "2024-02-29T12:34:56.789Z");
    clock_rfc3339(UINT64_C(253402300799999), text);
    CHECK_Z(text, "9999-12-31T23:59:59.999Z");
    uint64_t before = clock_mono_ns();
    CHECK(clock_mono_ns() >= before);
    CHECK(clock_wall_ms() > UINT64_C(1700000000000));
}

TEST(clock_limits_timeouts)
{
    CHECK_INT(clock_timeout_ms(5, UINT64_MAX), -1);
    CHECK_INT(clock_timeout_ms(5, 4), 0);
    CHECK_INT(clock_timeout_ms(5, 5), 0);
    CHECK_INT(clock_timeout_ms(5, 6), 1);
    CHECK_INT(clock_timeout_ms(5, 60005), 60000);
    CHECK_INT(clock_timeout_ms(5, UINT64_MAX - 1), 60000);
}

TEST(clock_deadlines_do_not_wrap)
{
    CHECK(clock_deadline_ms(UINT64_MAX) == UINT64_MAX);
    CHECK(clock_deadline_ms(UINT64_MAX - 1) == UINT64_MAX);
    CHECK(clock_deadline_ms(1000) >= clock_mono_ms() + 1);
}

TEST(clock_numbers_have_limits)
{
    static const struct {
        const char *text;
        bool ok;
    } rows[] = {
        {"2026-01-02T23:59:60Z", true}, {"2026-01-02T24:00:00Z", false},
        {"2026-01-02T00:60:00Z", false}, {"2026-01-02T00:00:61Z", false},
        {"2026-00-02T00:00:00Z", false}, {"2026-13-02T00:00:00Z", false},
        {"2026-12-31T00:00:00Z", true}, {"2026-01-00T00:00:00Z", false},
        {"2026-01-32T00:00:00Z", false}, {"2026-01-02T00:00:00+23:59", true},
        {"2026-01-02T00:00:00-23:59", true}, {"2026-01-02T00:00:00+24:00", false},
        {"2026-01-02T00:00:00+00:60", false}, {"1970-01-01T00:00:00Z", true},
        {"1970-01-01T00:00:00+00:01", false}, /* before 1970 */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t ms;
        test_row(i, rows[i].text);
        CHECK_INT(clock_parse(str_z(rows[i].text), &ms), rows[i].ok);
    }
}

TEST(clock_parses_timestamps)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: none */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-02-18T12:00:00Z", 1771416000000},
        {"2026-02-18T12:00:00.5Z", 1771416000500},
        {"2026-02-18T12:00:00.123456789Z", 1771416000123},
        {"2026-02-18T14:00:00+02:00", 1771416000000},
        {"2026-02-18t10:30:00-01:30", 1771416000000},
        {"", -1},
        {"yesterday", -1},
        {"2026-02-18", -1},
        {"2026-02-18T12:00:00", -1},
        {"2026-13-18T12:00:00Z", -1},
        {"2026-02-18T12:00:00Zx", -1},
        {"1969-12-31T23:59:59Z", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t ms = 0;
        test_row(i, rows[i].text);
        bool ok = clock_parse(str_z(rows[i].text), &ms);
        CHECK_INT(ok ? (int64_t)ms : -1, rows[i].ms);
    }
}

TEST(id_is_a_random_uuid)
{
    char a[ID_SIZE], b[ID_SIZE];
    id_new(a);
    id_new(b);
    CHECK(id_valid(str_z(a)));
    CHECK(strcmp(a, b) != 0);
    CHECK_INT(a[14], '4');
    CHECK(strchr("89ab", a[19]) != NULL);
    CHECK(!id_valid(STR("")));
    CHECK(!id_valid(STR("00000000-0000-4000-8000-00000000000g")));
    CHECK(!id_valid(STR("00000000-0000-4000-8000-0000000000000")));
    CHECK(!id_valid(STR("00000000x0000-4000-8000-000000000000")));
}

TEST(log_writes_one_printable_line)
{
    int ends[2];
    BUG_ON(pipe(ends) != 0);
    log_init(LOG_INFO, ends[1]);
    LOG_DEBUG("not %s", "shown");
    LOG_INFO("a\nforged\x1B[2J line %d", 7);
    log_init(LOG_OFF, 2);
    close(ends[1]);
    char got[500] = "";
    ssize_t n = read(ends[0], got, sizeof(got) - 1);
    close(ends[0]);
    CHECK(n > 0);
    CHECK(strstr(got, "a\\nforged\\x1B[2J line 7\n") != NULL);
    CHECK(strstr(got, "info test_log_writes_one_printable_line: ") != NULL);
    CHECK(strstr(got, "shown") == NULL);
    enum log_level level = LOG_OFF;
    CHECK(log_level_parse(STR("debug"), &level) && level == LOG_DEBUG);
    CHECK(!log_level_parse(STR("loud"), &level));
}

TEST(grow_keeps_items_and_stops_at_its_limit)
{
    enum {
        MOST = 100,
    };
    AUTO_FREE uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t n = 0; n < MOST; n++) {
        GROW(items, n, cap, MOST);
        CHECK(cap > n && cap <= MOST);
        items[n] = 7 * n;
    }
    CHECK_INT(cap, MOST);
    for (uint32_t n = 0; n < MOST; n++)
        CHECK_INT(items[n], 7 * n);
}

TEST(arena_grow_keeps_items)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        ARENA_GROW(&a, items, n, cap);
        CHECK(cap > n);
        items[n] = 7 * n;
    }
    for (uint32_t n = 0; n < 1000; n++)
        CHECK_INT(items[n], 7 * n);
}

static int grow_beyond(void *arg UNUSED)
{
    AUTO_FREE char *items = NULL;
    size_t cap = 0;
    close(STDERR_FILENO);
    for (size_t n = 0; n <= GROW_FIRST; n++)
        GROW(items, n, cap, (size_t)GROW_FIRST);
    return 0;
}

TEST(grow_beyond_its_limit_is_a_bug)
{
    CHECK_INT(child_run(grow_beyond, NULL), -1);
}
