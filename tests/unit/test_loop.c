/* The agent's loop, its context, and compaction of long conversations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_compact.h"
#include "agent/context.h"
#include "agent/loop.h"
#include "agent/repair.h"
#include "test.h"

enum {
    STEPS_MAX = 4,
};

/* An answer: calls as "NAME:ID", "!" before one whose arguments are not JSON; '-': a text. */
struct step {
    const char *calls, *stop, *raw;
    enum err_code error;
    uint64_t tokens;
};

static json_t *call_block(struct str word)
{
    struct str name, id;
    bool invalid = word.p[0] == '!';
    json_t *block = json_object();
    str_cut(str_skip(word, invalid), ':', &name, &id);
    json_put(block, "type", json_string("tool_call"));
    json_put(block, "id", json_text(id));
    json_put(block, "name", json_text(name));
    json_put(block, "arguments", invalid ? json_string("{\"pa") : json_object());
    if (invalid)
        json_put(block, "invalid", json_true());
    return block;
}

static json_t *answer(const struct step *s)
{
    json_t *m = json_object(), *content = json_array();
    struct str word, rest = str_z(s->calls);
    while (str_cut(rest, ' ', &word, &rest))
        json_push(content, str_is(word, "-") ? block_text(STR("words")) : call_block(word));
    json_put(m, "type", json_string("assistant"));
    json_put(m, "content", content);
    json_put(m, "stop_reason", json_string(s->stop));
    json_put(m, "raw_stop_reason", json_string(s->raw ? s->raw : s->stop));
    json_put(m, "usage", usage_json(&(struct usage){.input_tokens = s->tokens}));
    return m;
}

