/* The source of an answer's events: a service or a script. The stream (provider.h) pulls until the
 * answer is complete, and retries if that can help.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SOURCE_H
#define LLM_SOURCE_H

#include "llm/answer.h"
#include "llm/provider.h"
#include "llm/waiter.h"

/* Details of a failed attempt, to decide about a retry. */
struct source_failure {
    long status;
    bool broken;
    bool decided, again; /* the service itself reported whether a retry can help */
    char should_retry[16], retry_after_ms[32], retry_after[64]; /* headers; "" if missing */
    char request_id[128];
};

/* One attempt at an answer. */
struct attempt {
    const struct provider *provider;
    const struct llm_request *request;
    struct waiter waiter;
    struct answer *answer;
    struct source_failure failure;
    void *state; /* private to the source */
};

enum source_step {
    SOURCE_MORE, /* something was received, perhaps events */
    SOURCE_WHOLE,
    SOURCE_FAILED,
};

struct source {
    /* Starts on the first call and continues on later ones; blocks as briefly as possible. */
    enum source_step (*pull)(struct attempt *a, struct err *err);
    void (*end)(struct attempt *a); /* accepts an attempt that was not started */
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
    char *base_url, *model, *key; /* key: NULL if none */
    const char *key_variable;
    struct http_client *client; /* connections kept between requests */
    struct provider_options options;
};

#endif
