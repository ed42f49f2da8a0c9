/* The lines of a text, found once: four bytes each, so that a large file stays affordable.
 *
 *     AUTO_LINES struct lines l = {0};
 *     if (!lines_split(text, LINES_ANY_END, "main.c", &l, err)) return false;
 *     lines_text(&l, 0)        the first without its end
 *     lines_whole(&l, 0)       ...and with it
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_LINES_H
#define TOOL_LINES_H

#include "base/err.h"

enum {
    LINES_MAX = 16 << 20,
};

enum lines_ends {
    LINES_LF,      /* as diff and git see it: a CR belongs to the line */
    LINES_ANY_END, /* LF, CRLF, or CR alone */
};

struct lines {
    struct str text;
    uint32_t *at; /* where each begins; at[n] is the text's end */
    size_t n;
    enum lines_ends ends;
};

#define AUTO_LINES AUTO(lines_done)

/* The text must stay. The name is for the message that there are too many. */
MUST_USE bool lines_split(struct str text, enum lines_ends ends, const char *name,
    struct lines *ret_lines, struct err *err);
void lines_done(struct lines *l);

static inline struct str lines_whole(const struct lines *l, size_t i)
{
    return str_n(l->text.p + l->at[i], l->at[i + 1] - l->at[i]);
}

struct str lines_end(const struct lines *l, size_t i); /* "" if the last has none */
struct str lines_text(const struct lines *l, size_t i);

/* Lines i up to j, whole. */
static inline struct str lines_range(const struct lines *l, size_t i, size_t j)
{
    return str_n(l->text.p + l->at[i], l->at[j] - l->at[i]);
}

#endif
