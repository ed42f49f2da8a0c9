/* Acknowledgements of the person who runs a policy that another person wrote: that of a recording,
 * or that of a scenario. An acknowledgement in the same file as what it acknowledges says only what
 * its author agreed to.
 *
 *     consent_adopt(CONSENT_RECORDING, &policy);
 *     policy_validate(&policy, &host, arena, &verdict);
 *     consent_find(&(struct consent_input){.author = CONSENT_RECORDING, .given = &given, ...},
 *         &verdict, &needs);
 *     if (needs.n) return consent_error(&needs, CONSENT_RECORDING, &hint, err);
 *
 * Paths are judged where they lead: as the verdict resolved them, and as the sandbox opens them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_CONSENT_H
#define JOB_CONSENT_H

#include "policy/validate.h"

/* One flag --ack-unsafe-NAME each; `inexact` is --ack-inexact-limits. */
struct consent {
    bool sandbox, network, sockets, env, write, read, inexact;
};

enum consent_author {
    CONSENT_USER,      /* named by the user: its own acknowledgements count */
    CONSENT_SCENARIO,  /* part of a scenario, or named by it */
    CONSENT_RECORDING, /* part of a recording */
};

struct consent_input {
    enum consent_author author;
    const struct consent *given;
    struct str dir; /* of the document, without links; no value: none */
    struct str cwd; /* the user's; no value: none counts */
    bool network;   /* the document acknowledges the network */
};

struct consent_need {
    const char *field; /* of the policy */
    const char *what;  /* it does */
    const char *flag;
};

enum {
    CONSENT_NEEDS = 6,
};

struct consent_needs {
    struct consent_need p[CONSENT_NEEDS];
    size_t n;
};

/* Acknowledges in the policy whatever consent_find() asks for, so that it is not denied twice. */
void consent_adopt(enum consent_author author, struct policy *policy);

/* Everything that reaches beyond the document and that was not agreed to, in a fixed order. Texts
 * are in the verdict's arena. */
void consent_find(
    const struct consent_input *in, const struct verdict *v, struct consent_needs *ret_needs);

/* Puts the needs in front of a verdict's denials. */
void consent_deny(const struct consent_needs *needs, enum consent_author author, struct verdict *v);

/* How the user could agree once and for all; NULL: that can't be, or there is nothing to say. */
struct consent_hint {
    const char *file; /* for `cordon trust` */
    const char *note;
};

/* E_POLICY_DENIED that names every field and every missing flag. */
bool consent_error(const struct consent_needs *needs, enum consent_author author,
    const struct consent_hint *hint, struct err *err);

/* Whether a path without links is one that every sandbox, or an ordinary policy, shows of the
 * system. */
bool consent_is_system(struct str path);

/* All flags, with blanks between them; in the arena. */
const char *consent_flags(const struct consent_needs *needs, struct arena *arena);

#endif
