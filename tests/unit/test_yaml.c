/* YAML: the meaning of plain words, refusals, and the cost of hostile text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/doc.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "base/yaml_text.h"

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

/* Text made of one repeated piece: refused, or read, in less than quadratic time. */
TEST(yaml_hostile_text_costs_little)
{
    static const struct {
        const char *piece;
        size_t count;
        const char *part;   /* NULL: it may be read or refused */
        const char *looked; /* another reason if quoted text is examined */
    } rows[] = {
        {"[", 100000, "256 levels"},
        {"{a: ", 100000, "256 levels"},
        {"- ", 100000, "256 levels"},
        {"? ", 100000, "must be a scalar", "256 levels"},
        {"[[],", 100000, "256 levels"},
        {"'a", 300000, NULL},
        {"a: ", 300000, NULL},
        {"x ", 1000000, NULL},
        {"\n", 1000000, NULL},
        {"# \n", 1000000, NULL},
        {"- 1\n", 1000100, "more than a million values"},
    };
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        const size_t row = i / 2;
        test_row(i, rows[row].piece);
        AUTO_BUF struct buf b = BUF_INIT(YAML_SIZE_MAX);
        if (i % 2) /* a character that requires quoted text to be examined */
            buf_add_z(&b, "- \"\xe2\x80\x8b\"\n- ");
        for (size_t j = 0; j < rows[row].count; j++)
            buf_add_z(&b, rows[row].piece);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        bool ok = parse(buf_str(&b), &tree, &err);
        const char *part = i % 2 && rows[row].looked ? rows[row].looked : rows[row].part;
        if (part && CHECK(!ok))
            CHECK_ERR(&err, E_CONFIG, part);
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

#define NEL     "\xc2\x85"
#define LS      "\xe2\x80\xa8"
#define PS      "\xe2\x80\xa9"
#define NBSP    "\xc2\xa0"
#define ZWSP    "\xe2\x80\x8b"
#define ZWNJ    "\xe2\x80\x8c"
#define ZWJ     "\xe2\x80\x8d"
#define BOM     "\xef\xbb\xbf"
#define RLO     "\xe2\x80\xae"
#define PDF     "\xe2\x80\xac"
#define RLI     "\xe2\x81\xa7"
#define PDI     "\xe2\x81\xa9"
#define TAG_A   "\xf3\xa0\x81\xa1"
#define TAG_END "\xf3\xa0\x81\xbf"
#define FLAG    "\xf0\x9f\x8f\xb4"
#define LRM     "\xe2\x80\x8e"
#define RLM     "\xe2\x80\x8f"
#define VS16    "\xef\xb8\x8f"
#define IDEO    "\xe3\x80\x80" /* the ideographic space */
#define NI      "\xe6\x97\xa5"
#define HEART   "\xe2\x9d\xa4"
#define FIRE    "\xf0\x9f\x94\xa5"
#define KEYCAP  "\xe2\x83\xa3"

struct unseen {
    const char *text;
    const char *part;
};

static void refuses(const struct unseen *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        test_row(i, rows[i].text);
        json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        CHECK(!parse(str_z(rows[i].text), &tree, &err));
        CHECK_ERR(&err, E_CONFIG, rows[i].part);
        CHECK(!tree);
    }
}

