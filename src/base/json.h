/* JSON: strict reading, byte-stable writing. The tree is jansson's json_t.
 *
 *     AUTO_JSON json_t *tree = NULL;
 *     if (!json_parse(text, "policy.json", E_CONFIG, &tree, err)) return false;
 *     json_add_pretty(&out, tree);
 *
 * Running out of memory is a BUG here as everywhere, so functions that build a tree can't fail.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>

enum {
    JSON_DEPTH_MAX = 256, /* nesting depth of objects and lists */
    JSON_SIZE_MAX = 64 << 20,
    JSON_VALUES_MAX = 1 << 20,
};

#define AUTO_JSON AUTO(json_decrefp)

/* One value and nothing after it; no duplicate keys, no NUL. Errors give name:line:column. */
MUST_USE bool json_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err);

/* Whether a text keeps to these limits; json_parse() uses the ones above. For text that is to be
 * embedded in a document that must be parsed again. */
bool json_within(struct str text, size_t depth, size_t values);

/* Append on one line without whitespace, or on many lines with two spaces per level. Keys keep
 * their insertion order. Characters that don't simply display are escaped: control characters, C1
 * and DEL (which terminals interpret), bidirectional overrides. No newline at the end. */
void json_add_compact(struct buf *b, const json_t *tree);
void json_add_pretty(struct buf *b, const json_t *tree);

/* Appends one quoted string; invalid UTF-8 becomes U+FFFD. */
void json_add_text(struct buf *b, struct str bytes);

/* A string from any bytes: invalid UTF-8 becomes U+FFFD, and so does NUL, which readers reject. */
MUST_USE json_t *json_text(struct str bytes);
MUST_USE json_t *json_text_or_null(const char *text); /* null for NULL */

/* The text of a string, owned by the tree; "no value" for any other type. */
struct str json_str(const json_t *string);
/* The text of a string member; empty if it is missing. */
struct str json_member(const json_t *object, const char *key);

/* Put a value under a key, or at the end of a list; ownership of the value is transferred. */
void json_put(json_t *object, const char *key, json_t *value);
void json_push(json_t *list, json_t *value);

/* Transfers the tree to the caller; the variable is NULL afterwards. */
MUST_USE json_t *json_take(json_t **tree);

/* The type of a value for messages: "an object", "a list", "a string", "an integer", ... */
const char *json_kind(const json_t *value);

/* {"code": "E_IO", "message": "...", "context": {...}} */
MUST_USE json_t *err_to_json(const struct err *err);

#endif
