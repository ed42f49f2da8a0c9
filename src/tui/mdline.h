/* What a line of Markdown begins, by CommonMark's rules; pure.
 *
 *     struct mdline_marker marker;
 *     if (mdline_marker(STR("12. text"), &marker)) ...      number 12, mark '.', width 4
 *
 * Lines come without their end, and with the blanks at their start as spaces. All but
 * mdline_indent() want them without these.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_MDLINE_H
#define TUI_MDLINE_H

#include "base/buf.h"

/* Spaces at the start; and whether there is nothing else. */
size_t mdline_indent(struct str line);
bool mdline_blank(struct str line);

/* Tabs among what may be containers' marks and blanks become spaces, to columns of four. */
void mdline_expand(struct str line, struct buf *out);

/* How long the run of ` or ~ is that opens a fence; 0: none. What follows is its info. */
size_t mdline_fence(struct str line);
bool mdline_fence_ends(struct str line, char fence, size_t length);

/* The level of a heading, 0 for none; and its text. */
unsigned mdline_heading(struct str line, struct str *ret_text);
/* 1 or 2: makes the paragraph before it a heading. */
unsigned mdline_underline(struct str line);
bool mdline_rule(struct str line);

struct mdline_marker {
    char mark; /* - + * . ) */
    unsigned number;
    size_t width; /* of the marker and the blanks after it */
    bool empty;   /* nothing follows */
};
bool mdline_marker(struct str line, struct mdline_marker *ret_marker);

/* Whether a block of HTML begins. */
bool mdline_html(struct str line);

/* The line under a table's head: how many columns; 0 for another line. And cells of a row. */
size_t mdline_delimiters(struct str line);
size_t mdline_cells(struct str line);

#endif
