/* SHA-1, because git names contents by it: a patch of binary files must say both names, and an
 * index ends in one. Not for anything that has to withstand an enemy.
 *
 *     char name[SHA1_HEX];
 *     sha1_blob(content, name);       what `git hash-object` prints
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SHA1_H
#define REPO_SHA1_H

#include "base/str.h"

enum {
    SHA1_BYTES = 20,
    SHA1_HEX = 41, /* 40 hex digits and NUL */
    SHA1_BLOCK = 64,
};

void sha1_blob(struct str content, char hex[SHA1_HEX]);
void sha1_of(struct str bytes, unsigned char hash[SHA1_BYTES]);

/* Whole blocks. */
void sha1_blocks_plain(uint32_t h[5], const unsigned char *p, size_t n);
/* The same by the processor's own instructions; false: it has none. */
bool sha1_blocks_fast(uint32_t h[5], const unsigned char *p, size_t n);

#endif
