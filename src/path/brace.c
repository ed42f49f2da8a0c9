/* Brace expansion: a tree of texts and alternatives, counted before anything is expanded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/brace.h"

#include "path/wild.h"

/* A text, or a choice between sequences. */
struct brace_part {
    struct brace_part *next;
    struct str text;
    struct brace *choices; /* NULL: a text */
    size_t count;
};

/* A sequence of parts, linked to the next alternative of a choice. */
struct brace {
    struct brace *next;
    struct brace_part *first;
    size_t count; /* expansions; capped at limit + 1 */
};

struct brace_parser {
    struct str in;
    uint32_t *partner; /* for '{' and ',': offset of the next ',' or '}' of the group; 0: plain */
    size_t at;
    struct arena *arena;
    size_t depth;
    bool too_deep;
};

enum {
    MANY = BRACE_COUNT_MAX + 1,
};

/* Length of the escape or class at the start, in which braces are literal; 0: neither. */
static size_t brace_shielded_length(struct str rest, bool *classes)
{
    if (rest.p[0] == '\\')
        return MIN(rest.n, (size_t)2);
    if (rest.p[0] != '[' || !*classes)
        return 0;
    size_t n = wild_class_length(rest);
    /* With an unclosed class the pattern matches nothing anyway: stop checking further '['. */
    *classes = n > 0;
    return n;
}

/* At a '}' with open groups: fills in the partners on the way back to its '{'. Returns the link
 * before the group. */
static size_t brace_close_group(
    struct brace_parser *p, const uint32_t *links, size_t open, size_t close)
{
    while (p->in.p[open - 1] == ',') {
        p->partner[open - 1] = (uint32_t)close;
        close = open - 1;
        open = links[close];
    }
    p->partner[open - 1] = (uint32_t)close;
    return links[open - 1];
}

/* Matches braces in one pass: each '{' and ',' of a closed group gets the offset of the next ',' or
 * '}'. */
static void pair_braces(struct brace_parser *p)
{
    struct str in = p->in;
    uint32_t *links = ARENA_NEW(p->arena, uint32_t, in.n + 1); /* to the '{' or ',' before */
    size_t open = 0; /* after the last '{' or ',' of an open group; 0: none */
    bool classes = true;
    for (size_t i = 0, n; i < in.n; i += n) {
        n = brace_shielded_length(str_skip(in, i), &classes);
        if (n == 0 && (in.p[i] == '{' || (in.p[i] == ',' && open))) {
            links[i] = (uint32_t)open;
            open = i + 1;
        } else if (n == 0 && in.p[i] == '}' && open) {
            open = brace_close_group(p, links, open, i);
        }
        n = MAX(n, (size_t)1);
    }
}

static struct brace *brace_parse_sequence(struct brace_parser *p, size_t end);

static size_t brace_multiply(size_t a, size_t b)
{
    return MIN(a * b, (size_t)MANY); /* both are at most MANY */
}

static struct brace_part *parse_group(struct brace_parser *p)
{
    struct brace_part *part = ARENA_NEW(p->arena, struct brace_part, 1);
    struct brace **link = &part->choices;
    size_t at = p->at;
    p->too_deep |= ++p->depth > BRACE_DEPTH_MAX;
    do {
        size_t end = p->partner[at];
        p->at = p->too_deep ? end : at + 1;
        *link = brace_parse_sequence(p, end);
        part->count = MIN(part->count + (*link)->count, (size_t)MANY);
        link = &(*link)->next;
        at = end;
    } while (p->in.p[at] == ',');
    p->at = at + 1;
    p->depth--;
    return part;
}

static struct brace_part *parse_text(struct brace_parser *p, size_t end)
{
    struct brace_part *part = ARENA_NEW(p->arena, struct brace_part, 1);
    size_t start = p->at;
    while (p->at < end && !(p->in.p[p->at] == '{' && p->partner[p->at]))
        p->at++;
    part->text = str_n(p->in.p + start, p->at - start);
    part->count = 1;
    return part;
}

static struct brace *brace_parse_sequence(struct brace_parser *p, size_t end)
{
    struct brace *b = ARENA_NEW(p->arena, struct brace, 1);
    struct brace_part **link = &b->first;
    b->count = 1;
    while (p->at < end) {
        bool group = p->in.p[p->at] == '{' && p->partner[p->at];
        *link = group ? parse_group(p) : parse_text(p, end);
        b->count = brace_multiply(b->count, (*link)->count);
        link = &(*link)->next;
    }
    return b;
}

bool brace_parse(struct str text, struct arena *a, struct brace **ret_brace, struct err *err)
{
    struct brace_parser p = {.in = text, .arena = a};
    p.partner = ARENA_NEW(a, uint32_t, text.n + 1);
    pair_braces(&p);
    struct brace *b = brace_parse_sequence(&p, text.n);
    if (p.too_deep)
        return err_set(err, E_CLI_INVALID_ARG, "the pattern has braces nested more than %d deep",
            BRACE_DEPTH_MAX);
    if (b->count > BRACE_COUNT_MAX)
        return err_set(err, E_CLI_INVALID_ARG,
            "the braces of the pattern expand to more than %d patterns", BRACE_COUNT_MAX);
    *ret_brace = b;
    return true;
}

size_t brace_count(const struct brace *b)
{
    return b->count;
}

void brace_expand(const struct brace *b, size_t index, struct buf *text)
{
    for (const struct brace_part *part = b->first; part; part = part->next) {
        size_t choice = index % part->count;
        index /= part->count;
        if (!part->choices) {
            buf_add_str(text, part->text);
            continue;
        }
        const struct brace *chosen = part->choices;
        while (choice >= chosen->count) {
            choice -= chosen->count;
            chosen = chosen->next;
        }
        brace_expand(chosen, choice, text);
    }
}
