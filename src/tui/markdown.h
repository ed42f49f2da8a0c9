/* Renders streamed Markdown as styled rows of a given width.
 *
 *     struct markdown *m = markdown_new(&(struct markdown_options){.width = 80});
 *     markdown_feed(m, delta, &rows);     finished rows, which no longer change
 *     markdown_live(m, &rest);            the others, as if the text ended here
 *     markdown_end(m, &rows);
 *     markdown_free(m);
 *
 * The result does not depend on how the text is split. Time is linear: only the last block is
 * parsed again, and long ones are split (paragraphs, lines and tables at LEAF_MAX bytes; a table's
 * head is repeated). Blocks are found here, line by line, as in CommonMark; their contents are
 * parsed by md4c (leaf.h). HTML is shown as text, and so are link reference definitions.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_MARKDOWN_H
#define TUI_MARKDOWN_H

#include "tui/tui_text.h"

enum {
    MARKDOWN_DEPTH = 16,  /* nested quotes and lists; deeper ones are shown as text */
    MARKDOWN_WIDTH = 120, /* maximum width of paragraphs, for readability */
};

struct markdown_options {
    unsigned width;
    bool show_links; /* show URLs in brackets */
};

struct markdown;

MUST_USE struct markdown *markdown_new(const struct markdown_options *options);
void markdown_free(struct markdown *m); /* accepts NULL */

/* Applies to subsequent rows. */
void markdown_set_width(struct markdown *m, unsigned width);

void markdown_feed(struct markdown *m, struct str delta, struct text *finished);
void markdown_live(const struct markdown *m, struct text *rest);

/* Adds the remaining rows; then a new text can be fed. */
void markdown_end(struct markdown *m, struct text *finished);

#endif
