/* Dialects of model services. Most of it is data: tests/llm/NAME.case (tests/llm/README describes
 * them), and recorded streams if there are public vectors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cases.h"
#include "llm/dialect.h"
#include "llm/wire.h"
#include "tool/tool.h"

enum {
    TEXT_MAX = 16 << 20,
};

/* Reading a stream ---------------------------------------------------------------------------- */

struct listener {
    const struct dialect *dialect;
    struct answer *answer;
    struct dialect_state state;
    struct buf text, thinking; /* deltas since the last restart */
    int restarts, ended;
};

static void drain(struct listener *l)
{
    struct llm_event event;
    while (answer_take_event(l->answer, &event)) {
        if (event.kind == LLM_RESTART) {
            buf_reset(&l->text);
            buf_reset(&l->thinking);
            l->restarts++;
            l->ended = 0;
        }
        if (event.kind == LLM_TEXT_DELTA)
            buf_add_str(&l->text, event.delta);
        if (event.kind == LLM_THINKING_DELTA)
            buf_add_str(&l->thinking, event.delta);
        l->ended += event.kind == LLM_TOOL_CALL_END;
    }
}

static bool on_event(void *context, const struct sse_event *event, struct err *err)
{
    struct listener *l = context;
    bool ok = l->dialect->read(l->answer, &l->state, event, err);
    drain(l);
    return ok;
}

static bool listen_to(struct listener *l, const struct dialect *dialect, struct str bytes,
    size_t part, struct err *err)
{
    struct sse sse;
    bool ok = true;
    *l = (struct listener){.dialect = dialect,
        .answer = answer_new(),
        .text = BUF_INIT(TEXT_MAX),
        .thinking = BUF_INIT(TEXT_MAX)};
    sse_init(&sse, on_event, l);
    for (size_t at = 0; ok && at < bytes.n; at += part)
        ok = sse_push(&sse, str_head(str_skip(bytes, at), part), err);
    ok = ok && dialect->finish(l->answer, &l->state, err);
    drain(l);
    sse_done(&sse);
    return ok;
}

static void listener_done(struct listener *l)
{
    answer_free(l->answer);
    buf_done(&l->text);
    buf_done(&l->thinking);
}

/* The deltas must be those of the message. */
static void check_told(const struct listener *l, const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX), thinking = BUF_INIT(TEXT_MAX);
    const json_t *content = json_object_get(message, "content");
    int calls = 0;
    message_add_text(message, &text);
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *block = json_array_get(content, i);
        calls += block_type(block) == BLOCK_TOOL_CALL;
        if (block_type(block) == BLOCK_THINKING)
            buf_add_str(&thinking, json_str(json_object_get(block, "thinking")));
    }
    CHECK_STR(buf_str(&l->text), buf_str(&text));
    CHECK_STR(buf_str(&l->thinking), buf_str(&thinking));
    if (l->state.complete)
        CHECK_INT(l->ended, calls);
}

static json_t *listener_message(const struct listener *l)
{
    AUTO_ERR struct err err = {0};
    json_t *message = answer_message(l->answer);
    CHECK_OK(message_check(message, E_INTERNAL, &err), &err);
    check_told(l, message);
    return message;
}

/* The cases ----------------------------------------------------------------------------------- */

struct test_case {
    const struct dialect *dialect;
    struct buf stream;
    struct str message, error, kind, retry, restarts, request, body, text;
};

static json_t *parse(struct str text)
{
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(json_parse(text, "case", E_INTERNAL, &tree, &err), &err);
    return tree;
}

static void check_json(const json_t *got, struct str want)
{
    AUTO_BUF struct buf a = BUF_INIT(TEXT_MAX), b = BUF_INIT(TEXT_MAX);
    AUTO_JSON json_t *tree = parse(want);
    if (CHECK(json_equal(got, tree)))
        return;
    json_add_compact(&a, got);
    json_add_compact(&b, tree);
    CHECK_STR(buf_str(&a), buf_str(&b));
}