/* A program that splits at LF shows these lines differently from how the parser reads them. */
TEST(yaml_refuses_other_line_breaks)
{
    static const struct unseen rows[] = {
        {"a: 1\n# off" NEL "b: 2\n", "t.yaml:2:6: the line break U+0085"},
        {"a: 1\n# off" LS "b: 2\n", "t.yaml:2:6: the line break U+2028"},
        {"# off" PS "b: 2\n", "t.yaml:1:6: the line break U+2029"},
        {"# off\rb: 2\n", "t.yaml:1:6: a carriage return"},
        {"a: 1\r\nb: 2\rc: 3\r\n", "t.yaml:2:5: a carriage return"},
        {"a: 1\r\r\nb: 2", "t.yaml:1:5: a carriage return"},
        {"a: 1\r", "t.yaml:1:5: a carriage return"},
        {"a: x" LS "  y\n", "t.yaml:1:5: the line break"},
        {"a: |\n  x" NEL "  y\n", "t.yaml:2:4: the line break"},
        {"a: >\n  x" PS "  y\n", "t.yaml:2:4: the line break"},
        {"? a" NEL ": 1\n", "t.yaml:1:4: the line break"},
        {"a:" LS "  b: 1\n", "t.yaml:1:3: the line break"},
        {"a: 'x" NEL "y'\n", "t.yaml:1:6: the line break"},
        {"a: \"x" LS "y\"\n", "\"\\u2028\" in double quotes"},
        {"a: \"x\ry\"\n", "\"\\r\" in double quotes"},
        {"{a: 1," PS "b: 2}", "t.yaml:1:7: the line break"},
        {"%YAML 1.2" LS "---\na: 1", "t.yaml:1:10: the line break"},
        {"---" NEL "a: 1", "t.yaml:1:4: the line break"},
        {"a: 1\n..." NEL "b: 1", "t.yaml:2:4: the line break"},
    };
    refuses(rows, ARRAY_LEN(rows));
}

TEST(yaml_refuses_invisible_characters)
{
    static const struct unseen rows[] = {
        {"a:" NBSP "b\n", "t.yaml:1:3: the blank U+00A0"},
        {"a" NBSP ": b\n", "t.yaml:1:2: the blank"},
        {NBSP "a: b\n", "t.yaml:1:1: the blank"},
        {"a: b" NBSP "# not a comment\n", "t.yaml:1:5: the blank"},
        {"a: b\n#" IDEO "\n", "t.yaml:2:2: the blank U+3000 is not between visible characters"},
        {"a: b\n# " NBSP "x\n", "t.yaml:2:3: the blank U+00A0"},
        {"# x" NBSP NBSP "y\n", "t.yaml:1:4: the blank U+00A0"},
        {NBSP "# x\na: b\n", "t.yaml:1:1: the blank"},
        {"a: |\n  #" NBSP "x\n", "t.yaml:2:4: the blank"},
        {"a: x#" NBSP "y\n", "t.yaml:1:6: the blank"},
        {"a: b # x\nc:" NBSP "d\n", "t.yaml:2:3: the blank"},
        {"# x" LRM "y\na: b\n", "t.yaml:1:4: the invisible character U+200E is in a comment"},
        {"# x\xc2\xad\na: b\n", "t.yaml:1:4: the invisible character U+00AD"},
        {"# " FLAG TAG_A "\na: b\n", "the invisible character U+E0061 is in a comment: remove it"},
        {"# " FLAG TAG_A TAG_A TAG_A TAG_A TAG_A TAG_A TAG_A TAG_END "\na: b\n",
            "t.yaml:1:10: the invisible character"},
        {"# " FLAG TAG_END "\na: b\n",
            "the invisible character U+E007F is in a comment: remove it"},
        {"a: " FLAG TAG_A TAG_END "\n", "t.yaml:1:5: the invisible character"},
        {"a: " NI IDEO "x\n", "t.yaml:1:5: the blank"},
        {"a: " NI IDEO IDEO NI "\n", "t.yaml:1:5: the blank"},
        {"a: true" ZWSP "\n", "t.yaml:1:8: the invisible character U+200B"},
        {"net" ZWNJ "work: 1\n", "t.yaml:1:4: the invisible character U+200C"},
        {"a: x" ZWJ "y\n", "t.yaml:1:5: the invisible character U+200D"},
        {"a: " NI ZWJ "y\n", "t.yaml:1:5: the invisible character"},
        {"a: " NI ZWJ ZWJ NI "\n", "t.yaml:1:5: the invisible character"},
        {"a: b" VS16 "\n", "t.yaml:1:5: the invisible character U+FE0F"},
        {"a: " HEART VS16 VS16 "\n", "t.yaml:1:6: the invisible character"},
        {"a: x" VS16 KEYCAP "\n", "t.yaml:1:5: the invisible character"},
        {VS16 KEYCAP ": 1\n", "t.yaml:1:1: the invisible character"},
        {"a: " NI TAG_A "\n", "t.yaml:1:5: the invisible character U+E0061"},
        {"# " TAG_A "\na: 1", "t.yaml:1:3: the invisible character U+E0061 is in a comment"},
        {"a: " TAG_A "\n", "\"\\U000E0061\" in double quotes"},
        {"a: 1 # " RLO "x" PDF "\n", "t.yaml:1:8: the invisible character U+202E"},
        {"a: 1 # " RLI "x" PDI "\n", "t.yaml:1:8: the invisible character U+2067"},
        {"a: |\n  x" ZWSP "\n", "t.yaml:2:4: the invisible character"},
        {"a: >\n  x" RLO "\n", "t.yaml:2:4: the invisible character"},
        {"a: 1" BOM "\n", "t.yaml:1:5: the invisible character U+FEFF"},
        {BOM BOM "a: 1\n", "t.yaml:1:1: the invisible character U+FEFF"},
        {"a: \xc2\xad"
         "1\n",
            "t.yaml:1:4: the invisible character U+00AD"},
        {"a: \xe3\x85\xa4\n", "t.yaml:1:4: the invisible character U+3164"},
        {"a: \xe1\x85\x9f\n", "t.yaml:1:4: the invisible character U+115F"},
        {"a: \xe1\xa0\x8e\n", "t.yaml:1:4: the invisible character U+180E"},
        {"a: \xd8\x9c\n", "t.yaml:1:4: the invisible character U+061C"},
        {"a: \xe2\x81\xa0\n", "t.yaml:1:4: the invisible character U+2060"},
        {"a: \xe2\xa0\x80\n", "t.yaml:1:4: the blank U+2800"},
    };
    refuses(rows, ARRAY_LEN(rows));
}