static json_t *new_list(void)
{
    json_t *list = json_array();
    json_push(list, message_user(STR("do it")));
    return list;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

/* Performs the loop's effects, and logs them: asks "?", runs "[1 2]". */
static void perform(
    struct loop *loop, const struct loop_effect *e, const struct step *steps, struct buf *log)
{
    if (e->kind == LOOP_STREAM) {
        const struct step *s = &steps[loop->turns - 1];
        AUTO_ERR struct err err = {0};
        buf_add_z(log, "?");
        if (s->error)
            err_set(&err, s->error, "test");
        loop_answered(loop, s->calls ? answer(s) : NULL, &err);
        return;
    }
    const json_t *calls[64];
    buf_add_z(log, "[");
    for (size_t i = 0; i < e->n_calls && i < ARRAY_LEN(calls); i++) {
        calls[i] = e->calls[i];
        buf_printf(log, "%s%s", i ? " " : "", text_at(calls[i], "id"));
    }
    buf_add_z(log, "]");
    for (size_t i = e->n_calls; i-- > 0;) /* the last one finishes first */
        loop_ran(loop, calls[i],
            message_tool_result(str_z(text_at(calls[i], "id")), str_z(text_at(calls[i], "name")),
                STR("fine"), false));
}

/* The messages in the list: u, a, and results by id, "!" after an error. */
static void show(const json_t *messages, struct buf *log)
{
    size_t i;
    json_t *m;
    json_array_foreach((json_t *)messages, i, m)
    {
        buf_add_z(log, i ? " " : "");
        if (message_type(m) != MESSAGE_TOOL_RESULT)
            buf_add_byte(log, text_at(m, "type")[0]);
        else
            buf_printf(log, "%s%s", text_at(m, "tool_call_id"),
                json_is_true(json_object_get(m, "is_error")) ? "!" : "");
    }
}

/* Valid for every provider; an answer without content is one that repair would drop. */
static void check_valid(const json_t *messages)
{
    AUTO_JSON json_t *notes = json_array();
    AUTO_JSON json_t *all = json_array();
    size_t i;
    json_t *m;
    json_array_foreach((json_t *)messages, i, m)
    {
        AUTO_ERR struct err err = {0};
        CHECK_OK(message_check(m, E_CONFIG, &err), &err);
        if (json_array_size(json_object_get(m, "content")))
            json_push(all, json_incref(m));
    }
    AUTO_JSON json_t *valid = repair_messages(all, notes);
    CHECK(json_equal(valid, all));
    CHECK_INT(json_array_size(notes), 0);
}

static const char *const end_names[] = {
    [LOOP_ANSWERED] = "answered",
    [LOOP_BUDGET] = "budget",
    [LOOP_LENGTH] = "length",
    [LOOP_REFUSED] = "refused",
    [LOOP_FAILED] = "failed",
    [LOOP_ABORTED] = "aborted",
};

static const struct {
    const char *name;
    struct loop_limits limits;
    struct step steps[STEPS_MAX];
    const char *did, *list;
} rows[] = {
    {"a text", {0}, {{"-", "end_turn"}}, "? answered", "u a"},
    {"nothing at all", {0}, {{"", "end_turn"}}, "? answered", "u a"},
    {"a call", {0}, {{"- read_file:1", "tool_use"}, {"-", "end_turn"}}, "?[1]? answered",
        "u a 1 a"},
    {"calls that read run together", {0},
        {{"read_file:1 grep_files:2 list_dir:3", "tool_use"}, {"-", "end_turn"}},
        "?[1 2 3]? answered", "u a 1 2 3 a"},
    {"changes keep their place", {0},
        {{"read:1 grep:2 write:3 edit:4 read:5 shell:6", "tool_use"}, {"-", "end_turn"}},
        "?[1 2][3][4][5][6]? answered", "u a 1 2 3 4 5 6 a"},
    {"an unknown tool reads", {0}, {{"nothing:1 read:2", "tool_use"}, {"-", "end_turn"}},
        "?[1 2]? answered", "u a 1 2 a"},
    {"stop beside a call: it counts", {0}, {{"- read:1", "end_turn"}, {"-", "end_turn"}},
        "?[1]? answered", "u a 1 a"},
    {"an unknown reason beside a call", {0}, {{"read:1", "unknown", "new"}, {"-", "end_turn"}},
        "?[1]? answered", "u a 1 a"},
    {"an unknown reason", {0}, {{"-", "unknown", "new"}}, "? answered", "u a"},
    {"no JSON: not run", {0}, {{"read:1 !write:2 read:3", "tool_use"}, {"-", "end_turn"}},
        "?[1 3]? answered", "u a 1 2! 3 a"},
    {"all of them no JSON", {0}, {{"!write:1", "tool_use"}, {"-", "end_turn"}}, "?? answered",
        "u a 1! a"},
    {"cut by the limit: none is run", {0}, {{"- read:1 write:2", "length", "max_tokens"}},
        "? length", "u a 1! 2!"},
    {"a text cut by the limit", {0}, {{"-", "length", "max_tokens"}}, "? length", "u a"},
    {"a refusal", {0}, {{"- read:1", "unknown", "refusal"}}, "? refused", "u a 1!"},
    {"a pause continues", {0}, {{"-", "unknown", "pause_turn"}, {"-", "end_turn"}}, "?? answered",
        "u a a"},
    {"a pause before the first word", {0}, {{"", "unknown", "pause_turn"}, {"-", "end_turn"}},
        "?? answered", "u a"},
    {"the same id twice", {0}, {{"write:1 write:1 read:2", "tool_use"}, {"-", "end_turn"}},
        "?[1][2]? answered", "u a 1 1_2! 2 a"},
    {"the id of an earlier turn", {0},
        {{"read:1", "tool_use"}, {"read:1", "tool_use"}, {"-", "end_turn"}}, "?[1]?[1_2]? answered",
        "u a 1 a 1_2 a"},
    {"a stream that broke", {0}, {{"- read:1", "error", "", E_PROVIDER}}, "? failed", "u a 1!"},
    {"one that broke before its first word", {0}, {{"", "error", "", E_PROVIDER}}, "? failed", "u"},
    {"no answer", {0}, {{NULL, .error = E_PROVIDER}}, "? failed", "u"},
    {"interrupted", {0}, {{"- read:1", "aborted", "", E_CANCELED}}, "? aborted", "u a 1!"},
    {"out of time", {0}, {{"- read:1", "aborted", "", E_TIMEOUT}}, "? budget time", "u a 1!"},
    {"as many turns as allowed", {.turns = 2},
        {{"read:1", "tool_use"}, {"read:2", "tool_use"}, {"-", "end_turn"}},
        "?[1]?[2] budget turns", "u a 1 a 2"},
    {"the last turn answers", {.turns = 1}, {{"-", "end_turn"}}, "? answered", "u a"},
    {"as many tokens as allowed", {.tokens = 100},
        {{"read:1", "tool_use", .tokens = 60}, {"read:2", "tool_use", .tokens = 60}},
        "?[1]?[2] budget tokens", "u a 1 a 2"},
};

TEST(loop_follows_the_table)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct loop loop;
        struct loop_effect e;
        AUTO_JSON json_t *messages = new_list();
        AUTO_BUF struct buf did = BUF_INIT(4096), list = BUF_INIT(4096);
        test_row(i, rows[i].name);
        loop_init(&loop, &rows[i].limits, messages);
        while ((e = loop_next(&loop)).kind != LOOP_DONE)
            perform(&loop, &e, rows[i].steps, &did);
        buf_printf(
            &did, " %s%s%s", end_names[e.end], e.budget ? " " : "", e.budget ? e.budget : "");
        show(messages, &list);
        CHECK_Z(buf_z(&did), rows[i].did);
        CHECK_Z(buf_z(&list), rows[i].list);
        check_valid(messages);
        CHECK(loop_next(&loop).kind == LOOP_DONE);
        loop_done(&loop);
    }
}

