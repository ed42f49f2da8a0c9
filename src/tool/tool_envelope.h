/* The freeform patch format: files to add, delete and update between two markers, with hunks that
 * are located by their lines, not by line numbers.
 *
 *     *** Begin Patch
 *     *** Update File: src/main.c
 *     @@ int main(void)
 *     -    return 1;
 *     +    return 0;
 *     *** End Patch
 *
 * Tolerated: blanks around markers and around the patch, an enclosing here-document, a first hunk
 * without @@, CRLF, an empty line instead of an empty context line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_ENVELOPE_H
#define TOOL_TOOL_ENVELOPE_H

#include "base/err.h"

enum {
    ENVELOPE_LINES_MAX = 4 << 20,
};

enum envelope_kind {
    ENVELOPE_ADD,
    ENVELOPE_DELETE,
    ENVELOPE_UPDATE,
};

struct envelope_line {
    char sign; /* ' ', '-' or '+' */
    struct str text;
};

struct envelope_hunk {
    struct str context; /* after @@; unset: none */
    size_t first, n;    /* range of its lines */
    size_t n_old, n_new;
    bool at_end; /* *** End of File */
    size_t line; /* line number in the patch */
};

struct envelope_file {
    enum envelope_kind kind;
    struct str path;
    struct str move_to; /* unset: not moved */
    size_t first, n;    /* ENVELOPE_UPDATE: its hunks; ENVELOPE_ADD: its lines */
    size_t line;
};

struct envelope {
    struct envelope_line *lines;
    struct envelope_hunk *hunks;
    struct envelope_file *files;
    size_t n_lines, n_hunks, n_files;
    size_t cap_lines, cap_hunks, cap_files;
};

#define AUTO_ENVELOPE AUTO(envelope_done)

/* The text must outlive the result. E_PATCH_PARSE, with the line number. */
MUST_USE bool envelope_parse(struct str text, struct envelope *ret_envelope, struct err *err);
void envelope_done(struct envelope *e);

extern const char envelope_grammar[]; /* Lark */

#endif
