/* A request to a model, the same for every provider. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_REQUEST_H
#define LLM_REQUEST_H

#include "llm/message.h"

enum {
    LLM_TOKENS_MAX = 100 * 1000 * 1000, /* limit of max_tokens and thinking_tokens */
};

struct llm_request {
    struct str model;         /* no value: the provider's default */
    struct str system;        /* no value: none */
    const json_t *messages;   /* a list of messages (llm/message.h), checked and repaired */
    const json_t *tools;      /* a list of {"name","description","parameters"} */
    uint64_t max_tokens;      /* 0: the provider's default */
    double temperature;       /* negative: the provider's default */
    uint64_t thinking_tokens; /* 0: none */
};

/* Checks that the temperature is in [0, 2] (or negative: default) and the token limits are sane.
 * E_CLI_INVALID_ARG. */
MUST_USE bool llm_request_check(const struct llm_request *request, struct err *err);

#endif
