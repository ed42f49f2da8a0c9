/* Searches for sequences of byte sets, 32 bytes at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/needle.h"

#include "base/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    GROUPS = 8,
    WEIGHT_ALL = 10000,
    FILTER_NS = 10, /* to compare a whole sequence */
    JUDGE_NS = 150, /* to match a line with a regular expression */
};

/* Frequency of bytes in source code and prose, per 10000, very roughly; 4 for all others. */
static const struct {
    const char *bytes;
    double weight;
} weights[] = {
    {" ", 1500},
    {"et", 600},
    {"rainso", 440},
    {"ldc", 270},
    {"\t\numph", 180},
    {"_fg,.()-", 130},
    {"b0=;/", 100},
    {"ywv1\"*", 75},
    {"kx2", 50},
    {"3456789:'{}[]<>&#", 35},
    {"ETSACRINOLDPM", 30},
    {"zjqFBGHUVWXYKJQZ+\\|!", 18},
};

static double byte_weight(unsigned byte)
{
    for (size_t i = 0; i < ARRAY_LEN(weights); i++)
        if (byte && strchr(weights[i].bytes, (int)byte))
            return weights[i].weight;
    return 4;
}

static double class_share(const struct needle_class *c)
{
    double sum = 0;
    for (unsigned b = 0; b < 256; b++)
        if (needle_class_has(c, b))
            sum += byte_weight(b);
    return MIN(sum / WEIGHT_ALL, 1.0);
}

/* Chooses the probe positions of one sequence: its rarest bytes. */
static size_t choose_places(const struct needle_run *run, size_t places[NEEDLE_PROBES])
{
    double share[NEEDLE_RUN_MAX];
    size_t n = MIN(run->n, (size_t)NEEDLE_PROBES);
    bool taken[NEEDLE_RUN_MAX] = {false};
    for (size_t i = 0; i < run->n; i++)
        share[i] = class_share(&run->at[i]);
    for (size_t k = 0; k < n; k++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < run->n; i++)
            if (!taken[i] && (best == SIZE_MAX || share[i] < share[best]))
                best = i;
        taken[best] = true;
    }
    size_t k = 0;
    for (size_t i = 0; i < run->n; i++)
        if (taken[i])
            places[k++] = i;
    return n;
}

/* Returns the start of the rarest stretch of n positions. */
static size_t choose_stretch(const struct needle_run *run, size_t n)
{
    size_t best = 0;
    double best_share = 2;
    for (size_t i = 0; i + n <= run->n; i++) {
        double share = 1;
        for (size_t k = 0; k < n; k++)
            share *= class_share(&run->at[i + k]);
        if (share < best_share) {
            best_share = share;
            best = i;
        }
    }
    return best;
}

static void choose_probes(struct needle *n)
{
    size_t places[NEEDLE_PROBES] = {0};
    if (n->set.n == 1) {
        n->probes = choose_places(&n->set.runs[0], places);
        n->base[0] = places[0];
        for (size_t k = 0; k < n->probes; k++)
            n->delta[k] = places[k] - places[0];
        return;
    }
    n->probes = NEEDLE_PROBES;
    for (size_t i = 0; i < n->set.n; i++)
        n->probes = MIN(n->probes, n->set.runs[i].n);
    for (size_t i = 0; i < n->set.n; i++)
        n->base[i] = choose_stretch(&n->set.runs[i], n->probes);
    for (size_t k = 0; k < n->probes; k++)
        n->delta[k] = k;
}

double needle_cost(const struct needle_set *set)
{
    double cost = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct needle_run *run = &set->runs[i];
        size_t places[NEEDLE_PROBES] = {0}, n = choose_places(run, places);
        double probed = run->n ? 1 : 1000, whole = probed;
        for (size_t k = 0; k < n; k++)
            probed *= class_share(&run->at[places[k]]);
        for (size_t k = 0; k < run->n; k++)
            whole *= class_share(&run->at[k]);
        cost += probed * FILTER_NS + whole * JUDGE_NS;
    }
    return cost;
}

static bool has_vectors(void)
{
    return CPU_HAS(AVX2);
}

void needle_init(struct needle *n, const struct needle_set *set)
{
    *n = (struct needle){.set = *set, .vectors = has_vectors()};
    choose_probes(n);
    for (size_t i = 0; i < set->n; i++)
        for (size_t k = 0; k < n->probes; k++)
            for (unsigned b = 0; b < 256; b++)
                if (needle_class_has(&set->runs[i].at[n->base[i] + n->delta[k]], b)) {
                    unsigned char group = (unsigned char)(1 << i % GROUPS);
                    n->groups[k][b] |= group;
                    n->low[k][b & 15] |= group;
                    n->high[k][b >> 4] |= group;
                }
    for (size_t k = n->probes; k < NEEDLE_PROBES; k++) { /* unused probes always match */
        memset(n->groups[k], 0xFF, sizeof(n->groups[k]));
        memset(n->low[k], 0xFF, sizeof(n->low[k]));
        memset(n->high[k], 0xFF, sizeof(n->high[k]));
    }
}

