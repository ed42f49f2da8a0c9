/* Syntax highlighting, line by line: keywords, strings, comments and numbers of common languages,
 * and diffs. Uses tables rather than grammars, and never drops a byte.
 *
 *     struct highlight h = highlight_start(STR("python"));
 *     highlight_line(&h, line, &text);         adds spans; the caller ends the line
 *
 * Constructs that span lines (comments, long strings) are continued in the next line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_HIGHLIGHT_H
#define TUI_HIGHLIGHT_H

#include "tui/tui_text.h"

struct language;

struct highlight {
    const struct language *language; /* NULL: unknown */
    const char *until;               /* terminator of the open construct; NULL: none */
    unsigned char open;              /* its enum theme */
};

/* Looks up a language by the name used after ```, case-insensitively. */
struct highlight highlight_start(struct str name);

void highlight_line(struct highlight *h, struct str line, struct text *out);

#endif
