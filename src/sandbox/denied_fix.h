/* What would allow a denied act: options of a command of ours, a command for the user, or the
 * reason that nothing does.
 *
 *     denied_fix_add(&fix, &why, &act, &style);
 *
 * An option is offered only if the guards of a policy accept its value, and together the options
 * suffice: those of a script name its interpreters, those for writing the acknowledgement.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DENIED_FIX_H
#define SANDBOX_DENIED_FIX_H

#include "sandbox/denied.h"

/* Boxes get what they may use when they are made. */
#define DENIED_FIX_BOX "cordon box new \u2026"

struct denied_act {
    enum denied_op op;
    enum denied_rule rule;
    bool own, entry;
    struct str target, program, command, needs; /* as in struct denied_sight */
};

/* Adds the fix, for a shell; and if there is none the reason, unless the rule says enough. */
void denied_fix_add(struct buf *fix, struct buf *why, const struct denied_act *act,
    const struct denied_style *style);

#endif