static bool run_is_at(const struct needle_run *run, const unsigned char *p)
{
    for (size_t i = 0; i < run->n; i++)
        if (!needle_class_has(&run->at[i], p[i]))
            return false;
    return true;
}

/* Whether a candidate at the first probe's position is a whole sequence. */
static bool whole_at(const struct needle *n, struct str text, size_t from, size_t at,
    unsigned groups, struct regex_match *ret)
{
    for (size_t i = 0; i < n->set.n; i++) {
        const struct needle_run *run = &n->set.runs[i];
        if (!(groups >> i % GROUPS & 1) || at < from + n->base[i])
            continue;
        size_t start = at - n->base[i];
        if (start + run->n > text.n || !run_is_at(run, (const unsigned char *)text.p + start))
            continue;
        *ret = (struct regex_match){start, start + run->n};
        return true;
    }
    return false;
}

static bool probe_bytes(
    const struct needle *n, struct str text, size_t from, size_t at, struct regex_match *ret)
{
    const unsigned char *p = (const unsigned char *)text.p;
    size_t last = n->delta[n->probes - 1];
    for (; at + last < text.n; at++) {
        unsigned groups = n->groups[0][p[at]] & n->groups[1][p[at + n->delta[1]]] &
                          n->groups[2][p[at + n->delta[2]]];
        if (groups && whole_at(n, text, from, at, groups, ret))
            return true;
    }
    return false;
}

#ifdef __x86_64__
#define VECTORS __attribute__((target("avx2")))
#define BLOCK   32

/* Returns for each of 32 bytes the groups whose probe allows it. */
VECTORS static inline __m256i needle_allowed(__m256i low, __m256i high, const char *p)
{
    const __m256i half = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i down = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)), _mm256_shuffle_epi8(high, down));
}

VECTORS static inline __m256i needle_load_table(const unsigned char t[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)t));
}

VECTORS static bool probe_vectors(
    const struct needle *n, struct str text, size_t from, struct regex_match *ret)
{
    const __m256i l0 = needle_load_table(n->low[0]), h0 = needle_load_table(n->high[0]);
    const __m256i l1 = needle_load_table(n->low[1]), h1 = needle_load_table(n->high[1]);
    const __m256i l2 = needle_load_table(n->low[2]), h2 = needle_load_table(n->high[2]);
    size_t d1 = n->delta[1], d2 = n->delta[2], last = n->delta[n->probes - 1], at = from;
    for (; at + last + BLOCK <= text.n; at += BLOCK) {
        const char *p = text.p + at;
        __m256i groups =
            _mm256_and_si256(needle_allowed(l0, h0, p), needle_allowed(l1, h1, p + d1));
        groups = _mm256_and_si256(groups, needle_allowed(l2, h2, p + d2));
        if (_mm256_testz_si256(groups, groups))
            continue;
        unsigned char each[BLOCK];
        _mm256_storeu_si256((__m256i *)(void *)each, groups);
        unsigned none =
            (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256()));
        for (unsigned left = ~none; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            if (whole_at(n, text, from, at + i, each[i], ret))
                return true;
        }
    }
    return probe_bytes(n, text, from, at, ret);
}

VECTORS static size_t count_vectors(struct str text, size_t *ret_at)
{
    const __m256i newline = _mm256_set1_epi8('\n'), zero = _mm256_setzero_si256();
    __m256i sum = zero;
    size_t at = 0;
    while (text.n - at >= BLOCK) {
        __m256i each = zero;
        for (int k = 0; k < 255 && text.n - at >= BLOCK; k++, at += BLOCK) {
            const void *p = text.p + at;
            each = _mm256_sub_epi8(each, _mm256_cmpeq_epi8(_mm256_loadu_si256(p), newline));
        }
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(each, zero));
    }
    uint64_t parts[4];
    _mm256_storeu_si256((__m256i *)(void *)parts, sum);
    *ret_at = at;
    return parts[0] + parts[1] + parts[2] + parts[3];
}
#endif

bool needle_find(const struct needle *n, struct str text, size_t from, struct regex_match *ret)
{
#ifdef __x86_64__
    if (n->vectors)
        return probe_vectors(n, text, from, ret);
#endif
    return probe_bytes(n, text, from, from, ret);
}

size_t needle_count_lines(struct str text)
{
    size_t at = 0, n = 0;
#ifdef __x86_64__
    if (text.n >= BLOCK && has_vectors())
        n = count_vectors(text, &at);
#endif
    for (; at < text.n; at++)
        n += text.p[at] == '\n';
    return n;
}

bool needle_is_ascii(struct str text)
{
    enum {
        WORDS = 8
    };
    size_t at = 0;
    for (; at + WORDS * sizeof(uint64_t) <= text.n; at += WORDS * sizeof(uint64_t)) {
        uint64_t words[WORDS], all = 0;
        memcpy(words, text.p + at, sizeof(words));
        for (size_t i = 0; i < WORDS; i++)
            all |= words[i];
        if (all & 0x8080808080808080u)
            return false;
    }
    for (; at < text.n; at++)
        if (text.p[at] & 0x80)
            return false;
    return true;
}
