/* Lines of styled text, safe by construction: any input is reduced to characters of a known width.
 *
 *     struct text t = TEXT_INIT;
 *     text_add(&t, STR("said: "), NULL);
 *     text_add(&t, untrusted_bytes, &style);            a newline in them ends the line
 *     text_end(&t);
 *     text_wrap(&rows, &t, 0, &(struct text_wrap){.width = 40});
 *     text_done(&t);
 *
 * Control characters, invalid UTF-8 and bidirectional controls are shown as \x1B or \u{202E}; a
 * combining mark without a base character as U+FFFD. Tabs become spaces. All operations take linear
 * time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_TUI_TEXT_H
#define TUI_TUI_TEXT_H

#include "base/buf.h"
#include "term/style.h"
#include "term/term_link.h"

enum {
    TEXT_MAX = 64 << 20, /* bytes; more are dropped */
    TEXT_TAB = 4,
    TEXT_KEPT = 256 << 10, /* bytes of memory kept by text_reset() */
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
    size_t n; /* finished lines */
    size_t lines_cap, n_spans, spans_cap;
    struct text_line open; /* unfinished line */
    struct link_table links;
};

#define TEXT_INIT ((struct text){.bytes = BUF_INIT(TEXT_MAX), .links = {.n = 1}})
#define AUTO_TEXT AUTO(text_done)

void text_done(struct text *t);
void text_reset(struct text *t); /* removes all lines; keeps the memory up to TEXT_KEPT */

/* Append to the unfinished line. NULL: no style. */
void text_add(struct text *t, struct str bytes, const struct style *style);
void text_add_z(struct text *t, const char *z, const struct style *style);
void text_spaces(struct text *t, size_t n, const struct style *style);
void text_end(struct text *t);

/* Returns the number of a link for a style, or 0 if it is not allowed: only http, https and mailto
 * in printable ASCII are. */
uint32_t text_link(struct text *t, struct str uri);
struct str text_uri(const struct text *t, uint32_t link);

struct str text_bytes(const struct text *t, const struct text_span *span);
const struct text_span *text_spans(const struct text *t, size_t line);

/* Append a line of another text; text_copy() also ends it. */
void text_copy(struct text *to, const struct text *from, size_t line);
void text_append(struct text *to, const struct text *from, size_t line);

/* Appends at most `width` columns of a line, starting at `column`. */
void text_cut(struct text *to, const struct text *from, size_t line, size_t column, size_t width);

struct text_wrap {
    unsigned width;
    bool letters;              /* break anywhere and keep blanks (code); else between words */
    const struct text *prefix; /* line 0 precedes the first row, line 1 the others. NULL: none;
                                  omitted if it takes up most of the width */
};

/* Wraps a line to rows of at most `width` columns; adds at least one row. */
void text_wrap(struct text *to, const struct text *from, size_t line, const struct text_wrap *how);

/* Length and width of the first cluster of a text's bytes. */
size_t text_cluster(struct str bytes, unsigned *ret_width);

/* Whether all terminals agree on the cluster's width and never join it with its neighbours. After
 * any other cluster the cursor must be positioned explicitly. */
bool text_steady(struct str cluster, unsigned width);

#endif
