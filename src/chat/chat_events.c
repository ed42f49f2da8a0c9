/* Showing events of the agent in the conversation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "chat/chat.h"

enum {
    RETRY_WORDS = 1000,
};

/* Masks keys, which the stream may split. */
static void chat_events_show_text(struct chat *chat, struct str delta)
{
    AUTO_BUF struct buf shown = BUF_INIT(64 << 20);
    buf_add_str(&chat->held, delta);
    size_t left = mask_add_part(&chat->setup.mask, buf_str(&chat->held), &shown);
    memmove(chat->held.p, chat->held.p + chat->held.n - left, left);
    buf_truncate(&chat->held, left);
    if (shown.n)
        chat_rows_text(chat->rows, buf_str(&shown));
}

void chat_events_flush(struct chat *chat)
{
    if (chat->held.n)
        chat_rows_text(chat->rows, buf_str(&chat->held));
    buf_reset(&chat->held);
    chat_rows_end(chat->rows);
}

static void chat_events_show_stream(struct chat *chat, const struct llm_event *e)
{
    AUTO_BUF struct buf masked = BUF_INIT(64 << 20);
    if (e->kind == LLM_TEXT_DELTA) {
        chat_events_show_text(chat, e->delta);
    } else if (e->kind == LLM_THINKING_DELTA) {
        mask_add_text(&chat->setup.mask, e->delta, &masked);
        chat_rows_thinking(chat->rows, buf_str(&masked));
    } else if (e->kind == LLM_RESTART) {
        buf_reset(&chat->held);
        chat_rows_restart(chat->rows);
    }
}

/* Summarizes a patch by the files that it names. */
static void chat_events_add_names(struct str patch, struct buf *words)
{
    static const char *const marks[] = {
        "*** Add File: ", "*** Update File: ", "*** Delete File: ", "+++ b/", "+++ "};
    for (struct str line; str_cut(patch, '\n', &line, &patch);)
        for (size_t i = 0; i < ARRAY_LEN(marks); i++)
            if (str_starts_with(line, str_z(marks[i])) && words->n < CHAT_ROWS_SUMMARY_BYTES) {
                buf_add_z(words, words->n ? ", " : "");
                buf_add_str(words, str_skip(line, strlen(marks[i])));
                break;
            }
}

/* Shows a call with its first string argument. */
static void chat_events_show_call(struct chat *chat, const json_t *call)
{
    AUTO_BUF struct buf words = BUF_INIT(64 << 20), shown = BUF_INIT(64 << 20);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(call, "arguments"), key, value)
    {
        if (strcmp(key, "patch") == 0 && words.n == 0)
            chat_events_add_names(json_str(value), &words);
        if (json_is_string(value) && words.n == 0)
            buf_add_str(&words, json_str(value));
    }
    mask_add_text(&chat->setup.mask, buf_str(&words), &shown);
    chat_rows_call(chat->rows, json_member(call, "id"), json_member(call, "name"), buf_str(&shown));
}

static void chat_events_show_result(struct chat *chat, const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
    message_add_text(message, &text);
    mask_add_text(&chat->setup.mask, buf_str(&text), &masked);
    chat_rows_result(chat->rows, json_member(message, "tool_call_id"),
        json_is_true(json_object_get(message, "is_error")), buf_str(&masked));
}

void chat_events_add_past(struct chat *chat, const json_t *message, const json_t *result)
{
    struct str id = json_member(result, "tool_call_id");
    size_t i;
    const json_t *block;
    json_array_foreach(json_object_get(message, "content"), i, block)
    {
        if (block_type(block) == BLOCK_TOOL_CALL && str_eq(json_member(block, "id"), id))
            chat_events_show_call(chat, block);
    }
    chat_events_show_result(chat, result);
}

static void chat_events_show_message(struct chat *chat, const json_t *message)
{
    struct usage u = message_usage(message);
    chat_events_flush(chat);
    usage_add(&chat->used, &u);
    uint64_t all = u.input_tokens + u.cache_read_tokens + u.cache_write_tokens + u.output_tokens;
    if (all) /* an interrupted answer has no usage */
        chat->context = all;
}

/* Wakes the main thread only once per frame: a stream has many small events. */
void chat_events_redraw(struct chat *chat)
{
    if (!chat->woken)
        chat_signal(chat->wake);
    chat->woken = true;
}

static void chat_events_show_compacted(struct chat *chat, const struct agent_event *event)
{
    AUTO_BUF struct buf words = BUF_INIT(200);
    buf_printf(&words, "continuing with a summary and the last %zu message%s", event->kept,
        event->kept == 1 ? "" : "s");
    chat->context = 0; /* unknown until the next answer */
    chat_rows_note(chat->rows, buf_str(&words));
}

bool chat_events_add(void *context, const struct agent_event *event)
{
    struct chat *chat = context;
    pthread_mutex_lock(&chat->lock);
    switch (event->kind) {
    case AGENT_STREAM:
        chat_events_show_stream(chat, event->llm);
        break;
    case AGENT_MESSAGE:
        chat_events_show_message(chat, event->message);
        break;
    case AGENT_CALLING:
        chat_consent_apply(chat);
        chat_events_show_call(chat, event->message);
        break;
    case AGENT_RESULT:
        chat_events_show_result(chat, event->message);
        break;
    case AGENT_COMPACTING:
        chat_rows_note(chat->rows, chat->prompt
                                       ? STR("the conversation is getting long: summarizing it")
                                       : STR("summarizing the conversation"));
        break;
    case AGENT_COMPACTED:
        chat_events_show_compacted(chat, event);
        break;
    case AGENT_ASKING:
        break;
    }
    chat_events_redraw(chat);
    pthread_mutex_unlock(&chat->lock);
    return true;
}

void chat_events_add_retry(void *context, const struct retry_notice *notice)
{
    struct chat *chat = context;
    AUTO_BUF struct buf words = BUF_INIT(4 * RETRY_WORDS);
    const char *why = notice->reason->message ? notice->reason->message : "the service failed";
    mask_add_text(
        &chat->setup.mask, str_head(str_z(why), utf8_cut(str_z(why), RETRY_WORDS)), &words);
    buf_add_z(&words, "; retrying");
    if (notice->delay_ms)
        buf_printf(&words, " in %llu s", (unsigned long long)(notice->delay_ms + 999) / 1000);
    if (notice->attempt > 1)
        buf_printf(&words, " (attempt %u)", notice->attempt + 1);
    pthread_mutex_lock(&chat->lock);
    if (chat->console.plain) /* nothing is redrawn */
        chat_rows_note(chat->rows, buf_str(&words));
    else
        chat_rows_retry(chat->rows, buf_str(&words));
    chat_events_redraw(chat);
    pthread_mutex_unlock(&chat->lock);
}
