/* A scenario: a command and the steps to perform on it.
 *
 *     if (!scenario_load("login.yaml", &arena, &scenario, err)) return false;
 *     ...scenario.steps[i].action...
 *     scenario_done(&scenario);
 *
 * The whole document is checked before anything runs. Errors are E_PROTOCOL with file, line and
 * place.
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
    json_t *metadata; /* part of the tree; may be NULL */
    struct str command, cwd;
    struct str_list args;
    uint16_t rows, cols;
    bool has_policy;
    struct policy policy;
    struct step *steps;
    size_t n_steps;
    struct golden_home *goldens; /* the directory they are in */
    /* Hash of the text that was read, and the policy file it refers to, if any. */
    char sha256[SHA256_HEX];
    struct policy_reference reference;
    struct str dir;  /* real path of the file's directory; no value: not read from a file */
    struct str file; /* real path of the file */
};

/* Reads a scenario from a text or a file, as JSON or YAML. */
MUST_USE bool scenario_parse(struct str text, const char *name, struct arena *arena,
    struct scenario *ret_scenario, struct err *err);
/* The same for a scenario in a recording, which includes its policy: no other file is read. */
MUST_USE bool scenario_parse_recorded(struct str text, const char *name, struct arena *arena,
    struct scenario *ret_scenario, struct err *err);
MUST_USE bool scenario_load(
    const char *path, struct arena *arena, struct scenario *ret_scenario, struct err *err);
void scenario_done(struct scenario *s);

/* Returns the goldens in the order of the steps, NULL after the last. */
struct golden *scenario_golden(const struct scenario *s, size_t index);

/* Returns a new object with every default filled in. */
MUST_USE json_t *scenario_json(const struct scenario *s);

/* Returns the JSON Schema. */
MUST_USE json_t *scenario_schema(void);

#endif
