/* Lines of styled text, safe by construction: whatever a model or a program says, what is in here
 * is characters of a known width and nothing else.
 *
 *     struct text t = TEXT_INIT;
 *     text_add(&t, STR("said: "), NULL);
 *     text_add(&t, bytes_of_a_stranger, &style);        a newline in them ends the line
 *     text_end(&t);
 *     text_wrap(&rows, &t, 0, &(struct text_wrap){.width = 40});
 *     text_done(&t);
 *
 * Controls, bytes that are no UTF-8 and what turns the direction of text are shown as \x1B or
 * \u{202E}; a mark without a letter as U+FFFD. A tab is spaces. All of it takes linear time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include "base/buf.h"
#include "term/link.h"
#include "term/style.h"

enum {
    TEXT_MAX = 64 << 20, /* bytes; what would be more is left out */
    TEXT_TAB = 4,
    TEXT_KEPT = 256 << 10, /* bytes of memory that a text without lines may keep */
};

/* Bytes of a line in one style. `style.link` is a number for text_uri(). */
struct text_span {
    size_t at, n;
    struct style style;
};

struct text_line {
    size_t first, n; /* spans */
    size_t width;    /* columns */
};

struct text {
    struct buf bytes;
    struct text_span *spans;
    struct text_line *lines;
    size_t n; /* lines that are ended */
    size_t lines_cap, n_spans, spans_cap;
    struct text_line open; /* the line that is being written */
    struct link_table links;
};

#define TEXT_INIT ((struct text){.bytes = BUF_INIT(TEXT_MAX), .links = {.n = 1}})
#define AUTO_TEXT AUTO(text_done)

void text_done(struct text *t);
void text_reset(struct text *t); /* no lines; keeps memory, unless it is much */

/* At the end of the line that is being written. NULL: no style. */
void text_add(struct text *t, struct str bytes, const struct style *style);
void text_add_z(struct text *t, const char *z, const struct style *style);
void text_spaces(struct text *t, size_t n, const struct style *style);
void text_end(struct text *t);

/* A number for a style's link; 0 for what must not be one: only http, https and mailto, without
 * anything that is not printable ASCII. */
uint32_t text_link(struct text *t, struct str uri);
struct str text_uri(const struct text *t, uint32_t link);

struct str text_bytes(const struct text *t, const struct text_span *span);
const struct text_span *text_spans(const struct text *t, size_t line);

/* A line of another text, ended too; and what may follow it on the same line. */
void text_copy(struct text *to, const struct text *from, size_t line);
void text_append(struct text *to, const struct text *from, size_t line);

/* From the start of `line`'s column `from` on, at most `width` columns of it. */
void text_cut(struct text *to, const struct text *from, size_t line, size_t column, size_t width);

struct text_wrap {
    unsigned width;
    bool letters;              /* anywhere, with all blanks: code. Else between words */
    const struct text *prefix; /* line 0 is before the first row, line 1 before the others. NULL:
                                  none; left out if it takes most of the width */
};

/* A line as rows of at most that width, at least one. */
void text_wrap(struct text *to, const struct text *from, size_t line, const struct text_wrap *how);

/* The first cluster of text that is in here, and its width. */
size_t text_cluster(struct str bytes, unsigned *ret_width);

/* Whether all terminals take a cluster for that many columns, and none joins it with what is beside
 * it; after any other the cursor must be placed anew. */
bool text_steady(struct str cluster, unsigned width);

#endif
