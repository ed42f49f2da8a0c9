/* PCRE2 behind an interface of our own. */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    bool gave_up;
};

static bool bad(int code, size_t at, struct err *err)
{
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(code, text, sizeof(text));
    err_set(
        err, E_PROTOCOL, "the pattern is wrong at character %zu: %s", at + 1, (const char *)text);
    return err_ctx_int(err, "offset", (int64_t)at);
}

bool regex_new(struct str pattern, struct regex **ret_regex, struct err *err)
{
    int code = 0;
    size_t at = 0;
    if (pattern.n > REGEX_PATTERN_MAX)
        return err_set(err, E_PROTOCOL, "the pattern is longer than %d bytes", REGEX_PATTERN_MAX);
    const uint32_t options = PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    pcre2_code *compiled = pcre2_compile(
        (PCRE2_SPTR)(pattern.n ? pattern.p : ""), pattern.n, options, &code, &at, NULL);
    if (!compiled)
        return bad(code, at, err);
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* slower without, and no less right */
    struct regex *r = base_alloc(sizeof(*r));
    r->code = compiled;
    r->match = pcre2_match_data_create_from_pattern(compiled, NULL);
    r->limits = pcre2_match_context_create(NULL);
    BUG_ON(!r->match || !r->limits);
    pcre2_set_match_limit(r->limits, REGEX_MATCH_LIMIT);
    pcre2_set_depth_limit(r->limits, REGEX_DEPTH_LIMIT);
    pcre2_set_heap_limit(r->limits, REGEX_HEAP_KIB);
    *ret_regex = r;
    return true;
}

void regex_free(struct regex *r)
{
    if (!r)
        return;
    pcre2_match_context_free(r->limits);
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    free(r);
}

bool regex_find(struct regex *r, struct str text, size_t from, struct regex_match *ret_match)
{
    int n = pcre2_match(
        r->code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, from, 0, r->match, r->limits);
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
            return bad(result, 0, err);
    }
    return err_set(err, E_IO, "the replaced text is too long");
}
