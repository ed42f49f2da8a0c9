/* Scans JSON strings eight bytes at a time: texts are long, and most of their bytes need no escape.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/base.h"

#define JSON_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of each zero byte (only the lowest one is exact, which is enough to test for
 * none). */
static inline uint64_t json_zero_bytes(uint64_t x)
{
    return (x - JSON_EACH_BYTE(1)) & ~x & JSON_EACH_BYTE(0x80);
}

/* Whether the eight bytes contain a quote, a backslash or a control character. */
static inline bool json_has_special(uint64_t x)
{
    uint64_t control = (x - JSON_EACH_BYTE(0x20)) & ~x & JSON_EACH_BYTE(0x80);
    return (json_zero_bytes(x ^ JSON_EACH_BYTE('"')) | json_zero_bytes(x ^ JSON_EACH_BYTE('\\')) |
               control) != 0;
}

/* The first such byte from p on, or end. */
static inline const char *json_plain_end(const char *p, const char *end)
{
    uint64_t word;
    while (end - p >= (ptrdiff_t)sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        if (json_has_special(word))
            break;
        p += sizeof(word);
    }
    while (p < end && (unsigned char)*p >= ' ' && *p != '"' && *p != '\\')
        p++;
    return p;
}

#endif
