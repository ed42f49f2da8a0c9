/* Patterns for files: the first line is a pattern, each line after it a path. A pattern matches if
 * one of its expanded alternatives does, whichever way they are matched; nothing that matches is
 * below a directory that the search leaves out; a path whose characters are all escaped matches
 * only itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/brace.h"
#include "path/glob.h"
#include "path/wild.h"

enum {
    ARENA_MAX = 64 << 20,
    PATHS_MAX = 8,
    TEXT_MAX = 4096,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str without_dots(struct str text)
{
    while (str_starts_with(text, STR("./"))) {
        text = str_skip(text, 2);
        while (str_starts_with(text, STR("/")))
            text = str_skip(text, 1);
    }
    return text;
}

/* By expanding the braces, and following all positions of each alternative at once. */
static bool match_slowly(struct str pattern, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct brace *b;
    bool matched = false;
    BUG_ON(!brace_parse(pattern, &a, &b, &err));
    BUG_ON(brace_count(b) == 0 || brace_count(b) > BRACE_COUNT_MAX);
    for (size_t i = 0; i < brace_count(b) && !matched; i++) {
        AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
        AUTO_ARENA struct arena one = ARENA_INIT(ARENA_MAX);
        brace_expand(b, i, &text);
        struct str alternative = without_dots(buf_str(&text));
        if (alternative.n == 0)
            continue;
        const struct wild *w = wild_compile(alternative, WILD_PATH | WILD_UTF8, &one);
        matched = wild_simulate(w, path);
        BUG_ON(matched != wild_match(w, path));
        BUG_ON(matched != wild_match_known(w, path, UINT64_MAX));
    }
    return matched;
}

static bool is_plain_path(struct str path)
{
    struct str part, rest = path;
    if (path.n == 0 || path.n > TEXT_MAX / 2)
        return false;
    while (str_cut(rest, '/', &part, &rest))
        if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
            return false;
    return path.p[path.n - 1] != '/';
}

static void check_below(const struct glob *g, struct str path)
{
    BUG_ON(!glob_may_match_below(g, STR("")));
    for (size_t i = 1; i + 1 < path.n; i++)
        if (path.p[i] == '/')
            BUG_ON(!glob_may_match_below(g, str_head(path, i)));
}

/* A backslash before every ASCII byte: the bytes of other characters stay together. */
static void check_escaped(struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_BUF struct buf pattern = BUF_INIT(TEXT_MAX), longer = BUF_INIT(TEXT_MAX);
    AUTO_ERR struct err err = {0};
    struct glob *g;
    for (size_t i = 0; i < path.n; i++) {
        if ((unsigned char)path.p[i] < 0x80 && path.p[i] != '/')
            buf_add_byte(&pattern, '\\');
        buf_add_byte(&pattern, path.p[i]);
    }
    bool ok = glob_compile(buf_str(&pattern), &a, &g, &err);
    BUG_ON(!ok);
    buf_add_str(&longer, path);
    buf_add_byte(&longer, 'x');
    BUG_ON(!glob_match(g, path) || glob_match(g, buf_str(&longer)));
    BUG_ON(path.n > 1 && glob_match(g, str_head(path, path.n - 1)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct str pattern, path, rest = str_n((const char *)data, size);
    struct glob *g = NULL;
    if (size > TEXT_MAX / 2 || memchr(data ? data : (const uint8_t *)"", '\0', size) ||
        !str_cut(rest, '\n', &pattern, &rest))
        return 0;
    bool ok = glob_compile(pattern, &a, &g, &err);
    BUG_ON(ok != (g != NULL));
    BUG_ON(!ok && err.code != E_CLI_INVALID_ARG && err.code != E_FS_VIOLATION);
    for (int i = 0; i < PATHS_MAX && str_cut(rest, '\n', &path, &rest); i++) {
        bool matched = ok && glob_match(g, path);
        BUG_ON(ok && matched != match_slowly(pattern, path));
        if (!is_plain_path(path))
            continue;
        if (matched)
            check_below(g, path);
        if (path.p[0] != '~')
            check_escaped(path);
    }
    return 0;
}
