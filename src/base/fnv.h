/* FNV-1a, 64 bits: checksums of artifacts and short suffixes. Not for anything where an attacker
 * could profit from a collision. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include "base/str.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)

/* Continues a hash with more bytes: fnv_add(FNV_START, whole) is the hash of the whole. */
uint64_t fnv_add(uint64_t hash, struct str bytes);

enum {
    FNV_HEX = 17,
};

/* 16 lower-case hex digits and NUL. */
void fnv_hex(uint64_t hash, char hex[FNV_HEX]);

#endif
