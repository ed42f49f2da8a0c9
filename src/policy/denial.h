/* Reasons why a policy does not allow something: the complete list, in a fixed order.
 *
 *     denials_add(&d, &(struct denial){.field = "cwd", .message = "is not a directory",
 *                                      .value = path, .reason = ..., .fix = ...});
 *     if (d.n)
 *         return denial_error(&d.p[0], err);
 *
 * As an error, each is E_POLICY_DENIED with context {field, value, reason, fix}.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_DENIAL_H
#define POLICY_DENIAL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct denial {
    const char *field;   /* the place: fs.allowed_read[2], command, cwd */
    const char *message; /* what is wrong */
    struct str value;    /* the rejected value */
    const char *reason;  /* why that is not allowed */
    const char *fix;     /* what to do */
    bool blocked;        /* no policy may allow it */
    bool edits;          /* the fix edits the policy */
    bool by_flag;        /* an option of the command line caused it */
    bool value_first;    /* the message is about the value: 'none' requires … */
};

struct denials {
    struct arena *arena;
    struct denial *p;
    size_t n, cap;
};

enum {
    DENIAL_VALUE_MAX = 4096, /* longer values are truncated */
};

/* Strings must live as long as the arena. */
void denials_add(struct denials *d, const struct denial *denial);

/* Adds field, message and value, which the caller may have shortened. */
void denial_add_text(const struct denial *denial, struct str value, struct buf *text);

/* Sets the error; returns false. */
bool denial_error(const struct denial *denial, struct err *err);

/* Returns a new list of {"code","message","context"}. */
MUST_USE json_t *denials_json(const struct denials *d);

#endif