TEST(yaml_distinguishes_quoted_text)
{
    static const struct unseen rows[] = {
        {"'" ZWSP "': 1\nb: x" ZWSP "\n", "t.yaml:2:5: the invisible character"},
        {"\"a\": '" ZWSP "' # " ZWSP "\n", "t.yaml:1:12: the invisible character"},
        {"a: x'" ZWSP "'\n", "t.yaml:1:6: the invisible character"},
        {"a: x \"" ZWSP "\"\n", "t.yaml:1:7: the invisible character"},
        {"# '\na: " ZWSP " # '\n", "t.yaml:2:4: the invisible character"},
        {"a: |\n  '" ZWSP "'\n", "t.yaml:2:4: the invisible character"},
        {"a: 'it''s' " ZWSP "\n", "t.yaml:1:12: the invisible character"},
        {"a: \"\\\"" ZWSP "\" " ZWSP "\n", "t.yaml:1:10: the invisible character"},
        {"a: 'x' 'y" ZWSP "'\n", "t.yaml:1:8: did not find"},
        {"network:" NBSP "enabled\na: 1\n", "t.yaml:1:9: the blank"},
        {"a: '" ZWSP "\n", "t.yaml:2:1: found unexpected end of stream"},
        {"a: \"" RLO "x\" # y\n", "t.yaml:1:5: the direction control U+202E"},
        {"a: \"" RLO RLI PDF "x\"\n", "t.yaml:1:5: the direction control"},
        {"a: '" RLI "x" PDF "'\n", "t.yaml:1:5: the direction control U+2067"},
        {"a: '" RLI "x" PDI RLI "'\n", "t.yaml:1:8: the direction control"},
    };
    refuses(rows, ARRAY_LEN(rows));
}

