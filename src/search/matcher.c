/* Finds matching lines: builds the plan for a pattern and carries it out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/matcher.h"

enum {
    STEP_FIRST = 16 * 1024, /* bytes of lines that are matched at once */
    STEP_LEAST = 1024,
    STEP_MOST = 256 * 1024,
    STEP_SLOW_NS = 20 * 1000 * 1000,
    STEP_LIMIT = 100 * 1000, /* match steps per start position, for many lines at once */
    SHORT_LINE = 1024,       /* matched in one call */
    WHOLE_LINE = 16 * 1024,  /* ...if the pattern can detect that a line is split */
    PLACES_FIRST = 128,      /* start positions per call, for longer lines */
    PLACES_MOST = 64 * 1024,
    STEPS_EACH = 4,           /* match steps per start position, per byte of a long line */
    LINES_BETWEEN_LOOKS = 16, /* lines between checks of the clock, if they are cheap */
    CHEAP_LINE = 256,
};

#define BACK_WORK  ((size_t)2 * 1000 * 1000 * 1000) /* bytes that backreferences may compare */
#define WHOLE_WORK ((size_t)200 * 1000 * 1000)      /* match steps for a longer line in one call */

enum matcher_way {
    WAY_BYTES,       /* the byte sequences are the whole pattern */
    WAY_BYTES_LINES, /* lines containing them are matched by the regex */
    WAY_MANY,        /* many lines at once */
    WAY_LINES,
};

static const char *const way_names[] = {
    [WAY_BYTES] = "bytes",
    [WAY_BYTES_LINES] = "bytes, then the line",
    [WAY_MANY] = "many lines at once",
    [WAY_LINES] = "line by line",
};

/* One pattern compiled twice: for any text, and a faster form for ASCII, which may be missing. */
struct matcher_forms {
    struct regex *any, *ascii;
};

struct matcher_plan {
    enum matcher_way way;
    size_t one_go; /* longest line to match in one call */
    struct needle needle;
    struct matcher_forms line, many;
};

struct matcher {
    const struct matcher_plan *plan;
    struct stop *stop;
    struct matcher_forms line, many;
    struct str text;
    int flags;
    size_t at;       /* start of the next line */
    size_t step;     /* bytes to match at once */
    size_t step_end; /* end of the lines being matched at once */
    bool step_ascii;
    size_t lines; /* lines matched one by one */
    bool gave_up;
    size_t gave_up_at;
};

static void forms_free(struct matcher_forms *f)
{
    regex_free(f->any);
    regex_free(f->ascii);
}

static bool forms_compile(struct matcher_forms *f, struct str pattern,
    const struct pattern_options *o, bool ascii, struct err *err)
{
    struct regex_options options = {
        .ignore_case = o->ignore_case,
        .literal = o->literal,
        .any_bytes = true,
        .unicode = true,
        .start_limit = true,
        .code = E_TOOL_VALIDATION,
    };
    if (!regex_new_with(pattern, &options, &f->any, err))
        return false;
    AUTO_ERR struct err unused = {0};
    options.bytes = true;
    if (ascii && !regex_new_with(pattern, &options, &f->ascii, &unused))
        f->ascii = NULL;
    return true;
}

static struct matcher_forms forms_share(const struct matcher_forms *f)
{
    return (struct matcher_forms){
        f->any ? regex_share(f->any) : NULL,
        f->ascii ? regex_share(f->ascii) : NULL,
    };
}

static enum matcher_way choose_way(const struct pattern *p)
{
    if (p->exact)
        return WAY_BYTES;
    if (p->needs.n)
        return WAY_BYTES_LINES;
    return p->opaque ? WAY_LINES : WAY_MANY;
}

/* Whether the pattern can depend on the start of the search (\G) or end it early ((*COMMIT)). */
static bool minds_parts(struct str pattern)
{
    for (size_t i = 0; i + 1 < pattern.n; i++)
        if (memcmp(pattern.p + i, "\\G", 2) == 0 || memcmp(pattern.p + i, "(*", 2) == 0)
            return true;
    return false;
}

bool matcher_plan_new(struct str pattern, const struct pattern_options *options,
    struct matcher_plan **ret_plan, struct err *err)
{
    struct matcher_plan *plan = base_alloc(sizeof(*plan));
    *plan = (struct matcher_plan){.one_go = minds_parts(pattern) ? WHOLE_LINE : SHORT_LINE};
    struct pattern p = PATTERN_INIT;
    /* Only the general form knows that a non-ASCII letter can fold to an ASCII one. */
    bool ascii = !options->ignore_case || needle_is_ascii(pattern);
    bool ok = forms_compile(&plan->line, pattern, options, ascii, err) &&
              pattern_parse(&p, pattern, options, err);
    if (ok)
        plan->way = choose_way(&p);
    if (ok && p.needs.n)
        needle_init(&plan->needle, &p.needs);
    if (ok && plan->way == WAY_MANY) {
        AUTO_ERR struct err unused = {0};
        if (!forms_compile(&plan->many, buf_str(&p.form), options, ascii, &unused))
            plan->way = WAY_LINES; /* expanded form is too long */
    }
    pattern_done(&p);
    if (ok)
        *ret_plan = plan;
    else
        matcher_plan_free(plan);
    return ok;
}

