/* Information about a box for `box show`, read from its files without contacting its supervisor.
 *
 *     struct box_facts f;
 *     facts_gather(&arena, &use.box, &f);
 *
 * A part that cannot be read is listed in `problems`; the other parts are still filled in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_FACTS_H
#define BOX_FACTS_H

#include "base/json.h"
#include "box/box.h"
#include "box/state.h"
#include "change/delta.h"
#include "policy/developer.h"

enum {
    FACTS_PROBLEMS_MAX = 8,
};

/* Refused connections to one host and port, for one reason. */
struct facts_refused {
    struct str host, why;
    uint64_t port, times;
    struct str last; /* time of the latest one */
};

#define FACTS_DENIED_FILE "denied.json"
enum {
    FACTS_DENIED_MAX = 1 << 20, /* bytes of that file */
};

struct box_facts {
    const struct box *box;
    struct box_state state;
    enum box_network network;
    struct str_list hosts;
    struct facts_refused *refused;
    size_t n_refused;
    struct str denied; /* an array of denied_json(), as text; may be empty */
    struct str prompt;
    bool has_changes;                       /* the changes could be read */
    size_t changes[DELTA_TYPE + 1];         /* by kind */
    size_t n_changes, never_applied;        /* devices and the like */
    size_t left_out;                        /* sockets and named pipes */
    size_t runs_unasked, steers, leads_out; /* see change/risks.h */
    size_t drift;                           /* project files changed since the box was made */
    uint64_t bytes;                         /* of the upper layer, on disk */
    uint64_t *runs;
    size_t n_runs;
    struct developer machine; /* what it would show of the user's machine if it started now */
    const char *problems[FACTS_PROBLEMS_MAX];
    size_t n_problems;
};

void facts_gather(struct arena *arena, const struct box *box, struct box_facts *ret_facts);

enum {
    FACTS_LIMITS = 5,
};

/* Limits of a box, and their units. */
struct facts_limit {
    const char *name, *key;
    size_t offset; /* in struct box_limits */
    enum {
        FACTS_BYTES,
        FACTS_NUMBER,
        FACTS_MILLIS, /* thousandths */
        FACTS_SECONDS,
    } unit;
};
extern const struct facts_limit facts_limits[FACTS_LIMITS];
uint64_t facts_limit(const struct box_facts *f, size_t i); /* 0: none */

/* Directory of a recording. */
const char *facts_run_dir(const struct box_facts *f, uint64_t n, struct arena *arena);

/* Denials, and refused hosts: a new array [{op, target, program, rule, fix, count}]. */
MUST_USE json_t *facts_denied(const struct box_facts *f);

MUST_USE json_t *facts_json(const struct box_facts *f, struct arena *arena);

#endif
