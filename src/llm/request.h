/* What a model is asked, the same for every provider. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_REQUEST_H
#define LLM_REQUEST_H

#include "llm/message.h"

enum {
    LLM_TOKENS_MAX = 100 * 1000 * 1000, /* of max_tokens, thinking_tokens */
};

struct llm_request {
    struct str model;       /* no value: the provider's default */
    struct str system;      /* no value: none */
    const json_t *messages; /* a list of messages (llm/message.h) that were checked and repaired */
    const json_t *tools;    /* a list of {"name","description","parameters"} (tool_spec) */
    uint64_t max_tokens;    /* 0: the provider's default */
    double temperature;     /* negative: the provider's default */
    uint64_t thinking_tokens; /* 0: none */
};

/* Temperature within [0, 2] (or negative: not given), tokens within reason. E_CLI_INVALID_ARG. */
MUST_USE bool llm_request_check(const struct llm_request *request, struct err *err);

#endif
