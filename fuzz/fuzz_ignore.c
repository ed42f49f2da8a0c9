/* Fuzzes ignore rules and wildcards: the input is an ignore file, and after its last NUL a path.
 * Short patterns are also compared with the slow matcher. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../tests/unit/slow_wild.h"
#include "path/glob.h"
#include "path/rules.h"
#include "path/wild.h"

enum {
    INPUT_MAX = 4096,
    SLOW_PATTERN_MAX = 12, /* longer ones would take the slow matcher too long */
    SLOW_TEXT_MAX = 12,
    ARENA_MAX = 16 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_rules(struct str text, struct str path)
{
    AUTO_ERR struct err err = {0};
    struct rules r = {0};
    if (rules_add(&r, text, "fuzz", &err)) {
        enum rules_verdict file = rules_match(&r, path, false);
        enum rules_verdict dir = rules_match(&r, path, true);
        /* More rules apply to a directory than to a file of the same name. */
        BUG_ON(file != RULES_NONE && dir == RULES_NONE);
    }
    rules_done(&r);
}

static void fuzz_wild(struct str pattern, struct str text)
{
    for (int options = 0; options < 8; options++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        const struct wild *w = wild_compile(pattern, options, &a);
        bool matched = wild_match(w, text);
        BUG_ON(matched != wild_simulate(w, text));
        bool is_short = pattern.n <= SLOW_PATTERN_MAX && text.n <= SLOW_TEXT_MAX;
        if (!(options & (WILD_CASEFOLD | WILD_UTF8)) && is_short)
            BUG_ON(matched != slow_wild(pattern, text, options & WILD_PATH));
        for (size_t i = 0; matched && i < text.n && !(options & WILD_UTF8); i++)
            BUG_ON(!wild_may_extend(w, str_head(text, i)));
    }
}

static void fuzz_glob(struct str pattern, struct str text)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct glob *g;
    if (!glob_compile(pattern, &a, &g, &err))
        return;
    ptrdiff_t slash = str_find_last(text, '/');
    if (glob_match(g, text) && slash >= 0 && (size_t)slash + 1 < text.n)
        BUG_ON(!glob_may_match_below(g, str_head(text, (size_t)slash)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = str_n((const char *)data, size), line, rest;
    if (size == 0 || size > INPUT_MAX)
        return 0;
    ptrdiff_t nul = str_find_last(all, '\0');
    struct str text = nul < 0 ? all : str_head(all, (size_t)nul);
    struct str path = nul < 0 ? STR("a/b.c") : str_skip(all, (size_t)nul + 1);
    fuzz_rules(text, path);
    rest = text;
    for (size_t i = 0; i < 8 && str_cut(rest, '\n', &line, &rest); i++) {
        fuzz_wild(line, path);
        fuzz_glob(line, path);
    }
    return 0;
}
