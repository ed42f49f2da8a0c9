/* Output of a headless agent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/agent_view.h"

#include "agent/event_json.h"
#include "agent/event_stream.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "tool/tool.h"

#include <signal.h>

enum {
    LINE_MAX_BYTES = 1 << 30,
    SUBJECT_SHOWN = 200,
};

/* Output -------------------------------------------------------------------------------------- */

/* Usually there is room, and one non-blocking write is enough. */
static bool agent_view_write_line(struct agent_view *v)
{
    struct str rest = buf_str(&v->line);
    ssize_t n = v->quick >= 0 && !v->broken ? write(v->quick, rest.p, rest.n) : 0;
    rest = str_skip(rest, n > 0 ? (size_t)n : 0);
    v->broken = v->broken || !buf_ok(&v->line) ||
                (rest.n && !timed_write(STDOUT_FILENO, rest, &v->deadline));
    buf_reset(&v->line);
    return !v->broken;
}

/* Writes an event as a line. Takes ownership of it. */
static bool agent_view_put(struct agent_view *v, json_t *object)
{
    AUTO_JSON json_t *event = event_stream_object(v->options.mask, object);
    json_add_compact(&v->line, event);
    buf_add_byte(&v->line, '\n');
    return agent_view_write_line(v);
}

/* Makes text safe for a terminal; line breaks and tabs are kept. */
static void agent_view_add_shown(struct buf *b, struct str text)
{
    while (text.n) {
        size_t n = 0;
        while (n < text.n && text.p[n] != '\n' && text.p[n] != '\t')
            n++;
        utf8_add_printable(b, str_head(text, n));
        if (n < text.n)
            buf_add_byte(b, text.p[n++]);
        text = str_skip(text, n);
    }
}

static bool agent_view_end_line(struct agent_view *v)
{
    if (!v->in_line)
        return true;
    v->in_line = false;
    buf_add_byte(&v->line, '\n');
    return agent_view_write_line(v);
}

static bool agent_view_print_text(struct agent_view *v, const struct llm_event *e)
{
    progress_hide(&v->progress);
    /* Another block came in between: start a new line. */
    if (v->text_since && e->index > v->block + 1 && !agent_view_end_line(v))
        return false;
    v->block = e->index;
    v->text_since = true;
    AUTO_BUF struct buf clean = BUF_INIT(LINE_MAX_BYTES);
    mask_add_text(v->options.mask, e->delta, &clean);
    if (v->options.to_terminal)
        agent_view_add_shown(&v->line, buf_str(&clean));
    else
        buf_add_str(&v->line, buf_str(&clean));
    v->in_line = e->delta.p[e->delta.n - 1] != '\n';
    return agent_view_write_line(v);
}

/* Progress ------------------------------------------------------------------------------------ */

static double agent_view_cost_of(const struct usage *u, const struct config_model *m)
{
    return ((double)u->input_tokens * m->input_price + (double)u->output_tokens * m->output_price +
               (double)u->cache_read_tokens * m->cache_read_price +
               (double)u->cache_write_tokens * m->cache_write_price) /
           1e6;
}

static void agent_view_add_count(struct buf *b, uint64_t n)
{
    if (n < 10000)
        buf_printf(b, "%llu", (unsigned long long)n);
    else
        buf_printf(b, "%.1fk", (double)n / 1000);
}

void agent_view_used(const struct usage *u, const struct config_model *model, struct buf *b)
{
    uint64_t input = u->input_tokens + u->cache_read_tokens + u->cache_write_tokens;
    if (input + u->output_tokens == 0)
        return;
    agent_view_add_count(b, input);
    buf_add_z(b, " in, ");
    agent_view_add_count(b, u->output_tokens);
    buf_add_z(b, " out");
    if (model && model->has_price)
        buf_printf(b, "  $%.4f", agent_view_cost_of(u, model));
}

