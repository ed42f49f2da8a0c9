/* The freeform patch: files to add, delete and update between two markers, with hunks that are
 * found by their lines and not by numbers.
 *
 *     *** Begin Patch
 *     *** Update File: src/main.c
 *     @@ int main(void)
 *     -    return 1;
 *     +    return 0;
 *     *** End Patch
 *
 * Overlooked: blanks around markers and around the whole, a here-document around it, a first hunk
 * without @@, CRLF, an empty line where an empty context line is meant.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_ENVELOPE_H
#define TOOL_ENVELOPE_H

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
    struct str context; /* behind @@; no value: none */
    size_t first, n;    /* its lines */
    size_t n_old, n_new;
    bool at_end; /* *** End of File */
    size_t line; /* of the patch */
};

struct envelope_file {
    enum envelope_kind kind;
    struct str path;
    struct str move_to; /* no value: it stays */
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

/* The text must stay. E_PATCH_PARSE, with the line. */
MUST_USE bool envelope_parse(struct str text, struct envelope *ret_envelope, struct err *err);
void envelope_done(struct envelope *e);

extern const char envelope_grammar[]; /* Lark */

#endif
