/* Renders the text of one Markdown block as styled lines: emphasis, code, links, line breaks; and
 * tables. Parsed by md4c, which is loaded on demand.
 *
 *     struct text lines = TEXT_INIT;
 *     leaf_paragraph(STR("a *b* `c`"), &how, &lines);      unwrapped: a hard break ends a line
 *     leaf_table(STR("|a|b|\n|-|-:|\n|1|2|"), &how, 40, &lines);
 *
 * Without md4c, or if it fails, the source text is shown.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_LEAF_H
#define TUI_LEAF_H

#include "base/err.h"
#include "tui/tui_text.h"

enum {
    LEAF_MAX = 4 << 10,   /* maximum bytes of a block parsed at once */
    LEAF_COLUMNS = 64,    /* per table */
    LEAF_CELLS = 8 << 10, /* per table */
};

struct leaf_look {
    struct style base; /* of plain text */
    bool show_links;   /* show URLs after the text: for terminals without links */
};

/* Checks that md4c is available; fails with E_CONFIG. */
MUST_USE bool leaf_check(struct err *err);

void leaf_paragraph(struct str source, const struct leaf_look *look, struct text *out);

/* Adds rows of at most `width` columns: as a table if there is room, otherwise cell by cell.
 * Returns false if the source is not a table. */
bool leaf_table(struct str source, const struct leaf_look *look, unsigned width, struct text *out);

#endif
