/* Runs of bytes and cells: the terminal's inner loops. The first three have a portable version,
 * which defines their semantics, and an equivalent one for SSE2. The _plain names are for tests.
 *
 *     size_t n = runs_ascii(bytes, end);
 *     runs_put(cells, bytes, n, template);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_RUNS_H
#define TERM_TERM_RUNS_H

#include "term/grid.h"

#include <stddef.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

static inline bool runs_is_string(uint8_t byte)
{
    return byte != 0x07 && byte != 0x18 && byte != 0x1A && byte != 0x1B;
}

static inline size_t runs_string_plain(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    while (p < end && runs_is_string(*p))
        p++;
    return (size_t)(p - start);
}

static inline size_t runs_ascii_plain(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    while (p < end && *p >= 0x20 && *p < 0x7F)
        p++;
    return (size_t)(p - start);
}

static inline void runs_put_plain(cell *cells, const uint8_t *bytes, size_t n, cell template)
{
    for (size_t i = 0; i < n; i++)
        cells[i] = template | bytes[i];
}

/* cells[i] = with. The C library's memcpy() is vectorized. */
static inline void runs_fill(cell *cells, size_t n, cell with)
{
    size_t done = MIN(n, (size_t)16);
    for (size_t i = 0; i < done; i++)
        cells[i] = with;
    for (; done < n; done *= 2)
        memcpy(cells + done, cells, MIN(done, n - done) * sizeof(cell));
}

#ifdef __SSE2__

/* Number of leading bytes that belong to a string. */
static inline size_t runs_string(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    const __m128i bel = _mm_set1_epi8(0x07), can = _mm_set1_epi8(0x18), sub = _mm_set1_epi8(0x1A),
                  esc = _mm_set1_epi8(0x1B);
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, bel), _mm_cmpeq_epi8(v, can)),
            _mm_or_si128(_mm_cmpeq_epi8(v, sub), _mm_cmpeq_epi8(v, esc)));
        int mask = _mm_movemask_epi8(hit);
        if (mask)
            return (size_t)(p - start) + (size_t)__builtin_ctz((unsigned)mask);
    }
    return (size_t)(p - start) + runs_string_plain(p, end);
}

/* Number of leading bytes that are printable ASCII. */
static inline size_t runs_ascii(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    const __m128i low = _mm_set1_epi8(0x1F), del = _mm_set1_epi8(0x7F);
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* As signed numbers, bytes from 0x80 up are also below 0x1F. */
        __m128i good = _mm_andnot_si128(_mm_cmpeq_epi8(v, del), _mm_cmpgt_epi8(v, low));
        unsigned mask = (unsigned)_mm_movemask_epi8(good);
        if (mask != 0xFFFF)
            return (size_t)(p - start) + (size_t)__builtin_ctz(~mask);
    }
    return (size_t)(p - start) + runs_ascii_plain(p, end);
}

/* cells[i] = template | bytes[i] */
static inline void runs_put(cell *cells, const uint8_t *bytes, size_t n, cell template)
{
    size_t i = 0;
    const __m128i zero = _mm_setzero_si128(), style = _mm_set1_epi64x((long long)template);
    for (; i + 8 <= n; i += 8) {
        __m128i b = _mm_loadl_epi64((const __m128i *)(const void *)(bytes + i));
        __m128i words = _mm_unpacklo_epi8(b, zero);
        __m128i low = _mm_unpacklo_epi16(words, zero), high = _mm_unpackhi_epi16(words, zero);
        __m128i *to = (__m128i *)(void *)(cells + i);
        _mm_storeu_si128(to, _mm_or_si128(_mm_unpacklo_epi32(low, zero), style));
        _mm_storeu_si128(to + 1, _mm_or_si128(_mm_unpackhi_epi32(low, zero), style));
        _mm_storeu_si128(to + 2, _mm_or_si128(_mm_unpacklo_epi32(high, zero), style));
        _mm_storeu_si128(to + 3, _mm_or_si128(_mm_unpackhi_epi32(high, zero), style));
    }
    runs_put_plain(cells + i, bytes + i, n - i, template);
}

#else

static inline size_t runs_string(const uint8_t *p, const uint8_t *end)
{
    return runs_string_plain(p, end);
}

static inline size_t runs_ascii(const uint8_t *p, const uint8_t *end)
{
    return runs_ascii_plain(p, end);
}

static inline void runs_put(cell *cells, const uint8_t *bytes, size_t n, cell template)
{
    runs_put_plain(cells, bytes, n, template);
}

#endif

#endif
