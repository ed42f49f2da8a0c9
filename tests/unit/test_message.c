/* Messages of a conversation: their valid contents, new messages; base64. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/base64.h"
#include "llm/message.h"

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(json_parse(str_z(text), "t", E_PROTOCOL, &tree, &err), &err);
    return tree;
}

TEST(base64_is_the_usual_one)
{
    static const struct {
        struct str bytes;
        const char *text;
    } rows[] = {
        {STR(""), ""},
        {STR("f"), "Zg=="},
        {STR("fo"), "Zm8="},
        {STR("foo"), "Zm9v"},
        {STR("foob"), "Zm9vYg=="},
        {STR("\xff\xfe\xfb\x00"), "//77AA=="},
    };
    static const char *const wrong[] = {
        "Z", "Zg=", "Zg", "Z===", "Zm9v\n", "Zm 9", "Zm-_", "Zg==Zg=="};
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf b = BUF_INIT(64);
        test_row(i, rows[i].text);
        base64_add(&b, rows[i].bytes);
        CHECK_Z(buf_z(&b), rows[i].text);
        CHECK(base64_size(buf_str(&b), &n));
        CHECK_INT(n, rows[i].bytes.n);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        test_row(i, wrong[i]);
        CHECK(!base64_size(str_z(wrong[i]), &n));
    }
}

#define USER(blocks)      "{\"type\":\"user\",\"content\":[" blocks "]}"
#define ASSISTANT(blocks) "{\"type\":\"assistant\",\"content\":[" blocks "]}"
#define RESULT(blocks)    "{\"type\":\"tool_result\",\"tool_call_id\":\"a\",\"content\":[" blocks "]}"
#define TEXT              "{\"type\":\"text\",\"text\":\"x\"}"
#define IMAGE             "{\"type\":\"image\",\"mime_type\":\"image/png\",\"data\":\"Zm9v\"}"
#define THINKING          "{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"s\"}"
#define REDACTED          "{\"type\":\"redacted_thinking\",\"data\":\"x\"}"
#define CALL              "{\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"b\",\"arguments\":{}}"

TEST(message_check_takes)
{
    static const char *const rows[] = {
        USER(""),
        USER(TEXT "," IMAGE),
        ASSISTANT(TEXT "," THINKING "," REDACTED "," CALL),
        ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"\"}"),
        ASSISTANT("{\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"\",\"arguments\":\"{\","
                  "\"invalid\":true}"),
        ASSISTANT(
            "{\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"b\",\"arguments\":null,\"more\":1}"),
        RESULT(TEXT "," IMAGE),
        "{\"type\":\"assistant\",\"content\":[],\"stop_reason\":\"end_turn\",\"raw_stop_reason\":"
        "\"stop\","
        "\"usage\":{\"input_tokens\":1,\"output_tokens\":2,\"new\":\"x\"},\"timestamp\":\"t\","
        "\"new\":{}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *message = parse(rows[i]);
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i]);
        CHECK_OK(message_check(message, E_CONFIG, &err), &err);
    }
}

TEST(message_check_refuses)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"[]", "must be an object, but is a list"},
        {"{}", "type: must be one of 'user', 'assistant', 'tool_result', but is nothing"},
        {"{\"type\":\"system\"}",
            "type: must be one of 'user', 'assistant', 'tool_result', but is 'system'"},
        {"{\"type\":1}", "but is an integer"},
        {"{\"type\":\"user\"}", "content: is missing"},
        {"{\"type\":\"user\",\"content\":\"x\"}", "content: must be a list, but is a string"},
        {USER(TEXT "," CALL),
            "content[1]: a message of type user cannot contain a block of type tool_call"},
        {USER(THINKING),
            "content[0]: a message of type user cannot contain a block of type thinking"},
        {USER(REDACTED), "cannot contain a block of type redacted_thinking"},
        {ASSISTANT(IMAGE),
            "content[0]: a message of type assistant cannot contain a block of type image"},
        {RESULT(CALL), "a message of type tool_result cannot contain a block of type tool_call"},
        {RESULT(THINKING), "a message of type tool_result cannot contain"},
        {RESULT("1"), "content[0]: must be an object, but is an integer"},
        {RESULT("{}"), "content[0].type: must be one of 'text', 'thinking'"},
        {USER("{\"type\":\"video\"}"), "content[0].type: must be one of 'text', 'thinking', "
                                       "'redacted_thinking', 'image', 'tool_call', but is 'video'"},
        {USER(TEXT "," TEXT ",{\"type\":\"text\"}"), "content[2].text: is missing"},
        {USER("{\"type\":\"text\",\"text\":1}"),
            "content[0].text: must be a string, but is an integer"},
        {ASSISTANT("{\"type\":\"tool_call\",\"id\":\"\",\"name\":\"b\",\"arguments\":{}}"),
            "content[0].id: must be a non-empty string, but is empty"},
        {ASSISTANT("{\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"b\"}"),
            "content[0].arguments: is missing"},
        {ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":null}"),
            "content[0].signature: must be a string, but is null"},
        {USER("{\"type\":\"image\",\"mime_type\":\"text/html\",\"data\":\"Zm9v\"}"),
            "content[0].mime_type: is not an image type"},
        {USER("{\"type\":\"image\",\"mime_type\":\"image/png\",\"data\":\"Zm9\"}"),
            "content[0].data: is not base64"},
        {"{\"type\":\"tool_result\",\"content\":[]}", "tool_call_id: is missing"},
        {"{\"type\":\"tool_result\",\"tool_call_id\":\"a\",\"content\":[],\"is_error\":1}",
            "is_error: must be true or false, but is an integer"},
        {"{\"type\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":-1}}",
            "usage.input_tokens: must be a number of at least 0"},
        {"{\"type\":\"assistant\",\"content\":[],\"usage\":[]}",
            "usage: must be an object, but is a list"},
        {"{\"type\":\"assistant\",\"content\":[],\"stop_reason\":7}",
            "stop_reason: must be a string"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *message = parse(rows[i].text);
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].text);
        CHECK(!message_check(message, E_CONFIG, &err));
        CHECK_ERR(&err, E_CONFIG, rows[i].part);
    }
}

TEST(message_stop_is_read)
{
    static const struct {
        const char *text;
        enum stop_reason stop;
    } rows[] = {
        {"{\"stop_reason\":\"end_turn\",\"raw_stop_reason\":\"stop_sequence\"}", STOP_END_TURN},
        {"{\"stop_reason\":\"length\"}", STOP_LENGTH},
        {"{\"stop_reason\":\"tool_use\"}", STOP_TOOL_USE},
        {"{\"stop_reason\":\"error\"}", STOP_ERROR},
        {"{\"stop_reason\":\"aborted\"}", STOP_ABORTED},
        {"{\"stop_reason\":\"unknown\",\"raw_stop_reason\":\"refusal\"}", STOP_REFUSAL},
        {"{\"stop_reason\":\"unknown\",\"raw_stop_reason\":\"content_filter\"}", STOP_REFUSAL},
        {"{\"stop_reason\":\"unknown\",\"raw_stop_reason\":\"new\"}", STOP_UNKNOWN},
        {"{\"stop_reason\":\"later\"}", STOP_UNKNOWN},
        {"{}", STOP_UNKNOWN},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *message = parse(rows[i].text);
        test_row(i, rows[i].text);
        CHECK_INT(message_stop(message), rows[i].stop);
    }
}

TEST(message_new_ones_are_valid)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(4096);
    AUTO_JSON json_t *user = message_user(STR("Fix\xff it"));
    AUTO_JSON json_t *empty = message_user(STR(""));
    AUTO_JSON json_t *result = message_tool_result(STR("id"), STR("shell"), STR("out"), true);
    CHECK_OK(message_check(user, E_CONFIG, &err), &err);
    CHECK_OK(message_check(empty, E_CONFIG, &err), &err);
    CHECK_OK(message_check(result, E_CONFIG, &err), &err);
    message_add_text(user, &b);
    CHECK_Z(buf_z(&b), "Fix\xEF\xBF\xBD it");
    json_object_set_new(result, "timestamp", json_string("T"));
    buf_reset(&b);
    json_add_compact(&b, result);
    CHECK_Z(buf_z(&b), "{\"type\":\"tool_result\",\"tool_call_id\":\"id\",\"tool_name\":\"shell\","
                       "\"content\":[{\"type\":"
                       "\"text\",\"text\":\"out\"}],\"is_error\":true,\"timestamp\":\"T\"}");
    CHECK_INT(json_array_size(json_object_get(empty, "content")), 0);
}

TEST(message_usage_goes_both_ways)
{
    static const struct usage rows[] = {{1, 2, 0, 0}, {1, 2, 3, 4}, {0, 0, 0, 1}};
    static const char *const texts[] = {"{\"input_tokens\":1,\"output_tokens\":2}",
        "{\"input_tokens\":1,\"output_tokens\":2,\"cache_read_tokens\":3,\"cache_write_tokens\":4}",
        "{\"input_tokens\":0,\"output_tokens\":0,\"cache_write_tokens\":1}"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf b = BUF_INIT(4096);
        AUTO_JSON json_t *message = json_object();
        test_row(i, texts[i]);
        json_put(message, "usage", usage_json(&rows[i]));
        json_add_compact(&b, json_object_get(message, "usage"));
        CHECK_Z(buf_z(&b), texts[i]);
        struct usage got = message_usage(message);
        CHECK(memcmp(&got, &rows[i], sizeof(got)) == 0);
    }
}

TEST(block_image_knows_its_type)
{
    static const struct {
        struct str bytes;
        const char *type;
    } rows[] = {
        {STR("\x89PNG\r\n\x1a\nrest"), "image/png"},
        {STR("\xff\xd8\xff\xe0"), "image/jpeg"},
        {STR("GIF89a"), "image/gif"},
        {STR("GIF87a"), "image/gif"},
        {STR("RIFF\1\2\3\4WEBPVP8 "), "image/webp"},
        {STR("RIFF\1\2\3\4WAVE"), NULL},
        {STR("\x89PNG"), NULL},
        {STR(""), NULL},
        {STR("<svg/>"), NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *block = NULL;
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].type);
        if (rows[i].type && CHECK_OK(block_image(rows[i].bytes, "a.png", &block, &err), &err))
            CHECK_Z(json_string_value(json_object_get(block, "mime_type")), rows[i].type);
        if (!rows[i].type) {
            CHECK(!block_image(rows[i].bytes, "a.png", &block, &err));
            CHECK_ERR(&err, E_TOOL_VALIDATION, "'a.png' is not a supported image");
        }
    }
}

TEST(images_have_a_limit)
{
    for (int more = 0; more < 2; more++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *block = NULL;
        AUTO_BUF struct buf bytes = BUF_INIT(IMAGE_MAX + 1), data = BUF_INIT(8 << 20);
        char *room = buf_reserve(&bytes, IMAGE_MAX + (size_t)more);
        memset(room, 0, IMAGE_MAX + (size_t)more);
        memcpy(room, "\x89PNG\r\n\x1a\n", 8);
        buf_grown(&bytes, IMAGE_MAX + (size_t)more);
        CHECK(block_image(buf_str(&bytes), "big", &block, &err) == !more);
        if (more)
            CHECK_ERR(&err, E_TOOL_VALIDATION, "'big' is 5.0 MiB large: at most 5 MiB can be sent");
        base64_add(&data, buf_str(&bytes));
        AUTO_JSON json_t *message = parse(USER(IMAGE));
        json_put(json_array_get(json_object_get(message, "content"), 0), "data",
            json_text(buf_str(&data)));
        CHECK(message_check(message, E_CONFIG, &err) == !more);
        if (more)
            CHECK_ERR(&err, E_CONFIG, "content[0].data: the image is larger than 5 MiB");
    }
}

TEST(usage_sums_stop_at_the_largest)
{
    struct usage sum = {.input_tokens = INT64_MAX - 1, .output_tokens = 5};
    const struct usage more = {.input_tokens = INT64_MAX, .output_tokens = 6};
    usage_add(&sum, &more);
    CHECK(sum.input_tokens == INT64_MAX);
    CHECK_INT(sum.output_tokens, 11);
    CHECK(usage_total(&sum) == INT64_MAX);
    AUTO_JSON json_t *object = usage_json(&sum);
    CHECK(json_integer_value(json_object_get(object, "input_tokens")) == INT64_MAX);
}
