/* What an HTTP status that is none of success means, in words for a person. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_STATUS_H
#define LLM_STATUS_H

#include "llm/source.h"

struct status_words {
    struct str message, kind; /* what the service says itself */
    struct str location;      /* of a redirect */
};

/* E_PROVIDER with context.provider_error; false. */
bool status_fail(
    const struct provider *p, long status, const struct status_words *words, struct err *err);

#endif
