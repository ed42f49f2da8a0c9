/* Base64 with the standard alphabet and padding.
 *
 *     base64_add(&b, bytes);
 *     if (!base64_size(text, &n)) ...      not base64
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

void base64_add(struct buf *b, struct str bytes);

/* Decoded size. Returns false on invalid base64: other characters, whitespace, missing padding. */
bool base64_size(struct str text, size_t *ret_n);

#endif
