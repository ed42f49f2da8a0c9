/* JSON and YAML-or-JSON documents: refusals, output, and locations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/doc.h"
#include "base/json.h"
#include "base/json_quick.h"
#include "base/place.h"

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(json_parse(str_z(text), "t", E_PROTOCOL, &tree, &err), &err);
    return tree;
}

TEST(json_is_strict)
{
    static const struct {
        struct str text;
        const char *part;
    } rows[] = {
        {STR(""), "t.json: empty"},
        {STR(" \n"), "t.json: empty"},
        {STR("{\n  \"a\": 1,\n  \"b\": 2, \"a\": 3}"), "t.json:3:11: duplicate object key \"a\""},
        {STR("{\"a\\\"b\":1,\"a\\\"b\":1}"), "t.json:1:11: duplicate object key \"a\\\"b\""},
        {STR("{\"a-long-key-of-more-than-20\":1,\"a-long-key-of-more-than-20\":1}"),
            "t.json:1:33: duplicate object key \"a-long-key-of-more-than-20\""},
        {STR("\"\xff\""), "t.json:1:"},
        {STR("\"\xc0\xaf\""), "t.json:1:"},
        {STR("\"\xed\xa0\x80\""), "t.json:1:"},
        {STR("\"\\ud800\""), "t.json:1:"},
        {STR("\"\\udc00\\ud800\""), "t.json:1:"},
        {STR("\"a\\u0000b\""), "the character \\u0000 is not allowed"},
        {STR("{\"\\u0000\": 1}"), "the character \\u0000 is not allowed"},
        {STR("\"a\0b\""), "t.json:1:"},
        {STR("1\0"), "t.json:1:2: the character NUL is not allowed"},
        {STR("{}\0x"), "t.json:1:3: the character NUL"},
        {STR("\"a\nb\""), "t.json:1:"},
        {STR("18446744073709551616"), "too big integer"},
        {STR("9223372036854775808"), "too big integer"},
        {STR("1e999"), "real number overflow"},
        {STR("01"), "t.json:1:1:"},
        {STR("+1"), "t.json:1:1:"},
        {STR(".5"), "t.json:1:1:"},
        {STR("1."), "t.json:1:"},
        {STR("NaN"), "t.json:1:1: invalid token near 'NaN'"},
        {STR("Infinity"), "t.json:1:1: invalid token"},
        {STR("'a'"), "t.json:1:1:"},
        {STR("[1,]"), "t.json:1:4:"},
        {STR("{\"a\":1,}"), "t.json:1:8:"},
        {STR("{a:1}"), "t.json:1:2:"},
        {STR("// c\n1"), "t.json:1:1:"},
        {STR("1 2"), "t.json:1:3: end of file expected near '2'"},
        {STR("{} x"), "t.json:1:4:"},
        {STR("[1"), "t.json:1:3:"},
        {STR("\xef\xbb\xbf{}"), "t.json:1:"},
        {STR("[\n\"\xe6\x97\xa5\", x]"), "t.json:2:6: invalid token near 'x'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text.p);
        json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        CHECK(!json_parse(rows[i].text, "t.json", E_PROTOCOL, &tree, &err));
        CHECK_ERR(&err, E_PROTOCOL, rows[i].part);
        CHECK(!tree);
        const struct err_pair *file = err_ctx_get(&err, "file");
        if (CHECK(file != NULL))
            CHECK_Z(file->text, "t.json");
    }
}

/* Text that the quick reader accepts has the same meaning for the strict one. */
TEST(json_quick_agrees_with_the_strict_parser)
{
    static const struct {
        const char *text;
        bool quick;
    } rows[] = {
        {"{}", true},
        {" [ ] ", true},
        {"[1, -2, 0, -0, 999999999999999999]", true},
        {"[9999999999999999999]", false},
        {"[1000000000000000000]", false},
        {"1.5", false},
        {"1e3", false},
        {"01", false},
        {"-", false},
        {"1x", false},
        {"truex", false},
        {"[true, false, null]", true},
        {"nul", false},
        {"{\"a\": {\"b\": [\"c\", {\"\": 1}]}, \"d\":\"\"}", true},
        {"{\"a\":1,\"a\":2}", false},
        {"{\"a\":1,}", false},
        {"{a:1}", false},
        {"{\"a\" 1}", false},
        {"[1,]", false},
        {"[1 2]", false},
        {"[1", false},
        {"[1]]", false},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", true},
        {"\"\\u00e4\\u20AC\\ud83d\\ude00\"", true},
        {"\"\\ud83d\"", false},
        {"\"\\ud83d\\u0041\"", false},
        {"\"\\ude00\"", false},
        {"\"\\u0000\"", false},
        {"\"\\u12\"", false},
        {"\"\\x\"", false},
        {"\"\\", false},
        {"\"a", false},
        {"\"a\nb\"", false},
        {"\"\x7f \xc3\xa4\"", true},
        {"\"\xc3\"", false},
        {"\"\xed\xa0\x80\"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        AUTO_JSON json_t *quick = json_quick(str_z(rows[i].text));
        AUTO_JSON json_t *strict =
            json_loads(rows[i].text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        CHECK_INT(quick != NULL, rows[i].quick);
        CHECK(!quick || (strict && json_equal(quick, strict)));
    }
}

TEST(json_limits_depth_and_size)
{
    enum {
        DEEP = 100000,
    };
    AUTO_FREE char *text = base_alloc(2 * DEEP);
    for (size_t depth = JSON_DEPTH_MAX; depth <= DEEP; depth += DEEP - JSON_DEPTH_MAX) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        bool ok = json_parse(str_n(text, 2 * depth), "t", E_CONFIG, &tree, &err);
        if (CHECK_INT(ok, depth == JSON_DEPTH_MAX) && !ok)
            CHECK_ERR(&err, E_CONFIG, "t:1:257: nested more than 256 levels deep");
    }
    AUTO_JSON json_t *brackets = parse("[\"[[[\\\"[[[\"]");
    CHECK(brackets != NULL);
    AUTO_FREE char *large = base_alloc(JSON_SIZE_MAX + 1);
    memset(large, ' ', JSON_SIZE_MAX + 1);
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK(!json_parse(str_n(large, JSON_SIZE_MAX + 1), "t", E_CONFIG, &tree, &err));
    CHECK_ERR(&err, E_CONFIG, "t: larger than 64 MiB");
}

/* A tree has far more bytes than its text: values are counted before it is built. */
TEST(json_limits_values)
{
    static const struct {
        const char *part;
        size_t values; /* of each part */
    } rows[] = {{"1,", 1}, {"{},", 2}, {"\",[{,\",", 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].part);
        for (size_t more = 0; more < 2; more++) {
            AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
            AUTO_JSON json_t *tree = NULL;
            AUTO_ERR struct err err = {0};
            buf_add_byte(&text, '[');
            for (size_t n = 2; n + rows[i].values <= JSON_VALUES_MAX + more * 2;
                 n += rows[i].values)
                buf_add_z(&text, rows[i].part);
            buf_add_z(&text, "0]");
            if (CHECK_INT(json_parse(buf_str(&text), "t", E_CONFIG, &tree, &err), !more) && more)
                CHECK_ERR(&err, E_CONFIG, "more than 1048576 values");
        }
    }
}

