/* Wildcard patterns: the compiler from text to tokens. Matching is in wild_match.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/wild_token.h"

struct wild_compiler {
    struct wild *w;
    struct str in;
    size_t at;
    size_t n_plain; /* tokens that are not stars */
};

/* Bounds for the scratch memory of a pattern; the result has the exact size. */
static size_t tokens_bound(struct str pattern)
{
    return MIN(pattern.n, (size_t)WILD_TOKENS_ALL) + 1;
}

static size_t classes_bound(struct str pattern)
{
    return MIN(pattern.n / 3 + 1, (size_t)WILD_TOKENS_MAX);
}

/* Every byte may be a member of a class beyond its bitmap, if it is not valid UTF-8. */
static size_t ranges_bound(struct str pattern)
{
    return pattern.n + 1;
}

size_t wild_memory(struct str pattern)
{
    size_t sum = sizeof(struct wild) + tokens_bound(pattern) * sizeof(struct wild_token) +
                 classes_bound(pattern) * sizeof(struct wild_class) +
                 ranges_bound(pattern) * sizeof(struct wild_range) +
                 2 * UTF8_MAX * tokens_bound(pattern);
    /* An arena may waste the end of a block, less than the allocation that did not fit. */
    return 2 * sum + 1024;
}

static void add_token(struct wild_compiler *c, enum wild_kind kind, uint32_t value)
{
    bool star = kind >= WILD_STAR;
    if (!star && c->n_plain++ >= WILD_TOKENS_MAX) {
        c->w->too_long = true;
        return;
    }
    if (c->w->n_tokens < WILD_TOKENS_ALL)
        c->w->tokens[c->w->n_tokens++] = (struct wild_token){value, (uint8_t)kind};
}

/* Whether the last tokens are those of a `**` + '/'. */
static bool after_dirs(const struct wild *w)
{
    return w->n_tokens >= 3 && w->tokens[w->n_tokens - 3].kind == WILD_DIRS;
}

/* A run of stars crosses '/' only as a whole component: from the start or a '/' to the end or a
 * '/'. The '/' after it may be escaped, but is then always required. */
static void compile_stars(struct wild_compiler *c)
{
    size_t start = c->at, end = start;
    struct str in = c->in;
    while (end < in.n && in.p[end] == '*')
        end++;
    c->at = end;
    if (!(c->w->options & WILD_PATH)) {
        add_token(c, WILD_DEEP, 0);
        return;
    }
    bool opens = start == 0 || in.p[start - 1] == '/';
    bool slash = end < in.n && in.p[end] == '/';
    bool escaped = end + 1 < in.n && in.p[end] == '\\' && in.p[end + 1] == '/';
    bool deep = end - start >= 2 && opens && (end == in.n || slash || escaped);
    if (deep && slash && after_dirs(c->w)) {
        c->at++; /* two adjacent `**` + '/' are equivalent to one */
        return;
    }
    if (deep && slash)
        add_token(c, WILD_DIRS, 0);
    add_token(c, deep ? WILD_DEEP : WILD_STAR, 0);
}

static void compile_class(struct wild_compiler *c)
{
    struct wild *w = c->w;
    struct wild_class spare = {0};
    bool room = w->n_classes < classes_bound(c->in);
    struct wild_class *class = room ? &w->classes[w->n_classes] : &spare;
    struct wild_class_parser parser = {
        .in = c->in,
        .at = c->at,
        .options = w->options,
        .class = class,
        .ranges = w->ranges,
        .n_ranges = w->n_ranges,
    };
    w->malformed = !wild_class_parse(&parser);
    c->at = parser.at;
    w->n_ranges = parser.n_ranges;
    add_token(c, WILD_CLASS, (uint32_t)w->n_classes);
    w->n_classes++;
}

