/* FNV-1a, 64 bits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fnv.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t fnv_add(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        hash = (hash ^ (unsigned char)bytes.p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void fnv_hex(uint64_t hash, char hex[FNV_HEX])
{
    snprintf(hex, FNV_HEX, "%016" PRIx64, hash);
}
