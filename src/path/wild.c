/* Wildcard patterns: the compiler from text to tokens, and the simulation of all places at once. */
#include "path/wild.h"

#include "path/wild_class.h"

enum wild_kind {
    WILD_UNIT, /* exactly this byte or character */
    WILD_ONE,  /* ? */
    WILD_CLASS,
    WILD_STAR, /* * */
    WILD_DEEP, /* **, crosses '/' */
    WILD_DIRS, /* before the ** of a `**` + '/': takes nothing, and may skip both */
};

struct token {
    uint32_t value; /* the unit, or the number of the class */
    uint8_t kind;
};

/* State i means: tokens before i have matched. There is one more state than tokens. */
struct wild {
    struct token *tokens;
    struct wild_class *classes;
    struct wild_range *ranges;
    size_t n_tokens;
    size_t n_classes;
    size_t n_ranges;
    struct str tail; /* literal end: a text without it can be refused at once */
    int options;
    bool malformed;
    bool too_long;
};

enum {
    TOKENS_ALL = 3 * WILD_TOKENS_MAX + 2, /* stars don't stand next to each other */
    WORD_BITS = 64,
    SET_WORDS = TOKENS_ALL / WORD_BITS + 1,
};

struct compiler {
    struct wild *w;
    struct str in;
    size_t at;
    size_t n_plain; /* tokens that are not stars */
};

static size_t count_byte(struct str s, char byte)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == byte;
    return n;
}

static size_t tokens_bound(struct str pattern)
{
    return MIN(pattern.n, (size_t)TOKENS_ALL) + 1;
}

/* Every byte may be a member of a class beyond its bitmap, if it is not valid UTF-8. */
static size_t ranges_bound(struct str pattern)
{
    return pattern.n + 1;
}

size_t wild_memory(struct str pattern)
{
    size_t classes = MIN(count_byte(pattern, '['), (size_t)WILD_TOKENS_MAX);
    size_t sum = sizeof(struct wild) + tokens_bound(pattern) * sizeof(struct token) +
                 classes * sizeof(struct wild_class) +
                 ranges_bound(pattern) * sizeof(struct wild_range) +
                 UTF8_MAX * tokens_bound(pattern);
    /* An arena may leave the end of a block unused, less than the piece that did not fit. */
    return 2 * sum + 1024;
}

static void add_token(struct compiler *c, enum wild_kind kind, uint32_t value)
{
    bool star = kind >= WILD_STAR;
    if (!star && c->n_plain++ >= WILD_TOKENS_MAX) {
        c->w->too_long = true;
        return;
    }
    if (c->w->n_tokens < TOKENS_ALL)
        c->w->tokens[c->w->n_tokens++] = (struct token){value, (uint8_t)kind};
}

/* A run of stars crosses '/' only as a whole component: from the start or a '/' to the end or a
 * '/'. The '/' after it may be escaped, but then it is always needed. */
static void compile_stars(struct compiler *c)
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
    if (deep && slash)
        add_token(c, WILD_DIRS, 0);
    add_token(c, deep ? WILD_DEEP : WILD_STAR, 0);
}

static void compile_class(struct compiler *c)
{
    struct wild *w = c->w;
    struct wild_class spare = {0};
    struct wild_class *class = w->n_classes < WILD_TOKENS_MAX ? &w->classes[w->n_classes] : &spare;
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

static void compile_next(struct compiler *c)
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
        /* Folding leaves an escaped letter alone, and so `\A` matches neither 'A' nor 'a'. */
        n = wild_unit(str_skip(c->in, ++c->at), c->w->options, &unit);
        c->w->malformed = n == 0;
        c->at += n;
        add_token(c, WILD_UNIT, unit);
    } else {
        c->at += n;
        add_token(c, WILD_UNIT, wild_fold(unit, c->w->options));
    }
}

static void find_tail(struct wild *w, struct arena *a)
{
    size_t first = w->n_tokens;
    while (first > 0 && w->tokens[first - 1].kind == WILD_UNIT)
        first--;
    /* The '/' of a `**` + '/' may be left out. */
    if (first > 1 && first < w->n_tokens && w->tokens[first - 2].kind == WILD_DIRS)
        first++;
    if (w->options & WILD_CASEFOLD || first == w->n_tokens)
        return;
    char *tail = arena_alloc(a, (w->n_tokens - first) * UTF8_MAX);
    size_t n = 0;
    for (size_t i = first; i < w->n_tokens; i++)
        n += wild_unit_write(w->tokens[i].value, w->options, tail + n);
    w->tail = str_n(tail, n);
}