TEST(json_error_has_its_place_as_context)
{
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK(!json_parse(STR("{\n  \"a\": tru}"), "p.json", E_PROTOCOL, &tree, &err));
    AUTO_JSON json_t *object = err_to_json(&err);
    AUTO_BUF struct buf b = BUF_INIT(1000);
    json_add_compact(&b, object);
    CHECK_Z(buf_z(&b),
        "{\"code\":\"E_PROTOCOL\",\"message\":\"p.json:2:8: invalid token near 'tru'\","
        "\"context\":{\"line\":2,\"column\":8,\"file\":\"p.json\"}}");
}

TEST(json_of_an_error_is_valid_text)
{
    AUTO_ERR struct err err = {0};
    err_set(&err, E_IO, "bad \xff name");
    err_ctx(&err, "path", "\xc3(");
    AUTO_JSON json_t *object = err_to_json(&err);
    AUTO_BUF struct buf b = BUF_INIT(1000);
    json_add_compact(&b, object);
    CHECK_Z(buf_z(&b), "{\"code\":\"E_IO\",\"message\":\"bad \xef\xbf\xbd name\",\"context\":"
                       "{\"path\":\"\xef\xbf\xbd(\"}}");
}

TEST(json_writes_the_same_bytes)
{
    static const struct {
        const char *text;
        const char *compact;
        const char *pretty;
    } rows[] = {
        {"{}", "{}", "{}"},
        {"[]", "[]", "[]"},
        {"{\"b\":[1,2],\"a\":{\"x\":null}}", "{\"b\":[1,2],\"a\":{\"x\":null}}",
            "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {\n    \"x\": null\n  }\n}"},
        {"[true, false, -0, 0.1, 5.0, 1e300]", "[true,false,0,0.1,5.0,1e+300]",
            "[\n  true,\n  false,\n  0,\n  0.1,\n  5.0,\n  1e+300\n]"},
        {"0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
        {"-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
        {"\"\\u0001\\u001b\\n\\t\\r\\b\\f\\\"\\\\\\/\"",
            "\"\\u0001\\u001b\\n\\t\\r\\b\\f\\\"\\\\/\"",
            "\"\\u0001\\u001b\\n\\t\\r\\b\\f\\\"\\\\/\""},
        {"\"\\u007f\\u0080\\u009b\\u00a0\"", "\"\\u007f\\u0080\\u009b\xc2\xa0\"",
            "\"\\u007f\\u0080\\u009b\xc2\xa0\""},
        {"\"\\u2028\\ud83d\\ude00\"", "\"\\u2028\xf0\x9f\x98\x80\"", "\"\\u2028\xf0\x9f\x98\x80\""},
        {"\"\xe2\x80\xae\xf3\xa0\x80\xa0\"", "\"\\u202e\\udb40\\udc20\"",
            "\"\\u202e\\udb40\\udc20\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        AUTO_JSON json_t *tree = parse(rows[i].text);
        AUTO_BUF struct buf compact = BUF_INIT(1000), pretty = BUF_INIT(1000);
        json_add_compact(&compact, tree);
        json_add_pretty(&pretty, tree);
        CHECK_Z(buf_z(&compact), rows[i].compact);
        CHECK_Z(buf_z(&pretty), rows[i].pretty);
        AUTO_JSON json_t *again = parse(buf_z(&pretty));
        CHECK(json_equal(tree, again));
    }
}

TEST(json_text_takes_any_bytes)
{
    static const struct {
        struct str bytes;
        struct str want;
    } rows[] = {
        {STR(""), STR("\"\"")},
        {STR("\xff"), STR("\"\xef\xbf\xbd\"")},
        {STR("\xe2\x82"), STR("\"\xef\xbf\xbd\"")},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].want.p);
        AUTO_JSON json_t *text = json_text(rows[i].bytes);
        AUTO_BUF struct buf tree = BUF_INIT(100), direct = BUF_INIT(100);
        json_add_compact(&tree, text);
        json_add_text(&direct, rows[i].bytes);
        CHECK_STR(buf_str(&tree), rows[i].want);
        CHECK_STR(buf_str(&direct), rows[i].want);
    }
    /* We read the output of programs again, and our reader does not accept NUL. */
    static const struct {
        struct str bytes, want;
    } nuls[] = {
        {STR("a\0b"), STR("a\xef\xbf\xbd"
                          "b")},
        {STR("\0"), STR("\xef\xbf\xbd")},
        {STR("\0\0a"), STR("\xef\xbf\xbd\xef\xbf\xbd"
                           "a")},
        {STR("\xe2\x82\0"), STR("\xef\xbf\xbd\xef\xbf\xbd")},
    };
    for (size_t i = 0; i < ARRAY_LEN(nuls); i++) {
        test_row(i, nuls[i].want.p);
        AUTO_JSON json_t *text = json_text(nuls[i].bytes);
        CHECK_STR(json_str(text), nuls[i].want);
    }
    AUTO_JSON json_t *none = json_text((struct str){0});
    CHECK_INT(json_string_length(none), 0);
}

/* Copies of the exact size, so that a sanitizer detects reads beyond them. */
TEST(json_prefixes_are_errors)
{
    static const char text[] =
        "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\", true, null], \"b\": {\"c\": \"\xe6\x97\xa5\"}}";
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        test_row(n, "prefix");
        AUTO_FREE char *copy = base_alloc(n);
        memcpy(copy, text, n);
        json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        CHECK(!json_parse(str_n(copy, n), "t", E_PROTOCOL, &tree, &err));
        doc_locate(str_n(copy, n), DOC_JSON, "b.c");
        doc_locate(str_n(copy, n), DOC_YAML, "a[3]");
    }
}

