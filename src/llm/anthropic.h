/* The dialect of Anthropic's Messages API. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_ANTHROPIC_H
#define LLM_ANTHROPIC_H

#include "llm/dialect.h"

enum {
    ANTHROPIC_MAX_TOKENS = 16 * 1024, /* of an answer, by default; the service requires a number */
    ANTHROPIC_MARKS_MAX = 4,          /* of the prompt cache */
    ANTHROPIC_THINKING_MIN = 1024,
    ANTHROPIC_NAME_MAX = 64,
};

void anthropic_write(const struct llm_request *request, struct buf *body);

#endif
