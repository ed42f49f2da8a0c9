/* Broken invariants and allocation that can't fail. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

void base_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "cordon: bug at %s:%d: %s\n", file, line, what);
    abort();
}

void *base_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    BUG_ON(!p);
    return p;
}

void *base_realloc(void *p, size_t size)
{
    void *grown = realloc(p, size ? size : 1);
    BUG_ON(!grown);
    return grown;
}
