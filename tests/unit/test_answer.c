/* A growing answer: its events, and the message, after every kind of step. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "llm/answer.h"

enum {
    TEXT_MAX = 1 << 20,
};

static void show_event(const struct llm_event *e, struct buf *b)
{
    static const char *const names[LLM_EVENT_KINDS] = {
        "text", "thinking", "begin", "delta", "end", "usage", "restart"};
    buf_printf(b, "%s", names[e->kind]);
    if (e->kind == LLM_TEXT_DELTA || e->kind == LLM_THINKING_DELTA)
        buf_printf(b, " %zu '" STR_FMT "'", e->index, STR_ARG(e->delta));
    if (e->kind == LLM_TOOL_CALL_BEGIN)
        buf_printf(b, " " STR_FMT " " STR_FMT, STR_ARG(e->id), STR_ARG(e->name));
    if (e->kind == LLM_TOOL_CALL_DELTA)
        buf_printf(b, " " STR_FMT " '" STR_FMT "'", STR_ARG(e->id), STR_ARG(e->delta));
    if (e->kind == LLM_TOOL_CALL_END) {
        buf_printf(b, " " STR_FMT " ", STR_ARG(e->id));
        json_add_compact(b, e->arguments);
    }
    if (e->kind == LLM_USAGE)
        buf_printf(b, " %d %d", (int)e->usage.input_tokens, (int)e->usage.output_tokens);
    buf_add_z(b, "; ");
}

static void show_events(struct answer *a, struct buf *b)
{
    struct llm_event event;
    while (answer_take_event(a, &event))
        show_event(&event, b);
}

static void show_message(struct answer *a, struct buf *b)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *message = answer_message(a);
    CHECK_OK(message_check(message, E_INTERNAL, &err), &err);
    json_object_del(message, "type");
    json_object_del(message, "timestamp");
    json_add_compact(b, message);
    for (char *p = b->p; *p; p++)
        *p = *p == '"' ? '\'' : *p;
}

static bool begin(struct answer *a, uint64_t key, struct str rest, struct err *err)
{
    struct str kind, id, name;
    if (!str_cut(rest, ' ', &kind, &rest))
        return false;
    if (str_is(kind, "call") && str_cut(rest, ' ', &id, &name))
        return answer_begin_call(a, key, str_is(id, "-") ? STR("") : id, name, err);
    if (str_is(kind, "ignored"))
        return answer_begin_ignored(a, key, err);
    return answer_begin(a, key,
        str_is(kind, "text")       ? BLOCK_TEXT
        : str_is(kind, "thinking") ? BLOCK_THINKING
                                   : BLOCK_REDACTED_THINKING,
        err);
}

static bool preset(struct answer *a, uint64_t key, struct str text, struct err *err)
{
    AUTO_JSON json_t *json = NULL;
    return json_parse(text, "preset", E_INTERNAL, &json, err) && answer_preset(a, key, json, err);
}

static void stop(struct answer *a, struct str words)
{
    struct str word, raw;
    CHECK(str_cut(words, ' ', &word, &raw));
    for (unsigned i = 0; i < STOP_REASONS; i++)
        if (str_is(word, i == STOP_REFUSAL ? "refusal" : stop_reason_names[i]))
            answer_stop(a, (enum stop_reason)i, raw);
}

/* One step: a letter, a key, words. The steps are listed in the table's comment. */
static bool step(struct answer *a, struct str s, struct buf *events, struct err *err)
{
    uint64_t key = s.n > 1 ? (uint64_t)(s.p[1] - '0') : 0;
    struct str words = str_skip(s, 3);
    switch (s.p[0]) {
    case 'b':
        return begin(a, key, words, err);
    case '+':
        return answer_add(a, key, words, err);
    case 's':
        return answer_sign(a, key, words, err);
    case 'p':
        return preset(a, key, words, err);
    case 'e':
        return answer_end(a, key, err);
    case '!':
        answer_end_all(a);
        return true;
    case 'u':
        answer_usage(a, &(struct usage){key, key, 0, 0});
        return true;
    case 'x':
        stop(a, words);
        return true;
    case 'R':
        answer_restart(a);
        return true;
    case '?':
        show_events(a, events);
        return true;
    }
    return err_set(err, E_INTERNAL, "no such step");
}

/* b begin, + add, s sign, p preset arguments, e end, ! end all, u usage, x stop, R restart, ? take
 * events. */
