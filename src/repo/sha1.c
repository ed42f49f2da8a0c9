/* SHA-1 as specified in FIPS 180-4. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/sha1.h"

enum {
    BLOCK = SHA1_BLOCK,
    ROUNDS = 80,
};

struct sha1_state {
    uint32_t h[5];
    unsigned char block[BLOCK];
    size_t in_block;
    uint64_t total;
};

static uint32_t sha1_rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

/* Processes one block, in four times twenty rounds that differ in their mixing function. */
static void sha1_add_block(uint32_t h[5], const unsigned char *p)
{
    uint32_t w[ROUNDS], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < ROUNDS; i++)
        w[i] = sha1_rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
#define TWENTY(first, mixed, constant)                                       \
    for (int i = (first); i < (first) + 20; i++) {                           \
        uint32_t next = sha1_rotate(a, 5) + (mixed) + e + (constant) + w[i]; \
        e = d, d = c, c = sha1_rotate(b, 30), b = a, a = next;               \
    }
    TWENTY(0, d ^ (b & (c ^ d)), 0x5a827999)
    TWENTY(20, b ^ c ^ d, 0x6ed9eba1)
    TWENTY(40, (b & c) | (d & (b | c)), 0x8f1bbcdc)
    TWENTY(60, b ^ c ^ d, 0xca62c1d6)
#undef TWENTY
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1_blocks_plain(uint32_t h[5], const unsigned char *p, size_t n)
{
    for (; n; n--, p += BLOCK)
        sha1_add_block(h, p);
}

static void sha1_add_blocks(uint32_t h[5], const unsigned char *p, size_t n)
{
    if (!sha1_blocks_fast(h, p, n))
        sha1_blocks_plain(h, p, n);
}

static void sha1_add(struct sha1_state *s, struct str bytes)
{
    s->total += bytes.n;
    while (bytes.n) {
        if (s->in_block == 0 && bytes.n >= BLOCK) {
            size_t whole = bytes.n / BLOCK;
            sha1_add_blocks(s->h, (const unsigned char *)bytes.p, whole);
            bytes = str_skip(bytes, whole * BLOCK);
            continue;
        }
        size_t n = MIN(bytes.n, BLOCK - s->in_block);
        memcpy(s->block + s->in_block, bytes.p, n);
        s->in_block += n;
        bytes = str_skip(bytes, n);
        if (s->in_block == BLOCK) {
            sha1_add_blocks(s->h, s->block, 1);
            s->in_block = 0;
        }
    }
}

static void sha1_finish(struct sha1_state *s, unsigned char hash[SHA1_BYTES])
{
    uint64_t bits = s->total * 8;
    char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (char)(bits >> (56 - 8 * i));
    sha1_add(s, str_n("\x80", 1));
    while (s->in_block != BLOCK - 8)
        sha1_add(s, str_n("\0", 1));
    sha1_add(s, str_n(length, sizeof(length)));
    for (size_t i = 0; i < SHA1_BYTES; i++)
        hash[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

static struct sha1_state sha1_start(void)
{
    return (struct sha1_state){.h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
}

void sha1_hash(struct str bytes, unsigned char hash[SHA1_BYTES])
{
    struct sha1_state s = sha1_start();
    sha1_add(&s, bytes);
    sha1_finish(&s, hash);
}

void sha1_blob(struct str content, char hex[SHA1_HEX])
{
    struct sha1_state s = sha1_start();
    unsigned char hash[SHA1_BYTES];
    char head[32];
    int n = snprintf(head, sizeof(head), "blob %zu", content.n);
    sha1_add(&s, str_n(head, (size_t)n + 1));
    sha1_add(&s, content);
    sha1_finish(&s, hash);
    for (size_t i = 0; i < SHA1_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
}
