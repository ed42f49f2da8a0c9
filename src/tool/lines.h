/* Index of the lines of a text: four bytes per line, so that large files stay affordable.
 *
 *     AUTO_LINES struct lines l = {0};
 *     if (!lines_split(text, LINES_ANY_END, "main.c", &l, err)) return false;
 *     lines_text(&l, 0)        the first without its line break
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
    LINES_LF,      /* as in diff and git: a CR belongs to the line */
    LINES_ANY_END, /* LF, CRLF, or CR alone */
};

struct lines {
    struct str text;
    uint32_t *at; /* offset of each line; at[n] is the end of the text */
    size_t n;
    enum lines_ends ends;
};

#define AUTO_LINES AUTO(lines_done)

/* The text must outlive the result. The name is for the error message. */
MUST_USE bool lines_split(struct str text, enum lines_ends ends, const char *name,
    struct lines *ret_lines, struct err *err);
void lines_done(struct lines *l);

static inline struct str lines_whole(const struct lines *l, size_t i)
{
    return str_n(l->text.p + l->at[i], l->at[i + 1] - l->at[i]);
}

struct str lines_end(const struct lines *l, size_t i); /* "" if the last line has no line break */
struct str lines_text(const struct lines *l, size_t i);

/* Lines i to j - 1, with line breaks. */
static inline struct str lines_range(const struct lines *l, size_t i, size_t j)
{
    return str_n(l->text.p + l->at[i], l->at[j] - l->at[i]);
}

#endif
