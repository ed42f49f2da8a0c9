/* Shared by the fuzz targets of the dialects. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_FUZZ_DIALECT_H
#define FUZZ_FUZZ_DIALECT_H

#include "base/utf8.h"
#include "llm/dialect.h"

enum {
    FUZZ_MAX = 1 << 16,
};

struct fuzz_reader {
    const struct dialect *dialect;
    struct answer *answer;
    struct dialect_state state;
};

static void fuzz_drain(struct answer *answer)
{
    struct llm_event event;
    while (answer_take_event(answer, &event)) {
        BUG_ON(!utf8_valid(event.delta));
        BUG_ON(event.kind == LLM_TEXT_DELTA && event.delta.n == 0);
        BUG_ON(event.kind == LLM_TOOL_CALL_END && !event.arguments);
    }
}

static bool fuzz_event(void *context, const struct sse_event *event, struct err *err)
{
    struct fuzz_reader *r = context;
    bool ok = r->dialect->read(r->answer, &r->state, event, err);
    BUG_ON(!ok && err->code != E_PROVIDER);
    fuzz_drain(r->answer);
    return ok;
}

/* Generated ids differ from one reading to the next. */
static void fuzz_plain_ids(json_t *message)
{
    json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++)
        if (json_object_get(json_array_get(content, i), "id"))
            json_put(json_array_get(content, i), "id", json_string("id"));
    json_object_del(message, "timestamp");
}

static json_t *fuzz_read(const struct dialect *dialect, struct str bytes, size_t part)
{
    AUTO_ERR struct err err = {0}, wrong = {0};
    struct fuzz_reader r = {.dialect = dialect, .answer = answer_new()};
    struct sse sse;
    bool ok = true;
    sse_init(&sse, fuzz_event, &r);
    for (size_t at = 0; ok && at < bytes.n; at += part)
        ok = sse_push(&sse, str_head(str_skip(bytes, at), part), &err);
    ok = ok && dialect->finish(r.answer, &r.state, &err);
    BUG_ON(ok != (err.code == ERR_NONE));
    fuzz_drain(r.answer);
    json_t *message = answer_message(r.answer);
    BUG_ON(!message_check(message, E_INTERNAL, &wrong));
    BUG_ON(ok && message_stop(message) == STOP_ERROR);
    fuzz_plain_ids(message);
    sse_done(&sse);
    answer_free(r.answer);
    return message;
}

static void fuzz_dialect(const struct dialect *dialect, struct str bytes)
{
    if (bytes.n > FUZZ_MAX)
        return;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf body = BUF_INIT(DIALECT_BODY_MAX), message = BUF_INIT(1 << 20),
                        kind = BUF_INIT(1 << 20);
    AUTO_JSON json_t *whole = fuzz_read(dialect, bytes, FUZZ_MAX), *tree = NULL;
    AUTO_JSON json_t *bytewise = fuzz_read(dialect, bytes, 1);
    AUTO_JSON json_t *messages = json_array();
    BUG_ON(!json_equal(whole, bytewise));
    json_array_append(messages, whole);
    struct llm_request request = {.messages = messages, .temperature = -1};
    dialect->write(&request, &body);
    BUG_ON(!buf_ok(&body) || !json_parse(buf_str(&body), "body", E_INTERNAL, &tree, &err));
    dialect->explain(bytes, &message, &kind);
    BUG_ON(!utf8_printable(buf_str(&message)) || message.n > 1024);
}

#endif
