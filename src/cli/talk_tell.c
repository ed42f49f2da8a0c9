/* Showing events of the agent in the conversation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "cli/talk.h"

enum {
    RETRY_WORDS = 1000,
};

/* Masks keys, which the stream may split. */
static void talk_show_text(struct talk *t, struct str delta)
{
    AUTO_BUF struct buf shown = BUF_INIT(64 << 20);
    buf_add_str(&t->held, delta);
    size_t left = mask_add_part(&t->job.mask, buf_str(&t->held), &shown);
    memmove(t->held.p, t->held.p + t->held.n - left, left);
    buf_truncate(&t->held, left);
    if (shown.n)
        chat_rows_text(t->chat, buf_str(&shown));
}

void talk_say_rest(struct talk *t)
{
    if (t->held.n)
        chat_rows_text(t->chat, buf_str(&t->held));
    buf_reset(&t->held);
    chat_rows_end(t->chat);
}

static void talk_show_stream(struct talk *t, const struct llm_event *e)
{
    AUTO_BUF struct buf masked = BUF_INIT(64 << 20);
    if (e->kind == LLM_TEXT_DELTA) {
        talk_show_text(t, e->delta);
    } else if (e->kind == LLM_THINKING_DELTA) {
        mask_add_text(&t->job.mask, e->delta, &masked);
        chat_rows_thinking(t->chat, buf_str(&masked));
    } else if (e->kind == LLM_RESTART) {
        buf_reset(&t->held);
        chat_rows_restart(t->chat);
    }
}

/* Summarizes a patch by the files that it names. */
static void talk_show_add_names(struct str patch, struct buf *words)
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
static void talk_show_call(struct talk *t, const json_t *call)
{
    AUTO_BUF struct buf words = BUF_INIT(64 << 20), shown = BUF_INIT(64 << 20);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(call, "arguments"), key, value)
    {
        if (strcmp(key, "patch") == 0 && words.n == 0)
            talk_show_add_names(json_str(value), &words);
        if (json_is_string(value) && words.n == 0)
            buf_add_str(&words, json_str(value));
    }
    mask_add_text(&t->job.mask, buf_str(&words), &shown);
    chat_rows_call(t->chat, json_member(call, "id"), json_member(call, "name"), buf_str(&shown));
}

static void talk_show_result(struct talk *t, const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
    message_add_text(message, &text);
    mask_add_text(&t->job.mask, buf_str(&text), &masked);
    chat_rows_result(t->chat, json_member(message, "tool_call_id"),
        json_is_true(json_object_get(message, "is_error")), buf_str(&masked));
}

void talk_tell_past(struct talk *t, const json_t *message, const json_t *result)
{
    struct str id = json_member(result, "tool_call_id");
    size_t i;
    const json_t *block;
    json_array_foreach(json_object_get(message, "content"), i, block)
    {
        if (block_type(block) == BLOCK_TOOL_CALL && str_eq(json_member(block, "id"), id))
            talk_show_call(t, block);
    }
    talk_show_result(t, result);
}

static void talk_show_message(struct talk *t, const json_t *message)
{
    struct usage u = message_usage(message);
    talk_say_rest(t);
    usage_add(&t->used, &u);
    uint64_t all = u.input_tokens + u.cache_read_tokens + u.cache_write_tokens + u.output_tokens;
    if (all) /* an interrupted answer has no usage */
        t->context = all;
}

/* Wakes the main thread only once per frame: a stream has many small events. */
void talk_changed(struct talk *t)
{
    if (!t->told)
        talk_signal(t->wake);
    t->told = true;
}

static void talk_show_compacted(struct talk *t, const struct agent_event *event)
{
    AUTO_BUF struct buf words = BUF_INIT(200);
    buf_printf(&words, "the conversation goes on with a summary and its last %zu message%s",
        event->kept, event->kept == 1 ? "" : "s");
    t->context = 0; /* unknown until the next answer */
    chat_rows_note(t->chat, buf_str(&words));
}

bool talk_tell(void *context, const struct agent_event *event)
{
    struct talk *t = context;
    pthread_mutex_lock(&t->lock);
    switch (event->kind) {
    case AGENT_STREAM:
        talk_show_stream(t, event->llm);
        break;
    case AGENT_MESSAGE:
        talk_show_message(t, event->message);
        break;
    case AGENT_CALLING:
        talk_apply_consent(t);
        talk_show_call(t, event->message);
        break;
    case AGENT_RESULT:
        talk_show_result(t, event->message);
        break;
    case AGENT_COMPACTING:
        chat_rows_note(t->chat, t->prompt ? STR("the conversation gets long: a summary is made")
                                          : STR("a summary is made"));
        break;
    case AGENT_COMPACTED:
        talk_show_compacted(t, event);
        break;
    case AGENT_ASKING:
        break;
    }
    talk_changed(t);
    pthread_mutex_unlock(&t->lock);
    return true;
}

void talk_tell_retry(void *context, const struct retry_notice *notice)
{
    struct talk *t = context;
    AUTO_BUF struct buf words = BUF_INIT(4 * RETRY_WORDS);
    const char *why = notice->reason->message ? notice->reason->message : "the service failed";
    mask_add_text(&t->job.mask, str_head(str_z(why), utf8_cut(str_z(why), RETRY_WORDS)), &words);
    buf_add_z(&words, ": asked again");
    if (notice->delay_ms)
        buf_printf(&words, " in %llu s", (unsigned long long)(notice->delay_ms + 999) / 1000);
    pthread_mutex_lock(&t->lock);
    chat_rows_note(t->chat, buf_str(&words));
    talk_changed(t);
    pthread_mutex_unlock(&t->lock);
}