static void check_message(const struct listener *l, struct str want)
{
    AUTO_JSON json_t *message = listener_message(l);
    json_t *content = json_object_get(message, "content");
    json_object_del(message, "type");
    json_object_del(message, "timestamp");
    for (size_t i = 0; i < json_array_size(content); i++) {
        json_t *block = json_array_get(content, i);
        if (str_starts_with(json_str(json_object_get(block, "id")), STR("call_")))
            json_object_set_new(block, "id", json_string("CALL"));
    }
    check_json(message, want);
}

static void check_context(const struct err *err, const char *key, struct str want)
{
    const struct err_pair *pair = err_ctx_get(err, key);
    if (want.p)
        CHECK_STR(str_z(pair ? pair->text : "none"), want);
}

static void check_stream(const struct test_case *c)
{
    static const size_t parts[] = {TEXT_MAX, 1, 2, 7, 61, 4096};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO_ERR struct err err = {0};
        struct listener l;
        bool ok = listen_to(&l, c->dialect, buf_str(&c->stream), parts[i], &err);
        if (!c->error.p) {
            CHECK_OK(ok, &err);
        } else if (CHECK(!ok)) {
            AUTO_FREE char *part = strndup(c->error.p, c->error.n);
            CHECK_ERR(&err, E_PROVIDER, part);
            check_context(&err, "provider_error", c->kind);
            check_context(&err, "retry", c->retry);
        }
        CHECK(ok == l.state.complete);
        if (c->message.p)
            check_message(&l, c->message);
        if (c->restarts.p)
            CHECK_INT(l.restarts, c->restarts.p[0] - '0');
        listener_done(&l);
    }
}

static void check_request(const struct test_case *c)
{
    AUTO_BUF struct buf body = BUF_INIT(DIALECT_BODY_MAX);
    AUTO_JSON json_t *r = parse(c->request);
    const json_t *messages = json_object_get(r, "messages"),
                 *heat = json_object_get(r, "temperature");
    AUTO_JSON json_t *before = json_deep_copy(r);
    struct llm_request request = {
        .model = json_str(json_object_get(r, "model")),
        .system = json_str(json_object_get(r, "system")),
        .messages = messages,
        .tools = json_object_get(r, "tools"),
        .max_tokens = (uint64_t)json_integer_value(json_object_get(r, "max_tokens")),
        .temperature = heat ? json_number_value(heat) : -1,
        .thinking_tokens = (uint64_t)json_integer_value(json_object_get(r, "thinking_tokens")),
    };
    for (size_t i = 0; i < json_array_size(messages); i++) {
        AUTO_ERR struct err err = {0};
        CHECK_OK(message_check(json_array_get(messages, i), E_INTERNAL, &err), &err);
    }
    c->dialect->write(&request, &body);
    AUTO_JSON json_t *got = parse(buf_str(&body));
    check_json(got, c->body);
    CHECK(json_equal(r, before)); /* the conversation is unchanged */
}

static void check_text(const struct test_case *c)
{
    AUTO_BUF struct buf body = BUF_INIT(TEXT_MAX), message = BUF_INIT(TEXT_MAX),
                        kind = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < c->text.n; i++) {
        bool end = str_starts_with(str_skip(c->text, i), STR("\\n"));
        buf_add_byte(&body, end ? '\n' : c->text.p[i]);
        i += end;
    }
    c->dialect->explain(buf_str(&body), &message, &kind);
    CHECK_STR(buf_str(&message), c->error);
    CHECK_STR(buf_str(&kind), c->kind.p ? c->kind : STR(""));
}

static void check_case(struct test_case *c)
{
    if (c->request.p)
        check_request(c);
    else if (c->text.p)
        check_text(c);
    else
        check_stream(c);
}