TEST(yaml_reads_text_of_all_languages)
{
    static const struct {
        const char *yaml;
        const char *value; /* of the key "a" */
    } rows[] = {
        {"# CR LF\r\na: x\r\n", "x"},
        {BOM "b: 1\na: x\n", "x"},
        {BOM "---\na: x\n", "x"},
        {BOM "{\"a\": \"x\"}", "x"},
        {"a: '" ZWSP NBSP BOM "'", ZWSP NBSP BOM},
        {"a: \"" ZWJ TAG_A "\"", ZWJ TAG_A},
        {"a: \"\\L\\P\\N\\_\\u200b\\r\"", LS PS NEL NBSP ZWSP "\r"},
        {"a: \"" RLO "x" PDF "\" # y", RLO "x" PDF},
        {"a: '" RLI RLO "x" PDI "'", RLI RLO "x" PDI},
        {"a: '" RLO "x\n  y'", RLO "x y"},
        {"{\"" ZWSP "\": 1, a: '" ZWSP "'}", ZWSP},
        {"a: " NI IDEO NI " # " NI IDEO NI, NI IDEO NI},
        {"a: " NI ZWNJ NI, NI ZWNJ NI},
        {"a: " HEART VS16 ZWJ FIRE " # " HEART VS16, HEART VS16 ZWJ FIRE},
        {"a: 1" VS16 KEYCAP, "1" VS16 KEYCAP},
        {"#" IDEO "x" NBSP ": y\na: z # \xc2\xab" NBSP "x" NBSP "\xc2\xbb\n", "z"},
        {"# 5\xe2\x80\xaf%, 1\xe2\x80\x89"
         "000 so\xc2\xad"
         "ft\na: z\n",
            "z"},
        {"# \xd7\xa2" LRM "(x)\n# x" RLM "\xd7\xa2\na: z\n", "z"},
        {"a: z # " FLAG TAG_A TAG_A TAG_END " x\n", "z"},
        {"# \xd8\xb9\xd8\xb1\xd8\xa8\xd9\x8a\na: \xd7\xa2", "\xd7\xa2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].yaml);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        if (CHECK_OK(parse(str_z(rows[i].yaml), &tree, &err), &err))
            CHECK_STR(json_member(tree, "a"), str_z(rows[i].value));
    }
}

/* The mark is not a column: keys of the first line are aligned with those of the others. */
TEST(yaml_mark_at_the_start_moves_nothing)
{
    static const char text[] = BOM "a: 1\nb: {c: 2}\na: 3\n";
    static const char found[] = BOM "{\"a\": {\"b\": 1}}";
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK(!parse(str_z(text), &tree, &err));
    CHECK_ERR(&err, E_CONFIG, "t.yaml:3:1: duplicate key");
    struct point at = doc_locate(str_z(found), DOC_JSON, "a.b");
    CHECK_INT(at.column, 8);
    at = doc_locate(str_z(text), DOC_YAML, "a");
    CHECK_INT(at.column, 1);
    CHECK_INT(doc_format(str_z(found), "stdin"), DOC_JSON);
}

TEST(doc_marks_of_other_encodings)
{
    static const struct {
        struct str text;
        const char *name, *part;
    } rows[] = {
        {STR("\xff\xfe{\0}\0"), "t.json", "t.json:1:1: not valid UTF-8 but UTF-16"},
        {STR("\xfe\xff\0{\0}"), "t.yaml", "t.yaml:1:1: not valid UTF-8 but UTF-16"},
        {STR("\xff\xfe\0\0{\0\0\0"), "t.yaml", "but UTF-32: save it as UTF-8"},
        {STR("\0\0\xfe\xff\0\0\0{"), "t.json", "but UTF-32"},
        {STR(BOM "{\"a\": 1,}"), "t.json", "t.json:1:9:"},
        {STR(BOM BOM "{}"), "t.json", "t.json:1:1:"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].part);
        json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        CHECK(!doc_parse(rows[i].text, rows[i].name, E_CONFIG, &tree, &err));
        CHECK_ERR(&err, E_CONFIG, rows[i].part);
    }
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(doc_parse(STR(BOM "{\"a\": 1}"), "t.json", E_CONFIG, &tree, &err), &err);
}

/* Random documents made of pieces: if one is read, it means the same without the lines that are a
 * comment to a program that splits at LF. */
