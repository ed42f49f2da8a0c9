/* A scenario: a command, and what is done to it step by step.
 *
 *     if (!scenario_load("login.yaml", &arena, &scenario, err)) return false;
 *     ...scenario.steps[i].action...
 *     scenario_done(&scenario);
 *
 * It is checked whole before anything runs: what is wrong is E_PROTOCOL with file, line and place.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SCENARIO_H
#define RUN_SCENARIO_H

#include "policy/load.h"
#include "run/action.h"

enum {
    SCENARIO_VERSION = 1,
    SCENARIO_STEPS_MAX = 10 * 1000,
    SCENARIO_TEXT_MAX = 10 * 1000 * 1000,
    SCENARIO_TIMEOUT_MS = 5000, /* of a step, unless it says otherwise */
};

struct step {
    struct str id, name;
    struct action action;
    struct condition *asserts;
    size_t n_asserts;
    uint64_t timeout_ms;
    uint32_t retries;
};

struct scenario {
    json_t *tree;     /* owned: the document */
    json_t *metadata; /* of the tree; may be NULL */
    struct str command, cwd;
    struct str_list args;
    uint16_t rows, cols;
    bool has_policy;
    struct policy policy;
    struct step *steps;
    size_t n_steps;
    struct golden_home *goldens; /* where they are */
    /* The bytes that it was read from, and those of a policy that it names by path. */
    char sha256[SHA256_HEX];
    struct policy_reference reference;
    struct str dir;  /* that its file is in, without links; no value: it is not from a file */
    struct str file; /* itself */
};

/* From a text or a file, as JSON or YAML. */
MUST_USE bool scenario_parse(struct str text, const char *name, struct arena *arena,
    struct scenario *ret_scenario, struct err *err);
/* The same of one in a recording, which holds its policy itself: no other file is read. */
MUST_USE bool scenario_parse_recorded(struct str text, const char *name, struct arena *arena,
    struct scenario *ret_scenario, struct err *err);
MUST_USE bool scenario_load(
    const char *path, struct arena *arena, struct scenario *ret_scenario, struct err *err);
void scenario_done(struct scenario *s);

/* Its goldens in the order of its steps; NULL after the last. */
struct golden *scenario_golden(const struct scenario *s, size_t index);

/* As it is resolved: with every default. A new object. */
MUST_USE json_t *scenario_json(const struct scenario *s);

/* A JSON Schema. */
MUST_USE json_t *scenario_schema(void);

#endif
