/* Arena allocator: many small allocations, freed together.
 *
 *     AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
 *     struct entry *e = ARENA_NEW(&a, struct entry, n);
 *     char *name = arena_strdup(&a, slice);
 *
 * All memory is zeroed. The maximum guards against runaway callers. A caller whose input decides
 * how much is allocated must check arena_left() first: exceeding the maximum is a BUG.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used; /* bytes allocated from the system */
    size_t max;
};

#define ARENA_INIT(maximum) ((struct arena){.max = (maximum)})
#define AUTO_ARENA          AUTO(arena_done)

void arena_done(struct arena *a);

/* Zeroed memory, aligned for any object. */
MUST_USE void *arena_alloc(struct arena *a, size_t size);
MUST_USE void *arena_array(struct arena *a, size_t count, size_t size);
#define ARENA_NEW(a, type, count) ((type *)arena_array((a), (count), sizeof(type)))

/* Makes room for item number n of an array in the arena, whose size is the limit: the capacity
 * doubles, and the old array stays in the arena. `p` and `cap` (a size_t, 0 at first) are assigned
 * to. */
#define ARENA_GROW(a, p, n, cap)                                   \
    do {                                                           \
        if ((n) >= (cap))                                          \
            (p) = arena_grow((a), (p), (n), &(cap), sizeof(*(p))); \
    } while (0)
MUST_USE void *arena_grow(struct arena *a, const void *p, size_t n, size_t *cap, size_t size);

/* Largest size that a single allocation may still request. */
size_t arena_left(const struct arena *a);

/* Copies, NUL-terminated. */
MUST_USE char *arena_strdup(struct arena *a, struct str s);
MUST_USE struct str arena_str(struct arena *a, struct str s);
MUST_USE char *arena_printf(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
