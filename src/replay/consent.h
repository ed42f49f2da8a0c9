/* What a recorded policy asks of the machine, and what whoever replays it has agreed to.
 *
 *     if (!consent_check(&(struct consent){.network = true}, &policy, err)) return false;
 *
 * A recording may be somebody else's: what it acknowledged counts for nothing here.
 */
#ifndef REPLAY_CONSENT_H
#define REPLAY_CONSENT_H

#include "base/err.h"
#include "policy/policy.h"

struct consent {
    bool sandbox, network, write;
};

/* E_POLICY_DENIED that names every flag that is missing. The policy's acknowledgements become those
 * of the consent. */
MUST_USE bool consent_check(const struct consent *given, struct policy *policy, struct err *err);

#endif