TEST(yaml_comments_hold_nothing)
{
    static const char *const pieces[] = {"a: 1", "b: 'x'", "c: \"y\"", "# z", " # '", "\n", "\n",
        "\r\n", "\r", NEL, LS, PS, NBSP, ZWSP, RLO, BOM, " ", "|\n  ", "- ", "{", "}", NI, "\\",
        "x: "};
    uint64_t seed = 12345;
    size_t n_read = 0;
    for (size_t i = 0; i < 200000; i++) {
        AUTO_BUF struct buf text = BUF_INIT(1000), bare = BUF_INIT(1000);
        for (size_t n = 2 + i % 9; n > 0; n--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            buf_add_z(&text, pieces[(seed >> 33) % ARRAY_LEN(pieces)]);
        }
        buf_add_byte(&text, '\n');
        AUTO_JSON json_t *tree = NULL, *without = NULL;
        AUTO_ERR struct err err = {0};
        if (!parse(buf_str(&text), &tree, &err))
            continue;
        n_read++;
        struct str line, rest = buf_str(&text);
        while (str_cut(rest, '\n', &line, &rest)) /* lines that are nothing but a comment */
            if (!str_starts_with(line, STR("#")))
                buf_printf(&bare, STR_FMT "\n", STR_ARG(line));
        test_row(i, buf_z(&text));
        CHECK_OK(parse(buf_str(&bare), &without, &err), &err);
        CHECK(json_equal(tree, without));
    }
    CHECK(n_read > 1000);
}

TEST(yaml_written_text_is_read_back)
{
    static const struct {
        const char *text, *written;
    } rows[] = {
        {"/a b", "\"/a b\""},
        {"\"\\\n\t\r\x01\x7f", "\"\\\"\\\\\\n\\t\\r\\u0001\\u007F\""},
        {LS NEL NBSP ZWSP, "\"\\u2028\\u0085\\u00A0\\u200B\""},
        {TAG_A NI "\xef\xbf\xbe", "\"\\U000E0061" NI "\\uFFFE\""},
        {"\xff", "\"\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        AUTO_BUF struct buf b = BUF_INIT(1000);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        yaml_add_text(&b, str_z(rows[i].text));
        CHECK_Z(buf_z(&b), rows[i].written);
        buf_printf(&b, " # %s", rows[i].written);
        if (CHECK_OK(parse(buf_str(&b), &tree, &err), &err) && rows[i].text[0] != '\xff')
            CHECK_STR(json_str(tree), str_z(rows[i].text));
    }
}

/* Characters of all planes that have any: only the known ones end a comment, separate a key from
 * its value, or are skipped. */
TEST(yaml_no_character_is_overlooked)
{
    static const struct {
        const char *before, *after;
        bool counts; /* outside a comment: it must be in the result */
    } rows[] = {
        {"a: 1\n# x", "b: 2\n", false},
        {"a: 1\n#", "\n", false},
        {"a:", "1\n", true},
        {"a: 1", "\n", true},
        {"", "a: 1\n", true},
        {"a: 1\n", "\n", true},
    };
    AUTO_JSON json_t *plain = json_object();
    json_put(plain, "a", json_integer(1));
    const uint32_t step = test_sampled() ? 16 : 1;
    for (uint32_t codepoint = 0x7F; codepoint <= UTF8_LAST;
         codepoint += codepoint < 0x3000 ? 1 : step) {
        char bytes[UTF8_MAX];
        if (codepoint >= 0x20000 && codepoint < 0xE0000)
            codepoint = 0xE0000; /* between them are ideographs */
        if (codepoint > 0xE0FFF)
            break; /* private use */
        if (!utf8_is_scalar(codepoint) || codepoint == 0xFEFF)
            continue; /* the mark may be at the start */
        struct str c = str_n(bytes, utf8_write(codepoint, bytes));
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            AUTO_BUF struct buf text = BUF_INIT(100);
            AUTO_JSON json_t *tree = NULL;
            AUTO_ERR struct err err = {0};
            buf_printf(&text, "%s" STR_FMT "%s", rows[i].before, STR_ARG(c), rows[i].after);
            if (parse(buf_str(&text), &tree, &err) && json_equal(tree, plain) == rows[i].counts) {
                test_row(codepoint, rows[i].before);
                CHECK(false);
            }
        }
    }
}
