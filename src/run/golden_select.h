/* Selects the goldens of a scenario that a run writes: those of --update-goldens, or the missing
 * ones after a question.
 *
 *     if (!golden_select(arena, "stale", &scenario, err)) return false;
 *
 * The content of a golden comes from the program in the sandbox, so it must never be written to a
 * file that is executed automatically.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_GOLDEN_SELECT_H
#define RUN_GOLDEN_SELECT_H

#include "run/scenario.h"

/* Words for the modes, NULL-terminated. */
extern const char *const golden_select_modes[];

/* `which` is one of them, or NULL: none. Fails with E_POLICY_DENIED if the name of a golden to be
 * written is refused. */
MUST_USE bool golden_select(
    struct arena *arena, const char *which, struct scenario *scenario, struct err *err);

/* Names of missing goldens that may be written, for a question, after golden_select(); no value:
 * none. */
struct str golden_select_missing(struct arena *arena, const struct scenario *scenario);

#endif
