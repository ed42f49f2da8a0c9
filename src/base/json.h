/* JSON: strict reading, byte-stable writing. The tree is jansson's json_t.
 *
 *     AUTO_JSON json_t *tree = NULL;
 *     if (!json_parse(text, "policy.json", E_CONFIG, &tree, err)) return false;
 *     json_add_pretty(&out, tree);
 *
 * Running out of memory is a BUG here as everywhere, so what builds a tree can't fail.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>

enum {
    JSON_DEPTH_MAX = 256, /* objects and lists in each other */
    JSON_SIZE_MAX = 64 << 20,
    JSON_VALUES_MAX = 1 << 20,
};

#define AUTO_JSON AUTO(json_decrefp)

/* One value and nothing after it; no duplicate keys, no NUL. Errors say name:line:column. */
MUST_USE bool json_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err);

/* Whether a text keeps to these limits; json_parse() has those above. For what is to become part of
 * something else that must be read again. */
bool json_within(struct str text, size_t depth, size_t values);

/* Append on one line without blanks; on many lines with two blanks per level. Keys stay in the
 * order in which they were put. Whatever does not just show itself is escaped: control
 * characters, C1 and DEL, which terminals obey, bidirectional overrides. No newline at the end. */
void json_add_compact(struct buf *b, const json_t *tree);
void json_add_pretty(struct buf *b, const json_t *tree);

/* One string with its quotes; invalid UTF-8 becomes U+FFFD. */
void json_add_text(struct buf *b, struct str bytes);

/* A string from any bytes: invalid UTF-8 becomes U+FFFD, and so does NUL, which no reader takes. */
MUST_USE json_t *json_text(struct str bytes);

/* The text of a string, which the tree owns; "no value" for anything else. */
struct str json_str(const json_t *string);
/* That of a member; empty if there is none. */
struct str json_member(const json_t *object, const char *key);

/* Put a value under a key, or at the end of a list; the value is handed over. */
void json_put(json_t *object, const char *key, json_t *value);
void json_push(json_t *list, json_t *value);

/* Hands the tree over to the caller; the variable is NULL after. */
MUST_USE json_t *json_take(json_t **tree);

/* What a value is, for people: "an object", "a list", "a string", "an integer", ... */
const char *json_kind(const json_t *value);

/* {"code": "E_IO", "message": "...", "context": {...}} */
MUST_USE json_t *err_to_json(const struct err *err);

#endif
