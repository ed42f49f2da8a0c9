/* Where the events of one answer come from: a service or a script. The stream (provider.h) asks for
 * more until it is whole, and starts another attempt if that can help.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SOURCE_H
#define LLM_SOURCE_H

#include "llm/answer.h"
#include "llm/provider.h"
#include "llm/waiter.h"

/* What a failed attempt leaves for the decision about another one. */
struct source_failure {
    long status;
    bool broken;
    bool decided, again; /* the service said itself whether another attempt can help */
    char should_retry[16], retry_after_ms[32], retry_after[64]; /* headers; "" if there are none */
    char request_id[128];
};

/* One attempt at an answer. */
struct attempt {
    const struct provider *provider;
    const struct llm_request *request;
    struct waiter waiter;
    struct answer *answer;
    struct source_failure failure;
    void *state; /* the source's own */
};

enum source_step {
    SOURCE_MORE, /* something came, perhaps events */
    SOURCE_WHOLE,
    SOURCE_FAILED,
};

struct source {
    /* Begins on the first call, and goes on from there; blocks for as little as possible. */
    enum source_step (*pull)(struct attempt *a, struct err *err);
    void (*end)(struct attempt *a); /* accepts an attempt that was not begun */
};

extern const struct source source_service;
extern const struct source source_script;

struct dialect;
struct http_client;
struct script;

struct provider {
    const char *name;
    const struct source *source;
    const struct dialect *dialect; /* NULL: scripted */
    struct script *script;
    bool default_script;
    char *base_url, *model, *key; /* key: NULL if there is none */
    const char *key_variable;
    struct http_client *client; /* connections that are kept between requests */
    struct provider_options options;
};

#endif
