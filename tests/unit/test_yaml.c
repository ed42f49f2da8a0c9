/* YAML: what plain words mean, what is refused, and what hostile text costs. */
#include "test.h"

#include "base/yaml.h"

static bool parse(struct str text, json_t **ret_tree, struct err *err)
{
    return yaml_parse(text, "t.yaml", E_CONFIG, ret_tree, err);
}

TEST(yaml_gives_the_tree_of_json)
{
    static const struct {
        const char *yaml;
        const char *json;
    } rows[] = {
        {"a: 1", "{\"a\":1}"},
        {"{\"a\": [1, true, null]}", "{\"a\":[1,true,null]}"},
        {"[null, ~, Null, NULL, '']", "[null,null,null,null,\"\"]"},
        {"a:\nb: ", "{\"a\":null,\"b\":null}"},
        {"[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]"},
        {"[yes, no, on, off, y, tRue, nULL]",
            "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"tRue\",\"nULL\"]"},
        {"[0, -0, +12, -12, 012, 0x1F, 0o17, 0b1]", "[0,0,12,-12,12,31,15,\"0b1\"]"},
        {"[-0x1, 0x, 0o8, 1_000, 1:30, 0xg]",
            "[\"-0x1\",\"0x\",\"0o8\",\"1_000\",\"1:30\",\"0xg\"]"},
        {"[9223372036854775807, -9223372036854775808, 0x7fffffffffffffff]",
            "[9223372036854775807,-9223372036854775808,9223372036854775807]"},
        {"[1.5, .5, 1., 1e3, -1E-2, +.5e+1]", "[1.5,0.5,1.0,1000.0,-0.01,5.0]"},
        {"[., e3, 1e, 1e+, 1.5.2, +, '-', inf, nan]",
            "[\".\",\"e3\",\"1e\",\"1e+\",\"1.5.2\",\"+\",\"-\",\"inf\",\"nan\"]"},
        {"['1', \"true\", '~']", "[\"1\",\"true\",\"~\"]"},
        {"2026-01-02", "\"2026-01-02\""},
        {"1: a\ntrue: b\n~: c\n1.50: d", "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"1.50\":\"d\"}"},
        {"a: |\n  12\n  x\nb: >\n  y\n  z", "{\"a\":\"12\\nx\\n\",\"b\":\"y z\"}"},
        {"\"\\x41\\u00e9\\n\"", "\"A\xc3\xa9\\n\""},
        {"\xef\xbb\xbf"
         "a: \xe6\x97\xa5",
            "{\"a\":\"\xe6\x97\xa5\"}"},
        {"%YAML 1.2\n---\na: 1\n...\n", "{\"a\":1}"},
        {"'<<': 1\n'': 2", "{\"<<\":1,\"\":2}"},
        {"- - 1\n  - 2\n-\n  a: []", "[[1,2],{\"a\":[]}]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].yaml);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        if (!CHECK_OK(parse(str_z(rows[i].yaml), &tree, &err), &err))
            continue;
        AUTO_BUF struct buf b = BUF_INIT(10000);
        json_add_compact(&b, tree);
        CHECK_Z(buf_z(&b), rows[i].json);
    }
}

TEST(yaml_refuses)
{
    static const struct {
        struct str text;
        const char *part;
    } rows[] = {
        {{0}, "t.yaml: empty"},
        {STR(""), "t.yaml: empty"},
        {STR("# nothing\n"), "t.yaml: empty"},
        {STR("---\n"), "t.yaml: empty"},
        {STR("a: &x 1\n"), "t.yaml:1:4: anchors"},
        {STR("a: &x [1]\n"), "t.yaml:1:4: anchors"},
        {STR("&x a: 1\n"), "t.yaml:1:1: anchors"},
        {STR("a: *x\n"), "t.yaml:1:4: aliases"},
        {STR("*x : 1\n"), "t.yaml:1:1: aliases"},
        {STR("a: !!str 1\n"), "t.yaml:1:4: tags"},
        {STR("a: ! 1\n"), "t.yaml:1:4: tags"},
        {STR("!x {a: 1}\n"), "t.yaml:1:1: tags"},
        {STR("a: !!python/object:os.system [x]"), "t.yaml:1:4: tags"},
        {STR("%TAG ! tag:x,2000:\n---\na: 1"), "tags (%TAG)"},
        {STR("a: 1\n---\nb: 2\n"), "t.yaml:2:1: more than one document"},
        {STR("a: {<<: {b: 1}}"), "t.yaml:1:5: merge keys"},
        {STR("? [a]\n: 1\n"), "t.yaml:1:3: a key must be a scalar"},
        {STR("{[a]: 1}"), "a key must be a scalar"},
        {STR("? {a: 1}\n: 1\n"), "a key must be a scalar"},
        {STR("?\n: 1"), "a key is missing"},
        {STR("a: 1\nb: 2\na: 3\n"), "t.yaml:3:1: duplicate key \"a\""},
        {STR("{1: a, '1': b}"), "t.yaml:1:8: duplicate key \"1\""},
        {STR("a: .inf"), "t.yaml:1:4: infinite"},
        {STR("[-.Inf]"), "infinite"},
        {STR("[.NaN]"), "infinite"},
        {STR("1e999"), "the number is too large"},
        {STR("9223372036854775808"), "64 bits"},
        {STR("-9223372036854775809"), "64 bits"},
        {STR("0xffffffffffffffff"), "64 bits"},
        {STR("a: \"x\\0y\""), "t.yaml:1:4: the character \\0"},
        {STR("\"\\0\": 1"), "the character \\0"},
        {STR("a: b\n\0"), "t.yaml:2:1: control characters"},
        {STR("a: \x1b[2J"), "t.yaml:1:4: control characters"},
        {STR("\xff\xfe"
             "a\0"),
            "t.yaml:1:1: not valid UTF-8"},
        {STR("\xfe\xff\0a"), "t.yaml:1:1: not valid UTF-8"},
        {STR("a\0:\0 \0"), "control characters"},
        {STR("a: \xc0\xaf"), "t.yaml:1:4: not valid UTF-8"},
        {STR("a: \xed\xa0\x80"), "t.yaml:1:4: not valid UTF-8"},
        {STR("a: [1, 2\nb: 3"), "t.yaml:2:"},
        {STR("a: 'x"), "t.yaml:1:"},
        {STR("a: b: c"), "t.yaml:1:5: mapping values"},
        {STR("\ta: 1"), "t.yaml:1:1:"},
        {STR("a: 1\n b: 2"), "t.yaml:2:"},
        {STR("%YAML 2.0\n---\na: 1"), "t.yaml:1:1: found incompatible"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text.p);
        json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        CHECK(!parse(rows[i].text, &tree, &err));
        CHECK_ERR(&err, E_CONFIG, rows[i].part);
        CHECK(!tree);
    }
}

TEST(yaml_alias_bomb_is_refused_at_its_first_anchor)
{
    static const char bomb[] = "a: &a [x, x, x]\n"
                               "b: &b [*a, *a, *a]\n"
                               "c: [*b, *b, *b]\n";
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK(!parse(str_z(bomb), &tree, &err));
    CHECK_ERR(&err, E_CONFIG, "t.yaml:1:4: anchors");
}

/* Text made of one piece over and over: refused, or read, within a time that is not quadratic. */
TEST(yaml_hostile_text_costs_little)
{
    static const struct {
        const char *piece;
        size_t count;
        const char *part; /* NULL: it may be read or refused */
    } rows[] = {
        {"[", 100000, "256 levels"},
        {"{a: ", 100000, "256 levels"},
        {"- ", 100000, "256 levels"},
        {"? ", 100000, "must be a scalar"},
        {"[[],", 100000, "256 levels"},
        {"'a", 300000, NULL},
        {"a: ", 300000, NULL},
        {"x ", 1000000, NULL},
        {"\n", 1000000, NULL},
        {"# \n", 1000000, NULL},
        {"- 1\n", 1000100, "more than a million values"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].piece);
        AUTO_BUF struct buf b = BUF_INIT(YAML_SIZE_MAX);
        for (size_t j = 0; j < rows[i].count; j++)
            buf_add_z(&b, rows[i].piece);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        bool ok = parse(buf_str(&b), &tree, &err);
        if (rows[i].part && CHECK(!ok))
            CHECK_ERR(&err, E_CONFIG, rows[i].part);
    }
}

