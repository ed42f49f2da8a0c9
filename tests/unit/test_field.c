/* Field tables: reading with its errors, writing, schemas, and tables that are wrong. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/doc.h"
#include "base/id.h"
#include "sample.h"

static json_t *parse(struct str text)
{
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(json_parse(text, "t", E_PROTOCOL, &tree, &err), &err);
    return tree;
}

TEST(field_reads_every_kind)
{
    AUTO_JSON json_t *json = parse(
        STR("{\"verbose\":false,\"offset\":-9223372036854775808,\"bytes\":9223372036854775807,"
            "\"timeout_ms\":600000,\"factor\":2,\"command\":\"ls\",\"note\":\"\",\"mode\":\"slow\","
            "\"args\":[\"-l\",\"\"],\"env\":{\"B\":\"2\",\"A.x\":\"1\"},\"size\":{\"rows\":1},"
            "\"limit\":{\"cols\":65535},\"steps\":[{\"id\":\"a\",\"then\":[{\"id\":\"b\"}]}],"
            "\"extra\":[null]}"));
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct sample s;
    if (!CHECK_OK(field_read(&sample_shape, json, &arena, E_CONFIG, &s, &err), &err))
        return;
    CHECK(!s.verbose && s.has_bytes);
    CHECK_INT(s.offset, INT64_MIN);
    CHECK_INT(s.bytes, INT64_MAX);
    CHECK_INT(s.timeout_ms, 600000);
    CHECK(s.factor == 2.0);
    CHECK_STR(s.command, STR("ls"));
    CHECK_INT(s.command.p[s.command.n], 0);
    CHECK_STR(s.note, STR(""));
    CHECK_INT(s.mode, MODE_SLOW);
    CHECK_INT(s.args.n, 2);
    CHECK_STR(s.args.p[0], STR("-l"));
    CHECK_INT(s.env.n, 2);
    CHECK_STR(s.env.p[1].key, STR("A.x"));
    CHECK_STR(s.env.p[1].text, STR("1"));
    CHECK_INT(s.size.rows, 1);
    CHECK_INT(s.size.cols, 80);
    CHECK_INT(s.limit->rows, 24);
    CHECK_INT(s.limit->cols, 65535);
    CHECK_INT(s.n_steps, 1);
    CHECK_STR(s.steps[0].then[0].id, STR("b"));
    CHECK(json_is_array(s.extra));
}

TEST(field_absence_is_default_or_zero)
{
    AUTO_JSON json_t *json = parse(STR("{\"cmd\":\"ls\"}"));
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct sample s;
    if (!CHECK_OK(field_read(&sample_shape, json, &arena, E_CONFIG, &s, &err), &err))
        return;
    CHECK(s.verbose && !s.has_bytes && s.factor == 1.5);
    CHECK_INT(s.timeout_ms, 5000);
    CHECK_STR(s.command, STR("ls"));
    CHECK(!s.note.p && !s.limit && !s.steps && !s.extra && s.mode == MODE_NONE && s.args.n == 0);
    CHECK_INT(s.size.rows, 24);
    AUTO_JSON json_t *written = field_write(&sample_shape, &s);
    AUTO_BUF struct buf b = BUF_INIT(1000);
    json_add_compact(&b, written);
    CHECK_Z(buf_z(&b), "{\"verbose\":true,\"offset\":0,\"timeout_ms\":5000,\"factor\":1.5,"
                       "\"command\":\"ls\",\"args\":[],\"size\":{\"rows\":24,\"cols\":80},"
                       "\"steps\":[]}");
}

TEST(field_errors_name_their_place)
{
    static const struct {
        const char *json; /* without the braces and the command */
        const char *field;
        const char *message;
    } rows[] = {
        {"\"verbos\":1", "verbos", "verbos: unknown key; did you mean 'verbose'?"},
        {"\"size\":{\"width\":1}", "size.width",
            "size.width: unknown key; valid keys: 'rows', 'cols'"},
        {"\"a.b\":1", "[\"a.b\"]", "[\"a.b\"]: unknown key; valid keys: 'verbose', "},
        {"\"steps\":[{\"id\":\"a\"},{}]", "steps[1].id", "steps[1].id: required, but missing"},
        {"\"steps\":[{\"id\":\"a\",\"then\":[{\"id\":1}]}]", "steps[0].then[0].id",
            "steps[0].then[0].id: expected a string, found an integer"},
        {"\"verbose\":\"yes\"", "verbose", "verbose: expected true or false, found a string"},
        {"\"offset\":1.0", "offset", "offset: expected an integer, found a fraction"},
        {"\"offset\":null", "offset", "offset: expected an integer, found null"},
        {"\"bytes\":-1", "bytes", "bytes: -1 is less than 0"},
        {"\"timeout_ms\":0", "timeout_ms", "timeout_ms: 0 is not within 1 to 600000"},
        {"\"size\":{\"rows\":70000}", "size.rows", "size.rows: 70000 is not within 1 to 500"},
        {"\"size\":{\"cols\":70000}", "size.cols", "size.cols: 70000 is not within 0 to 65535"},
        {"\"limit\":{\"rows\":true}", "limit.rows", "limit.rows: expected an integer, found true"},
        {"\"factor\":10.5", "factor", "factor: 10.5 is not within 0 to 10"},
        {"\"factor\":[]", "factor", "factor: expected a number, found a list"},
        {"\"mode\":\"fats\"", "mode",
            "mode: 'fats' is not one of 'fast', 'slow'; did you mean 'fast'?"},
        {"\"mode\":\"other\"", "mode", "mode: 'other' is not one of 'fast', 'slow'"},
        {"\"mode\":1", "mode", "mode: expected a string, found an integer"},
        {"\"args\":[\"a\",2]", "args[1]", "args[1]: expected a string, found an integer"},
        {"\"args\":\"a\"", "args", "args: expected a list of strings, found a string"},
        {"\"args\":[\"\",\"\",\"\",\"\",\"\",\"\"]", "args",
            "args: 6 entries, at most 5 are allowed"},
        {"\"env\":[]", "env", "env: expected an object of strings, found a list"},
        {"\"env\":{\"X Y\":false}", "env[\"X Y\"]", "env[\"X Y\"]: expected a string, found false"},
        {"\"size\":[]", "size", "size: expected an object, found a list"},
        {"\"steps\":{}", "steps", "steps: expected a list of objects, found an object"},
        {"\"steps\":[1]", "steps[0]", "steps[0]: expected an object, found an integer"},
        {"\"steps\":[{\"id\":\"\"}]", "steps[0].id",
            "steps[0].id: 0 characters, at least 1 are needed"},
        {"\"cmd\":\"x\"", "cmd", "cmd: the same as \"command\", which is also given"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].json);
        AUTO_BUF struct buf b = BUF_INIT(1000);
        buf_printf(&b, "{\"command\":\"ls\",%s}", rows[i].json);
        AUTO_JSON json_t *json = parse(buf_str(&b));
        AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct sample s = {.offset = 7};
        CHECK(!field_read(&sample_shape, json, &arena, E_CONFIG, &s, &err));
        CHECK_INT(s.offset, 7); /* untouched */
        CHECK_ERR(&err, E_CONFIG, rows[i].message);
        CHECK(str_starts_with(str_z(err.message), str_z(rows[i].message)));
        const struct err_pair *field = err_ctx_get(&err, "field");
        if (CHECK(field != NULL))
            CHECK_Z(field->text, rows[i].field);
    }
}

