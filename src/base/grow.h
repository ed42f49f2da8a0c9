/* Arrays that grow.
 *
 *     if (l->n == NAMES_MAX) return err_set(err, E_IO, "more than %d names", NAMES_MAX);
 *     GROW(l->names, l->n, l->cap, NAMES_MAX);
 *     l->names[l->n++] = name;
 *
 * The capacity is a size_t, 0 at first, and doubles. The caller checks the limit and reports it;
 * growing beyond it is a bug. The array is freed with free().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include "base/base.h"

enum {
    GROW_FIRST = 16,
    /* For arrays whose items are limited by the size of the text that they come from. */
    GROW_MAX = 1 << 28,
};

/* Makes room for item number n; `p` and `cap` are assigned to. */
#define GROW(p, n, cap, max)                                         \
    do {                                                             \
        if ((n) >= (cap))                                            \
            (p) = grow_array((p), (n), &(cap), sizeof(*(p)), (max)); \
    } while (0)

MUST_USE void *grow_array(void *p, size_t n, size_t *cap, size_t size, size_t max);

#endif
