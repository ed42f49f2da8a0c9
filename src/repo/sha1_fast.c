/* SHA-1 with the processor's SHA instructions: four rounds at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/sha1.h"

#include "base/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>

#define BY_SHA __attribute__((target("sha,ssse3,sse4.1")))

enum {
    GROUPS = 20, /* of four rounds */
};

/* The mixing function of a group is an immediate operand of the instruction. */
BY_SHA static __m128i four_rounds(int group, __m128i abcd, __m128i e)
{
    switch (group / 5) {
    case 0:
        return _mm_sha1rnds4_epu32(abcd, e, 0);
    case 1:
        return _mm_sha1rnds4_epu32(abcd, e, 1);
    case 2:
        return _mm_sha1rnds4_epu32(abcd, e, 2);
    default:
        return _mm_sha1rnds4_epu32(abcd, e, 3);
    }
}

/* w: the last four groups of words; each is an input for the one four later. */
BY_SHA static __m128i next_words(const __m128i w[4], int group)
{
    __m128i sum = _mm_sha1msg1_epu32(w[group % 4], w[(group + 1) % 4]);
    return _mm_sha1msg2_epu32(_mm_xor_si128(sum, w[(group + 2) % 4]), w[(group + 3) % 4]);
}

BY_SHA static void sha1_fast_add_block(__m128i *abcd, __m128i *e, const unsigned char *p)
{
    const __m128i swap = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    __m128i w[4], now = *abcd, before = *abcd;
    for (int i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), swap);
    __m128i with = _mm_add_epi32(*e, w[0]);
#pragma GCC unroll 20
    for (int group = 0; group < GROUPS; group++) {
        if (group >= 4)
            w[group % 4] = next_words(w, group);
        if (group > 0)
            with = _mm_sha1nexte_epu32(before, w[group % 4]);
        before = now;
        now = four_rounds(group, now, with);
    }
    *e = _mm_sha1nexte_epu32(before, *e);
    *abcd = _mm_add_epi32(*abcd, now);
}

BY_SHA static void sha1_fast_add_blocks(uint32_t h[5], const unsigned char *p, size_t n)
{
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0x1b);
    __m128i e = _mm_set_epi32((int)h[4], 0, 0, 0);
    for (; n; n--, p += SHA1_BLOCK)
        sha1_fast_add_block(&abcd, &e, p);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_shuffle_epi32(abcd, 0x1b));
    h[4] = (uint32_t)_mm_extract_epi32(e, 3);
}

bool sha1_blocks_fast(uint32_t h[5], const unsigned char *p, size_t n)
{
    if (!CPU_HAS(SHA) || !CPU_HAS(SSE4_1))
        return false;
    sha1_fast_add_blocks(h, p, n);
    return true;
}

#else

bool sha1_blocks_fast(uint32_t h[5], const unsigned char *p, size_t n)
{
    (void)h, (void)p, (void)n;
    return false;
}

#endif