TEST(field_errors_at_the_top_and_in_parts)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *list = json_array();
    struct size size;
    CHECK(!field_read(&size_shape, list, &arena, E_CONFIG, &size, &err));
    CHECK_Z(err.message, "expected an object, found a list");
    CHECK(!field_read(&size_shape, NULL, &arena, E_CONFIG, &size, &err));
    CHECK_Z(err.message, "expected an object, found nothing");
    AUTO_JSON json_t *json = parse(STR("{\"rows\":0}"));
    const struct field_source part = {.json = json, .place = "run[3].size", .code = E_PROTOCOL};
    CHECK(!field_read_part(&size_shape, &part, &arena, &size, &err));
    CHECK_ERR(&err, E_PROTOCOL, "run[3].size.rows: 0 is not within");
}

TEST(field_error_is_found_in_the_document)
{
    static const char text[] = "command: ls\nsize:\n  rows: 5\n  cols: x\n";
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    struct sample s;
    CHECK_OK(doc_parse(str_z(text), "a.yaml", E_CONFIG, &tree, &err), &err);
    CHECK(!field_read(&sample_shape, tree, &arena, E_CONFIG, &s, &err));
    CHECK(!doc_blame(&err, str_z(text), "a.yaml"));
    CHECK_Z(err.message, "a.yaml:4:3: size.cols: expected an integer, found a string");
    CHECK_INT(err_ctx_get(&err, "line")->number, 4);
}

