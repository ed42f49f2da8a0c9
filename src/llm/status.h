/* Error messages for HTTP statuses other than 200. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_STATUS_H
#define LLM_STATUS_H

#include "llm/source.h"

struct status_words {
    struct str message, kind; /* as reported by the service */
    struct str location;      /* of a redirect */
};

/* Sets E_PROVIDER with context.provider_error; returns false. */
bool status_fail(
    const struct provider *p, long status, const struct status_words *words, struct err *err);

#endif
