/* A session as Markdown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prose.h"

#include "llm/message.h"

/* The fence is longer than any run of backquotes in the text, which therefore cannot close it. */
static void add_fence(struct buf *out, struct str text)
{
    size_t run = 0, most = 2;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        most = MAX(most, run);
    }
    for (size_t i = 0; i <= most; i++)
        buf_add_byte(out, '`');
}

void prose_add_block(struct buf *out, const char *language, struct str text)
{
    add_fence(out, text);
    buf_printf(out, "%s\n", language);
    buf_add_str(out, text);
    if (text.n && text.p[text.n - 1] != '\n')
        buf_add_byte(out, '\n');
    add_fence(out, text);
    buf_add_z(out, "\n\n");
}

static void prose_add_call(struct buf *out, const json_t *block)
{
    AUTO_BUF struct buf arguments = BUF_INIT(JSON_SIZE_MAX);
    json_add_pretty(&arguments, json_object_get(block, "arguments"));
    buf_printf(out, "**%.*s**\n\n", STR_ARG(json_member(block, "name")));
    prose_add_block(out, "json", buf_str(&arguments));
}

static void add_content(struct buf *out, const json_t *message)
{
    size_t i;
    const json_t *block;
    json_array_foreach(json_object_get(message, "content"), i, block)
    {
        switch (block_type(block)) {
        case BLOCK_TEXT:
            buf_add_str(out, json_member(block, "text"));
            buf_add_z(out, "\n\n");
            break;
        case BLOCK_TOOL_CALL:
            prose_add_call(out, block);
            break;
        case BLOCK_IMAGE:
            buf_printf(
                out, "*(an image, " STR_FMT ")*\n\n", STR_ARG(json_member(block, "mime_type")));
            break;
        default: /* thinking is not exported */
            break;
        }
    }
}

static void prose_add_result(struct buf *out, const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
    bool failed = json_is_true(json_object_get(message, "is_error"));
    message_add_text(message, &text);
    buf_printf(out, "%s of " STR_FMT ":\n\n", failed ? "Error" : "Result",
        STR_ARG(json_member(message, "tool_name")));
    prose_add_block(out, "", buf_str(&text));
}

static void prose_add_head(const struct store *s, struct buf *out)
{
    static const char *const keys[] = {"id", "created_at", "cwd", "provider", "model"};
    struct str title = store_text(s, "title");
    buf_printf(out, "# " STR_FMT "\n\n", STR_ARG(title.n ? title : STR("A conversation")));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (store_text(s, keys[i]).n)
            buf_printf(out, "- %s: `" STR_FMT "`\n", keys[i], STR_ARG(store_text(s, keys[i])));
    buf_add_byte(out, '\n');
}

void prose_add(const struct store *s, struct buf *out)
{
    const json_t *message;
    enum message_type before = MESSAGE_TOOL_RESULT;
    size_t i;
    prose_add_head(s, out);
    json_array_foreach(store_all(s), i, message)
    {
        enum message_type type = message_type(message);
        if (type == MESSAGE_USER)
            buf_add_z(out, "## You\n\n");
        else if (type == MESSAGE_ASSISTANT && (i == 0 || before == MESSAGE_USER))
            buf_add_z(out, "## Answer\n\n");
        if (type == MESSAGE_TOOL_RESULT)
            prose_add_result(out, message);
        else
            add_content(out, message);
        before = type;
    }
}