TEST(field_reading_never_passes_the_arena)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    buf_add_z(&b, "{\"command\":\"ls\",\"steps\":[");
    for (size_t i = 0; i < 2000; i++)
        buf_printf(&b, "%s{\"id\":\"step%zu\",\"then\":[{\"id\":\"x\"}]}", i ? "," : "", i);
    buf_add_z(&b, "],\"env\":{\"A\":\"1\",\"B\":\"2\"},\"args\":[\"a\"],\"limit\":{}}");
    AUTO_JSON json_t *json = parse(buf_str(&b));
    size_t read = 0;
    for (size_t max = 1; max < 1 << 20; max += max / 16 + 7) {
        AUTO_ARENA struct arena arena = ARENA_INIT(max);
        AUTO_ERR struct err err = {0};
        struct sample s;
        if (field_read(&sample_shape, json, &arena, E_CONFIG, &s, &err))
            read++;
        else
            CHECK_ERR(&err, E_CONFIG, "exceeds the memory limit");
    }
    CHECK(read > 0);
}

TEST(field_lists_and_depth_are_limited)
{
    AUTO_JSON json_t *json = parse(STR("{\"command\":\"ls\"}"));
    json_t *steps = json_array();
    for (size_t i = 0; i <= FIELD_LIST_MAX; i++)
        json_push(steps, json_object());
    json_put(json, "steps", steps);
    AUTO_ARENA struct arena arena = ARENA_INIT(64 << 20);
    AUTO_ERR struct err err = {0};
    struct sample s;
    CHECK(!field_read(&sample_shape, json, &arena, E_CONFIG, &s, &err));
    CHECK_ERR(&err, E_CONFIG, "steps: 100001 entries, at most 100000 are allowed");

    json_t *step = parse(STR("{\"id\":\"last\"}"));
    for (size_t i = 0; i < 2 * JSON_DEPTH_MAX; i++) {
        json_t *outer = parse(STR("{\"id\":\"x\",\"then\":[]}"));
        json_push(json_object_get(outer, "then"), step);
        step = outer;
    }
    struct step read;
    CHECK(!field_read(&step_shape, step, &arena, E_CONFIG, &read, &err));
    CHECK_ERR(&err, E_CONFIG, "nested more than 256 levels deep");
    json_decref(step);
}

TEST(field_refuses_nul_in_strings)
{
    AUTO_JSON json_t *json = json_object();
    json_put(json, "command", json_stringn_nocheck("a\0b", 3));
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct sample s;
    CHECK(!field_read(&sample_shape, json, &arena, E_CONFIG, &s, &err));
    CHECK_ERR(&err, E_CONFIG, "command: the string contains a NUL character");
}

/* Random objects: what is written reads back as the same. */
static uint64_t pick(uint64_t below)
{
    uint64_t bits;
    id_random(&bits, sizeof(bits));
    return bits % below;
}