static void compile_next(struct wild_compiler *c)
{
    uint32_t unit;
    size_t n = wild_unit(str_skip(c->in, c->at), c->w->options, &unit);
    if (unit == '*') {
        compile_stars(c);
    } else if (unit == '[') {
        compile_class(c);
    } else if (unit == '?') {
        c->at += n;
        add_token(c, WILD_ONE, 0);
    } else if (unit == '\\') {
        /* Folding does not apply to an escaped letter, and so `\A` matches neither 'A' nor 'a'. */
        n = wild_unit(str_skip(c->in, ++c->at), c->w->options, &unit);
        c->w->malformed = n == 0;
        c->at += n;
        add_token(c, WILD_UNIT, unit);
    } else {
        c->at += n;
        add_token(c, WILD_UNIT, wild_fold(unit, c->w->options));
    }
}

/* A '/' that may be skipped together with a `**` before it. */
static bool may_be_left_out(const struct wild *w, size_t i)
{
    return i >= 2 && w->tokens[i - 2].kind == WILD_DIRS;
}

/* Finds the parts that every matching text has: a literal suffix, and the bytes of all literals. */
static void find_literals(struct wild *w, struct arena *a)
{
    size_t first = w->n_tokens;
    if (w->options & WILD_CASEFOLD)
        return;
    while (first > 0 && w->tokens[first - 1].kind == WILD_UNIT && !may_be_left_out(w, first - 1))
        first--;
    char *tail = arena_alloc(a, (w->n_tokens - first) * UTF8_MAX + 1);
    for (size_t i = 0; i < w->n_tokens; i++) {
        char bytes[UTF8_MAX];
        if (w->tokens[i].kind != WILD_UNIT || may_be_left_out(w, i))
            continue;
        size_t n = wild_unit_write(w->tokens[i].value, w->options, bytes);
        w->needs |= wild_bytes(str_n(bytes, n));
        if (i >= first) {
            memcpy(tail + w->tail.n, bytes, n);
            w->tail = str_n(tail, w->tail.n + n);
        }
    }
}

uint64_t wild_bytes(struct str text)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < text.n; i++)
        bytes |= UINT64_C(1) << (text.p[i] & 63);
    return bytes;
}

static void *wild_copy(struct arena *a, const void *items, size_t n, size_t size)
{
    return n ? memcpy(arena_array(a, n, size), items, n * size) : NULL;
}

const struct wild *wild_compile(struct str pattern, int options, struct arena *a)
{
    static const struct wild nothing = {.malformed = true}, endless = {.too_long = true};
    AUTO_ARENA struct arena scratch = ARENA_INIT(2 * wild_memory(pattern));
    struct wild draft = {.options = options};
    draft.tokens = ARENA_NEW(&scratch, struct wild_token, tokens_bound(pattern));
    if (str_find(pattern, '[') >= 0) {
        draft.classes = ARENA_NEW(&scratch, struct wild_class, classes_bound(pattern));
        if (options & WILD_UTF8)
            draft.ranges = ARENA_NEW(&scratch, struct wild_range, ranges_bound(pattern));
    }
    struct wild_compiler c = {.w = &draft, .in = pattern};
    while (c.at < pattern.n && !draft.malformed && !draft.too_long)
        compile_next(&c);
    if (draft.malformed || draft.too_long)
        return draft.malformed ? &nothing : &endless;
    struct wild *w = ARENA_NEW(a, struct wild, 1);
    *w = draft;
    w->tokens = wild_copy(a, draft.tokens, draft.n_tokens, sizeof(*draft.tokens));
    w->classes = wild_copy(a, draft.classes, draft.n_classes, sizeof(*draft.classes));
    w->ranges = wild_copy(a, draft.ranges, draft.n_ranges, sizeof(*draft.ranges));
    find_literals(w, a);
    return w;
}

bool wild_too_long(const struct wild *w)
{
    return w->too_long;
}

bool wild_malformed(const struct wild *w)
{
    return w->malformed;
}

size_t wild_class_length(struct str s)
{
    struct wild_class class = {0};
    struct wild_class_parser parser = {.in = s, .class = &class};
    return wild_class_parse(&parser) ? parser.at : 0;
}