TEST(yaml_many_keys_and_large_text)
{
    AUTO_BUF struct buf b = BUF_INIT(YAML_SIZE_MAX + 1);
    for (size_t i = 0; i < 100000; i++)
        buf_printf(&b, "key%zu: %zu\n", i, i);
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    if (CHECK_OK(parse(buf_str(&b), &tree, &err), &err))
        CHECK_INT(json_object_size(tree), 100000);
    while (b.n <= YAML_SIZE_MAX)
        buf_add_byte(&b, '\n');
    json_t *none = NULL;
    CHECK(!parse(buf_str(&b), &none, &err));
    CHECK_ERR(&err, E_CONFIG, "t.yaml: larger than 8 MiB");
}

TEST(yaml_prefixes_do_no_harm)
{
    static const char text[] = "%YAML 1.2\n---\n"
                               "name: \"caf\xc3\xa9 \\u00e9\"\n"
                               "steps:\n"
                               "  - {id: 1, args: ['a', b, 0x1f]}\n"
                               "  - text: |-\n      two\n      lines\n"
                               "? key\n: value\n...\n";
    for (size_t n = 0; n <= sizeof(text) - 1; n++) {
        test_row(n, "prefix");
        AUTO_FREE char *copy = base_alloc(n);
        memcpy(copy, text, n);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        bool ok = parse(str_n(copy, n), &tree, &err);
        CHECK(ok == (tree != NULL) && ok == (err.code == ERR_NONE));
    }
}
