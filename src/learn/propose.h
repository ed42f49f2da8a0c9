/* Proposes a policy: for a program and its interpreters, or from an unconfined run of a command.
 *
 *     struct propose p = {.arena = &arena, .warnings = warnings};
 *     if (!propose_policy(&p, "make", cwd, &text, err)) return false;
 *
 * The text is YAML with comments; it passes the validation of policies.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_PROPOSE_H
#define LEARN_PROPOSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/notice.h"
#include "learn/trace.h"

enum {
    PROPOSE_MAX = 64 << 20, /* bytes of a policy */
};

struct propose {
    struct arena *arena;
    struct notices warnings;
};

/* `program` may be NULL. */
MUST_USE bool propose_policy(const struct propose *p, const char *program, struct str cwd,
    struct buf *text, struct err *err);

struct propose_command {
    const char *const *argv; /* NULL-terminated */
    struct str cwd;
    bool write_ack; /* paths that were written are allowed, not only comments */
};

struct proposal {
    struct buf text;
    json_t *learned, *exit_status;
    struct trace_end end;
};

#define PROPOSAL_INIT ((struct proposal){.text = BUF_INIT(PROPOSE_MAX)})

/* Runs the command UNCONFINED, and derives a policy from what it used. */
MUST_USE bool propose_learned(const struct propose *p, const struct propose_command *command,
    struct proposal *ret_proposal, struct err *err);
void proposal_done(struct proposal *x);

#endif