/* Every row, aborted after every number of steps, and with half of the calls done. */
TEST(loop_abort_leaves_a_valid_list)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t most = 0; most < 8; most++) {
            struct loop loop;
            struct loop_effect e = {0};
            AUTO_JSON json_t *messages = new_list();
            AUTO_BUF struct buf did = BUF_INIT(4096);
            test_row(i, rows[i].name);
            loop_init(&loop, &rows[i].limits, messages);
            for (size_t k = 0; k < most && (e = loop_next(&loop)).kind != LOOP_DONE; k++)
                perform(&loop, &e, rows[i].steps, &did);
            e = loop_next(&loop);
            if (e.kind == LOOP_RUN)
                loop_ran(&loop, e.calls[e.n_calls - 1],
                    message_tool_result(str_z(text_at(e.calls[e.n_calls - 1], "id")), STR("x"),
                        STR("fine"), false));
            bool ended = e.kind == LOOP_DONE;
            loop_abort(&loop, NULL);
            check_valid(messages);
            e = loop_next(&loop);
            CHECK(e.kind == LOOP_DONE && (ended || e.end == LOOP_ABORTED));
            loop_done(&loop);
        }
}

TEST(loop_takes_a_thousand_calls)
{
    struct loop loop;
    struct loop_effect e;
    AUTO_JSON json_t *messages = new_list();
    AUTO_BUF struct buf calls = BUF_INIT(1 << 20);
    size_t ran = 0, refused = 0;
    for (int i = 0; i < 1000; i++)
        buf_printf(&calls, "%sread:c%d", i ? " " : "", i % 999); /* one twice */
    loop_init(&loop, &(struct loop_limits){.turns = 1}, messages);
    CHECK(loop_next(&loop).kind == LOOP_STREAM);
    loop_answered(&loop, answer(&(struct step){buf_z(&calls), "tool_use"}), NULL);
    while ((e = loop_next(&loop)).kind == LOOP_RUN) {
        const json_t *call = e.calls[0];
        loop_ran(&loop, call,
            message_tool_result(str_z(text_at(call, "id")), STR("read"), STR("x"), false));
        ran++;
    }
    for (size_t i = 0; i < json_array_size(messages); i++)
        refused += json_is_true(json_object_get(json_array_get(messages, i), "is_error"));
    CHECK_INT(ran, LOOP_CALLS_MAX);
    CHECK_INT(refused, 1000 - LOOP_CALLS_MAX);
    check_valid(messages);
    loop_done(&loop);
}

