/* Acknowledgements by the user who runs a policy written by another person: that of a recording or
 * of a scenario. An acknowledgement in the same file as the policy only shows that its author
 * agreed.
 *
 *     consent_adopt(CONSENT_RECORDING, &policy);
 *     policy_validate(&policy, &host, arena, &verdict);
 *     consent_find(&(struct consent_input){.author = CONSENT_RECORDING, .given = &given, ...},
 *         &verdict, &needs);
 *     if (needs.n) return consent_error(&needs, CONSENT_RECORDING, &hint, err);
 *
 * Paths are judged by their targets: as the verdict resolved them, and as the sandbox opens them.
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
    struct str dir; /* of the document, real path; no value: none */
    struct str cwd; /* the user's; no value: not considered */
    bool network;   /* the document acknowledges the network */
    size_t hosts;   /* number of hosts that the document allows */
};

struct consent_need {
    const char *field; /* of the policy */
    const char *what;  /* description of what it does */
    const char *flag;
};

enum {
    CONSENT_NEEDS = 6,
};

struct consent_needs {
    struct consent_need p[CONSENT_NEEDS];
    size_t n;
};

/* Sets the policy's acknowledgements for everything that consent_find() reports, so that it is not
 * denied twice. */
void consent_adopt(enum consent_author author, struct policy *policy);

/* Finds everything that reaches beyond the document and was not acknowledged, in a fixed order.
 * Texts are in the verdict's arena. */
void consent_find(
    const struct consent_input *in, const struct verdict *v, struct consent_needs *ret_needs);

/* Prepends the needs to a verdict's denials. */
void consent_deny(const struct consent_needs *needs, enum consent_author author, struct verdict *v);

/* Ways to agree permanently; NULL if that is not possible or not needed. */
struct consent_hint {
    const char *file; /* for `cordon trust` */
    const char *note;
};

/* Sets E_POLICY_DENIED, naming every field and every missing flag. */
bool consent_error(const struct consent_needs *needs, enum consent_author author,
    const struct consent_hint *hint, struct err *err);

/* Whether a real path belongs to the system and is shown by every sandbox, or by ordinary
 * policies. */
bool consent_is_system(struct str path);

/* Returns all flags, separated by blanks; in the arena. */
const char *consent_flags(const struct consent_needs *needs, struct arena *arena);

#endif
