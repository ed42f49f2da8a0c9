/* Matching with a compiled wildcard pattern: two algorithms with the same result.
 *
 * The fast one backtracks to the last star, and to the last ** once that star can't match more. It
 * never needs to backtrack further. Before a **: the rest can be reached from the earliest position
 * as well as from a later one. Before a *: if the part between two stars matches at two positions,
 * the second star can match the text between them, since a '/' there would also have to be matched
 * by the first star.
 *
 * It may still be slow for a pattern made for that. After a number of steps the other algorithm
 * takes over: it simulates all positions in the pattern at once, which costs at most the length of
 * the text times the length of the pattern.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/wild_token.h"

enum {
    WORD_BITS = 64,
    SET_WORDS = WILD_TOKENS_ALL / WORD_BITS + 1,
    STEPS_FREE = 1000, /* steps of the fast algorithm, plus some for each byte of text */
    STEPS_PER_BYTE = 16,
};

/* State i means: tokens before i have matched. There is one more state than tokens. */
struct wild_set {
    uint64_t words[SET_WORDS];
};

/* Adds a state and all states reachable from it without input. A state that is already in the set
 * has added its own, which keeps a step linear. */
static void wild_set_add(const struct wild *w, struct wild_set *set, size_t state)
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
            wild_set_add(w, set, state + 1);
            state += 3; /* after the ** and the '/' */
        } else {
            state++;
        }
    }
}

static bool token_takes(const struct wild *w, struct wild_token token, uint32_t unit)
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

/* One unit of text: from the states of one set to those of the next. Returns false if none is
 * left. */
static bool wild_set_step(
    const struct wild *w, const struct wild_set *from, struct wild_set *to, uint32_t unit)
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
            wild_set_add(w, to, stays ? state : state + 1);
            any = 1;
        }
    }
    return any != 0;
}

/* Computes the states after the whole text; returns false if the set is empty. */
static bool wild_run(const struct wild *w, struct str text, struct wild_set *ret_set)
{
    struct wild_set sets[2];
    size_t now = 0;
    if (w->malformed || w->too_long)
        return false;
    memset(sets[0].words, 0, (w->n_tokens / WORD_BITS + 1) * sizeof(sets[0].words[0]));
    wild_set_add(w, &sets[0], 0);
    for (size_t at = 0; at < text.n; now ^= 1) {
        uint32_t unit;
        at += wild_unit(str_n(text.p + at, text.n - at), w->options, &unit);
        if (!wild_set_step(w, &sets[now], &sets[now ^ 1], wild_fold(unit, w->options)))
            return false;
    }
    memcpy(ret_set->words, sets[now].words, (w->n_tokens / WORD_BITS + 1) * sizeof(uint64_t));
    return true;
}

bool wild_simulate(const struct wild *w, struct str text)
{
    struct wild_set set;
    if (!wild_run(w, text, &set))
        return false;
    return set.words[w->n_tokens / WORD_BITS] >> (w->n_tokens % WORD_BITS) & 1;
}

/* A backtrack point: the token after a star, and the position up to which the star has matched. */
struct wild_retry {
    size_t token; /* 0: none, since a star precedes it */
    size_t at;
    bool dirs; /* of a `**` + '/': can resume only after a '/' */
};

struct wild_attempt {
    const struct wild *w;
    struct str text;
    size_t token, at;
    struct wild_retry star, deep;
};

static size_t wild_unit_at(const struct wild_attempt *t, size_t at, uint32_t *ret_unit)
{
    unsigned char byte = (unsigned char)t->text.p[at];
    *ret_unit = byte;
    if (byte < 0x80 || !(t->w->options & WILD_UTF8))
        return 1;
    return wild_unit(str_skip(t->text, at), t->w->options, ret_unit);
}

/* Records a star and continues after it. */
static void pass_star(struct wild_attempt *t, enum wild_kind kind)
{
    size_t skip = kind == WILD_DIRS ? 3 : 1; /* the DIRS, the **, the '/' */
    t->token += skip;
    struct wild_retry retry = {t->token, t->at, kind == WILD_DIRS};
    if (kind == WILD_STAR) {
        t->star = retry;
    } else {
        t->deep = retry;
        t->star.token = 0;
    }
}

/* Lets the last star match one more unit. Returns false if no star can. */
static bool wild_backtrack(struct wild_attempt *t)
{
    uint32_t unit;
    struct wild_retry *r = &t->star;
    if (!r->token || r->at == t->text.n || t->text.p[r->at] == '/') {
        t->star.token = 0;
        r = &t->deep;
    }
    if (!r->token || r->at == t->text.n)
        return false;
    if (r->dirs) {
        ptrdiff_t slash = str_find(str_skip(t->text, r->at), '/');
        if (slash < 0)
            return false;
        r->at += (size_t)slash + 1;
    } else {
        r->at += wild_unit_at(t, r->at, &unit);
    }
    t->token = r->token;
    t->at = r->at;
    return true;
}

/* Matches one token against one unit; returns false if it does not match. */
static bool wild_match_token(struct wild_attempt *t)
{
    if (t->at == t->text.n)
        return false;
    uint32_t unit;
    size_t n = wild_unit_at(t, t->at, &unit);
    if (!token_takes(t->w, t->w->tokens[t->token], wild_fold(unit, t->w->options)))
        return false;
    t->token++;
    t->at += n;
    return true;
}

bool wild_match(const struct wild *w, struct str text)
{
    return wild_match_known(w, text, wild_bytes(text));
}

bool wild_match_known(const struct wild *w, struct str text, uint64_t bytes)
{
    if (w->needs & ~bytes || w->malformed || w->too_long || !str_ends_with(text, w->tail))
        return false;
    struct wild_attempt t = {.w = w, .text = text};
    size_t steps = STEPS_FREE + STEPS_PER_BYTE * text.n;
    while (steps-- > 0) {
        bool ended = t.token == w->n_tokens;
        if (ended && t.at == text.n)
            return true;
        enum wild_kind kind = ended ? WILD_UNIT : (enum wild_kind)w->tokens[t.token].kind;
        if (!ended && kind == WILD_DEEP && t.token + 1 == w->n_tokens)
            return true;
        if (!ended && kind >= WILD_STAR)
            pass_star(&t, kind);
        else if ((ended || !wild_match_token(&t)) && !wild_backtrack(&t))
            return false;
    }
    return wild_simulate(w, text);
}

bool wild_may_extend(const struct wild *w, struct str start)
{
    struct wild_set set;
    if (!wild_run(w, start, &set))
        return false;
    size_t last = w->n_tokens / WORD_BITS;
    set.words[last] &= ~(UINT64_C(1) << (w->n_tokens % WORD_BITS)); /* the end can't be extended */
    uint64_t any = 0;
    for (size_t i = 0; i <= last; i++)
        any |= set.words[i];
    return any != 0;
}