static void agent_view_show_progress(struct agent_view *v, struct str what)
{
    AUTO_BUF struct buf used = BUF_INIT(256);
    agent_view_used(&v->done, v->options.model, &used);
    progress_show(&v->progress, what, buf_str(&used));
}

/* Adds the start of a text, with keys masked before it is truncated, so that none is cut in two. */
static void add_start(const struct agent_view *v, struct buf *b, struct str text)
{
    AUTO_BUF struct buf clean = BUF_INIT(4 * (SUBJECT_SHOWN + MASK_KEY_MAX));
    mask_add_text(v->options.mask, str_head(text, SUBJECT_SHOWN + MASK_KEY_MAX), &clean);
    buf_add_str(b, str_head(buf_str(&clean), SUBJECT_SHOWN));
}

/* Summarizes a call: its name and its first string argument. */
static void agent_view_add_call(const struct agent_view *v, struct buf *b, const json_t *call)
{
    const char *key;
    json_t *value, *arguments = json_object_get(call, "arguments");
    buf_add_str(b, json_str(json_object_get(call, "name")));
    json_object_foreach(arguments, key, value)
    {
        if (!json_is_string(value))
            continue;
        buf_add_byte(b, ' ');
        add_start(v, b, json_str(value));
        return;
    }
}

static void agent_view_show_call(struct agent_view *v, const json_t *call)
{
    if (!v->progress.on)
        return;
    AUTO_BUF struct buf what = BUF_INIT(4096);
    agent_view_add_call(v, &what, call);
    const char *id = json_string_value(json_object_get(call, "id"));
    json_put(v->calls, id ? id : "", json_text(buf_str(&what)));
    if (v->options.asks) /* the question replaces the progress line */
        progress_hide(&v->progress);
    else
        agent_view_show_progress(v, buf_str(&what));
}

static struct str agent_view_last_line(struct str text)
{
    text = str_trim_end(text, '\n');
    return str_skip(text, (size_t)(str_find_last(text, '\n') + 1));
}

/* On a terminal, prints a line for each result: the call, and the error if it failed. */
static void note_result(struct agent_view *v, const json_t *message)
{
    if (!v->progress.on)
        return;
    AUTO_BUF struct buf text = BUF_INIT(2 * TOOL_CONTENT_MAX), why = BUF_INIT(SUBJECT_SHOWN);
    const char *id = json_string_value(json_object_get(message, "tool_call_id"));
    struct str words = json_str(json_object_get(v->calls, id ? id : ""));
    if (!words.p)
        words = json_str(json_object_get(message, "tool_name"));
    bool failed = json_is_true(json_object_get(message, "is_error"));
    if (failed)
        message_add_text(message, &text);
    add_start(v, &why, agent_view_last_line(buf_str(&text)));
    progress_hide(&v->progress);
    notice_send(v->options.notes, "%s " STR_FMT "%s" STR_FMT, failed ? "✗" : "✓",
        STR_ARG(words.p ? words : STR("")), why.n ? ": " : "", STR_ARG(buf_str(&why)));
    json_object_del(v->calls, id ? id : "");
}

/* Events -------------------------------------------------------------------------------------- */

static bool begins_anew(struct agent_view *v)
{
    bool ok = agent_view_end_line(v);
    if (v->text_since)
        notice_send(v->options.notes, "cordon: the answer was interrupted and starts again");
    v->text_since = false;
    return ok;
}

static bool put_stream(void *view, const struct llm_event *e)
{
    struct agent_view *v = view;
    if (v->options.json)
        return agent_view_put(v, event_json_stream(e));
    if (e->kind == LLM_TEXT_DELTA)
        return agent_view_print_text(v, e);
    if (e->kind == LLM_THINKING_DELTA && !v->in_line)
        agent_view_show_progress(v, STR("thinking"));
    return e->kind != LLM_RESTART || begins_anew(v);
}