struct wild *wild_compile(struct str pattern, int options, struct arena *a)
{
    struct wild *w = ARENA_NEW(a, struct wild, 1);
    size_t classes = MIN(count_byte(pattern, '['), (size_t)WILD_TOKENS_MAX);
    w->options = options;
    w->tokens = ARENA_NEW(a, struct token, tokens_bound(pattern));
    w->classes = classes ? ARENA_NEW(a, struct wild_class, classes) : NULL;
    if (classes && options & WILD_UTF8)
        w->ranges = ARENA_NEW(a, struct wild_range, ranges_bound(pattern));
    struct compiler c = {.w = w, .in = pattern};
    while (c.at < pattern.n && !w->malformed && !w->too_long)
        compile_next(&c);
    if (!w->malformed && !w->too_long)
        find_tail(w, a);
    return w;
}

bool wild_too_long(const struct wild *w)
{
    return w->too_long;
}

size_t wild_class_length(struct str s)
{
    struct wild_class class = {0};
    struct wild_class_parser parser = {.in = s, .class = &class};
    return wild_class_parse(&parser) ? parser.at : 0;
}

struct set {
    uint64_t words[SET_WORDS];
};

/* Adds a state and all that is reached from it without taking anything. A state that is there
 * already brought its own along, which keeps a step linear. */
static void set_add(const struct wild *w, struct set *set, size_t state)
{
    for (;;) {
        uint64_t bit = UINT64_C(1) << (state % WORD_BITS);
        uint64_t *word = &set->words[state / WORD_BITS];
        if (*word & bit)
            return;
        *word |= bit;
        if (state == w->n_tokens || w->tokens[state].kind < WILD_STAR)
            return;
        if (w->tokens[state].kind == WILD_DIRS) {
            set_add(w, set, state + 1);
            state += 3; /* behind the ** and the '/' */
        } else {
            state++;
        }
    }
}

static bool token_takes(const struct wild *w, struct token token, uint32_t unit)
{
    bool slash = unit == '/' && (w->options & WILD_PATH);
    switch ((enum wild_kind)token.kind) {
    case WILD_UNIT:
        return token.value == unit;
    case WILD_ONE:
        return !slash;
    case WILD_CLASS:
        return !slash && wild_class_has(&w->classes[token.value], w->ranges, unit);
    case WILD_STAR:
        return unit != '/';
    case WILD_DEEP:
        return true;
    case WILD_DIRS:
        return false;
    }
    return false;
}

/* One unit of text: from the states of one set to those of the next. False: none is left. */
static bool set_step(const struct wild *w, const struct set *from, struct set *to, uint32_t unit)
{
    size_t n_words = w->n_tokens / WORD_BITS + 1;
    uint64_t any = 0;
    memset(to->words, 0, n_words * sizeof(to->words[0]));
    for (size_t i = 0; i < n_words; i++) {
        for (uint64_t bits = from->words[i]; bits; bits &= bits - 1) {
            size_t state = i * WORD_BITS + (size_t)__builtin_ctzll(bits);
            if (state == w->n_tokens || !token_takes(w, w->tokens[state], unit))
                continue;
            bool stays = w->tokens[state].kind >= WILD_STAR;
            set_add(w, to, stays ? state : state + 1);
            any = 1;
        }
    }
    return any != 0;
}

/* The states after the whole text; false if there are none. */
static bool wild_run(const struct wild *w, struct str text, struct set *ret_set)
{
    struct set sets[2];
    size_t now = 0;
    if (w->malformed || w->too_long)
        return false;
    memset(sets[0].words, 0, (w->n_tokens / WORD_BITS + 1) * sizeof(sets[0].words[0]));
    set_add(w, &sets[0], 0);
    for (size_t at = 0; at < text.n; now ^= 1) {
        uint32_t unit;
        at += wild_unit(str_n(text.p + at, text.n - at), w->options, &unit);
        if (!set_step(w, &sets[now], &sets[now ^ 1], wild_fold(unit, w->options)))
            return false;
    }
    memcpy(ret_set->words, sets[now].words, (w->n_tokens / WORD_BITS + 1) * sizeof(uint64_t));
    return true;
}

bool wild_match(const struct wild *w, struct str text)
{
    struct set set;
    if (!str_ends_with(text, w->tail) || !wild_run(w, text, &set))
        return false;
    return set.words[w->n_tokens / WORD_BITS] >> (w->n_tokens % WORD_BITS) & 1;
}

bool wild_may_extend(const struct wild *w, struct str start)
{
    struct set set;
    if (!wild_run(w, start, &set))
        return false;
    size_t last = w->n_tokens / WORD_BITS;
    set.words[last] &= ~(UINT64_C(1) << (w->n_tokens % WORD_BITS)); /* the end takes nothing more */
    uint64_t any = 0;
    for (size_t i = 0; i <= last; i++)
        any |= set.words[i];
    return any != 0;
}