/* Context ------------------------------------------------------------------------------------- */

static void prompt_of(const struct context_options *o, struct buf *prompt, struct buf *notes)
{
    AUTO_ERR struct err err = {0};
    CHECK_OK(context_prompt(o, prompt, notes, &err), &err);
}

TEST(context_has_the_instructions_from_the_root_down)
{
    AUTO_BUF struct buf prompt = BUF_INIT(CONTEXT_PROMPT_MAX), notes = BUF_INIT(CONTEXT_NOTES_MAX);
    const char *root = test_path("project"), *cwd = test_path("project/src/deep");
    test_write(test_path("AGENTS.md"), "above the project");
    test_write(test_path("project/AGENTS.md"), "first rule");
    test_write(test_path("project/src/deep/AGENTS.md"), "last rule");
    test_write(test_path("secret"), "not for the model");
    CHECK(symlink(test_path("secret"), test_path("project/src/AGENTS.md")) == 0);
    prompt_of(&(struct context_options){.root = root, .cwd = cwd}, &prompt, &notes);
    const char *first = strstr(buf_z(&prompt), "first rule"),
               *last = strstr(buf_z(&prompt), "last");
    CHECK(first && last && first < last);
    CHECK(strstr(buf_z(&prompt), "project/AGENTS.md:\n"));
    CHECK(!strstr(buf_z(&prompt), "not for the model"));
    CHECK(!strstr(buf_z(&prompt), "above the project"));
    CHECK(strstr(buf_z(&notes), "src/AGENTS.md"));
}

TEST(context_cuts_long_instructions)
{
    AUTO_BUF struct buf prompt = BUF_INIT(CONTEXT_PROMPT_MAX), notes = BUF_INIT(CONTEXT_NOTES_MAX);
    AUTO_BUF struct buf text = BUF_INIT(1 << 20);
    while (text.n < 2 * CONTEXT_INSTRUCTIONS_MAX)
        buf_add_z(&text, "rule\n");
    test_write(test_path("p/AGENTS.md"), buf_z(&text));
    prompt_of(
        &(struct context_options){
            .root = test_path("p"), .cwd = test_path("p"), .system = STR("Be kind.")},
        &prompt, &notes);
    CHECK(prompt.n < CONTEXT_INSTRUCTIONS_MAX + 2000);
    CHECK(str_starts_with(buf_str(&prompt), STR("Be kind.\n")));
    CHECK(strstr(buf_z(&prompt), "the rest was left out"));
    CHECK(strstr(buf_z(&notes), "too long"));
}

/* The start of every request, in the longer of the two dialects. */
TEST(context_is_small)
{
    AUTO_BUF struct buf prompt = BUF_INIT(CONTEXT_PROMPT_MAX), notes = BUF_INIT(CONTEXT_NOTES_MAX);
    AUTO_BUF struct buf json = BUF_INIT(1 << 20);
    prompt_of(&(struct context_options){.root = test_dir(), .cwd = test_dir()}, &prompt, &notes);
    AUTO_JSON json_t *told = context_tools();
    json_add_compact(&json, told);
    size_t wrapping = json_array_size(told) * strlen("{\"type\":\"function\",\"function\":{}}");
    CHECK_INT(json_array_size(told), 11);
    CHECK(prompt.n + json.n + wrapping + 200 <= 8192);
    if (prompt.n + json.n + wrapping + 200 > 8192)
        printf("# prompt %zu, tools %zu, wrapping %zu\n", prompt.n, json.n, wrapping);
}

