/* Writing requests to Chat Completions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/openai.h"
#include "llm/wire.h"

static json_t *openai_new_message(const char *name)
{
    json_t *message = json_object();
    json_put(message, "role", json_string(name));
    return message;
}

static json_t *text_of_all(const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(DIALECT_BODY_MAX);
    message_add_text(message, &text);
    return json_text(buf_str(&text));
}

static json_t *text_part(struct str text)
{
    json_t *part = json_object();
    json_put(part, "type", json_string("text"));
    json_put(part, "text", json_text(text));
    return part;
}

static json_t *image_part(const json_t *block)
{
    json_t *part = json_object(), *image = json_object();
    AUTO_BUF struct buf url = BUF_INIT(DIALECT_BODY_MAX);
    buf_printf(&url, "data:%s;base64,", json_string_value(json_object_get(block, "mime_type")));
    buf_add_str(&url, json_str(json_object_get(block, "data")));
    json_put(image, "url", json_text(buf_str(&url)));
    json_put(part, "type", json_string("image_url"));
    json_put(part, "image_url", image);
    return part;
}

static void add_images(json_t *parts, const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++)
        if (block_type(json_array_get(content, i)) == BLOCK_IMAGE)
            json_push(parts, image_part(json_array_get(content, i)));
}

static bool has_image(const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++)
        if (block_type(json_array_get(content, i)) == BLOCK_IMAGE)
            return true;
    return false;
}

static json_t *parts_of(const json_t *message)
{
    json_t *parts = json_array();
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *block = json_array_get(content, i);
        struct str text = json_str(json_object_get(block, "text"));
        if (block_type(block) == BLOCK_IMAGE)
            json_push(parts, image_part(block));
        else if (text.n)
            json_push(parts, text_part(text));
    }
    return parts;
}

/* A plain string if possible: some servers do not accept lists. */
static void add_user(json_t *messages, const json_t *message)
{
    bool one = json_array_size(json_object_get(message, "content")) == 1;
    json_t *content = one && !has_image(message) ? text_of_all(message) : parts_of(message);
    bool empty =
        json_is_string(content) ? json_string_length(content) == 0 : json_array_size(content) == 0;
    if (empty) {
        json_decref(content);
        return;
    }
    json_t *made = openai_new_message("user");
    json_put(made, "content", content);
    json_push(messages, made);
}

static json_t *call_out(const json_t *block)
{
    json_t *call = json_object(), *function = json_object();
    AUTO_BUF struct buf text = BUF_INIT(DIALECT_BODY_MAX);
    AUTO_JSON json_t *arguments = wire_arguments(block);
    json_add_compact(&text, arguments);
    json_put(
        function, "name", wire_name(json_str(json_object_get(block, "name")), OPENAI_NAME_MAX));
    json_put(function, "arguments", json_text(buf_str(&text)));
    json_put(call, "id", wire_name(json_str(json_object_get(block, "id")), OPENAI_ID_MAX));
    json_put(call, "type", json_string("function"));
    json_put(call, "function", function);
    return call;
}

/* Leaves out thinking: no server of this kind accepts it. */
static void add_assistant(json_t *messages, const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    json_t *made = openai_new_message("assistant"), *text = text_of_all(message),
           *calls = json_array();
    for (size_t i = 0; i < json_array_size(content); i++)
        if (block_type(json_array_get(content, i)) == BLOCK_TOOL_CALL)
            json_push(calls, call_out(json_array_get(content, i)));
    bool said = json_string_length(text) > 0, called = json_array_size(calls) > 0;
    json_put(made, "content", said ? json_incref(text) : json_null());
    if (called)
        json_put(made, "tool_calls", json_incref(calls));
    if (said || called)
        json_push(messages, json_incref(made));
    json_decref(made);
    json_decref(text);
    json_decref(calls);
}

static void openai_add_result(json_t *messages, const json_t *message)
{
    json_t *made = openai_new_message("tool");
    json_put(made, "tool_call_id",
        wire_name(json_str(json_object_get(message, "tool_call_id")), OPENAI_ID_MAX));
    json_put(made, "content", text_of_all(message));
    json_push(messages, made);
}

/* Sends images of results as a user message after the last result: a result can only hold text, and
 * results of one turn must be adjacent. */
static void flush_images(json_t *messages, json_t *images)
{
    if (json_array_size(images) == 0)
        return;
    json_t *made = openai_new_message("user"), *parts = json_array();
    json_push(parts, text_part(STR("Images of the tool results above:")));
    BUG_ON(json_array_extend(parts, images) != 0);
    json_put(made, "content", parts);
    json_push(messages, made);
    json_array_clear(images);
}

static json_t *messages_out(const struct llm_request *request)
{
    AUTO_JSON json_t *images = json_array();
    json_t *messages = json_array();
    if (!wire_blank(request->system)) {
        json_t *made = openai_new_message("system");
        json_put(made, "content", json_text(request->system));
        json_push(messages, made);
    }
    for (size_t i = 0; i < json_array_size(request->messages); i++) {
        const json_t *message = json_array_get(request->messages, i);
        enum message_type type = message_type(message);
        if (type == MESSAGE_TOOL_RESULT) {
            openai_add_result(messages, message);
            add_images(images, message);
            continue;
        }
        flush_images(messages, images);
        if (type == MESSAGE_USER)
            add_user(messages, message);
        else
            add_assistant(messages, message);
    }
    flush_images(messages, images);
    return messages;
}

static json_t *openai_tools(const json_t *tools)
{
    static const char *const keys[] = {"name", "description"};
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(tools); i++) {
        json_t *made = json_object(), *function = json_object();
        const json_t *parameters = json_object_get(json_array_get(tools, i), "parameters");
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            json_t *value = json_object_get(json_array_get(tools, i), keys[k]);
            if (value)
                json_put(function, keys[k], json_incref(value));
        }
        if (parameters)
            json_put(function, "parameters", wire_schema(parameters));
        json_put(made, "type", json_string("function"));
        json_put(made, "function", function);
        json_push(list, made);
    }
    return list;
}

/* OpenAI's reasoning models reject the old name; other servers know no other. */
static const char *limit_key(struct str model)
{
    static const char *const newer[] = {"gpt-5", "gpt-6", "o1", "o3", "o4"};
    for (size_t i = 0; i < ARRAY_LEN(newer); i++)
        if (str_starts_with(model, str_z(newer[i])))
            return "max_completion_tokens";
    return "max_tokens";
}

static const char *effort(uint64_t tokens)
{
    return tokens <= 2048 ? "low" : tokens <= 8192 ? "medium" : "high";
}

void openai_write(const struct llm_request *request, struct buf *out)
{
    struct str model = request->model.n ? request->model : str_z(dialect_openai.default_model);
    AUTO_JSON json_t *body = json_object();
    json_t *options = json_object();
    json_put(options, "include_usage", json_true());
    json_put(body, "model", json_text(model));
    if (request->max_tokens)
        json_put(body, limit_key(model), json_integer((json_int_t)request->max_tokens));
    if (request->temperature >= 0)
        json_put(body, "temperature", json_real(request->temperature));
    if (request->thinking_tokens)
        json_put(body, "reasoning_effort", json_string(effort(request->thinking_tokens)));
    json_put(body, "stream", json_true());
    json_put(body, "stream_options", options);
    if (json_array_size(request->tools))
        json_put(body, "tools", openai_tools(request->tools));
    json_put(body, "messages", messages_out(request));
    json_add_compact(out, body);
}
