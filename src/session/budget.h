/* A limit on a command's use of a resource: one warning when it is nearly used up, an error beyond.
 *
 *     struct budget b = {"max_output_bytes", "printed more than", " bytes", 8 << 20};
 *     if (budget_near(&b, used)) ...report it...
 *     if (used > b.limit) return budget_blame(&b, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_BUDGET_H
#define SESSION_BUDGET_H

#include "base/err.h"

enum {
    BUDGET_NEAR_PERCENT = 80,
};

struct budget {
    const char *name;
    const char *exceeded; /* "ran longer than" */
    const char *unit;
    uint64_t limit; /* UINT64_MAX: none */
    bool warned;
};

/* Returns the amount at which the warning is due. */
uint64_t budget_near_at(const struct budget *b);

/* Returns true once, when the warning is due. */
bool budget_near(struct budget *b, uint64_t used);

/* Sets E_TIMEOUT with the budget's name; always returns false. */
bool budget_blame(const struct budget *b, struct err *err);

#endif
