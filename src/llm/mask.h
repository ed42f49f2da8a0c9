/* Keys in use, taken out of what is about to be written.
 *
 *     mask_add(&mask, key);
 *     AUTO_JSON json_t *clean = mask_tree(&mask, message);
 *
 * Each place where a key stands in a string or in the name of a member becomes [masked]: as it is,
 * and as JSON within the string would have it. A key of less than 8 bytes is let be: it would take
 * half the text with it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_MASK_H
#define LLM_MASK_H

#include "base/json.h"

enum {
    MASK_KEY_MIN = 8,
    MASK_KEY_MAX = 4096,
    MASK_FORMS_MAX = 64,
};

struct mask {
    char *forms[MASK_FORMS_MAX];
    size_t n;
};

void mask_done(struct mask *m);                /* accepts a zeroed one */
void mask_add(struct mask *m, struct str key); /* no value: none */

/* The same tree, or a copy without the keys: a new reference. */
MUST_USE json_t *mask_tree(const struct mask *m, const json_t *tree);
/* Appends a text without the keys. */
void mask_add_text(const struct mask *m, struct str text, struct buf *out);
/* The same for a text that comes in parts. Bytes at the end that may be the start of a key are left
 * out: says how many, and they must stand before the next part. */
MUST_USE size_t mask_add_part(const struct mask *m, struct str text, struct buf *out);
/* An error's words, also what is left of a key before the dots where they were cut. */
void mask_err(const struct mask *m, struct err *err);

#endif
