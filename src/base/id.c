/* Random ids. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

void id_random(void *bytes, size_t n)
{
    char *at = bytes;
    while (n) {
        ssize_t got = getrandom(at, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        BUG_ON(got <= 0);
        at += got;
        n -= (size_t)got;
    }
}

void id_new(char id[ID_SIZE])
{
    unsigned char b[16];
    id_random(b, sizeof(b));
    b[6] = (unsigned char)(0x40 | (b[6] & 0x0F)); /* version 4 */
    b[8] = (unsigned char)(0x80 | (b[8] & 0x3F)); /* variant 1 */
    size_t n = 0;
    for (size_t i = 0; i < sizeof(b); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            id[n++] = '-';
        n += (size_t)snprintf(id + n, ID_SIZE - n, "%02x", b[i]);
    }
    BUG_ON(n != ID_SIZE - 1);
}

static bool id_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool id_valid(struct str s)
{
    if (s.n != ID_SIZE - 1)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.p[i] != '-' : !id_is_hex(s.p[i]))
            return false;
    }
    return true;
}
