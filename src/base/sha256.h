/* SHA-256 (FIPS 180-4): collision-resistant names for contents.
 *
 *     struct sha256 hash;
 *     char hex[SHA256_HEX];
 *     sha256_init(&hash);
 *     sha256_add(&hash, bytes);
 *     sha256_hex(&hash, hex);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/str.h"

enum {
    SHA256_BLOCK = 64,
    SHA256_HEX = 65, /* 64 lower-case hex digits and NUL */
};

struct sha256 {
    uint32_t h[8];
    unsigned char block[SHA256_BLOCK];
    size_t in_block;
    uint64_t total;
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, struct str bytes);

/* Finishes the hash; the state must not be used afterwards. */
void sha256_hex(struct sha256 *s, char hex[SHA256_HEX]);

/* The hash of a whole text. */
void sha256_text(struct str bytes, char hex[SHA256_HEX]);

#endif
