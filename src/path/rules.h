/* Ignore rules of one directory, with git's exact semantics. No I/O: text in, verdict out.
 *
 *     struct rules r = {0};
 *     if (!rules_add(&r, text, "docs/.gitignore", err)) ...
 *     if (rules_match(&r, STR("html/index.html"), false) == RULES_IGNORE) ...
 *
 * Later rules take precedence. The caller must check whether a parent directory is ignored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_RULES_H
#define PATH_RULES_H

#include "base/arena.h"
#include "base/err.h"

enum {
    RULES_FILE_MAX = 4 << 20,     /* bytes of one file */
    RULES_COUNT_MAX = 100 * 1000, /* rules of one file */
};

enum rules_verdict {
    RULES_NONE,   /* no rule matches */
    RULES_IGNORE, /* the last matching rule ignores it */
    RULES_KEEP,   /* the last matching rule starts with '!' */
};

struct rule;

struct rules {
    struct arena arena;
    struct rule *items;
    size_t n;
    size_t cap;
};

void rules_done(struct rules *r);

/* Adds the rules of a file. The name is for messages; the text need not outlive the call. */
MUST_USE bool rules_add(struct rules *r, struct str text, const char *name, struct err *err);

/* Bytes of memory that the rules use. */
size_t rules_memory(const struct rules *r);

/* The path is relative to the directory of the rules, without '/' at its ends. */
enum rules_verdict rules_match(const struct rules *r, struct str path, bool is_dir);

#endif
