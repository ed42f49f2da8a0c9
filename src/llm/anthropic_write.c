/* Writing requests to Anthropic's Messages API. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/anthropic.h"
#include "llm/wire.h"

/* The role of the last message, or "". */
static const char *last_role(const json_t *messages)
{
    size_t n = json_array_size(messages);
    const json_t *role = n ? json_object_get(json_array_get(messages, n - 1), "role") : NULL;
    return role ? json_string_value(role) : "";
}

/* The blocks of the last message if it has this role, else of a new one: all results of a turn must
 * be in one message. */
static json_t *blocks_for(json_t *messages, const char *role)
{
    if (strcmp(last_role(messages), role) != 0) {
        json_t *message = json_object();
        json_put(message, "role", json_string(role));
        json_put(message, "content", json_array());
        json_push(messages, message);
    }
    return json_object_get(json_array_get(messages, json_array_size(messages) - 1), "content");
}

static json_t *anthropic_new_block(const char *type)
{
    json_t *block = json_object();
    json_put(block, "type", json_string(type));
    return block;
}

static void anthropic_copy_key(json_t *to, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_put(to, key, json_incref(value));
}

static json_t *anthropic_image(const json_t *block)
{
    json_t *made = anthropic_new_block("image"), *source = anthropic_new_block("base64");
    json_put(source, "media_type", json_incref(json_object_get(block, "mime_type")));
    anthropic_copy_key(source, block, "data");
    json_put(made, "source", source);
    return made;
}

static json_t *tool_use(const json_t *block)
{
    json_t *made = anthropic_new_block("tool_use");
    json_put(made, "id", wire_name(json_str(json_object_get(block, "id")), ANTHROPIC_NAME_MAX));
    json_put(made, "name", wire_name(json_str(json_object_get(block, "name")), ANTHROPIC_NAME_MAX));
    json_put(made, "input", wire_arguments(block));
    return made;
}

/* Converts a block; NULL to leave it out: the service rejects blank texts and thinking that it did
 * not sign. */
static json_t *block_out(const json_t *block)
{
    static const char *const keys[BLOCK_TYPES][2] = {
        [BLOCK_TEXT] = {"text"},
        [BLOCK_THINKING] = {"thinking", "signature"},
        [BLOCK_REDACTED_THINKING] = {"data"},
    };
    enum block_type type = block_type(block);
    if (type == BLOCK_IMAGE)
        return anthropic_image(block);
    if (type == BLOCK_TOOL_CALL)
        return tool_use(block);
    if (type == BLOCK_TEXT && wire_blank(json_str(json_object_get(block, "text"))))
        return NULL;
    if (type == BLOCK_THINKING && json_string_length(json_object_get(block, "signature")) == 0)
        return NULL;
    json_t *made = anthropic_new_block(block_type_names[type]);
    for (size_t i = 0; i < ARRAY_LEN(keys[type]); i++)
        if (keys[type][i])
            anthropic_copy_key(made, block, keys[type][i]);
    return made;
}

static void anthropic_add_blocks(json_t *blocks, const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++) {
        json_t *made = block_out(json_array_get(content, i));
        if (made)
            json_push(blocks, made);
    }
}

static bool anthropic_is_result(const json_t *block)
{
    return str_is(json_str(json_object_get(block, "type")), "tool_result");
}

/* Results must come before all other blocks of their message. */
static void insert_result(json_t *blocks, json_t *result)
{
    size_t at = 0;
    while (at < json_array_size(blocks) && anthropic_is_result(json_array_get(blocks, at)))
        at++;
    BUG_ON(json_array_insert_new(blocks, at, result) != 0);
}

static void anthropic_add_result(json_t *messages, const json_t *message)
{
    json_t *result = anthropic_new_block("tool_result"), *content = json_array();
    bool failed = json_is_true(json_object_get(message, "is_error"));
    json_put(result, "tool_use_id",
        wire_name(json_str(json_object_get(message, "tool_call_id")), ANTHROPIC_NAME_MAX));
    anthropic_add_blocks(content, message);
    if (json_array_size(content) == 0 && failed) /* the service requires a reason */
        json_push(content, block_text(STR("failed without output")));
    if (json_array_size(content))
        json_put(result, "content", json_incref(content));
    if (failed)
        json_put(result, "is_error", json_true());
    json_decref(content);
    insert_result(blocks_for(messages, "user"), result);
}

