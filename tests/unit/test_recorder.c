/* Recording: typed input, and wait conditions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/yaml.h"
#include "run/await.h"
#include "run/recorder.h"
#include "term/typed.h"

static const struct {
    const char *bytes;
    enum typed_kind kind;
    const char *what; /* the key, or the text */
    size_t n;         /* 0: more input is needed */
} rows[] = {
    {"abc", TYPED_TEXT, "abc", 3},
    {"a\r", TYPED_TEXT, "a", 1},
    {"日本\x01", TYPED_TEXT, "日本", 6},
    {"\r", TYPED_KEY, "Enter", 1},
    {"\t", TYPED_KEY, "Tab", 1},
    {"\x7f", TYPED_KEY, "Backspace", 1},
    {"\x03", TYPED_KEY, "Ctrl+c", 1},
    {"\x1d", TYPED_KEY, "Ctrl+]", 1},
    {"\n", TYPED_KEY, "Ctrl+j", 1},
    {"\033", TYPED_KEY, NULL, 0},
    {"\033[", TYPED_KEY, NULL, 0},
    {"\033[1;", TYPED_KEY, NULL, 0},
    {"\xe6\x97", TYPED_TEXT, NULL, 0},
    {"\033[A", TYPED_KEY, "Up", 3},
    {"\033OA", TYPED_KEY, "Up", 3},
    {"\033OP", TYPED_KEY, "F1", 3},
    {"\033[15~", TYPED_KEY, "F5", 5},
    {"\033[3~x", TYPED_KEY, "Delete", 4},
    {"\033[1;6D", TYPED_KEY, "Ctrl+Shift+Left", 6},
    {"\033[Z", TYPED_KEY, "Shift+Tab", 3},
    {"\033x", TYPED_KEY, "Alt+x", 2},
    {"\033\033[A", TYPED_KEY, "Escape", 1},
    {"\033[99;99z", TYPED_UNKNOWN, "\033[99;99z", 8},
    {"\xffx", TYPED_UNKNOWN, "\xff", 1},
    {"\033[200~a\nb\033[201~c", TYPED_PASTE, "a\nb", 15},
    {"\033[200~a", TYPED_PASTE, NULL, 0},
    {"\033[<0;5;3M", TYPED_MOUSE, "", 9},
};

TEST(typed_input_is_distinguished)
{
    struct typed_keys *keys = typed_keys_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct typed typed = {0};
        test_row(i, rows[i].bytes);
        size_t n = typed_next(keys, str_z(rows[i].bytes), false, &typed);
        if (!CHECK_INT(n, rows[i].n) || n == 0 || !CHECK_INT(typed.kind, rows[i].kind))
            continue;
        if (typed.kind == TYPED_KEY)
            CHECK_Z(typed.key, rows[i].what);
        else if (typed.kind != TYPED_MOUSE)
            CHECK_STR(typed.bytes, str_z(rows[i].what));
    }
    struct typed typed;
    CHECK_INT(typed_next(keys, STR("\033"), true, &typed), 1);
    CHECK_Z(typed.key, "Escape");
    CHECK_INT(typed_next(keys, STR("\033[<65;10;4m"), false, &typed), 11);
    CHECK_INT(typed.mouse.button, MOUSE_WHEEL_DOWN);
    CHECK_INT(typed.mouse.action, MOUSE_RELEASE);
    CHECK_INT(typed.mouse.row, 3);
    CHECK_INT(typed.mouse.col, 9);
    typed_keys_free(keys);
}

/* Any bytes are taken in whole units, and all of them. */
TEST(typed_takes_any_bytes)
{
    struct typed_keys *keys = typed_keys_new();
    uint32_t state = 1;
    for (int round = 0; round < 20000; round++) {
        char bytes[12];
        struct typed typed;
        for (size_t i = 0; i < sizeof(bytes); i++) {
            static const char likely[] = "\033[O<;0129~MmA\x80\xe6";
            state = state * 1664525u + 1013904223u;
            bytes[i] =
                state >> 30 ? likely[(state >> 16) % (sizeof(likely) - 1)] : (char)(state >> 16);
        }
        for (struct str rest = str_n(bytes, sizeof(bytes)); rest.n;) {
            size_t n = typed_next(keys, rest, true, &typed);
            if (!CHECK(n > 0 && n <= rest.n))
                break;
            rest = str_skip(rest, n);
        }
    }
    typed_keys_free(keys);
}

