/* Granting trust to scenarios (job/trust.h): what a scenario asks for, and entries of the store.
 *
 *     if (!trust_find_needs(&scenario, &arena, &needs, err)) return false;
 *     if (needs.n && agreed(&needs)) ok = trust_grant(&store, &needs, &arena, &trust, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_TRUST_SCENARIO_H
#define JOB_TRUST_SCENARIO_H

#include "job/consent.h"
#include "job/trust.h"

/* Finds everything that the scenario's own policy needs, independent of the working directory.
 * Fails if the policy would be denied even with the user's consent. */
MUST_USE bool trust_find_needs(
    const struct scenario *s, struct arena *a, struct consent_needs *ret_needs, struct err *err);

/* Completes the entry (see trust_identify()) with these needs and the time, and stores it. */
MUST_USE bool trust_grant(const struct trust_store *store, const struct consent_needs *needs,
    struct arena *a, struct trust *t, struct err *err);

/* State of the files of an entry: "trusted", "changed" or "missing". */
const char *trust_entry_state(const struct trust *t, struct arena *a);

/* Path as stored in an entry: symlinks in its directory are resolved if it exists. */
struct str trust_entry_path(struct str cwd, const char *path, struct arena *a);

#endif
