/* The messages of a resumed conversation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"

enum {
    PAST_SHOWN = 20, /* messages shown of a resumed conversation */
};

/* The typed text is the last text block; context added for the model comes before it. */
void chat_past_add_typed(const json_t *message, struct buf *text)
{
    const json_t *content = json_object_get(message, "content");
    if (message_type(message) != MESSAGE_USER) {
        message_add_text(message, text);
        return;
    }
    for (size_t i = json_array_size(content); i-- > 0 && text->n == 0;)
        buf_add_str(text, json_str(json_object_get(json_array_get(content, i), "text")));
}

/* Shows the end of a resumed conversation; all its prompts are added to the editor's history. */
void chat_past_show(struct chat *chat, const json_t *messages)
{
    size_t i, n = json_array_size(messages);
    const json_t *message, *asked = NULL;
    json_array_foreach((json_t *)messages, i, message)
    {
        AUTO_BUF struct buf text = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
        enum message_type type = message_type(message);
        if (type == MESSAGE_TOOL_RESULT && i + PAST_SHOWN >= n)
            chat_events_add_past(chat, asked, message);
        if (type == MESSAGE_TOOL_RESULT)
            continue;
        asked = message;
        chat_past_add_typed(message, &text);
        mask_add_text(&chat->setup.mask, buf_str(&text), &masked);
        if (type == MESSAGE_USER)
            editor_remember(chat->editor, buf_str(&masked));
        if (i + PAST_SHOWN < n || masked.n == 0)
            continue;
        if (type == MESSAGE_USER)
            chat_rows_user(chat->rows, buf_str(&masked));
        else
            chat_rows_text(chat->rows, buf_str(&masked));
        chat_rows_end(chat->rows);
    }
}