static bool agent_view_release_held(struct agent_view *v)
{
    return mask_stream_release(&v->held, put_stream, v);
}

static bool agent_view_report_message(struct agent_view *v, const struct agent_event *e)
{
    struct usage u = message_usage(e->message);
    usage_add(&v->done, &u);
    if (v->transcript)
        transcript_add(v->transcript, e->message);
    bool ok = agent_view_end_line(v);
    v->text_since = false;
    return v->options.json ? agent_view_put(v, event_json(e)) : ok;
}

static bool agent_view_report_result(struct agent_view *v, const struct agent_event *e)
{
    note_result(v, e->message);
    return !v->options.json || agent_view_put(v, event_json(e));
}

bool agent_view_tell(void *view, const struct agent_event *e)
{
    struct agent_view *v = view;
    if (e->kind != AGENT_STREAM && !agent_view_release_held(v))
        return false;
    switch (e->kind) {
    case AGENT_ASKING:
        agent_view_show_progress(v, STR("waiting for the model"));
        return true;
    case AGENT_STREAM:
        return mask_stream_push(&v->held, e->llm, put_stream, v);
    case AGENT_MESSAGE:
        return agent_view_report_message(v, e);
    case AGENT_CALLING:
        agent_view_show_call(v, e->message);
        return true;
    case AGENT_RESULT:
        return agent_view_report_result(v, e);
    case AGENT_COMPACTING:
        agent_view_show_progress(v, STR("the context window is nearly full: requesting a summary"));
        return true;
    case AGENT_COMPACTED:
        return !v->options.json || agent_view_put(v, event_json(e));
    }
    return true;
}

void agent_view_retry(void *view, const struct retry_notice *n)
{
    struct agent_view *v = view;
    bool sent UNUSED = agent_view_release_held(v) && begins_anew(v);
    AUTO_BUF struct buf what = BUF_INIT(4096);
    const char *why = n->reason && n->reason->message ? n->reason->message : "the service failed";
    if (v->options.json)
        sent = agent_view_put(v, event_json_retry(n));
    buf_printf(&what, "attempt %u in %.1f s: ", n->attempt + 1, (double)n->delay_ms / 1000);
    mask_add_text(v->options.mask, str_head(str_z(why), 1000), &what);
    if (v->progress.on)
        agent_view_show_progress(v, buf_str(&what));
    else
        notice_send(v->options.notes, "cordon: %s", buf_z(&what));
}

void agent_view_start(struct agent_view *v, const struct agent_view_options *options)
{
    *v = (struct agent_view){
        .options = *options,
        .deadline = {TIMED_WRITE_ENDLESS, options->cancel_fd},
        .quick = timed_write_open(STDOUT_FILENO),
        .line = BUF_INIT(LINE_MAX_BYTES),
        .calls = json_object(),
    };
    mask_stream_init(&v->held, options->mask);
    signal(SIGPIPE, SIG_IGN); /* a reader that closes the pipe ends the run normally */
    progress_start(&v->progress, STDERR_FILENO);
}

/* On a terminal, prints elapsed time and usage. */
static void agent_view_print_end(struct agent_view *v)
{
    AUTO_BUF struct buf used = BUF_INIT(256);
    agent_view_used(&v->done, v->options.model, &used);
    uint64_t ms = clock_mono_ms() - v->progress.begun_ms;
    if (v->progress.on)
        notice_send(
            v->options.notes, "%.1f s%s%s", (double)ms / 1000, used.n ? "  " : "", buf_z(&used));
}

void agent_view_stop(struct agent_view *v)
{
    progress_hide(&v->progress);
    bool ended UNUSED = agent_view_release_held(v) && agent_view_end_line(v);
    agent_view_print_end(v);
    progress_stop(&v->progress);
    if (v->quick >= 0)
        close(v->quick);
    json_decref(v->calls);
    buf_done(&v->line);
    mask_stream_done(&v->held);
}
