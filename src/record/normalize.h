/* Normalization: ids and times that a replay ignores, and regular expressions applied to texts.
 *
 *     struct normalization n;
 *     if (!normalization_init(&policy->replay, &options, &n, err)) return false;
 *     if (!normalization_text(&n, POLICY_TARGET_SNAPSHOT_LINES, line, &out, err)) return false;
 *     normalization_done(&n);
 *
 * The command line overrides the policy, which overrides the default: all filters. Strict means no
 * filters and no rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_NORMALIZE_H
#define RECORD_NORMALIZE_H

#include "base/regex.h"
#include "policy/policy.h"

enum {
    NORMALIZATION_VERSION = 1,
};

/* In the order of policy_filters[]. */
enum normalization_filter {
    FILTER_SNAPSHOT_ID,
    FILTER_RUN_ID,
    FILTER_RUN_TIMESTAMPS,
    FILTER_STEP_TIMESTAMPS,
    FILTER_OBSERVATION_TIMESTAMP,
    FILTER_SESSION_ID,
    FILTERS,
};

/* Options of the command line. */
struct normalization_options {
    bool strict;
    bool given;       /* `filters` is set */
    unsigned filters; /* bits: 1 << enum normalization_filter */
};

struct normalization {
    unsigned filters;
    bool strict;
    const char *source;              /* "default", "policy", "cli", "none" */
    const struct policy_rule *rules; /* the policy's, which must live as long */
    size_t n_rules;
    struct regex **regexes; /* one for each rule */
};

/* Returns the filter of that name as a bit; all bits for "all", 0 for "none". An unknown name is an
 * error with the given code. */
MUST_USE bool normalization_filter(
    struct str name, enum err_code code, unsigned *ret_filters, struct err *err);

/* `options` may be NULL. A rule that does not compile is E_PROTOCOL. */
MUST_USE bool normalization_init(const struct policy_replay *policy,
    const struct normalization_options *options, struct normalization *ret_n, struct err *err);
void normalization_done(struct normalization *n);

/* Appends the text with all rules for the target applied, one after the other. */
MUST_USE bool normalization_text(const struct normalization *n, enum policy_target target,
    struct str text, struct buf *out, struct err *err);

/* Whether there is a rule for the target. */
bool normalization_changes(const struct normalization *n, enum policy_target target);

/* Return a new NormalizationRecord, and its JSON Schema. */
MUST_USE json_t *normalization_json(const struct normalization *n);
MUST_USE json_t *normalization_schema(void);

#endif
