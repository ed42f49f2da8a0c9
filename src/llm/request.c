/* Requests to a model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/request.h"

bool llm_request_check(const struct llm_request *request, struct err *err)
{
    double t = request->temperature;
    if (!(t < 0) && !(t >= 0 && t <= 2))
        return err_set(err, E_CLI_INVALID_ARG, "the temperature must be from 0 to 2, but is %g", t);
    if (request->thinking_tokens > LLM_TOKENS_MAX || request->max_tokens > LLM_TOKENS_MAX)
        return err_set(
            err, E_CLI_INVALID_ARG, "at most %d tokens can be requested", LLM_TOKENS_MAX);
    return true;
}