TEST(place_steps_read_back)
{
    static const char *const keys[] = {"steps", "a.b", "", "\"]", "\xe6\x97\xa5", "x-1", "\n"};
    AUTO_BUF struct buf b = BUF_INIT(1000);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        place_add_key(&b, str_z(keys[i]));
        place_add_index(&b, i);
    }
    CHECK_Z(buf_z(&b),
        "steps[0][\"a.b\"][1][\"\"][2][\"\\\"]\"][3][\"\xe6\x97\xa5\"][4].x-1[5][\"\\n\"][6]");
    struct str rest = buf_str(&b);
    struct place_step step = PLACE_STEP_INIT;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        test_row(i, keys[i]);
        CHECK(place_next(&rest, &step) && step.by_key);
        CHECK_STR(buf_str(&step.key), str_z(keys[i]));
        CHECK(place_next(&rest, &step) && !step.by_key);
        CHECK_INT(step.index, i);
    }
    CHECK(!place_next(&rest, &step));
    place_step_done(&step);
}

/* Bytes after the end of the text do not count. */
TEST(doc_locates_in_the_text_only)
{
    static const struct {
        const char *text;
        enum doc_format format;
    } texts[] = {
        {"{\"a\": [1, {\"b\": \"x\"}, 33], \"c\": {\"d\": null}}", DOC_JSON},
        {"a:\n  - 1\n  - b: x\n    e: y\nc: {d: 2}\n", DOC_YAML},
    };
    static const char *const places[] = {"a[1].b", "a[2]", "c.d", "a[0]", "zz", "c"};
    for (size_t t = 0; t < ARRAY_LEN(texts); t++)
        for (size_t n = 0; n <= strlen(texts[t].text); n++)
            for (size_t i = 0; i < ARRAY_LEN(places); i++) {
                AUTO_FREE char *copy = base_alloc(n + 2);
                memcpy(copy, texts[t].text, n);
                struct str whole = str_n(texts[t].text, n), cut = str_n(copy, n);
                struct point a = doc_locate(whole, texts[t].format, places[i]);
                struct point b = doc_locate(cut, texts[t].format, places[i]);
                test_row(n, places[i]);
                CHECK(a.line == b.line && a.column == b.column);
            }
}

