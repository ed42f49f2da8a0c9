/* A service's way of speaking: how a request is written, how the events of its answer are read. No
 * I/O: the bytes come from llm/http, from a script, or from a test.
 *
 *     AUTO_BUF struct buf body = BUF_INIT(DIALECT_BODY_MAX);
 *     dialect->write(request, &body);
 *     ... dialect->read(answer, state, &event, err) for every event of the stream ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_DIALECT_H
#define LLM_DIALECT_H

#include "llm/answer.h"
#include "llm/request.h"
#include "llm/sse.h"

enum {
    DIALECT_BODY_MAX = 64 << 20,
};

/* What a reader has to remember; zeroed at the start of an answer. */
struct dialect_state {
    bool begun;        /* a first event came */
    bool stopped;      /* the reason for its end came */
    bool complete;     /* the last event came: whatever follows is no part of the answer */
    bool refused;      /* openai: a refusal's text came */
    uint64_t last_key; /* openai: the text or thinking that is open, plus 1 */
    enum block_type last_type;
    uint64_t next_key; /* openai: blocks that began */
    struct usage usage;
};

struct dialect {
    const char *name;
    const char *path;         /* behind the base URL */
    const char *default_base; /* "https://api.anthropic.com" */
    const char *default_model;
    const char *key_variable, *base_variable, *model_variable;
    /* Header lines, with the key (which may have no value: none is sent). */
    void (*headers)(struct str key, struct buf *lines);
    void (*write)(const struct llm_request *request, struct buf *body);
    /* One event of the stream. E_PROVIDER: what the service says went wrong
     * (context.provider_error, context.retry true|false), or what can't be understood. */
    bool (*read)(struct answer *answer, struct dialect_state *state, const struct sse_event *event,
        struct err *err);
    /* The bytes are over: whether the answer is whole. Some servers never say [DONE]. */
    bool (*finish)(struct answer *answer, struct dialect_state *state, struct err *err);
    /* The message of an error's body (which may be no JSON), and its kind ("overloaded_error"). */
    void (*explain)(struct str body, struct buf *message, struct buf *kind);
};

extern const struct dialect dialect_anthropic;
extern const struct dialect dialect_openai;

#endif