static struct str any_text(struct arena *arena, size_t min)
{
    static const char *const parts[] = {"a", "\xc3\xa9", "\"", "\\", "\n", "\x7f", "\xe2\x80\xa8"};
    AUTO_BUF struct buf b = BUF_INIT(1000);
    for (size_t n = min + pick(4); n > 0; n--)
        buf_add_z(&b, parts[pick(ARRAY_LEN(parts))]);
    return arena_str(arena, buf_str(&b));
}

static void any_steps(struct arena *arena, struct step **steps, size_t *n, unsigned depth)
{
    *n = depth < 4 ? pick(3) : 0;
    *steps = ARENA_NEW(arena, struct step, *n);
    for (size_t i = 0; i < *n; i++) {
        struct step *step = &(*steps)[i];
        step->id = any_text(arena, 1);
        step->optional = pick(2);
        any_steps(arena, &step->then, &step->n_then, depth + 1);
    }
}

static void any_sample(struct arena *arena, struct sample *s)
{
    *s = (struct sample){
        .verbose = pick(2),
        .offset = (int64_t)pick(UINT64_MAX),
        .has_bytes = pick(2),
        .timeout_ms = 1 + (uint32_t)pick(600000),
        .factor = (double)pick(1000000007) / 1e9,
        .command = any_text(arena, 0),
        .mode = (enum mode)pick(3),
        .size = {1 + (uint16_t)pick(500), (uint16_t)pick(65536)},
    };
    if (s->has_bytes)
        s->bytes = pick((uint64_t)INT64_MAX + 1);
    if (pick(2))
        s->note = any_text(arena, 0);
    s->args = (struct str_list){ARENA_NEW(arena, struct str, 5), pick(6)};
    for (size_t i = 0; i < s->args.n; i++)
        s->args.p[i] = any_text(arena, 0);
    s->env = (struct str_map){ARENA_NEW(arena, struct str_pair, 1), pick(2)};
    s->env.p[0] = (struct str_pair){any_text(arena, 0), any_text(arena, 0)};
    if (pick(2)) {
        s->limit = ARENA_NEW(arena, struct size, 1);
        *s->limit = s->size;
    }
    any_steps(arena, &s->steps, &s->n_steps, 0);
}

TEST(field_random_objects_read_back)
{
    for (size_t i = 0; i < 500; i++) {
        AUTO_ARENA struct arena arena = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct sample first, second;
        any_sample(&arena, &first);
        AUTO_JSON json_t *json = field_write(&sample_shape, &first);
        AUTO_BUF struct buf b = BUF_INIT(1 << 20);
        json_add_pretty(&b, json);
        test_row(i, buf_z(&b));
        AUTO_JSON json_t *parsed = parse(buf_str(&b));
        CHECK(json_equal(json, parsed));
        if (!CHECK_OK(field_read(&sample_shape, parsed, &arena, E_CONFIG, &second, &err), &err))
            continue;
        CHECK(first.verbose == second.verbose && first.factor == second.factor);
        CHECK_INT(second.offset, first.offset);
        CHECK_INT(second.bytes, first.bytes);
        CHECK_STR(second.note, first.note);
        CHECK_INT(second.mode, first.mode);
        CHECK_INT(second.n_steps, first.n_steps);
        CHECK(!second.limit == !first.limit);
        AUTO_JSON json_t *again = field_write(&sample_shape, &second);
        CHECK(json_equal(json, again));
    }
}

