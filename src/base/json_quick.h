/* JSON that is plain, quickly.
 *
 *     json_t *tree = json_quick(text);
 *     if (!tree) ...the strict parser decides, and says what is wrong...
 *
 * The strict parser looks at each byte of a string several times; a patch of megabytes is one
 * string. What is taken here means the same there. What is rare (fractions, large numbers) or wrong
 * in any way is left to it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_QUICK_H
#define BASE_JSON_QUICK_H

#include "base/str.h"

#include <jansson.h>

/* The text is not nested deeper than JSON_DEPTH_MAX. A new tree, or NULL. */
json_t *json_quick(struct str text);

#endif