static void read_line(struct test_case *c, struct str line)
{
    struct {
        struct str word;
        struct str *value;
    } words[] = {
        {STR("message: "), &c->message},
        {STR("error: "), &c->error},
        {STR("kind: "), &c->kind},
        {STR("retry: "), &c->retry},
        {STR("restarts: "), &c->restarts},
        {STR("request: "), &c->request},
        {STR("body: "), &c->body},
        {STR("text: "), &c->text},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts_with(line, words[i].word)) {
            *words[i].value = str_skip(line, words[i].word.n);
            return;
        }
    if (str_starts_with(line, STR(":")))
        buf_printf(&c->stream, STR_FMT "\n", STR_ARG(line));
    else if (line.n)
        buf_printf(&c->stream, "data: " STR_FMT "\n\n", STR_ARG(line));
}

static void run_case(void *context, struct str title, struct str text)
{
    struct test_case c = {
        .dialect = *(const struct dialect **)context, .stream = BUF_INIT(TEXT_MAX)};
    struct str line, rest = text;
    (void)title;
    while (str_cut(rest, '\n', &line, &rest))
        read_line(&c, line);
    check_case(&c);
    buf_done(&c.stream);
}

static void check_cases(const struct dialect *dialect, const char *file, size_t least)
{
    char pattern[128];
    snprintf(pattern, sizeof(pattern), "llm/%s", file);
    CHECK(cases_run(pattern, run_case, &dialect) >= least);
}

TEST(anthropic_reads)
{
    check_cases(&dialect_anthropic, "anthropic.case", 30);
}

TEST(anthropic_writes)
{
    check_cases(&dialect_anthropic, "anthropic_write.case", 14);
}

TEST(openai_reads)
{
    check_cases(&dialect_openai, "openai.case", 35);
}

TEST(openai_writes)
{
    check_cases(&dialect_openai, "openai_write.case", 9);
}

TEST(errors_are_explained)
{
    check_cases(&dialect_anthropic, "errors.case", 14);
}

TEST(errors_are_short)
{
    static const struct {
        struct str start, end;
    } rows[] = {
        {STR("{\"error\":{\"type\":\"t\",\"message\":\""), STR("\"}}")},
        {STR(""), STR("\n")},
        {STR("<p>"), STR("</p>")},
        {STR("\xff"), STR("\xc3\xa9")},
    };
    AUTO_BUF struct buf page = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < 1 << 18; i++)
        buf_add_z(&page, "\xc3\xa9");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf body = BUF_INIT(TEXT_MAX), message = BUF_INIT(TEXT_MAX),
                            kind = BUF_INIT(TEXT_MAX);
        test_row(i, rows[i].start.p);
        buf_add_str(&body, rows[i].start);
        buf_add_str(&body, buf_str(&page));
        buf_add_str(&body, rows[i].end);
        wire_explain(buf_str(&body), &message, &kind);
        CHECK(message.n > 290 && message.n <= 310);
        CHECK(str_ends_with(buf_str(&message), STR("\xc3\xa9...")));
    }
    AUTO_BUF struct buf message = BUF_INIT(TEXT_MAX), kind = BUF_INIT(TEXT_MAX);
    wire_explain(STR(""), &message, &kind);
    CHECK_Z(buf_z(&message), "");
}