TEST(field_schema_of_a_size_and_a_step)
{
    static const struct {
        const struct shape *shape;
        const char *want;
    } rows[] = {
        {&size_shape, "{\"type\":\"object\",\"description\":\"a size\",\"properties\":{"
                      "\"rows\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500,\"default\":24,"
                      "\"description\":\"lines\"},"
                      "\"cols\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":65535,"
                      "\"default\":80,\"description\":\"columns\"}},"
                      "\"required\":[],\"additionalProperties\":false}"},
        {&step_shape,
            "{\"type\":\"object\",\"description\":\"one step\",\"properties\":{"
            "\"id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20,"
            "\"description\":\"its name\"},"
            "\"optional\":{\"type\":\"boolean\",\"description\":\"may fail\"},"
            "\"then\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/step\"},"
            "\"description\":\"what follows\"}},"
            "\"required\":[\"id\"],\"additionalProperties\":false,"
            "\"$defs\":{\"step\":{\"type\":\"object\",\"description\":\"one step\",\"properties\":{"
            "\"id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20,"
            "\"description\":\"its name\"},"
            "\"optional\":{\"type\":\"boolean\",\"description\":\"may fail\"},"
            "\"then\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/step\"},"
            "\"description\":\"what follows\"}},"
            "\"required\":[\"id\"],\"additionalProperties\":false}}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].shape->name);
        AUTO_JSON json_t *schema = field_schema(rows[i].shape);
        AUTO_BUF struct buf b = BUF_INIT(10000);
        json_add_compact(&b, schema);
        CHECK_Z(buf_z(&b), rows[i].want);
    }
}

TEST(field_schema_of_every_kind)
{
    static const struct {
        const char *name;
        const char *want;
    } rows[] = {
        {"verbose", "{\"type\":\"boolean\",\"default\":true,\"description\":\"say more\"}"},
        {"offset", "{\"type\":\"integer\",\"description\":\"from where\"}"},
        {"bytes", "{\"type\":\"integer\",\"minimum\":0,\"description\":\"how many\"}"},
        {"factor", "{\"type\":\"number\",\"minimum\":0,\"maximum\":10,\"default\":1.5,"
                   "\"description\":\"how much\"}"},
        {"mode", "{\"type\":\"string\",\"enum\":[\"fast\",\"slow\"],\"description\":\"how fast\"}"},
        {"args", "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":0,"
                 "\"maxItems\":5,\"description\":\"arguments\"}"},
        {"env", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
                "\"description\":\"environment\"}"},
        {"extra", "{\"description\":\"anything\"}"},
    };
    AUTO_JSON json_t *schema = field_schema(&sample_shape);
    json_t *properties = json_object_get(schema, "properties");
    CHECK_INT(json_object_size(properties), ARRAY_LEN(sample_fields));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        AUTO_BUF struct buf b = BUF_INIT(10000);
        json_t *property = json_object_get(properties, rows[i].name);
        if (!CHECK(property != NULL))
            continue;
        json_add_compact(&b, property);
        CHECK_Z(buf_z(&b), rows[i].want);
    }
}

static const struct field needy_fields[] = {
    FIELD_STR("id", struct step, id, "its name", .flags = FIELD_REQUIRED),
};
static const struct shape needy_shape = SHAPE("needy", struct step, needy_fields, "needs its id");

struct bad {
    uint16_t rows;
    struct str text;
    json_t *any;
    struct step step;
    struct size *limit;
};

