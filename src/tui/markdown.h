/* Markdown as it comes, as styled rows of a width.
 *
 *     struct markdown *m = markdown_new(&(struct markdown_options){.width = 80});
 *     markdown_feed(m, delta, &rows);     rows that are finished: they never change any more
 *     markdown_live(m, &rest);            the others, as if nothing more came
 *     markdown_end(m, &rows);
 *     markdown_free(m);
 *
 * What is finished and what is not depends on the text alone, not on how it was cut. The time is
 * linear: only the last block is read again, and one that gets long is cut (a paragraph and a line
 * at LEAF_MAX bytes, a table there, too, with its head repeated). Blocks are found here, line by
 * line, as CommonMark does; what is within one is read by md4c (leaf.h). HTML is shown as text, and
 * the definition of a link where it stands.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_MARKDOWN_H
#define TUI_MARKDOWN_H

#include "tui/text.h"

enum {
    MARKDOWN_DEPTH = 16,  /* quotes and lists in one another; what is deeper is text */
    MARKDOWN_WIDTH = 120, /* paragraphs get no wider, to be read */
};

struct markdown_options {
    unsigned width;
    bool show_links; /* where they lead, in brackets */
};

struct markdown;

MUST_USE struct markdown *markdown_new(const struct markdown_options *options);
void markdown_free(struct markdown *m); /* accepts NULL */

/* For what comes from now on. */
void markdown_set_width(struct markdown *m, unsigned width);

void markdown_feed(struct markdown *m, struct str delta, struct text *finished);
void markdown_live(const struct markdown *m, struct text *rest);

/* What is left; then it can be fed a new text. */
void markdown_end(struct markdown *m, struct text *finished);

#endif
