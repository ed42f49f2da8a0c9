/* Repair of conversations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/repair.h"

#include "llm/message.h"

/* State of one pass over the messages. */
struct repair {
    const json_t *messages;
    json_t *out;
    json_t *ids;    /* tool-call ids so far, each with the next suffix number */
    bool *used;     /* by index: the result belongs to a call */
    size_t *others; /* by index: the next result with the same id; 0: none */
    size_t missing, orphans, renamed, empty, early, moved, blocks;
};

/* Content ------------------------------------------------------------------------------------- */

static bool is_empty_text(const json_t *block)
{
    return block_type(block) == BLOCK_TEXT && json_str(json_object_get(block, "text")).n == 0;
}

/* Drops blocks of empty text, which services reject. A tool result may be empty. */
static json_t *with_words(struct repair *r, json_t *message)
{
    const json_t *content = json_object_get(message, "content"), *block;
    size_t i, n_empty = 0;
    json_array_foreach(content, i, block) n_empty += is_empty_text(block);
    if (n_empty == 0 || message_type(message) == MESSAGE_TOOL_RESULT)
        return json_incref(message);
    json_t *copy = json_copy(message), *kept = json_array();
    json_array_foreach(content, i, block) if (!is_empty_text(block))
        json_push(kept, json_incref((json_t *)block));
    json_put(copy, "content", kept);
    r->blocks += n_empty;
    return copy;
}

/* A message with only unsigned or empty thinking is effectively empty as well, but thinking is left
 * alone. */
static bool says_nothing(const json_t *message)
{
    return json_array_size(json_object_get(message, "content")) == 0;
}

/* Calls --------------------------------------------------------------------------------------- */

static struct str call_id(const json_t *call)
{
    return json_str(json_object_get(call, "id"));
}

static size_t count_calls(const json_t *message)
{
    const json_t *block;
    size_t i, n = 0;
    json_array_foreach(json_object_get(message, "content"), i, block) n +=
        block_type(block) == BLOCK_TOOL_CALL;
    return n;
}

/* An id that is not used yet; the id itself if it is the first. */
static void unique_id(struct repair *r, struct str id, struct buf *ret_id)
{
    json_int_t n = json_integer_value(json_object_get(r->ids, id.p));
    buf_add_str(ret_id, id);
    while (json_object_get(r->ids, buf_z(ret_id))) {
        buf_reset(ret_id);
        buf_add_str(ret_id, id);
        buf_printf(ret_id, "~%" JSON_INTEGER_FORMAT, n++);
    }
    if (n)
        json_put(r->ids, id.p, json_integer(n));
    json_put(r->ids, buf_z(ret_id), json_integer(2));
}

/* The results that may belong to a message's calls: all before the next message with calls. */
struct answers {
    json_t *first; /* by id: index of the first result not taken yet */
    size_t next_to;
    size_t last; /* index of the result taken last */
};

static bool repair_is_result(const json_t *message)
{
    return message_type(message) == MESSAGE_TOOL_RESULT;
}

static struct answers find_answers(const struct repair *r, size_t at)
{
    struct answers a = {.first = json_object(), .next_to = at + 1};
    size_t n = json_array_size(r->messages), end = at + 1;
    while (a.next_to < n && repair_is_result(json_array_get(r->messages, a.next_to)))
        a.next_to++;
    while (end < n && count_calls(json_array_get(r->messages, end)) == 0)
        end++;
    while (end-- > at + 1) {
        const json_t *result = json_array_get(r->messages, end);
        if (!repair_is_result(result))
            continue;
        const char *id = json_string_value(json_object_get(result, "tool_call_id"));
        const json_t *before = json_object_get(a.first, id);
        r->others[end] = before ? (size_t)json_integer_value(before) : 0;
        json_put(a.first, id, json_integer((json_int_t)end));
    }
    return a;
}

/* Takes the first remaining result for an id; NULL if none. */
static json_t *repair_pop_result(struct repair *r, struct answers *a, const char *id)
{
    const json_t *first = json_object_get(a->first, id);
    size_t at = (size_t)json_integer_value(first);
    if (at == 0)
        return NULL;
    json_put(a->first, id, json_integer((json_int_t)r->others[at]));
    r->used[at] = true;
    r->moved += at < a->last || at >= a->next_to;
    a->last = MAX(a->last, at);
    return json_array_get(r->messages, at);
}

static json_t *with_key(const json_t *object, const char *key, struct str text)
{
    json_t *copy = json_copy((json_t *)object);
    json_put(copy, key, json_text(text));
    return copy;
}

/* The result of one call, under the call's new id. */
static json_t *answer_of(struct repair *r, struct answers *a, const json_t *call, struct str new_id)
{
    json_t *result = repair_pop_result(r, a, call_id(call).p);
    if (!result) {
        r->missing++;
        return message_tool_result(
            new_id, json_str(json_object_get(call, "name")), STR(REPAIR_ABORTED), true);
    }
    return str_eq(new_id, call_id(call)) ? json_incref(result)
                                         : with_key(result, "tool_call_id", new_id);
}

