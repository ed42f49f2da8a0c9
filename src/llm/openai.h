/* The dialect of OpenAI's Chat Completions, which many servers use. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_OPENAI_H
#define LLM_OPENAI_H

#include "llm/dialect.h"

enum {
    OPENAI_ID_MAX = 40,
    OPENAI_NAME_MAX = 64,
};

void openai_write(const struct llm_request *request, struct buf *body);

#endif
