/* Masks API keys in data that is about to be written.
 *
 *     mask_add(&mask, key);
 *     AUTO_JSON json_t *clean = mask_tree(&mask, message);
 *
 * Each occurrence of a key in a string or in a member name becomes [masked], both verbatim and in
 * JSON-escaped form. Keys shorter than 8 bytes are ignored: they would match ordinary text.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MASK_H
#define BASE_MASK_H

#include "base/json.h"

enum {
    MASK_KEY_MIN = 8,
    MASK_KEY_MAX = 4096,
};

struct mask {
    char **forms; /* of all keys added so far: old ones may still occur in stored texts */
    size_t n, cap;
};

void mask_done(struct mask *m);                /* accepts a zeroed one */
void mask_add(struct mask *m, struct str key); /* no value: none */

/* Returns a new reference: the tree itself, or a copy with the keys masked. */
MUST_USE json_t *mask_tree(const struct mask *m, const json_t *tree);
/* Appends a text with the keys masked. */
void mask_add_text(const struct mask *m, struct str text, struct buf *out);
/* The same for a text that comes in parts. Bytes at the end that may begin a key are not appended:
 * returns how many, and the caller must put them before the next part. */
MUST_USE size_t mask_add_part(const struct mask *m, struct str text, struct buf *out);
/* Masks an error's message and context, including a key that was truncated with "...". */
void mask_err(const struct mask *m, struct err *err);

#endif
