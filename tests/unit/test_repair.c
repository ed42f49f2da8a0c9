/* Damaged conversations, and their repair.
 *
 * A conversation is written as words: u (a user's text), a (an answer), a:x,y (an answer that calls
 * x and y), r:x (the result of x), R:x (one that says aborted), e (an empty user's message), E (an
 * empty answer), t (a user's text with an empty block beside it). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/repair.h"
#include "llm/message.h"
#include "test.h"

#include <stdlib.h>

static json_t *assistant(struct str calls)
{
    AUTO_JSON json_t *m = json_object();
    json_t *content = json_array();
    struct str id;
    json_put(m, "type", json_string("assistant"));
    json_push(content, block_text(STR("words")));
    while (calls.n && str_cut(calls, ',', &id, &calls)) {
        json_t *call = json_object();
        json_put(call, "type", json_string("tool_call"));
        json_put(call, "id", json_text(id));
        json_put(call, "name", json_string("read"));
        json_put(call, "arguments", json_object());
        json_push(content, call);
    }
    json_put(m, "content", content);
    return json_take(&m);
}

static json_t *without_content(json_t *message)
{
    json_put(message, "content", json_array());
    return message;
}

static json_t *message_of(struct str word)
{
    struct str rest = str_skip(word, 2);
    switch (word.p[0]) {
    case 'u':
        return message_user(STR("question"));
    case 'a':
        return assistant(rest);
    case 'r':
        return message_tool_result(rest, STR("read"), STR("content"), false);
    case 'R':
        return message_tool_result(rest, STR("read"), STR(REPAIR_ABORTED), true);
    case 'e':
        return without_content(message_user(STR("")));
    case 'E':
        return without_content(assistant(STR("")));
    default: {
        json_t *m = message_user(STR("question"));
        json_push(json_object_get(m, "content"), block_text(STR("")));
        return m;
    }
    }
}

static json_t *messages_of(const char *words)
{
    json_t *list = json_array();
    struct str word, rest = str_z(words);
    while (str_cut(rest, ' ', &word, &rest))
        if (word.n)
            json_push(list, message_of(word));
    return list;
}

/* Back to words. */
static void describe(const json_t *messages, struct buf *out)
{
    static const char letters[] = "uar";
    const json_t *m, *block;
    size_t i, k;
    json_array_foreach(messages, i, m)
    {
        AUTO_BUF struct buf text = BUF_INIT(1000);
        enum message_type type = message_type(m);
        message_add_text(m, &text);
        bool aborted = str_is(buf_str(&text), REPAIR_ABORTED);
        buf_printf(out, "%s%c", i ? " " : "", aborted ? 'R' : letters[type]);
        if (type == MESSAGE_TOOL_RESULT)
            buf_printf(out, ":%s", json_string_value(json_object_get(m, "tool_call_id")));
        const char *separator = ":";
        json_array_foreach(
            json_object_get(m, "content"), k, block) if (block_type(block) == BLOCK_TOOL_CALL)
        {
            buf_printf(out, "%s%s", separator, json_string_value(json_object_get(block, "id")));
            separator = ",";
        }
    }
}

TEST(repair_rows)
{
    static const struct {
        const char *before, *after, *note;
    } rows[] = {
        {"", "", NULL},
        {"u a u a", "u a u a", NULL},
        {"u a:x r:x a", "u a:x r:x a", NULL},
        {"u a:x,y r:x r:y u", "u a:x,y r:x r:y u", NULL},
        {"u u a a", "u u a a", NULL},
        {"u a:x", "u a:x R:x", "a tool call without a result was given the result 'aborted'"},
        {"u a:x,y r:x", "u a:x,y r:x R:y",
            "a tool call without a result was given the result 'aborted'"},
        {"u a:x,y r:y", "u a:x,y R:x r:y",
            "a tool call without a result was given the result 'aborted'"},
        {"u a:x,y u", "u a:x,y R:x R:y u",
            "2 tool calls without a result were given the result 'aborted'"},
        {"u a:x a:y r:y", "u a:x R:x a:y r:y",
            "a tool call without a result was given the result 'aborted'"},
        {"u a:x,y r:y r:x", "u a:x,y r:x r:y", "moved to match the order"},
        {"u a:x u r:x", "u a:x r:x u", "moved to match the order"},
        {"u r:x a", "u a", "result without a tool call was removed"},
        {"u a:x r:x r:x", "u a:x r:x", "result without a tool call was removed"},
        {"u a:x r:x a:y r:x r:y", "u a:x r:x a:y r:y", "result without a tool call was removed"},
        {"r:x a u a", "u a", "before the first prompt"},
        {"a:x r:x u", "u", "before the first prompt"},
        {"u a:x r:x u a:x r:x", "u a:x r:x u a:x~2 r:x~2", "duplicate id"},
        {"u a:x,x r:x r:x", "u a:x,x~2 r:x r:x~2", "duplicate id"},
        {"u a:x,x r:x", "u a:x,x~2 r:x R:x~2", "duplicate id"},
        {"u a:x r:x a:x~2 r:x~2 a:x r:x", "u a:x r:x a:x~2 r:x~2 a:x~3 r:x~3", "duplicate id"},
        {"e u a", "u a", "without content"},
        {"u E u", "u u", "without content"},
        {"u a:x E r:x", "u a:x r:x", "without content"},
        {"t a", "u a", "an empty text"},
        {"u a:x R:x", "u a:x R:x", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].before);
        AUTO_JSON json_t *before = messages_of(rows[i].before);
        AUTO_JSON json_t *copy = json_deep_copy(before);
        AUTO_JSON json_t *notes = json_array();
        AUTO_JSON json_t *after = repair_messages(before, notes);
        AUTO_BUF struct buf got = BUF_INIT(10000), said = BUF_INIT(10000);
        describe(after, &got);
        json_add_compact(&said, notes);
        CHECK_Z(buf_z(&got), rows[i].after);
        CHECK(rows[i].note ? strstr(buf_z(&said), rows[i].note) != NULL
                           : json_array_size(notes) == 0);
        CHECK(json_equal(before, copy)); /* the input is unchanged */
        CHECK(repair_is_valid(before) == !rows[i].note);
    }
}

