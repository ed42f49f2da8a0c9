/* File names in JSON. JSON is UTF-8, names are bytes: a name that is not UTF-8 is written with
 * U+FFFD, and the object's "inexact" then has the exact bytes, caret-encoded, under the same place.
 *
 *     exact_put(object, "path", path);          {"path": "a\uFFFD", "inexact": {"path": "a^xFF"}}
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_EXACT_H
#define PATH_EXACT_H

#include "base/json.h"

/* Sets object[key]. */
void exact_put(json_t *object, const char *key, struct str bytes);

/* Appends to the list object[key]; its place in "inexact" is key[index]. */
void exact_push(json_t *object, const char *key, struct str bytes);

#endif
