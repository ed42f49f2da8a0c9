/* Code with colours, line by line: keywords, strings, comments and numbers of common languages, and
 * diffs. It knows tables, not grammars, and never leaves out a byte.
 *
 *     struct highlight h = highlight_start(STR("python"));
 *     highlight_line(&h, line, &text);         spans for the line; the caller ends it
 *
 * What a line leaves open (a comment, a long string) is kept for the next one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_HIGHLIGHT_H
#define TUI_HIGHLIGHT_H

#include "tui/text.h"

struct language;

struct highlight {
    const struct language *language; /* NULL: none that is known */
    const char *until;               /* what ends what is open; NULL: nothing is */
    unsigned char open;              /* enum theme of it */
};

/* By a name as it is written after ```; in any case. */
struct highlight highlight_start(struct str name);

void highlight_line(struct highlight *h, struct str line, struct text *out);

#endif
