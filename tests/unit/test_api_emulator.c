/* The emulator of the public API: screens, input, replies, limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "test.h"

TEST(api_emulator_screens)
{
    static const struct {
        const char *name, *bytes;
        struct cordon_emulator_options options;
        const char *text, *json;
    } rows[] = {
        {"text", "one\r\ntwo", {.rows = 2, .cols = 10}, "one\ntwo\n",
            "\"cursor\":{\"row\":1,\"col\":3"},
        {"a line feed", "a\nb", {.rows = 2, .cols = 10}, "a\n b\n", "\"rows\":2"},
        {"of a tty", "a\nb", {.rows = 2, .cols = 10, .onlcr = 1}, "a\nb\n", "\"cols\":10"},
        {"clusters", "\xE2\x9D\xA4\xEF\xB8\x8Fx", {.rows = 1, .cols = 10},
            "\xE2\x9D\xA4\xEF\xB8\x8Fx\n", "\"cursor\":{\"row\":0,\"col\":3"},
        {"code points", "\xE2\x9D\xA4\xEF\xB8\x8Fx", {.rows = 1, .cols = 10, .wcwidth = 1},
            "\xE2\x9D\xA4\xEF\xB8\x8Fx\n", "\"cursor\":{\"row\":0,\"col\":2"},
        {"a title", "\033]2;hello\a", {.rows = 1, .cols = 4}, "\n", "\"type\":\"title\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_emulator_options options = rows[i].options;
        options.size = sizeof(options);
        test_row(i, rows[i].name);
        struct cordon_emulator *e = cordon_emulator_new(&options, &error);
        if (!api_check_ok(&error))
            continue;
        uint64_t before = cordon_emulator_hash(e);
        cordon_emulator_feed(e, rows[i].bytes, strlen(rows[i].bytes));
        CHECK(cordon_emulator_hash(e) != before);
        char *text = cordon_emulator_text(e);
        CHECK_Z(text, rows[i].text);
        free(text);
        api_check_text(cordon_emulator_json(e, CORDON_SCREEN_FULL, &error), rows[i].json);
        api_check_text(cordon_emulator_json(e, CORDON_SCREEN_CELLS, &error), "\"cells\":[[{");
        cordon_emulator_free(e);
    }
}

TEST(api_emulator_input)
{
    static const struct {
        const char *name, *modes, *key, *action, *want;
    } rows[] = {
        {"a key", "", "Up", NULL, "\033[A"},
        {"in application mode", "\033[?1h", "Up", NULL, "\033OA"},
        {"a chord", "", "Ctrl+x", NULL, "\x18"},
        {"text", "", NULL, "{\"type\":\"text\",\"payload\":{\"text\":\"hi\"}}", "hi"},
        {"a paste", "\033[?2004h", NULL,
            "{\"type\":\"text\",\"payload\":{\"text\":\"hi\",\"paste\":true}}",
            "\033[200~hi\033[201~"},
        {"the mouse", "\033[?1000h\033[?1006h", NULL,
            "{\"type\":\"mouse\",\"payload\":{\"button\":\"left\",\"event\":\"press\",\"row\":1,"
            "\"col\":2}}",
            "\033[<0;3;2M"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        size_t n = 0;
        test_row(i, rows[i].name);
        struct cordon_emulator *e = cordon_emulator_new(NULL, &error);
        cordon_emulator_feed(e, rows[i].modes, strlen(rows[i].modes));
        char *bytes = rows[i].key ? cordon_emulator_encode_key(e, rows[i].key, &n, &error)
                                  : cordon_emulator_encode(e, rows[i].action, &n, &error);
        api_check_ok(&error);
        CHECK_STR(str_n(bytes, n), str_z(rows[i].want));
        free(bytes);
        cordon_emulator_free(e);
    }
}

TEST(api_emulator_refuses)
{
    static const struct {
        const char *name, *key, *action, *code, *part;
    } rows[] = {
        {"an unknown key", "NoSuchKey", NULL, "E_PROTOCOL", "NoSuchKey"},
        {"no JSON", NULL, "{", "E_PROTOCOL", "action"},
        {"a wait", NULL,
            "{\"type\":\"wait\",\"payload\":{\"condition\":{\"type\":\"process_exited\"}}}",
            "E_PROTOCOL", "not 'wait'"},
        {"a mouse that is off", NULL,
            "{\"type\":\"mouse\",\"payload\":{\"button\":\"left\",\"event\":\"press\",\"row\":1,"
            "\"col\":2}}",
            "E_PROTOCOL", "mouse reports"},
    };
    struct cordon_error error = {0};
    struct cordon_emulator *e = cordon_emulator_new(NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t n = 77;
        test_row(i, rows[i].name);
        CHECK(!(rows[i].key ? cordon_emulator_encode_key(e, rows[i].key, &n, &error)
                            : cordon_emulator_encode(e, rows[i].action, &n, &error)));
        CHECK_INT(n, 77);
        api_check_error(&error, rows[i].code, rows[i].part);
    }
    test_row(0, NULL);
    CHECK(!cordon_emulator_json(e, CORDON_SCREEN_DELTA, &error));
    api_check_error(&error, "E_CLI_INVALID_ARG", "screen format");
    CHECK_INT(cordon_emulator_resize(e, 0, 80, &error), -1);
    api_check_error(&error, "E_CLI_INVALID_ARG", "rows");
    CHECK_INT(cordon_emulator_resize(e, 5, 1000, &error), 0);
    cordon_emulator_free(e);
    cordon_emulator_free(NULL);
}

TEST(api_emulator_limits)
{
    static const struct {
        const char *name;
        struct cordon_emulator_options options;
        const char *part; /* NULL: accepted */
    } rows[] = {
        {"no size", {.rows = 1}, "size"},
        {"the largest", {.size = sizeof(rows[0].options), .rows = 1000, .cols = 1000}, NULL},
        {"too many rows", {.size = sizeof(rows[0].options), .rows = 1001}, "rows"},
        {"too many columns", {.size = sizeof(rows[0].options), .cols = 1001}, "columns"},
        {"no scrollback", {.size = sizeof(rows[0].options), .scrollback = -1}, NULL},
        {"too much scrollback", {.size = sizeof(rows[0].options), .scrollback = 100001},
            "scrollback"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        test_row(i, rows[i].name);
        struct cordon_emulator *e = cordon_emulator_new(&rows[i].options, &error);
        CHECK(!e == !!rows[i].part);
        if (rows[i].part)
            api_check_error(&error, "E_CLI_INVALID_ARG", rows[i].part);
        cordon_emulator_free(e);
    }
}

TEST(api_emulator_replies)
{
    const void *bytes;
    struct cordon_emulator *e = cordon_emulator_new(NULL, NULL);
    CHECK_INT(cordon_emulator_replies(e, &bytes), 0);
    cordon_emulator_feed(e, "\033[6", 3);
    CHECK_INT(cordon_emulator_replies(e, &bytes), 0);
    cordon_emulator_feed(e, "n", 1);
    size_t n = cordon_emulator_replies(e, &bytes);
    CHECK_STR(str_n(bytes, n), STR("\033[1;1R"));
    cordon_emulator_drop_replies(e, 2);
    n = cordon_emulator_replies(e, &bytes);
    CHECK_STR(str_n(bytes, n), STR("1;1R"));
    cordon_emulator_drop_replies(e, 1000);
    CHECK_INT(cordon_emulator_replies(e, &bytes), 0);
    for (int i = 0; i < 100 * 1000; i++)
        cordon_emulator_feed(e, "\033[6n", 4);
    CHECK(cordon_emulator_replies(e, &bytes) <= 64 * 1024);
    cordon_emulator_free(e);
}
