/* YAML, restricted to plain data: parsed into the same tree as JSON.
 *
 *     AUTO_JSON json_t *tree = NULL;
 *     if (!yaml_parse(text, "config.yaml", E_CONFIG, &tree, err)) return false;
 *
 * Plain scalars follow the core schema of YAML 1.2: true, null, 12, 0x1f, 1.5; but `yes`, `on` and
 * `2026-01-02` are strings. Anchors, aliases, tags, merge keys, multiple documents, infinities,
 * duplicate keys and non-scalar keys are errors. Keys are strings exactly as written. Line breaks
 * other than LF and CR LF are rejected, and so are invisible characters outside quotes; a byte
 * order mark at the start is skipped. Errors begin with name:line:column.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/json.h"

enum {
    YAML_SIZE_MAX = 8 << 20,
    YAML_NODES_MAX = 1000 * 1000,
};

MUST_USE bool yaml_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err);

#endif
