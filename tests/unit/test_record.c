/* Records that are read back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/reader.h"
#include "test.h"

/* Older records have escaped NUL characters, which the JSON parser rejects. */
TEST(record_reader_replaces_nul_and_nothing_else)
{
    static const struct {
        const char *json, *want;
    } rows[] = {
        {"a", "a"},
        {"\\u0000", "\xef\xbf\xbd"},
        {"a\\u0000\\u0000b", "a\xef\xbf\xbd\xef\xbf\xbd"
                             "b"},
        {"\\u0001", "\x01"},
        {"\\\\u0000", "\\u0000"}, /* an escaped backslash, then text */
        {"\\\\\\u0000", "\\\xef\xbf\xbd"},
        {"\\n\\u0000\\n", "\n\xef\xbf\xbd\n"},
        {"u0000", "u0000"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *tree = NULL;
        char text[128];
        snprintf(text, sizeof(text), "{\"text\":\"%s\"}", rows[i].json);
        test_row(i, rows[i].json);
        test_write(test_path("run.json"), text);
        AUTO_FD int dir = record_open(test_dir(), &err);
        if (CHECK_OK(dir >= 0, &err) && CHECK_OK(record_object(dir, "run.json", &tree, &err), &err))
            CHECK_STR(json_str(json_object_get(tree, "text")), str_z(rows[i].want));
    }
}

static bool take_any(void *context, const json_t *object, struct err *err)
{
    (void)context, (void)object, (void)err;
    return true;
}

TEST(record_line_that_is_too_long_names_its_file)
{
    AUTO_ERR struct err err = {0};
    test_write(test_path("events.jsonl"), "{}\n");
    CHECK_INT(truncate(test_path("events.jsonl"), RECORD_LINE_MAX + 100), 0);
    AUTO_FD int dir = record_open(test_dir(), &err);
    CHECK(!record_lines(dir, "events.jsonl", false, take_any, NULL, &err));
    CHECK_ERR(&err, E_IO, "events.jsonl is too long, at line 2");
    const struct err_pair *file = err_ctx_get(&err, "file");
    CHECK(file && strcmp(file->text, "events.jsonl") == 0);
}

TEST(record_counts_values_up_to_a_limit)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    size_t sum = 0;
    CHECK_OK(json_parse(STR("{\"a\":[1,{}],\"b\":null}"), "x", E_IO, &tree, &err), &err);
    CHECK_OK(record_count_values(tree, "x", &sum, &err), &err);
    CHECK_INT(sum, 5);
    CHECK_OK(record_count_values(NULL, "x", &sum, &err), &err);
    CHECK_INT(sum, 5);
    sum = RECORD_VALUES_MAX - 5;
    CHECK_OK(record_count_values(tree, "x", &sum, &err), &err);
    CHECK(!record_count_values(tree, "x", &sum, &err));
    CHECK_ERR(&err, E_IO, "more than 4194304 JSON values");
    CHECK_INT(sum, RECORD_VALUES_MAX);
}