static const struct {
    const char *steps, *events, *message;
} rows[] = {
    {"", "", "{'content':[],'stop_reason':'error','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 text|+0 Hel|+0 |+0 lo|e0|x. end_turn stop|u3", "text 0 'Hel'; text 0 'lo'; usage 3 3; ",
        "{'content':[{'type':'text','text':'Hello'}],'stop_reason':'end_turn',"
        "'raw_stop_reason':'stop','usage':{'input_tokens':3,'output_tokens':3}}"},
    {"b0 thinking|b1 text|+1 b|+0 a|+1 c|s0 one|s0 two|e1|e0|u1|u1|u2",
        "text 1 'b'; thinking 0 'a'; text 1 'c'; usage 1 1; usage 2 2; ",
        "{'content':[{'type':'thinking','thinking':'a','signature':'two'},{'type':'text','text':"
        "'bc'}],'stop_reason':'error','usage':{'input_tokens':2,'output_tokens':2}}"},
    {"b0 ignored|+0 x|b1 text|+1 a|e0|b0 redacted|+0 zz", "text 0 'a'; ",
        "{'content':[{'type':'text','text':'a'},{'type':'redacted_thinking','data':'zz'}],"
        "'stop_reason':'error','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 call A sh|+0 {\"a\"|+0 :[1]}|e0|x. end_turn stop",
        "begin A sh; delta A '{\"a\"'; delta A ':[1]}'; end A {\"a\":[1]}; ",
        "{'content':[{'type':'tool_call','id':'A','name':'sh','arguments':{'a':[1]}}],'stop_reason'"
        ":"
        "'tool_use','raw_stop_reason':'stop','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 call A sh|+0 |e0|b0 call B sh|p0 {\"x\":1}|e0|b0 call C sh|p0 {}|+0 {\"y\":2}|e0",
        "begin A sh; end A {}; begin B sh; end B {\"x\":1}; begin C sh; delta C '{\"y\":2}'; end C "
        "{\"y\":2}; ",
        "{'content':[{'type':'tool_call','id':'A','name':'sh','arguments':{}},{'type':'tool_call',"
        "'id':'B','name':'sh','arguments':{'x':1}},{'type':'tool_call','id':'C','name':'sh',"
        "'arguments':{'y':2}}],'stop_reason':'error','usage':{'input_tokens':0,'output_tokens':0}"
        "}"},
    {"b0 call A sh|+0 {a|!|x. length max_tokens", "begin A sh; delta A '{a'; end A \"{a\"; ",
        "{'content':[{'type':'tool_call','id':'A','name':'sh','arguments':'{a','invalid':true}],"
        "'stop_reason':'length','raw_stop_reason':'max_tokens','usage':{'input_tokens':0,'output_"
        "tokens':0}}"},
    {"b0 call A sh|!|x. length max_tokens", "begin A sh; end A {}; ",
        "{'content':[{'type':'tool_call','id':'A','name':'sh','arguments':'','invalid':true}],"
        "'stop_reason':'length','raw_stop_reason':'max_tokens','usage':{'input_tokens':0,'output_"
        "tokens':0}}"},
    {"b0 call A sh|+0 {}|x. aborted ", "begin A sh; delta A '{}'; ",
        "{'content':[{'type':'tool_call','id':'A','name':'sh','arguments':'{}','invalid':true}],"
        "'stop_reason':'aborted','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 call A sh|+0 {\"a\":1,\"a\":2}|e0|b1 call B sh|+1 {\"a\":\"\\ud800\"}|e1",
        "begin A sh; delta A '{\"a\":1,\"a\":2}'; end A \"{\\\"a\\\":1,\\\"a\\\":2}\"; begin B sh; "
        "delta B '{\"a\":\"\\ud800\"}'; end B \"{\\\"a\\\":\\\"\\\\ud800\\\"}\"; ",
        "{'content':[{'type':'tool_call','id':'A','name':'sh','arguments':'{\\'a\\':1,\\'a\\':2}',"
        "'invalid':true},{'type':'tool_call','id':'B','name':'sh','arguments':'{\\'a\\':\\'"
        "\\\\ud800\\'}',"
        "'invalid':true}],'stop_reason':'error','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 text|+0 a\xf0\x9f|+0 \x92|+0 \x99z|+0 \xff|+0 \xe2\x82|+0 x|+0 \xc3|e0",
        "text 0 'a'; text 0 '\xf0\x9f\x92\x99z'; text 0 '\xEF\xBF\xBD'; text 0 '\xEF\xBF\xBDx'; "
        "text 0 '\xEF\xBF\xBD'; ",
        "{'content':[{'type':'text','text':'"
        "a\xf0\x9f\x92\x99z\xEF\xBF\xBD\xEF\xBF\xBDx\xEF\xBF\xBD'}],"
        "'stop_reason':'error','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 text|+0 a|u1|?|R|b0 text|+0 b|e0|x. end_turn x",
        "text 0 'a'; usage 1 1; restart; text 0 'b'; ",
        "{'content':[{'type':'text','text':'b'}],'stop_reason':'end_turn','raw_stop_reason':'x',"
        "'usage':{'input_tokens':0,'output_tokens':0}}"},
    {"b0 text|+0 a|R|R|b0 text|+0 b|e0", "text 0 'b'; ",
        "{'content':[{'type':'text','text':'b'}],'stop_reason':'error','usage':{'input_tokens':0,"
        "'output_tokens':0}}"},
    {"b0 text|+0 a|?|R|b0 text|+0 b|R|b0 text|+0 c|?|R|b0 text|+0 d",
        "text 0 'a'; restart; text 0 'c'; restart; text 0 'd'; ",
        "{'content':[{'type':'text','text':'d'}],'stop_reason':'error','usage':{'input_tokens':0,"
        "'output_tokens':0}}"},
    {"b0 text|+0 a|s0 one|b1 call A sh|s1 two|e1|e0", "text 0 'a'; begin A sh; end A {}; ",
        "{'content':[{'type':'text','text':'a'},{'type':'tool_call','id':'A','name':'sh',"
        "'arguments':{}}],'stop_reason':'error','usage':{'input_tokens':0,'output_tokens':0}}"},
    {"x. refusal ", "",
        "{'content':[],'stop_reason':'unknown','raw_stop_reason':'refusal','usage':"
        "{'input_tokens':0,'output_tokens':0}}"},
};

