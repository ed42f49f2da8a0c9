/* Follows the symlinks of a path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/through.h"

#include "path/lexical.h"

#include <limits.h>

enum {
    THROUGH_LINKS_MAX = 40,
};

static bool through_is_in(const struct str_list *dirs, struct str path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (lexical_is_below(dirs->p[i], path))
            return true;
    return false;
}

/* Appends a name to `dir`, which has no symlinks. */
static struct str through_step(struct arena *a, struct str dir, struct str name)
{
    ptrdiff_t slash = str_find_last(dir, '/');
    if (str_is(name, ".."))
        return slash <= 0 ? STR("/") : arena_str(a, str_head(dir, (size_t)slash));
    return str_z(
        arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(str_trim_end(dir, '/')), STR_ARG(name)));
}

bool through_dirs(struct str path, const struct str_list *dirs, struct arena *arena)
{
    char target[PATH_MAX];
    struct str at = STR("/"), rest = path, name;
    if (dirs->n == 0)
        return false;
    for (int links = 0; str_cut(rest, '/', &name, &rest);) {
        if (name.n == 0 || str_is(name, "."))
            continue;
        struct str next = through_step(arena, at, name);
        ssize_t n = readlink(next.p, target, sizeof(target) - 1);
        if (n < 0) {
            at = next;
            continue;
        }
        if (through_is_in(dirs, at) || ++links > THROUGH_LINKS_MAX)
            return true;
        rest = str_z(arena_printf(arena, "%.*s/" STR_FMT, (int)n, target, STR_ARG(rest)));
        at = target[0] == '/' ? STR("/") : at;
    }
    return through_is_in(dirs, at);
}
