/* Base64 encoding and validation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *b, struct str bytes)
{
    const unsigned char *in = (const unsigned char *)bytes.p;
    size_t n = (bytes.n + 2) / 3 * 4;
    char *out = buf_reserve(b, n);
    if (!out)
        return;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t word = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                        (left > 2 ? in[i + 2] : 0);
        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[word & 63] : '=';
    }
    buf_grown(b, n);
}

static bool base64_is_digit(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

bool base64_size(struct str text, size_t *ret_n)
{
    size_t pad = str_ends_with(text, STR("==")) ? 2 : str_ends_with(text, STR("=")) ? 1 : 0;
    if (text.n % 4 != 0)
        return false;
    for (size_t i = 0; i < text.n - pad; i++)
        if (!base64_is_digit(text.p[i]))
            return false;
    *ret_n = text.n / 4 * 3 - pad;
    return true;
}