static void anthropic_add_message(json_t *messages, const json_t *message)
{
    enum message_type type = message_type(message);
    if (type == MESSAGE_TOOL_RESULT) {
        anthropic_add_result(messages, message);
        return;
    }
    AUTO_JSON json_t *blocks = json_array();
    anthropic_add_blocks(blocks, message);
    if (json_array_size(blocks) == 0)
        return;
    json_t *all = blocks_for(messages, type == MESSAGE_USER ? "user" : "assistant");
    BUG_ON(json_array_extend(all, blocks) != 0);
}

static void anthropic_mark_cached(json_t *block)
{
    json_put(block, "cache_control", anthropic_new_block("ephemeral"));
}

/* Sets cache marks on the last two user messages: the last one writes the cache for the next
 * request, the one before it finds the entry that the previous request wrote. */
static void mark_messages(json_t *messages, size_t marks)
{
    for (size_t i = json_array_size(messages); i-- > 0 && marks > 0;) {
        json_t *message = json_array_get(messages, i);
        const json_t *blocks = json_object_get(message, "content");
        if (!str_is(json_str(json_object_get(message, "role")), "user"))
            continue;
        anthropic_mark_cached(json_array_get(blocks, json_array_size(blocks) - 1));
        marks--;
    }
}

static json_t *anthropic_tools(const json_t *tools)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *tool = json_array_get(tools, i);
        json_t *made = json_object();
        anthropic_copy_key(made, tool, "name");
        anthropic_copy_key(made, tool, "description");
        json_put(made, "input_schema", wire_schema(json_object_get(tool, "parameters")));
        if (i + 1 == json_array_size(tools))
            anthropic_mark_cached(made);
        json_push(list, made);
    }
    return list;
}

static json_t *system_out(struct str text)
{
    json_t *list = json_array(), *block = block_text(text);
    anthropic_mark_cached(block);
    json_push(list, block);
    return list;
}

/* Within a turn that began with thinking, the service requires the thinking blocks; a turn that
 * called tools without thinking cannot be continued with it. */
static bool can_think(const json_t *messages)
{
    for (size_t i = json_array_size(messages); i-- > 0;) {
        const json_t *message = json_array_get(messages, i);
        const json_t *blocks = json_object_get(message, "content");
        if (str_is(json_str(json_object_get(message, "role")), "user")) {
            if (!anthropic_is_result(json_array_get(blocks, 0)))
                return true;
            continue;
        }
        struct str first = json_str(json_object_get(json_array_get(blocks, 0), "type"));
        return str_is(first, "thinking") || str_is(first, "redacted_thinking");
    }
    return true;
}

static void put_limits(json_t *body, const struct llm_request *request, const json_t *messages)
{
    uint64_t most = request->max_tokens ? request->max_tokens : ANTHROPIC_MAX_TOKENS;
    uint64_t thinking = request->thinking_tokens;
    if (thinking && !can_think(messages))
        thinking = 0;
    if (thinking) {
        json_t *object = anthropic_new_block("enabled");
        thinking = MAX(thinking, ANTHROPIC_THINKING_MIN);
        most = most > thinking ? most : most + thinking;
        json_put(object, "budget_tokens", json_integer((json_int_t)thinking));
        json_put(body, "thinking", object);
    } else if (request->temperature >= 0) {
        json_put(body, "temperature", json_real(request->temperature));
    }
    json_put(body, "max_tokens", json_integer((json_int_t)most));
}

void anthropic_write(const struct llm_request *request, struct buf *out)
{
    AUTO_JSON json_t *body = json_object();
    json_t *messages = json_array();
    size_t marks = ANTHROPIC_MARKS_MAX;
    struct str model = request->model;
    for (size_t i = 0; i < json_array_size(request->messages); i++)
        anthropic_add_message(messages, json_array_get(request->messages, i));
    json_put(body, "model", json_text(model.n ? model : str_z(dialect_anthropic.default_model)));
    put_limits(body, request, messages);
    json_put(body, "stream", json_true());
    if (json_array_size(request->tools)) {
        json_put(body, "tools", anthropic_tools(request->tools));
        marks--;
    }
    if (!wire_blank(request->system)) {
        json_put(body, "system", system_out(request->system));
        marks--;
    }
    mark_messages(messages, MIN(marks, 2));
    json_put(body, "messages", messages);
    json_add_compact(out, body);
}