TEST(place_cuts_long_keys)
{
    char text[2 * PLACE_KEY_MAX];
    static const struct {
        size_t n;      /* letters */
        const char *z; /* after them */
        size_t want;   /* bytes that stay */
    } rows[] = {
        {PLACE_KEY_MAX - 1, "", PLACE_KEY_MAX - 1},
        {PLACE_KEY_MAX, "", PLACE_KEY_MAX},
        {PLACE_KEY_MAX + 1, "", PLACE_KEY_MAX},
        {2 * PLACE_KEY_MAX - 1, "", PLACE_KEY_MAX},
        {PLACE_KEY_MAX - 3, "\xe6\x97\xa5", PLACE_KEY_MAX},
        {PLACE_KEY_MAX - 2, "\xe6\x97\xa5", PLACE_KEY_MAX - 2}, /* not half a character */
        {PLACE_KEY_MAX, "\xe6\x97\xa5", PLACE_KEY_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf b = BUF_INIT(1000);
        memset(text, 'a', sizeof(text));
        snprintf(text + rows[i].n, sizeof(text) - rows[i].n, "%s", rows[i].z);
        test_row(i, rows[i].z);
        place_add_key(&b, str_n(text, rows[i].n + strlen(rows[i].z)));
        struct str rest = buf_str(&b);
        struct place_step step = PLACE_STEP_INIT;
        CHECK(place_next(&rest, &step) && step.by_key);
        CHECK_STR(buf_str(&step.key), str_n(text, rows[i].want));
        place_step_done(&step);
    }
}

TEST(doc_format_by_name_then_by_content)
{
    static const struct {
        const char *name, *text;
        enum doc_format want;
    } rows[] = {
        {"a.json", "a: 1", DOC_JSON},
        {"a.yaml", "{}", DOC_YAML},
        {"a.yml", "{}", DOC_YAML},
        {"-", " \n{}", DOC_JSON},
        {"-", "[1]", DOC_JSON},
        {"-", "a: 1", DOC_YAML},
        {"-", "", DOC_YAML},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        CHECK_INT(doc_format(str_z(rows[i].text), rows[i].name), rows[i].want);
    }
}

TEST(doc_locate_json_and_yaml)
{
    static const char json[] = "{\n"
                               "  \"name\": \"a, \\\"[b] {c\\\\\",\n"
                               "  \"steps\": [\n"
                               "    {\"id\": 1},\n"
                               "    {\"id\": [2, 3], \"a.b\": {\"x\": null}},\n"
                               "    true, -1.5e3]\n"
                               "}\n";
    static const char yaml[] = "# first\n"
                               "name: |\n"
                               "  steps: none\n"
                               "steps:\n"
                               "  - id: 1\n"
                               "  - {id: [2, 3],\n"
                               "     a.b: {x: null}}\n"
                               "  - true\n"
                               "  - -1500\n";
    static const struct {
        const char *place;
        unsigned json_line, json_column, yaml_line, yaml_column;
    } rows[] = {
        {"", 1, 1, 2, 1}, {"name", 2, 3, 2, 1}, {"steps", 3, 3, 4, 1}, {"steps[0]", 4, 5, 5, 5},
        {"steps[0].id", 4, 6, 5, 5}, {"steps[1].id[1]", 5, 16, 6, 14},
        {"steps[1][\"a.b\"].x", 5, 28, 7, 12}, {"steps[2]", 6, 5, 8, 5}, {"steps[3]", 6, 11, 9, 5},
        {"steps[9]", 3, 3, 4, 1},                           /* missing: its list */
        {"steps[0].missing", 4, 5, 5, 5},                   /* missing: its object */
        {"steps[0].id.more", 4, 6, 5, 5},                   /* below a scalar */
        {"missing.more", 1, 1, 2, 1}, {"][\"", 1, 1, 2, 1}, /* not a location */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].place);
        struct point in_json = doc_locate(str_z(json), DOC_JSON, rows[i].place);
        struct point in_yaml = doc_locate(str_z(yaml), DOC_YAML, rows[i].place);
        CHECK_INT(in_json.line, rows[i].json_line);
        CHECK_INT(in_json.column, rows[i].json_column);
        CHECK_INT(in_yaml.line, rows[i].yaml_line);
        CHECK_INT(in_yaml.column, rows[i].yaml_column);
    }
}
