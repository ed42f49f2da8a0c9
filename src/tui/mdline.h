/* Classifies lines of Markdown by CommonMark's rules, without state.
 *
 *     struct mdline_marker marker;
 *     if (mdline_marker(STR("12. text"), &marker)) ...      number 12, mark '.', width 4
 *
 * Lines are passed without their line break, and indented with spaces only. All functions but
 * mdline_indent() expect them without indentation.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_MDLINE_H
#define TUI_MDLINE_H

#include "base/buf.h"

/* Number of leading spaces; and whether the line is blank. */
size_t mdline_indent(struct str line);
bool mdline_blank(struct str line);

/* Expands tabs in the indentation and among container markers, with a tab width of four. */
void mdline_expand(struct str line, struct buf *out);

/* Length of an opening fence (` or ~), or 0; the info string follows it. */
size_t mdline_fence(struct str line);
bool mdline_fence_ends(struct str line, char fence, size_t length);

/* Level of a heading, or 0; and its text. */
unsigned mdline_heading(struct str line, struct str *ret_text);
/* 1 or 2 for a setext heading underline, or 0. */
unsigned mdline_underline(struct str line);
bool mdline_rule(struct str line);

struct mdline_marker {
    char mark; /* - + * . ) */
    unsigned number;
    size_t width; /* of the marker and the spaces after it */
    bool empty;   /* nothing follows */
};
bool mdline_marker(struct str line, struct mdline_marker *ret_marker);

/* Whether an HTML block begins. */
bool mdline_html(struct str line);

/* Number of columns of a table's delimiter row, or 0; and number of cells in a row. */
size_t mdline_delimiters(struct str line);
size_t mdline_cells(struct str line);

#endif
