/* SHA-1 as FIPS 180-4 has it. */
#include "box/sha1.h"

enum {
    BLOCK = 64,
    ROUNDS = 80,
};

struct state {
    uint32_t h[5];
    unsigned char block[BLOCK];
    size_t in_block;
    uint64_t total;
};

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20)
        return (b & c) | (~b & d);
    if (round >= 40 && round < 60)
        return (b & c) | (b & d) | (c & d);
    return b ^ c ^ d;
}

static void add_block(struct state *s, const unsigned char *p)
{
    static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[ROUNDS];
    uint32_t a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < ROUNDS; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + constants[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
}

static void add(struct state *s, struct str bytes)
{
    s->total += bytes.n;
    while (bytes.n) {
        if (s->in_block == 0 && bytes.n >= BLOCK) {
            add_block(s, (const unsigned char *)bytes.p);
            bytes = str_skip(bytes, BLOCK);
            continue;
        }
        size_t n = MIN(bytes.n, BLOCK - s->in_block);
        memcpy(s->block + s->in_block, bytes.p, n);
        s->in_block += n;
        bytes = str_skip(bytes, n);
        if (s->in_block == BLOCK) {
            add_block(s, s->block);
            s->in_block = 0;
        }
    }
}

static void finish(struct state *s, char hex[SHA1_HEX])
{
    uint64_t bits = s->total * 8;
    char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (char)(bits >> (56 - 8 * i));
    add(s, str_n("\x80", 1));
    while (s->in_block != BLOCK - 8)
        add(s, str_n("\0", 1));
    add(s, str_n(length, sizeof(length)));
    for (int i = 0; i < 5; i++)
        snprintf(hex + 8 * i, 9, "%08x", s->h[i]);
}

void sha1_blob(struct str content, char hex[SHA1_HEX])
{
    struct state s = {.h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
    char head[32];
    int n = snprintf(head, sizeof(head), "blob %zu", content.n);
    add(&s, str_n(head, (size_t)n + 1));
    add(&s, content);
    finish(&s, hex);
}
