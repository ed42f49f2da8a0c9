/* What a command may use of something: told of once when it is nearly used up, an error beyond.
 *
 *     struct budget b = {"max_output_bytes", " bytes", 8 << 20};
 *     if (budget_near(&b, used)) ...tell of it...
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
    const char *name, *unit;
    uint64_t limit; /* UINT64_MAX: none */
    bool told;
};

/* How much is nearly all. */
uint64_t budget_near_at(const struct budget *b);

/* True once. */
bool budget_near(struct budget *b, uint64_t used);

/* E_TIMEOUT with the budget's name; always false. */
bool budget_blame(const struct budget *b, struct err *err);

#endif