/* Returns the call, renamed if needed, and appends its result. */
static json_t *repair_add_call(
    struct repair *r, struct answers *a, const json_t *call, json_t *results)
{
    struct str id = call_id(call);
    AUTO_BUF struct buf own = BUF_INIT(id.n + 32);
    unique_id(r, id, &own);
    json_push(results, answer_of(r, a, call, buf_str(&own)));
    if (str_eq(buf_str(&own), id))
        return json_incref((json_t *)call);
    r->renamed++;
    return with_key(call, "id", buf_str(&own));
}

/* Appends an assistant message with calls, and their results. If ids are changed, the message is
 * copied. */
static void repair_add_step(struct repair *r, json_t *message, size_t at)
{
    const json_t *block;
    struct answers a = find_answers(r, at);
    AUTO_JSON json_t *results = json_array();
    AUTO_JSON json_t *blocks = json_array();
    size_t i, renamed = r->renamed;
    json_array_foreach(json_object_get(message, "content"), i, block)
    {
        bool call = block_type(block) == BLOCK_TOOL_CALL;
        json_push(
            blocks, call ? repair_add_call(r, &a, block, results) : json_incref((json_t *)block));
    }
    json_decref(a.first);
    json_t *step = r->renamed > renamed ? json_copy(message) : json_incref(message);
    if (r->renamed > renamed)
        json_put(step, "content", json_take(&blocks));
    json_push(r->out, step);
    BUG_ON(json_array_extend(r->out, results) != 0);
}

static void repair_add_message(struct repair *r, size_t at)
{
    json_t *given = json_array_get(r->messages, at);
    if (repair_is_result(given)) {
        r->orphans += !r->used[at];
        return;
    }
    AUTO_JSON json_t *message = with_words(r, given);
    bool assistant = message_type(message) == MESSAGE_ASSISTANT;
    if (says_nothing(message))
        r->empty++;
    else if (assistant && json_array_size(r->out) == 0)
        r->early++;
    else if (assistant && count_calls(message))
        repair_add_step(r, message, at);
    else
        json_push(r->out, json_take(&message));
}

static void repair_add_note(json_t *notes, size_t n, const char *one, const char *many)
{
    if (!notes || n == 0)
        return;
    AUTO_BUF struct buf b = BUF_INIT(512);
    if (n == 1)
        buf_add_z(&b, one);
    else
        buf_printf(&b, "%zu %s", n, many);
    json_push(notes, json_text(buf_str(&b)));
}

static void repair_report(const struct repair *r, json_t *notes)
{
    repair_add_note(notes, r->missing,
        "a tool call without a result was given the result 'aborted'",
        "tool calls without a result were given the result 'aborted'");
    repair_add_note(notes, r->orphans, "a result without a tool call was removed",
        "results without a tool call were removed");
    repair_add_note(notes, r->renamed, "a tool call with a duplicate id was given a new id",
        "tool calls with duplicate ids were given new ids");
    repair_add_note(notes, r->moved, "a result was moved to match the order of the tool calls",
        "results were moved to match the order of the tool calls");
    repair_add_note(notes, r->empty, "a message without content was removed",
        "messages without content were removed");
    repair_add_note(notes, r->early, "an answer before the first prompt was removed",
        "answers before the first prompt were removed");
    repair_add_note(notes, r->blocks, "an empty text was removed", "empty texts were removed");
}

static bool repair_has_changes(const struct repair *r)
{
    return r->missing || r->orphans || r->renamed || r->moved || r->empty || r->early || r->blocks;
}

static struct repair repair_run(const json_t *messages)
{
    size_t n = json_array_size(messages);
    AUTO_FREE bool *used = calloc(n + 1, sizeof(*used));
    AUTO_FREE size_t *others = calloc(n + 1, sizeof(*others));
    BUG_ON(!used || !others);
    struct repair r = {.messages = messages,
        .out = json_array(),
        .ids = json_object(),
        .used = used,
        .others = others};
    for (size_t i = 0; i < n; i++)
        repair_add_message(&r, i);
    json_decref(r.ids);
    return r;
}

json_t *repair_messages(const json_t *messages, json_t *notes)
{
    struct repair r = repair_run(messages);
    repair_report(&r, notes);
    return r.out;
}

bool repair_is_valid(const json_t *messages)
{
    struct repair r = repair_run(messages);
    json_decref(r.out);
    return !repair_has_changes(&r);
}

size_t repair_boundary(const json_t *messages, size_t n)
{
    n = MIN(n, json_array_size(messages));
    while (n > 0 && n < json_array_size(messages) &&
           message_type(json_array_get(messages, n)) == MESSAGE_TOOL_RESULT)
        n++;
    return n;
}
