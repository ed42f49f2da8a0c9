/* Unified diffs, from git and plain, parsed as `git apply` does.
 *
 *     AUTO_UNIFIED struct unified u = {0};
 *     if (!unified_parse(text, &u, err)) return false;
 *     u.patches[0].new_name, u.hunks[u.patches[0].first]...
 *
 * Text before, between and after the diffs is skipped. The first component of names (a/, b/) is
 * removed, unless the names in the first plain diff have only one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_UNIFIED_H
#define TOOL_UNIFIED_H

#include "base/arena.h"
#include "base/err.h"

struct unified_hunk {
    size_t line; /* line number in the patch */
    uint64_t old_at, old_n, new_at, new_n;
    size_t leading, trailing; /* lines of context */
    size_t added, removed;
    struct str body;
};

/* is_new and is_delete are -1 if unknown. */
struct unified_patch {
    size_t line;
    struct str old_name, new_name; /* unset: none */
    unsigned old_mode, new_mode;   /* 0: not given */
    int is_new, is_delete;
    bool is_rename, is_copy, is_binary;
    size_t header_line;
    size_t first, n; /* range of hunks */
};

struct unified {
    struct arena arena;
    struct unified_patch *patches;
    struct unified_hunk *hunks;
    size_t n_patches, n_hunks;
    size_t cap_patches, cap_hunks;
};

#define AUTO_UNIFIED AUTO(unified_done)

/* The text must outlive the result. E_PATCH_PARSE, with the line number. */
MUST_USE bool unified_parse(struct str text, struct unified *ret_unified, struct err *err);
void unified_done(struct unified *u);

/* One line of a hunk's body, without its sign, and without its line break if "\ No newline"
 * follows. unified_next() returns false at the end. */
struct unified_line {
    char sign; /* ' ', '-', '+' */
    struct str bytes;
};
bool unified_next(struct str *body, struct unified_line *ret_line);

#endif
