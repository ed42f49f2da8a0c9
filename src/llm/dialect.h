/* The protocol of a service: how to write a request and read the events of its answer. No I/O: the
 * bytes come from llm/http, from a script, or from a test.
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

/* State of the reader; zeroed at the start of an answer. */
struct dialect_state {
    bool begun;        /* the first event was received */
    bool stopped;      /* the stop reason was received */
    bool complete;     /* the last event was received: ignore the rest */
    bool refused;      /* openai: a refusal was received */
    uint64_t last_key; /* openai: key of the open text or thinking block, plus 1 */
    enum block_type last_type;
    uint64_t next_key; /* openai: number of blocks begun */
    struct usage usage;
};

struct dialect {
    const char *name;
    const char *path;         /* appended to the base URL */
    const char *default_base; /* "https://api.anthropic.com" */
    const char *default_model;
    const char *key_variable, *base_variable, *model_variable;
    /* Appends header lines; no key is sent if it has no value. */
    void (*headers)(struct str key, struct buf *lines);
    void (*write)(const struct llm_request *request, struct buf *body);
    /* Reads one event of the stream. E_PROVIDER: an error reported by the service
     * (context.provider_error, context.retry true|false), or an invalid event. */
    bool (*read)(struct answer *answer, struct dialect_state *state, const struct sse_event *event,
        struct err *err);
    /* End of the stream: whether the answer is complete. Some servers never send [DONE]. */
    bool (*finish)(struct answer *answer, struct dialect_state *state, struct err *err);
    /* Extracts the message and kind ("overloaded_error") from the body of an error, which need not
     * be JSON. */
    void (*explain)(struct str body, struct buf *message, struct buf *kind);
};

extern const struct dialect dialect_anthropic;
extern const struct dialect dialect_openai;

#endif
