/* Compaction of long conversations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_compact.h"

enum {
    MESSAGE_TOKENS = 4, /* overhead per message */
};

static const char question[] =
    "The conversation is about to be truncated: only your next answer and the last "
    "messages will be kept. Do not call tools. Write a summary that lets you "
    "continue: what the user asked for, verbatim where it matters; decisions and "
    "their reasons; files that were read or changed, and their relevant contents; "
    "commands and their results; what is done, what is open, and the next steps.";

static const char briefly[] =
    " Use at most 300 words. Long texts above were truncated for this request.";

static const char heading[] =
    "[The earlier part of the conversation was removed. This is its summary.]\n\n";

/* Counting ------------------------------------------------------------------------------------ */

static uint64_t value_tokens(const json_t *value);

static uint64_t object_tokens(const json_t *object)
{
    uint64_t sum = 0;
    const char *key;
    json_t *value;
    if (str_is(json_str(json_object_get(object, "type")), "image"))
        return COMPACT_IMAGE_TOKENS;
    json_object_foreach((json_t *)object, key, value)
    {
        sum += value_tokens(value);
    }
    return sum;
}

/* Only strings count; member names and numbers are small in comparison. */
static uint64_t value_tokens(const json_t *value)
{
    uint64_t sum = 0;
    size_t i;
    json_t *entry;
    if (json_is_object(value))
        return object_tokens(value);
    if (json_is_string(value))
        return json_string_length(value) / COMPACT_TOKEN_BYTES + 1;
    json_array_foreach(value, i, entry)
    {
        sum += value_tokens(entry);
    }
    return sum + 1;
}

static uint64_t message_tokens(const json_t *message)
{
    return value_tokens(json_object_get(message, "content")) + MESSAGE_TOKENS;
}

/* The token counts of messages kept after a summary date from the longer conversation: skip
 * them. */
static size_t first_counted(const json_t *messages)
{
    const json_t *kept = json_object_get(json_array_get(messages, 0), "kept");
    return json_is_integer(kept) ? 1 + (size_t)MAX(json_integer_value(kept), 0) : 0;
}

uint64_t compact_estimate(const json_t *messages)
{
    uint64_t after = 0;
    size_t first = first_counted(messages);
    for (size_t i = json_array_size(messages); i-- > 0;) {
        const json_t *m = json_array_get(messages, i);
        if (i >= first && message_type(m) == MESSAGE_ASSISTANT) {
            struct usage u = message_usage(m);
            if (u.input_tokens || u.cache_read_tokens || u.cache_write_tokens)
                return usage_total(&u) + after;
        }
        after += message_tokens(m);
    }
    return after;
}

bool compact_is_due(uint64_t tokens, uint64_t window)
{
    return window && tokens > window / 100 * COMPACT_DUE_PERCENT;
}

/* Cutting ------------------------------------------------------------------------------------- */

/* The longest tail that fits and does not begin with a tool result. An unanswered prompt is kept
 * whatever its size. */
size_t compact_keep(const json_t *messages, uint64_t window)
{
    size_t n = json_array_size(messages), keep = 0;
    uint64_t most = window / 100 * COMPACT_KEEP_PERCENT, sum = 0;
    for (size_t i = n; i-- > 1;) { /* the first message never stays: something must be dropped */
        const json_t *m = json_array_get(messages, i);
        bool prompt = i == n - 1 && message_type(m) == MESSAGE_USER;
        sum += message_tokens(m);
        if (sum > most && !prompt)
            break;
        if (message_type(m) != MESSAGE_TOOL_RESULT)
            keep = n - i;
    }
    return keep;
}

static void shorten_text(json_t *block)
{
    struct str text = json_str(json_object_get(block, "text"));
    AUTO_BUF struct buf cut = BUF_INIT(2 * COMPACT_BRIEF_BYTES);
    if (text.n <= COMPACT_BRIEF_BYTES)
        return;
    buf_add_str(&cut, str_head(text, COMPACT_BRIEF_BYTES));
    buf_add_z(&cut, "\n[the rest is omitted]");
    json_put(block, "text", json_text(buf_str(&cut)));
}

/* Arguments must stay an object: replace long ones by an empty object. */
static void shorten_call(json_t *block)
{
    json_t *arguments = json_object_get(block, "arguments");
    if (value_tokens(arguments) * COMPACT_TOKEN_BYTES > COMPACT_BRIEF_BYTES)
        json_put(block, "arguments", json_object());
}

static json_t *compact_shorten_message(const json_t *message)
{
    json_t *shorter = json_deep_copy((json_t *)message), *block;
    json_t *content = json_object_get(shorter, "content");
    size_t i;
    json_array_foreach(content, i, block)
    {
        switch (block_type(block)) {
        case BLOCK_TEXT:
            shorten_text(block);
            break;
        case BLOCK_TOOL_CALL:
            shorten_call(block);
            break;
        case BLOCK_IMAGE:
            json_array_set_new(content, i, block_text(STR("[image omitted]")));
            break;
        default:
            break;
        }
    }
    return shorter;
}

json_t *compact_question(const json_t *messages, bool brief)
{
    AUTO_BUF struct buf text = BUF_INIT(sizeof(question) + sizeof(briefly));
    json_t *list = json_array(), *message;
    size_t i;
    json_array_foreach((json_t *)messages, i, message)
    {
        json_push(list, brief ? compact_shorten_message(message) : json_incref(message));
    }
    buf_add_z(&text, question);
    buf_add_z(&text, brief ? briefly : "");
    json_push(list, message_user(buf_str(&text)));
    return list;
}

json_t *compact_summary(struct str text, size_t keep)
{
    AUTO_BUF struct buf all = BUF_INIT(JSON_SIZE_MAX);
    buf_add_z(&all, heading);
    buf_add_str(&all, text);
    json_t *summary = message_user(buf_str(&all));
    json_put(summary, "kept", json_integer((json_int_t)keep));
    return summary;
}

json_t *compact_list(const json_t *messages, json_t *summary, size_t keep)
{
    json_t *list = json_array();
    size_t n = json_array_size(messages);
    json_push(list, json_incref(summary));
    for (size_t i = n - keep; i < n; i++)
        json_push(list, json_incref(json_array_get(messages, i)));
    return list;
}