TEST(wire_parse_mends_texts)
{
    static const struct {
        struct str text, want;
    } rows[] = {
        {STR("{\"a\":\"\xff\"}"), STR("\xEF\xBF\xBD")},
        {STR("{\"a\":\"\xe2\x82\"}"), STR("\xEF\xBF\xBD")},
        {STR("{\"a\":\"\xed\xa0\x80\"}"), STR("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")},
        {STR("{\"n\":[15924764223251450000,-99999999999999999999,12345678901234567890.5],\"a\":"
             "\"12345678901234567890\"}"),
            STR("12345678901234567890")},
        {STR("{\"n\":15924764223251450000,\"a\":\"\\\"12345678901234567890\"}"),
            STR("\"12345678901234567890")},
        {STR("{\"a\":\"x\0y\"}"), STR("x\xEF\xBF\xBDy")},
        {STR("{\"a\":\"\\uD83D\\uDC99\\uD83D\"}"), STR("\xf0\x9f\x92\x99\xEF\xBF\xBD")},
        {STR("{\"a\":\"\\\\ud800\\ud800\"}"), STR("\\ud800\xEF\xBF\xBD")},
    };
    static const char *const wrong[] = {"", "{", "{\"a\":\"\\ud8", "{\"a\":\"\\u00zz\"}",
        "{\"a\":1} x", "{\"a\":1,\"a\":2}", "\xff", "{\"a\":\"\\"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *tree = NULL;
        test_row(i, rows[i].text.p);
        if (CHECK_OK(wire_parse(rows[i].text, &tree, &err), &err))
            CHECK_STR(json_str(json_object_get(tree, "a")), rows[i].want);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *tree = NULL;
        test_row(i, wrong[i]);
        CHECK(!wire_parse(str_z(wrong[i]), &tree, &err));
        CHECK_ERR(&err, E_PROVIDER, "cannot parse the service's answer: event:");
    }
}

TEST(wire_parse_mends_no_floods)
{
    static const struct {
        size_t n;
        bool ok;
    } sizes[] = {{1 << 20, true}, {5 << 20, false}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_BUF struct buf text = BUF_INIT(8 << 20);
        AUTO_JSON json_t *tree = NULL;
        AUTO_ERR struct err err = {0};
        test_row(i, "a text with half a surrogate pair");
        buf_add_z(&text, "[\"\\ud800");
        while (text.n < sizes[i].n)
            buf_add_byte(&text, 'x');
        buf_add_z(&text, "\"]");
        CHECK(wire_parse(buf_str(&text), &tree, &err) == sizes[i].ok);
    }
}

TEST(schemas_are_lean)
{
    AUTO_BUF struct buf b = BUF_INIT(TEXT_MAX);
    AUTO_JSON json_t *schema = parse(STR(
        "{\"type\":\"object\",\"description\":\"arguments of "
        "x\",\"properties\":{\"title\":{\"type\":"
        "\"string\",\"minLength\":1,\"maxLength\":9,\"description\":\"d\",\"default\":\".\"},\"n\":"
        "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0,\"maximum\":2},{\"type\":\"array\","
        "\"items\":"
        "{\"type\":\"string\",\"title\":\"t\"},\"minItems\":1,\"maxItems\":2}]},\"raw\":{\"type\":"
        "\"boolean\",\"default\":false}},\"required\":[],\"additionalProperties\":false}"));
    AUTO_JSON json_t *made = wire_schema(schema);
    json_add_compact(&b, made);
    CHECK_Z(buf_z(&b),
        "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"description\":\"d\","
        "\"default\":\".\"},\"n\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"array\",\"items\":"
        "{\"type\":\"string\"}}]},\"raw\":{\"type\":\"boolean\"}}}");
}

/* The part of every request that describes the tools. */
TEST(requests_are_small)
{
    static const struct {
        const struct dialect *dialect;
        size_t most;
    } rows[] = {{&dialect_anthropic, 8000}, {&dialect_openai, 8300}};
    AUTO_JSON json_t *specs = json_array();
    for (size_t i = 0; i < n_tools; i++)
        json_push(specs, tool_spec(tools[i]));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf body = BUF_INIT(DIALECT_BODY_MAX);
        AUTO_JSON json_t *messages = json_array();
        struct llm_request request = {.tools = specs, .messages = messages, .temperature = -1};
        rows[i].dialect->write(&request, &body);
        test_row(i, rows[i].dialect->name);
        CHECK(body.n <= rows[i].most);
    }
}

