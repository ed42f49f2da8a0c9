/* A document that people write, in JSON or YAML: read it, and point into it when it is wrong.
 *
 *     if (!doc_parse(text, name, E_CONFIG, &tree, err)) return false;
 *     if (!field_read(&policy_shape, tree, &arena, E_CONFIG, &policy, err))
 *         return doc_blame(err, text, name);          policy.yaml:7:3: rules[2].path: required ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DOC_H
#define BASE_DOC_H

#include "base/json.h"
#include "base/place.h"

enum doc_format {
    DOC_JSON,
    DOC_YAML,
};

/* By the name's end; otherwise JSON if the first byte that is not blank is '{' or '['. */
enum doc_format doc_format(struct str text, const char *name);

/* A UTF-8 byte order mark at the start is skipped in both forms. */
MUST_USE bool doc_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err);

/* Where steps[2].action stands in a text that was parsed before: the key, or the list's entry. What
 * is not there gives the innermost object or list of its place that is. */
struct point doc_locate(struct str text, enum doc_format format, const char *place);

/* Puts file, line and column in front of an error whose context has a "field". Returns false. */
bool doc_blame(struct err *err, struct str text, const char *name);

#endif
