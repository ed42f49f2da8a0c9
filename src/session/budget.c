/* Budgets. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/budget.h"

uint64_t budget_near_at(const struct budget *b)
{
    return b->limit - b->limit / (100 / (100 - BUDGET_NEAR_PERCENT));
}

bool budget_near(struct budget *b, uint64_t used)
{
    if (b->warned || b->limit == UINT64_MAX || used < budget_near_at(b))
        return false;
    b->warned = true;
    return true;
}

bool budget_blame(const struct budget *b, struct err *err)
{
    err_set(err, E_TIMEOUT,
        "the command %s %llu%s and was killed; set budgets.%s in a policy (--policy) to allow more",
        b->exceeded, (unsigned long long)b->limit, b->unit, b->name);
    err_ctx(err, "budget", "%s", b->name);
    return err_ctx_int(err, "limit", (int64_t)MIN(b->limit, (uint64_t)INT64_MAX));
}
