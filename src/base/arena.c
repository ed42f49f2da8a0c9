/* Arenas: a list of blocks, each filled from its start. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/grow.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    BLOCK_SIZE = 64 * 1024,
    FIRST_BLOCK_SIZE = 4 * 1024,
    ALIGN = alignof(max_align_t),
};

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char data[];
};

void arena_done(struct arena *a)
{
    struct arena_block *block = a->head;
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    a->head = NULL;
    a->used = 0;
}

/* Usable size of one more block. */
static size_t arena_block_left(const struct arena *a)
{
    size_t taken = a->used + sizeof(struct arena_block) + ALIGN;
    return taken < a->max ? a->max - taken : 0;
}

size_t arena_left(const struct arena *a)
{
    size_t in_head = a->head ? a->head->size - a->head->used : 0;
    size_t in_block = arena_block_left(a);
    return MAX(in_head, in_block) / ALIGN * ALIGN;
}

static void arena_add_block(struct arena *a, size_t at_least)
{
    size_t size = a->head ? BLOCK_SIZE : FIRST_BLOCK_SIZE;
    size = MAX(size, at_least);
    size = MAX(MIN(size, arena_block_left(a)), at_least);
    BUG_ON(size > arena_block_left(a));
    struct arena_block *block = base_alloc(sizeof(*block) + size);
    block->size = size;
    block->next = a->head;
    a->head = block;
    a->used += sizeof(*block) + size;
}

void *arena_alloc(struct arena *a, size_t size)
{
    BUG_ON(size > SIZE_MAX / 2);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->head || a->head->size - a->head->used < size)
        arena_add_block(a, size);
    void *p = a->head->data + a->head->used;
    a->head->used += size;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;
    BUG_ON(__builtin_mul_overflow(count, size, &total));
    return arena_alloc(a, total);
}

void *arena_grow(struct arena *a, const void *p, size_t n, size_t *cap, size_t size)
{
    BUG_ON(n > *cap);
    *cap = MAX(2 * *cap, (size_t)GROW_FIRST);
    void *more = arena_array(a, *cap, size);
    if (n)
        memcpy(more, p, n * size);
    return more;
}

char *arena_strdup(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    return str_n(arena_strdup(a, s), s.n);
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    BUG_ON(n < 0);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}
