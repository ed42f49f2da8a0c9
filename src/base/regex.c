/* Wrapper around PCRE2. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    STACK_FIRST = 32 * 1024,
    STACK_MAX = 1 << 20,
};

struct regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    bool shared; /* the code belongs to another regex */
    bool gave_up;
};

static bool regex_error(int code, size_t at, enum err_code kind, struct err *err)
{
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(code, text, sizeof(text));
    err_set(err, kind, "invalid pattern at character %zu: %s", at + 1, (const char *)text);
    return err_ctx_int(err, "offset", (int64_t)at);
}

static uint32_t compile_options(const struct regex_options *o)
{
    uint32_t options = o->ignore_case ? PCRE2_CASELESS : 0;
    if (!o->bytes)
        options |= PCRE2_UTF;
    if (o->start_limit)
        options |= PCRE2_USE_OFFSET_LIMIT;
    if (o->any_bytes && !o->bytes)
        options |= PCRE2_MATCH_INVALID_UTF;
    if (o->literal)
        return options | PCRE2_LITERAL;
    if (o->unicode && !o->bytes)
        options |= PCRE2_UCP;
    return options | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
}

static struct regex *matcher_new(pcre2_code *code, bool shared)
{
    struct regex *r = base_alloc(sizeof(*r));
    *r = (struct regex){
        .code = code,
        .match = pcre2_match_data_create_from_pattern(code, NULL),
        .limits = pcre2_match_context_create(NULL),
        .stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL),
        .shared = shared,
    };
    BUG_ON(!r->match || !r->limits);
    if (r->stack)
        pcre2_jit_stack_assign(r->limits, NULL, r->stack);
    pcre2_set_match_limit(r->limits, REGEX_MATCH_LIMIT);
    pcre2_set_depth_limit(r->limits, REGEX_DEPTH_LIMIT);
    pcre2_set_heap_limit(r->limits, REGEX_HEAP_KIB);
    return r;
}

bool regex_new_with(struct str pattern, const struct regex_options *options,
    struct regex **ret_regex, struct err *err)
{
    int code = 0;
    size_t at = 0;
    if (pattern.n > REGEX_PATTERN_MAX)
        return err_set(
            err, options->code, "the pattern is longer than %d bytes", REGEX_PATTERN_MAX);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)(pattern.n ? pattern.p : ""), pattern.n,
        compile_options(options), &code, &at, NULL);
    if (!compiled)
        return regex_error(code, at, options->code, err);
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* optional: only speed depends on it */
    *ret_regex = matcher_new(compiled, false);
    return true;
}

bool regex_new(struct str pattern, struct regex **ret_regex, struct err *err)
{
    return regex_new_with(pattern, &(struct regex_options){.code = E_PROTOCOL}, ret_regex, err);
}

struct regex *regex_share(const struct regex *r)
{
    return matcher_new(r->code, true);
}

bool regex_refers_back(const struct regex *r)
{
    uint32_t n = 0;
    return pcre2_pattern_info(r->code, PCRE2_INFO_BACKREFMAX, &n) == 0 && n > 0;
}

void regex_limit(struct regex *r, uint32_t steps)
{
    pcre2_set_match_limit(r->limits, steps);
}

void regex_last_start(struct regex *r, size_t last)
{
    pcre2_set_offset_limit(r->limits, last == SIZE_MAX ? PCRE2_UNSET : last);
}

void regex_free(struct regex *r)
{
    if (!r)
        return;
    pcre2_match_context_free(r->limits);
    pcre2_match_data_free(r->match);
    pcre2_jit_stack_free(r->stack);
    if (!r->shared)
        pcre2_code_free(r->code);
    free(r);
}

bool regex_find(struct regex *r, struct str text, size_t from, struct regex_match *ret_match)
{
    return regex_find_part(r, text, from, 0, ret_match);
}

bool regex_find_part(
    struct regex *r, struct str text, size_t from, int flags, struct regex_match *ret_match)
{
    uint32_t options =
        (flags & REGEX_NOT_BEGIN ? PCRE2_NOTBOL : 0) | (flags & REGEX_NOT_END ? PCRE2_NOTEOL : 0);
    int n = pcre2_match(
        r->code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, from, options, r->match, r->limits);
    r->gave_up = n < 0 && n != PCRE2_ERROR_NOMATCH;
    if (n < 0)
        return false;
    const size_t *at = pcre2_get_ovector_pointer(r->match);
    *ret_match = (struct regex_match){at[0], at[1]};
    return at[0] <= at[1];
}

bool regex_gave_up(const struct regex *r)
{
    return r->gave_up;
}

bool regex_replace(
    struct regex *r, struct str text, struct str with, struct buf *out, struct err *err)
{
    size_t room = out->max > out->n ? out->max - out->n : 0, n = MIN(room, text.n * 2 + 1024);
    const uint32_t options = PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED |
                             PCRE2_SUBSTITUTE_OVERFLOW_LENGTH | PCRE2_SUBSTITUTE_UNSET_EMPTY;
    for (int round = 0; round < 2; round++) {
        char *to = n && n <= room ? buf_reserve(out, n) : NULL;
        if (!to)
            return err_set(err, E_IO, "the replaced text is too long");
        int result = pcre2_substitute(r->code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, 0,
            options, r->match, r->limits, (PCRE2_SPTR)(with.n ? with.p : ""), with.n,
            (PCRE2_UCHAR *)to, &n);
        if (result >= 0) {
            buf_grown(out, n);
            return true;
        }
        if (result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_DEPTHLIMIT ||
            result == PCRE2_ERROR_HEAPLIMIT || result == PCRE2_ERROR_JIT_STACKLIMIT)
            return err_set(err, E_PROTOCOL, "the pattern needs too many steps to match");
        if (result != PCRE2_ERROR_NOMEMORY)
            return regex_error(result, 0, E_PROTOCOL, err);
    }
    return err_set(err, E_IO, "the replaced text is too long");
}