TEST(field_tables_that_are_wrong)
{
    static const struct field good = FIELD_U16("rows", struct bad, rows, "lines");
    static const struct {
        struct field field;
        const char *part;
    } rows[] = {
        {FIELD_U16("rows", struct bad, rows, "again"), "duplicate name"},
        {FIELD_STR("text", struct bad, text, "x", .alias = "rows"), "duplicate name"},
        {FIELD_STR("text", struct bad, text, "x", .alias = "text"), "its own alias"},
        {FIELD_STR("", struct bad, text, "x"), "no name"},
        {FIELD_STR("text", struct bad, text, ""), "no help"},
        {FIELD_STR("text", struct bad, text, "x", .def = "x"), "default:1:1: invalid token"},
        {FIELD_STR("text", struct bad, text, "x", .def = "1"), "expected a string"},
        {FIELD_STRS("text", struct sample, args, "x"), "outside of the struct"},
        {FIELD_STR("text", struct bad, text, "x", .has = 1000), "outside of the struct"},
        {FIELD_U16("n", struct bad, rows, "x", FIELD_RANGE(2, 1)), "a bad range"},
        {FIELD_U16("n", struct bad, rows, "x", FIELD_RANGE(0, 65536)), "a bad range"},
        {FIELD_U16("n", struct bad, rows, "x", FIELD_RANGE(-1, 5)), "a bad range"},
        {FIELD_U16("n", struct bad, rows, "x", .def = "9", FIELD_RANGE(0, 5)), "not within"},
        {FIELD_U16("n", struct bad, rows, "x", .def = "9", .flags = FIELD_REQUIRED), "choose one"},
        {FIELD_U16("n", struct bad, rows, "x", .def = "9", .flags = FIELD_OMIT_EMPTY),
            "choose one"},
        {FIELD_JSON("j", struct bad, any, "x", .def = "{}"), "cannot have a default"},
        {FIELD_JSON("j", struct bad, any, "x", FIELD_RANGE(0, 1)), "a bad range"},
        {FIELD_OBJECT("step", struct bad, step, &needy_shape, "x"), "step.id: required"},
        {FIELD_OBJECT("step", struct bad, step, &size_shape, "x"), "of another struct"},
        {FIELD_MAYBE("limit", struct bad, limit, &step_shape, "x"), "of another struct"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].part);
        const struct field fields[] = {good, rows[i].field};
        const struct shape shape = SHAPE("bad", struct bad, fields, "a wrong one");
        AUTO_ERR struct err err = {0};
        CHECK(!shape_check(&shape, &err));
        CHECK_ERR(&err, E_INTERNAL, rows[i].part);
    }
}

TEST(field_tables_that_are_right)
{
    static const struct shape *const shapes[] = {&size_shape, &step_shape, &sample_shape};
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        test_row(i, shapes[i]->name);
        AUTO_ERR struct err err = {0};
        CHECK_OK(shape_check(shapes[i], &err), &err);
    }
}

struct either {
    struct str_list names;
};

TEST(field_one_string_is_a_list_of_one)
{
    static const struct field fields[] = {
        FIELD_STRS("names", struct either, names, "x", .flags = FIELD_ONE_OR_MORE),
    };
    static const struct shape shape = SHAPE("either", struct either, fields, "x");
    static const struct {
        const char *json;
        int64_t n; /* -1: wrong */
    } rows[] = {
        {"{\"names\":\"a\"}", 1},
        {"{\"names\":[\"a\",\"b\"]}", 2},
        {"{\"names\":[]}", 0},
        {"{}", 0},
        {"{\"names\":5}", -1},
        {"{\"names\":[[]]}", -1},
    };
    AUTO_ERR struct err wrong = {0};
    CHECK_OK(shape_check(&shape, &wrong), &wrong);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 16);
        AUTO_JSON json_t *json = NULL;
        struct either e = {0};
        test_row(i, rows[i].json);
        CHECK(json_parse(str_z(rows[i].json), "x", E_CONFIG, &json, &err));
        bool ok = field_read(&shape, json, &a, E_CONFIG, &e, &err);
        CHECK_INT(ok ? (int64_t)e.names.n : -1, rows[i].n);
        if (ok && e.names.n)
            CHECK_STR(e.names.p[0], STR("a"));
    }
    AUTO_BUF struct buf b = BUF_INIT(1 << 16);
    AUTO_JSON json_t *schema = field_schema(&shape);
    json_add_compact(&b, json_object_get(json_object_get(schema, "properties"), "names"));
    CHECK_Z(buf_z(&b), "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
                       "\"string\"}}],\"description\":\"x\"}");
    static const struct field bad[] = {
        FIELD_STRS(
            "names", struct either, names, "x", .flags = FIELD_ONE_OR_MORE, FIELD_RANGE(2, 3)),
    };
    static const struct shape bad_shape = SHAPE("either", struct either, bad, "x");
    AUTO_ERR struct err err = {0};
    CHECK(!shape_check(&bad_shape, &err));
}
