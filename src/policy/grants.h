/* Grants of a policy as data, so that people and programs can inspect them before anything runs.
 *
 *     policy_validate(&policy, &host, &arena, &v);
 *     AUTO_JSON json_t *explained = policy_explain(&v);
 *
 * {"allowed","errors":[{"code","message","context"}],"grants":{...}}. A denied policy grants
 * nothing: its grants are {}.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_GRANTS_H
#define POLICY_GRANTS_H

#include "policy/validate.h"

/* Returns a new object. Names that are not valid UTF-8 have their exact bytes, caret-encoded, in
 * `inexact`. */
MUST_USE json_t *policy_explain(const struct verdict *v);

/* Returns a new object:
 * {"sandbox","read","write","exec","allow_shell","working_dir","command","cwd",
 * "network","unix_sockets","env":{"inherit","set"},"artifacts","budgets","limits","gaps"}. Paths
 * are {"given","resolved","kind"}; `gaps` lists the holes in the policy itself. */
MUST_USE json_t *policy_grants(const struct verdict *v);

/* Returns a new list of sentences: holes that the policy itself has, whatever the system can
 * enforce. */
MUST_USE json_t *policy_gaps(const struct verdict *v);

#endif