TEST(answer_grows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf events = BUF_INIT(TEXT_MAX), message = BUF_INIT(TEXT_MAX);
        struct answer *a = answer_new();
        struct str one, rest = str_z(rows[i].steps);
        test_row(i, rows[i].steps);
        while (rest.n && str_cut(rest, '|', &one, &rest))
            CHECK_OK(step(a, one, &events, &err), &err);
        show_events(a, &events);
        show_message(a, &message);
        CHECK_Z(buf_z(&events), rows[i].events);
        CHECK_Z(buf_z(&message), rows[i].message);
        answer_free(a);
    }
}

TEST(answer_refuses)
{
    static const struct {
        const char *steps, *part;
    } wrong[] = {
        {"+0 a", "the answer continues block 0, which is not open"},
        {"b0 text|e0|+0 a", "the answer continues block 0, which is not open"},
        {"b0 text|e1", "the answer continues block 1"},
        {"s0 x", "block 0, which is not open"},
        {"p0 {}", "block 0, which is not open"},
        {"b0 text|b0 text", "block 0 of the answer starts twice"},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf events = BUF_INIT(TEXT_MAX);
        struct answer *a = answer_new();
        struct str one, rest = str_z(wrong[i].steps);
        bool ok = true;
        test_row(i, wrong[i].steps);
        while (ok && rest.n && str_cut(rest, '|', &one, &rest))
            ok = step(a, one, &events, &err);
        CHECK_ERR(&err, E_PROVIDER, wrong[i].part);
        CHECK(rest.n == 0);
        answer_free(a);
    }
}

TEST(answer_makes_ids_up)
{
    AUTO_ERR struct err err = {0};
    struct answer *a = answer_new();
    struct llm_event event;
    static const char *const given[] = {"", "x", "x", ""};
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        CHECK_OK(answer_begin_call(a, i, str_z(given[i]), STR("sh"), &err), &err);
    AUTO_JSON json_t *message = answer_message(a);
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        struct str id = json_str(json_object_get(json_array_get(content, i), "id"));
        test_row(i, id.p);
        CHECK(answer_take_event(a, &event));
        CHECK_STR(event.id, id);
        CHECK(i == 1 ? str_is(id, "x") : str_starts_with(id, STR("call_")) && id.n == 29);
        CHECK_STR(answer_call_id(a, i), str_z(given[i]));
        for (size_t k = 0; k < i; k++)
            CHECK(!str_eq(id, json_str(json_object_get(json_array_get(content, k), "id"))));
    }
    answer_free(a);
}

TEST(answer_has_limits)
{
    AUTO_ERR struct err err = {0};
    struct answer *a = answer_new();
    AUTO_FREE char *part = base_alloc(16 << 20);
    memset(part, 'x', 16 << 20);
    for (uint64_t i = 0; i < ANSWER_BLOCKS_MAX; i++)
        if (!CHECK_OK(answer_begin(a, i, BLOCK_TEXT, &err), &err))
            break;
    CHECK(!answer_begin(a, ANSWER_BLOCKS_MAX, BLOCK_TEXT, &err));
    CHECK_ERR(&err, E_PROVIDER, "the answer has more than 10000 blocks");
    for (uint64_t i = 0; i < 4; i++)
        CHECK_OK(answer_add(a, i, str_n(part, 16 << 20), &err), &err);
    CHECK(!answer_add(a, 4, STR("x"), &err));
    CHECK_ERR(&err, E_PROVIDER, "the answer is longer than 64 MiB");
    answer_end_all(a);
    answer_free(a);
    answer_free(NULL);
}
