/* Searches and joins lists of directories. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/dir_list.h"

#include "path/lexical.h"

bool dir_list_holds(const struct str_list *dirs, struct str path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (lexical_is_below(dirs->p[i], path))
            return true;
    return false;
}

struct str_list dir_list_join(struct arena *arena, struct str_list one, struct str_list two)
{
    struct str_list both = {ARENA_NEW(arena, struct str, one.n + two.n + 1), one.n + two.n};
    if (one.n)
        memcpy(both.p, one.p, one.n * sizeof(*one.p));
    if (two.n)
        memcpy(both.p + one.n, two.p, two.n * sizeof(*two.p));
    return both;
}

void dir_list_append(struct buf *search_path, struct str dir)
{
    struct str one, rest = buf_str(search_path);
    while (str_cut(rest, ':', &one, &rest))
        if (str_eq(one, dir))
            return;
    if (search_path->n)
        buf_add_byte(search_path, ':');
    buf_add_str(search_path, dir);
}