/* Compaction ---------------------------------------------------------------------------------- */

/* "u", "a" (with a call), "r", each followed by a number of tokens. */
static json_t *conversation(const char *words)
{
    json_t *list = json_array();
    struct str word, rest = str_z(words);
    while (str_cut(rest, ' ', &word, &rest)) {
        int64_t tokens = 0;
        AUTO_BUF struct buf text = BUF_INIT(1 << 20);
        CHECK(str_to_int(str_skip(word, 1), 0, 100000, &tokens));
        for (int64_t i = 0; i < tokens * COMPACT_TOKEN_BYTES; i++)
            buf_add_byte(&text, 'x');
        if (word.p[0] == 'u')
            json_push(list, message_user(buf_str(&text)));
        else if (word.p[0] == 'r')
            json_push(list, message_tool_result(STR("1"), STR("read"), buf_str(&text), false));
        else
            json_push(
                list, answer(&(struct step){"read:1", "tool_use", .tokens = (uint64_t)tokens}));
    }
    return list;
}

TEST(compact_counts_and_cuts)
{
    static const struct {
        const char *list;
        uint64_t window;
        bool due;
        size_t keep;
    } cases[] = {
        {"u10", 0, false, 0}, {"u10", 1000, false, 0}, {"u900", 1000, true, 0},
        {"u10 a800 r10", 1000, false, 2}, {"u10 a800 r100", 1000, true, 2},
        {"u10 a860 r500", 1000, true, 0},         /* the last step alone is too much */
        {"u10 a860 r50 a20 r50", 1000, false, 4}, /* the last count is the one that matters */
        {"u10 a20 r150 a860 r100", 1000, true, 2},
        {"u10 a860 r20 u500", 1000, true, 1}, /* not answered yet: it stays */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON json_t *list = conversation(cases[i].list);
        test_row(i, cases[i].list);
        CHECK_INT(compact_is_due(compact_estimate(list), cases[i].window), cases[i].due);
        CHECK_INT(compact_keep(list, cases[i].window), cases[i].keep);
    }
}

TEST(compact_discards_earlier_counts)
{
    AUTO_JSON json_t *list = conversation("u10 a860 r20 a870 r20");
    CHECK(compact_is_due(compact_estimate(list), 1000));
    AUTO_JSON json_t *summary = compact_summary(STR("all is well"), 2);
    AUTO_JSON json_t *shorter = compact_list(list, summary, 2);
    CHECK_INT(json_array_size(shorter), 3);
    CHECK(!compact_is_due(compact_estimate(shorter), 1000));
    json_push(shorter, answer(&(struct step){"-", "end_turn", .tokens = 900}));
    CHECK(compact_is_due(compact_estimate(shorter), 1000));
    AUTO_JSON json_t *question = compact_question(list, false);
    CHECK_INT(json_array_size(question), json_array_size(list) + 1);
}

TEST(compact_brief_question)
{
    AUTO_JSON json_t *list = conversation("u10 a20 r10000 u5000");
    json_push(json_object_get(json_array_get(list, 3), "content"),
        json_pack("{s:s,s:s,s:s}", "type", "image", "mime_type", "image/png", "data", "AAAA"));
    AUTO_JSON json_t *before = json_deep_copy(list), *brief = compact_question(list, true);
    CHECK(json_equal(before, list));
    CHECK_INT(json_array_size(brief), 5);
    CHECK(compact_estimate(brief) < 1000);
    for (size_t i = 0; i < 4; i++) {
        AUTO_ERR struct err err = {0};
        CHECK_OK(message_check(json_array_get(brief, i), E_CONFIG, &err), &err);
        CHECK_INT(message_type(json_array_get(brief, i)), message_type(json_array_get(list, i)));
    }
}
