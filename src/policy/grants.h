/* What a policy grants, as data: for people and programs that want to know before anything runs.
 *
 *     policy_validate(&policy, &host, &arena, &v);
 *     AUTO_JSON json_t *explained = policy_explain(&v);
 *
 * {"allowed","errors":[{"code","message","context"}],"grants":{...}}. Nothing is granted by a
 * policy that is denied: its grants are {}.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_GRANTS_H
#define POLICY_GRANTS_H

#include "policy/validate.h"

/* A new object. Names that are not UTF-8 have their exact bytes, caret-encoded, in `inexact`. */
MUST_USE json_t *policy_explain(const struct verdict *v);

/* A new object: {"sandbox","read","write","exec","allow_shell","working_dir","command","cwd",
 * "network","unix_sockets","env":{"inherit","set"},"artifacts","budgets","limits","gaps"}. Paths
 * are {"given","resolved","kind"}; `gaps` are what the policy itself leaves open. */
MUST_USE json_t *policy_grants(const struct verdict *v);

/* A new list of sentences: what the policy leaves open, whatever the system can enforce. */
MUST_USE json_t *policy_gaps(const struct verdict *v);

#endif