TEST(request_check_knows_limits)
{
    static const struct {
        double temperature;
        uint64_t tokens;
        bool ok;
    } rows[] = {{-1, 0, true}, {0, 1, true}, {2, 0, true}, {2.01, 0, false},
        {__builtin_nan(""), 0, false}, {1, LLM_TOKENS_MAX + 1, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct llm_request r = {.temperature = rows[i].temperature, .max_tokens = rows[i].tokens};
        test_row(i, "request");
        CHECK(llm_request_check(&r, &err) == rows[i].ok);
        CHECK_INT(err.code, rows[i].ok ? ERR_NONE : E_CLI_INVALID_ARG);
    }
}

/* Recorded streams ---------------------------------------------------------------------------- */

static void add_golden_call(json_t *calls, json_t *block)
{
    json_t *call = json_object();
    json_object_set(call, "id", json_object_get(block, "id"));
    json_object_set(call, "name", json_object_get(block, "name"));
    json_object_set(call, "input", json_object_get(block, "arguments"));
    json_push(calls, call);
}

static void check_golden_blocks(const json_t *message, const json_t *golden)
{
    AUTO_BUF struct buf thinking = BUF_INIT(TEXT_MAX), text = BUF_INIT(TEXT_MAX),
                        want = BUF_INIT(TEXT_MAX);
    AUTO_JSON json_t *calls = json_array(), *signatures = json_array();
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++) {
        json_t *block = json_array_get(content, i);
        if (block_type(block) == BLOCK_TOOL_CALL)
            add_golden_call(calls, block);
        if (block_type(block) == BLOCK_THINKING) {
            buf_add_str(&thinking, json_str(json_object_get(block, "thinking")));
            if (json_object_get(block, "signature"))
                json_push(signatures, /* their lengths */
                    json_integer(
                        (json_int_t)json_string_length(json_object_get(block, "signature"))));
        }
    }
    message_add_text(message, &text);
    CHECK_STR(buf_str(&text), json_str(json_object_get(golden, "text")));
    CHECK_STR(buf_str(&thinking), json_str(json_object_get(golden, "thinking")));
    json_add_compact(&want, json_object_get(golden, "tool_calls"));
    check_json(calls, buf_str(&want));
    if (!json_object_get(golden, "signatures"))
        return;
    buf_reset(&want);
    json_add_compact(&want, json_object_get(golden, "signatures"));
    check_json(signatures, buf_str(&want));
}

/* OpenAI's number of prompt tokens includes the cached ones. */
static void check_golden_usage(const json_t *message, const json_t *golden, bool whole_prompt)
{
    struct usage u = message_usage(message);
    struct {
        const char *name;
        uint64_t got;
    } rows[] = {
        {"input", u.input_tokens + (whole_prompt ? u.cache_read_tokens : 0)},
        {"output", u.output_tokens},
        {"cache_read", u.cache_read_tokens},
        {"cache_write", u.cache_write_tokens},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const json_t *want = json_object_get(json_object_get(golden, "usage"), rows[i].name);
        if (want)
            CHECK_INT(rows[i].got, json_integer_value(want));
    }
}

static void check_recorded(const struct dialect *dialect, struct str bytes, const json_t *golden)
{
    static const size_t parts[] = {TEXT_MAX, 1, 13, 1400};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO_ERR struct err err = {0};
        struct listener l;
        bool ok = listen_to(&l, dialect, bytes, parts[i], &err);
        if (CHECK_OK(ok, &err)) {
            AUTO_JSON json_t *message = listener_message(&l);
            check_golden_blocks(message, golden);
            check_golden_usage(message, golden, dialect == &dialect_openai);
            CHECK_STR(json_str(json_object_get(message, "raw_stop_reason")),
                json_str(json_object_get(golden, "stop_reason")));
        }
        listener_done(&l);
    }
}

static char *vectors(const char *name)
{
    const char *dir = getenv("CORDON_VECTORS");
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", name);
    char *text = dir ? test_read(path) : NULL;
    if (!text)
        test_skip("no public vectors here (CORDON_VECTORS)");
    return text;
}

