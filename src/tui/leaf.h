/* The text of one Markdown block as styled lines: emphasis, code, links, breaks; and tables. md4c
 * reads it, loaded when it is needed.
 *
 *     struct text lines = TEXT_INIT;
 *     leaf_paragraph(STR("a *b* `c`"), &how, &lines);      unwrapped: a hard break ends a line
 *     leaf_table(STR("|a|b|\n|-|-:|\n|1|2|"), &how, 40, &lines);
 *
 * Where there is no md4c, and for what it can't read, the text itself is shown.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_LEAF_H
#define TUI_LEAF_H

#include "base/err.h"
#include "tui/text.h"

enum {
    LEAF_MAX = 4 << 10,   /* bytes of a block that are read at once */
    LEAF_COLUMNS = 64,    /* of a table */
    LEAF_CELLS = 8 << 10, /* of a table */
};

struct leaf_look {
    struct style base; /* of text that is nothing else */
    bool show_links;   /* where they lead, after their text: for terminals that can't follow them */
};

/* Whether md4c is there; E_CONFIG. */
MUST_USE bool leaf_check(struct err *err);

void leaf_paragraph(struct str source, const struct leaf_look *look, struct text *out);

/* Rows of at most that width: as columns if they have room, else cell by cell. False if it is no
 * table. */
bool leaf_table(struct str source, const struct leaf_look *look, unsigned width, struct text *out);

#endif
