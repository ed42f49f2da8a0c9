/* Documents written by people, in JSON or YAML: parses them and locates errors in the text.
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

/* Decided by the file name's suffix; otherwise JSON if the first non-blank byte is '{' or '['. */
enum doc_format doc_format(struct str text, const char *name);

/* Skips a UTF-8 byte order mark at the start in both formats. */
MUST_USE bool doc_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err);

/* Position of a place such as steps[2].action in a text that was parsed before: that of the key or
 * list entry. If it does not exist, the innermost enclosing object or list that does. */
struct point doc_locate(struct str text, enum doc_format format, const char *place);

/* Prefixes an error whose context has a "field" with file, line and column. Returns false. */
bool doc_blame(struct err *err, struct str text, const char *name);

#endif