TEST(wire_recorded_exchanges)
{
    AUTO_FREE char *text = vectors("wire_golden.jsonl");
    struct str line, rest = str_z(text);
    size_t n_anthropic = 0, n_openai = 0;
    for (size_t i = 0; rest.n && str_cut(rest, '\n', &line, &rest); i++) {
        AUTO_JSON json_t *row = json_loadb(line.p, line.n, 0, NULL);
        struct str url = json_str(json_object_get(row, "url"));
        const json_t *golden = json_object_get(row, "golden");
        bool anthropic = str_ends_with(url, STR("/v1/messages"));
        if (!golden || !(anthropic || str_ends_with(url, STR("/chat/completions"))))
            continue;
        test_row(i, json_string_value(json_object_get(row, "name")));
        check_recorded(anthropic ? &dialect_anthropic : &dialect_openai,
            json_str(json_object_get(row, "body")), golden);
        n_anthropic += anthropic;
        n_openai += !anthropic;
    }
    CHECK(!text || (n_anthropic == 8 && n_openai == 24));
}

/* The expected results of recordings with a second message_start; all but two are several messages
 * in sequence, of which the first is the answer. */
static void check_second_start(const char *name, struct str bytes)
{
    static const struct {
        const char *name, *stop, *call;
        int restarts;
    } rows[] = {
        {"duplicate-message-start", "end_turn", NULL, 0},
        {"spliced-message-start", "tool_use", "toolu_second", 1},
        {"anthropic-programmatic-tool-calling.1", "tool_use", "toolu_019jKkXz4jAdwHweHBw92CVY", 0},
        {"anthropic-tool-search-bm25.1", "tool_use", "toolu_019nRrfqqXcU5NPTUSYfEMAY", 0},
        {"anthropic-tool-search-deferred-bm25", "tool_use", "toolu_01U8pzAHj2vNdPCA2Kf8JjeN", 0},
        {"anthropic-tool-search-deferred-regex", "tool_use", "toolu_01WPkY6CkyJnFsaCqY7SZ9FX", 0},
        {"anthropic-tool-search-regex.1", "tool_use", "toolu_01UmPwkecewaEpMupy2ywk8b", 0},
    };
    size_t i = 0;
    while (i < ARRAY_LEN(rows) && strcmp(rows[i].name, name) != 0)
        i++;
    if (!CHECK(i < ARRAY_LEN(rows)))
        return;
    AUTO_ERR struct err err = {0};
    struct listener l;
    bool ok = listen_to(&l, &dialect_anthropic, bytes, 100, &err);
    CHECK_OK(ok, &err);
    CHECK_INT(l.restarts, rows[i].restarts);
    AUTO_JSON json_t *message = listener_message(&l);
    const json_t *content = json_object_get(message, "content"), *id = NULL;
    for (size_t k = 0; k < json_array_size(content) && !id; k++)
        id = json_object_get(json_array_get(content, k), "id");
    CHECK_STR(json_str(id), str_z(rows[i].call));
    CHECK_STR(json_str(json_object_get(message, "stop_reason")), str_z(rows[i].stop));
    listener_done(&l);
}

TEST(anthropic_recorded_streams)
{
    AUTO_FREE char *text = vectors("anthropic_stream_golden.jsonl");
    struct str line, rest = str_z(text);
    size_t n_golden = 0, n_second = 0;
    for (size_t i = 0; rest.n && str_cut(rest, '\n', &line, &rest); i++) {
        AUTO_JSON json_t *row = json_loadb(line.p, line.n, 0, NULL);
        const json_t *golden = json_object_get(row, "golden");
        const char *name = json_string_value(json_object_get(row, "name"));
        struct str bytes = json_str(json_object_get(row, "sse"));
        test_row(i, name);
        if (golden)
            check_recorded(&dialect_anthropic, bytes, golden);
        else
            check_second_start(name, bytes);
        n_golden += golden != NULL;
        n_second += golden == NULL;
    }
    CHECK(!text || (n_golden == 24 && n_second == 7));
}