void matcher_plan_free(struct matcher_plan *plan)
{
    if (!plan)
        return;
    forms_free(&plan->line);
    forms_free(&plan->many);
    free(plan);
}

const char *matcher_plan_way(const struct matcher_plan *plan)
{
    return way_names[plan->way];
}

struct matcher *matcher_new(const struct matcher_plan *plan, struct stop *stop)
{
    struct matcher *m = base_alloc(sizeof(*m));
    *m = (struct matcher){.plan = plan, .stop = stop, .step = STEP_FIRST};
    if (plan->way != WAY_BYTES)
        m->line = forms_share(&plan->line);
    m->many = forms_share(&plan->many);
    if (m->many.any)
        regex_limit(m->many.any, STEP_LIMIT);
    if (m->many.ascii)
        regex_limit(m->many.ascii, STEP_LIMIT);
    return m;
}

void matcher_free(struct matcher *m)
{
    if (!m)
        return;
    forms_free(&m->line);
    forms_free(&m->many);
    free(m);
}

void matcher_begin(struct matcher *m, struct str text, int flags)
{
    m->text = text;
    m->flags = flags;
    m->at = 0;
    m->step_end = 0;
    m->gave_up = false;
}

bool matcher_gave_up(const struct matcher *m, size_t *ret_at)
{
    if (m->gave_up)
        *ret_at = m->gave_up_at;
    return m->gave_up;
}

static size_t matcher_line_end(struct str text, size_t at)
{
    const char *newline = memchr(text.p + at, '\n', text.n - at);
    return newline ? (size_t)(newline - text.p) : text.n;
}

static size_t line_begin(struct str text, size_t at)
{
    const char *newline = at ? memrchr(text.p, '\n', at) : NULL;
    return newline ? (size_t)(newline - text.p) + 1 : 0;
}

static struct regex *matcher_pick_form(const struct matcher_forms *f, bool ascii)
{
    return ascii && f->ascii ? f->ascii : f->any;
}

static bool matcher_is_continuation(char c)
{
    return (c & 0xC0) == 0x80;
}

static bool ends_in_return(struct str text, size_t begin, size_t end)
{
    return end > begin && text.p[end - 1] == '\r';
}

/* Matches a long line in steps of some start positions: the cost of each may be O(length). */
static bool long_line_matches(
    struct matcher *m, struct regex *r, struct str line, int flags, struct regex_match *match)
{
    bool found = false, go_on = true;
    size_t places = regex_refers_back(r) ? 1 : PLACES_FIRST;
    for (size_t from = 0, next; from <= line.n && go_on && !found; from = next) {
        for (next = from + places; next < line.n && matcher_is_continuation(line.p[next]);)
            next++;
        uint64_t before = clock_mono_ns();
        regex_last_start(r, next - 1);
        found = regex_find_part(r, line, from, flags, match);
        go_on = !found && !regex_gave_up(r) && !stop_now(m->stop);
        bool slow = clock_mono_ns() - before > STEP_SLOW_NS;
        places = slow ? MAX(places / 4, (size_t)1) : MIN(places * 2, (size_t)PLACES_MOST);
    }
    regex_last_start(r, SIZE_MAX);
    return found;
}

/* Returns the limit of match steps per start position for a line of n bytes. */
static uint32_t line_steps(const struct matcher *m, const struct regex *r, size_t n)
{
    size_t steps = MAX(STEPS_EACH * n, (size_t)REGEX_MATCH_LIMIT);
    /* start positions tried without checking the clock */
    size_t places = n > SHORT_LINE && n <= m->plan->one_go ? n : 1;
    if (places > 1)
        steps = MIN(steps, WHOLE_WORK / places);
    if (n > SHORT_LINE && regex_refers_back(r))
        steps = MIN(steps, BACK_WORK / n / places);
    return (uint32_t)steps;
}