/* The providers' requirements, expressed differently from the code under test. */
static bool is_valid(const json_t *messages)
{
    AUTO_JSON json_t *seen = json_object();
    AUTO_JSON json_t *open = json_array(); /* ids that wait for their results */
    const json_t *m, *block;
    size_t i, k;
    json_array_foreach(messages, i, m)
    {
        enum message_type type = message_type(m);
        const json_t *content = json_object_get(m, "content");
        if ((i == 0 && type != MESSAGE_USER) || json_array_size(content) == 0)
            return false;
        if (type == MESSAGE_TOOL_RESULT) {
            if (!json_equal(json_array_get(open, 0), json_object_get(m, "tool_call_id")))
                return false;
            json_array_remove(open, 0);
            continue;
        }
        if (json_array_size(open))
            return false;
        json_array_foreach(content, k, block)
        {
            if (block_type(block) == BLOCK_TEXT && json_str(json_object_get(block, "text")).n == 0)
                return false;
            const json_t *id = json_object_get(block, "id");
            if (block_type(block) != BLOCK_TOOL_CALL)
                continue;
            if (json_object_get(seen, json_string_value(id)))
                return false;
            json_put(seen, json_string_value(id), json_true());
            json_push(open, json_incref((json_t *)id));
        }
    }
    return json_array_size(open) == 0;
}

TEST(repair_random)
{
    static const char *const words[] = {"u", "a", "a:x", "a:y", "a:x,y", "a:x,x,z", "a:x~2", "r:x",
        "r:y", "r:z", "r:x~2", "R:x", "e", "E", "t"};
    unsigned seed = 7;
    for (size_t round = 0; round < 20 * 1000; round++) {
        AUTO_JSON json_t *list = json_array();
        size_t n = (size_t)rand_r(&seed) % 12;
        for (size_t i = 0; i < n; i++)
            json_push(list, message_of(str_z(words[(size_t)rand_r(&seed) % ARRAY_LEN(words)])));
        AUTO_JSON json_t *once = repair_messages(list, NULL);
        AUTO_JSON json_t *notes = json_array();
        AUTO_JSON json_t *twice = repair_messages(once, notes);
        AUTO_BUF struct buf text = BUF_INIT(10000);
        describe(list, &text);
        test_row(round, buf_z(&text));
        bool ok = CHECK(is_valid(once)) && CHECK(json_equal(once, twice)) &&
                  CHECK(json_array_size(notes) == 0) &&
                  CHECK(repair_is_valid(list) == json_equal(list, once));
        if (!ok)
            return;
    }
}

/* A list that is meant to take long. */
TEST(repair_is_linear)
{
    enum {
        MANY = 100 * 1000,
    };
    AUTO_JSON json_t *list = json_array();
    AUTO_BUF struct buf ids = BUF_INIT(10 << 20);
    json_push(list, message_user(STR("question")));
    for (size_t i = 0; i < MANY; i++)
        buf_printf(&ids, "%sx", i ? "," : "");
    json_push(list, assistant(buf_str(&ids)));
    for (size_t i = 0; i < MANY; i++)
        json_push(list, message_tool_result(STR("x"), STR("read"), STR("content"), false));
    AUTO_JSON json_t *after = repair_messages(list, NULL);
    CHECK_INT(json_array_size(after), 2 + MANY);
    CHECK(repair_is_valid(after));
}

TEST(repair_boundaries)
{
    AUTO_JSON json_t *list = messages_of("u a:x,y r:x r:y a");
    static const size_t want[] = {0, 1, 4, 4, 4, 5, 5};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        test_row(i, "");
        CHECK_INT(repair_boundary(list, i), want[i]);
    }
}