TEST(await_detects_changes)
{
    static const struct {
        const char *word;
        bool is;
    } words[] = {{"12:30", true}, {"12:30:59", true}, {"2026-01-02", true}, {"1/2", true},
        {"12345", true}, {"50%", true}, {"a1b2c3d", true}, {"1.25s", true}, {"0.5", true},
        {"bash-5.2#", false}, {"line", false}, {"42", false}, {"f.txt", false}, {"feedbed", false},
        {"23L,", false}, {"a:b", false}, {"Python3.11", false}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        test_row(i, words[i].word);
        CHECK_INT(await_is_volatile(str_z(words[i].word)), words[i].is);
    }
}

/* The wait condition after one screen became another, as JSON. */
static void await(const char *before, const char *now, bool settled, struct buf *out)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 22);
    struct snapshot a = {0}, b;
    struct term *t = term_new(&(struct term_options){.rows = 4, .cols = 30});
    if (before) {
        term_feed(t, str_z(before));
        snapshot_take(t, &arena, 0, &a);
    }
    term_feed(t, str_z(now));
    snapshot_take(t, &arena, 0, &b);
    AUTO_JSON json_t *step = await_step(&a, &b, t, settled);
    if (step)
        json_add_compact(out, step);
    term_free(t);
}

TEST(await_finds_new_text)
{
    static const struct {
        const char *before, *now, *part, *without;
        bool settled;
    } cases[] = {
        {NULL, "$ ", "\"line_starts_with\",\"payload\":{\"line\":0,\"text\":\"$ \"}", "contains",
            true},
        {NULL, "$ ", "{\"row\":0,\"col\":2}", NULL, true},
        {"$ ", "ls\r\nREADME   notes\r\n$ ", "screen_contains\",\"payload\":{\"text\":\"README\"",
            NULL, true},
        {"$ x", "\r\nat 12:30:11 it ended\r\n$ ", "line_starts_with", "12:30", true},
        {NULL, "12:30:11 user $ ",
            "line_matches\",\"payload\":{\"line\":0,\"pattern\":\"^\\\\S+ user \\\\$ *\"}",
            "cursor_at", true},
        {"abc\033[?25l", "", "screen_stable", NULL, true},
        {"abc\033[?25l", "\r\nworking", "working", "stable", false},
        {"abc\033[?25l", "", "abc", "stable", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf out = BUF_INIT(1 << 16);
        test_row(i, cases[i].part);
        await(cases[i].before, cases[i].now, cases[i].settled, &out);
        if (!strstr(buf_z(&out), cases[i].part))
            CHECK_Z(buf_z(&out), cases[i].part);
        CHECK(!cases[i].without || !strstr(buf_z(&out), cases[i].without));
    }
}

/* For any typed and shown text, the file is YAML that reads back as the recording. */
TEST(recorder_yaml_is_read_back)
{
    static const char *const texts[] = {"", "a: b # c", "\"\\\n\t\r\x1b\x7f",
        "\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", "\xe2\x80\xae\xe2\x80\x8b\xc2\xa0",
        "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xbf", "\xef\xbf\xbe\xef\xbf\xbf"};
    AUTO_JSON json_t *scenario = json_object();
    AUTO_JSON json_t *again = NULL;
    AUTO_BUF struct buf text = BUF_INIT(10000);
    AUTO_ERR struct err err = {0};
    json_t *steps = json_array();
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        json_t *step = json_object(), *action = json_object(), *list = json_array();
        json_put(action, "text", json_text(str_z(texts[i])));
        json_push(list, json_text(str_z(texts[i])));
        json_put(step, "action", action);
        json_put(step, "assert", list);
        json_push(steps, step);
    }
    json_put(scenario, "name", json_text(str_z(texts[3])));
    json_put(scenario, "steps", steps);
    recorder_yaml(scenario, &text);
    if (CHECK_OK(yaml_parse(buf_str(&text), "t.yaml", E_PROTOCOL, &again, &err), &err))
        CHECK(json_equal(scenario, again));
}
