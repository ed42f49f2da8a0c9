/* Growing arrays. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"

void *grow_array(void *p, size_t n, size_t *cap, size_t size, size_t max)
{
    BUG_ON(n > *cap || n >= max || max > SIZE_MAX / 2 / size);
    *cap = MIN(MAX(2 * *cap, (size_t)GROW_FIRST), max);
    return base_realloc(p, *cap * size);
}