static bool matcher_line_matches(
    struct matcher *m, size_t begin, size_t end, struct matcher_hit *hit)
{
    bool cut = (m->flags & REGEX_NOT_END) && end == m->text.n;
    int flags = (begin == 0 ? m->flags & REGEX_NOT_BEGIN : 0) | (cut ? REGEX_NOT_END : 0);
    size_t n = end - begin - (!cut && ends_in_return(m->text, begin, end) ? 1 : 0);
    struct str line = str_n(m->text.p + begin, n);
    struct regex *r = matcher_pick_form(&m->line, needle_is_ascii(line));
    struct regex_match match;
    regex_limit(r, line_steps(m, r, n));
    bool found = n <= m->plan->one_go ? regex_find_part(r, line, 0, flags, &match)
                                      : long_line_matches(m, r, line, flags, &match);
    if (!found && regex_gave_up(r) && !m->gave_up) {
        m->gave_up = true;
        m->gave_up_at = begin;
    }
    if (found)
        *hit = (struct matcher_hit){{begin, end}, {begin + match.start, begin + match.end}};
    return found;
}

/* Checking the clock costs as much as a short line; a pathological line a thousand times more. */
static bool may_go_on(struct matcher *m, size_t n)
{
    bool cheap = n <= CHEAP_LINE && !m->gave_up && ++m->lines % LINES_BETWEEN_LOOKS;
    return cheap || !stop_now(m->stop);
}

static bool next_by_bytes(struct matcher *m, struct matcher_hit *hit)
{
    struct regex_match found;
    while (m->at < m->text.n && needle_find(&m->plan->needle, m->text, m->at, &found)) {
        size_t begin = line_begin(m->text, found.start), end = matcher_line_end(m->text, found.end);
        m->at = end + 1;
        if (m->plan->way == WAY_BYTES) {
            *hit = (struct matcher_hit){{begin, end}, found};
            return true;
        }
        if (matcher_line_matches(m, begin, end, hit))
            return true;
        if (!may_go_on(m, end - begin))
            return false;
    }
    return false;
}

/* Matches the lines up to `limit` one by one. */
static bool next_by_lines(struct matcher *m, size_t limit, struct matcher_hit *hit)
{
    while (m->at < limit) {
        size_t begin = m->at, end = matcher_line_end(m->text, begin);
        m->at = end + 1;
        if (matcher_line_matches(m, begin, end, hit))
            return true;
        if (!may_go_on(m, end - begin))
            return false;
    }
    return false;
}

/* Selects the lines to match at once. */
static void matcher_select_step(struct matcher *m)
{
    size_t end = m->at + m->step;
    m->step_end = end >= m->text.n ? m->text.n : MIN(matcher_line_end(m->text, end) + 1, m->text.n);
    m->step_ascii = needle_is_ascii(str_n(m->text.p + m->at, m->step_end - m->at));
}

/* Matches many lines at once; adapts their number for the next step to the time taken. */
static bool match_step(struct matcher *m, struct regex *r, struct regex_match *match)
{
    struct str lines = str_n(m->text.p + m->at, m->step_end - m->at);
    int flags = (m->at == 0 ? m->flags & REGEX_NOT_BEGIN : 0) |
                (m->step_end == m->text.n ? m->flags & REGEX_NOT_END : 0);
    uint64_t before = clock_mono_ns();
    bool found = regex_find_part(r, lines, 0, flags, match);
    if (found && match->start == lines.n && lines.p[lines.n - 1] == '\n')
        found = false; /* no line follows the last newline */
    bool slow = clock_mono_ns() - before > STEP_SLOW_NS;
    if (slow)
        m->step = MAX(m->step / 4, (size_t)STEP_LEAST);
    else if (!found)
        m->step = MIN(m->step * 2, (size_t)STEP_MOST);
    return found;
}

static bool next_by_steps(struct matcher *m, struct matcher_hit *hit)
{
    struct regex_match match;
    while (m->at < m->text.n && !stop_now(m->stop)) {
        if (m->at >= m->step_end)
            matcher_select_step(m);
        struct regex *r = matcher_pick_form(&m->many, m->step_ascii);
        if (!match_step(m, r, &match)) {
            if (regex_gave_up(r) && next_by_lines(m, m->step_end, hit))
                return true;
            m->at = MAX(m->at, m->step_end);
            continue;
        }
        size_t start = m->at + match.start;
        size_t begin = line_begin(m->text, start), end = matcher_line_end(m->text, start);
        m->at = end + 1;
        if (!ends_in_return(m->text, begin, end)) {
            *hit = (struct matcher_hit){{begin, end}, {start, start + match.end - match.start}};
            return true;
        }
        if (matcher_line_matches(
                m, begin, end, hit)) /* the match may include the carriage return */
            return true;
    }
    return false;
}

bool matcher_next(struct matcher *m, struct matcher_hit *hit)
{
    switch (m->plan->way) {
    case WAY_LINES:
        return next_by_lines(m, m->text.n, hit);
    case WAY_MANY:
        return next_by_steps(m, hit);
    default:
        return next_by_bytes(m, hit);
    }
}
