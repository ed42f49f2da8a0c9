/* Index of the lines of a text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/lines.h"

#include "base/grow.h"

/* Returns the end of the line that starts at `from`. Caches the next LF: in a text with only CRs,
 * searching for it from each line would be quadratic. */
static size_t lines_find_end(struct str text, size_t from, enum lines_ends ends, size_t *next_lf)
{
    if (*next_lf <= from) {
        ptrdiff_t at = str_find(str_skip(text, from), '\n');
        *next_lf = at < 0 ? text.n : from + (size_t)at + 1;
    }
    if (ends == LINES_LF)
        return *next_lf;
    const char *cr = memchr(text.p + from, '\r', *next_lf - from);
    size_t end = cr ? (size_t)(cr - text.p) + 1 : *next_lf;
    return end + 1 == *next_lf && text.p[end] == '\n' ? *next_lf : end;
}

bool lines_split(struct str text, enum lines_ends ends, const char *name, struct lines *ret_lines,
    struct err *err)
{
    BUG_ON(text.n > UINT32_MAX);
    struct lines l = {.text = text, .ends = ends};
    size_t cap = 64 + text.n / 32, next_lf = 0;
    l.at = base_alloc(cap * sizeof(*l.at));
    l.at[0] = 0;
    while (l.at[l.n] < text.n) {
        if (l.n == LINES_MAX) {
            lines_done(&l);
            return err_set(err, E_PATCH_APPLY, "'%s' has more than %d lines", name, LINES_MAX);
        }
        GROW(l.at, l.n + 1, cap, (size_t)LINES_MAX + 2);
        l.at[l.n + 1] = (uint32_t)lines_find_end(text, l.at[l.n], ends, &next_lf);
        l.n++;
    }
    *ret_lines = l;
    return true;
}

void lines_done(struct lines *l)
{
    free(l->at);
    *l = (struct lines){0};
}

struct str lines_end(const struct lines *l, size_t i)
{
    struct str line = lines_whole(l, i);
    size_t n = 0;
    bool lf = str_ends_with(line, STR("\n"));
    if (lf)
        n = l->ends == LINES_ANY_END && str_ends_with(line, STR("\r\n")) ? 2 : 1;
    else if (l->ends == LINES_ANY_END && str_ends_with(line, STR("\r")))
        n = 1;
    return str_skip(line, line.n - n);
}

struct str lines_text(const struct lines *l, size_t i)
{
    struct str line = lines_whole(l, i);
    return str_head(line, line.n - lines_end(l, i).n);
}
