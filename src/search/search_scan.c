/* Scans files through a window of fixed size. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/search_scan.h"

#include "base/grow.h"
#include "base/utf8.h"

#include <errno.h>

enum {
    SCAN_ALIGN = 4096,
};

struct scan {
    struct scan_options options;
    struct stop *stop;
    struct matcher *matcher;
    char *p;        /* the window */
    size_t n;       /* bytes in it */
    size_t begin;   /* start of the part not searched yet */
    size_t shown;   /* start of the line after the last one shown */
    size_t counted; /* start of the line `number` */
    uint64_t number;
    size_t size;  /* size of the file according to the caller */
    size_t after; /* context lines still to be shown after a match */
    bool ended;   /* end of file reached */
    bool first;   /* the window starts at the start of the file */
    bool within;  /* `begin` is inside a line longer than the window */
    bool skip;    /* skip the rest of the overlong line */
    struct found *found;
};

struct scan *scan_new(
    const struct matcher_plan *plan, const struct scan_options *options, struct stop *stop)
{
    struct scan *s = base_alloc(sizeof(*s));
    *s = (struct scan){.options = *options, .stop = stop, .matcher = matcher_new(plan, stop)};
    /* Page-aligned: the kernel copies into such a buffer in half the time. */
    s->p = aligned_alloc(SCAN_ALIGN, SCAN_WINDOW);
    BUG_ON(!s->p);
    return s;
}

void scan_free(struct scan *s)
{
    if (!s)
        return;
    matcher_free(s->matcher);
    free(s->p);
    free(s);
}

/* Showing ------------------------------------------------------------------------------------- */

static bool scan_is_continuation(char c)
{
    return (c & 0xC0) == 0x80;
}

/* Returns the part of a line to show: all of it, or an excerpt around the match. */
static struct str shown_part(struct str line, size_t match, bool *ret_head, bool *ret_tail)
{
    size_t from = 0, to = line.n;
    if (line.n > SCAN_SHOWN) {
        from = match > SCAN_SHOWN_BEFORE ? match - SCAN_SHOWN_BEFORE : 0;
        from = MIN(from, line.n - SCAN_SHOWN);
        to = from + SCAN_SHOWN;
        for (int i = 0; i < UTF8_MAX && from > 0 && scan_is_continuation(line.p[from]); i++)
            from--;
        for (int i = 0; i < UTF8_MAX && to < line.n && scan_is_continuation(line.p[to]); i++)
            to--;
    }
    *ret_head = from > 0;
    *ret_tail = to < line.n;
    return str_n(line.p + from, to - from);
}

static uint64_t number_at(struct scan *s, size_t at)
{
    s->number += needle_count_lines(str_n(s->p + s->counted, at - s->counted));
    s->counted = at;
    return s->number;
}

/* Keeps a line unless the text limit is reached. `match` is the offset of the match in the line;
 * NULL for a line of context. */
static void scan_add_line(struct scan *s, size_t begin, size_t end, const size_t *match, bool whole)
{
    struct found *f = s->found;
    bool head, tail;
    if (f->text->n >= s->options.text_max)
        return;
    GROW(f->lines, f->n, f->cap, GROW_MAX);
    struct str line = str_trim_end(str_n(s->p + begin, end - begin), '\n');
    if (whole && line.n && line.p[line.n - 1] == '\r')
        line.n--;
    struct str part = shown_part(line, match ? *match : 0, &head, &tail);
    struct found_line *kept = &f->lines[f->n++];
    *kept = (struct found_line){
        .number = number_at(s, begin), .match = match != NULL, .at = f->text->n};
    buf_add_z(f->text, head ? "… " : "");
    f->replaced += utf8_add_lossy(f->text, part);
    buf_add_z(f->text, tail || !whole ? "… [truncated line]" : "");
    f->cut_lines += head || tail || !whole;
    kept->n = f->text->n - kept->at;
}

/* Returns the end of the line that starts at `at`, including its newline. */
static size_t line_after(const struct scan *s, size_t at, size_t limit)
{
    const char *newline = memchr(s->p + at, '\n', limit - at);
    return newline ? (size_t)(newline - s->p) + 1 : limit;
}

/* Shows the context lines after the last match, up to `limit`. */
static void show_after(struct scan *s, size_t limit)
{
    while (s->after > 0 && s->shown < limit) {
        size_t next = line_after(s, s->shown, limit);
        scan_add_line(s, s->shown, next, NULL, true);
        s->shown = next;
        s->after--;
    }
}

/* Returns the start of the line that is `lines` lines above `at`, but not below `least`. */
static size_t lines_before(const struct scan *s, size_t at, size_t lines, size_t least)
{
    while (lines-- > 0 && at > least) {
        const char *newline = at - 1 > least ? memrchr(s->p + least, '\n', at - 1 - least) : NULL;
        at = newline ? (size_t)(newline - s->p) + 1 : least;
    }
    return at;
}

static void show_before(struct scan *s, size_t at)
{
    size_t begin = lines_before(s, at, s->options.context, s->shown);
    while (begin < at) {
        size_t next = line_after(s, begin, at);
        scan_add_line(s, begin, next, NULL, true);
        begin = next;
    }
}

static void show_hit(struct scan *s, const struct matcher_hit *hit, size_t base, bool whole)
{
    size_t begin = base + hit->line.start, end = base + hit->line.end;
    size_t match = hit->match.start - hit->line.start;
    s->found->matches++;
    show_after(s, begin);
    if (s->shown < begin)
        show_before(s, begin);
    scan_add_line(s, begin, end, &match, whole && !(s->within && hit->line.start == 0));
    s->shown = MIN(end + 1, s->n);
    s->after = whole ? s->options.context : 0;
}

/* Searching ----------------------------------------------------------------------------------- */

static bool has_nul(const struct scan *s)
{
    return memchr(s->p + s->begin, '\0', s->n - s->begin);
}

static void note_gave_up(struct scan *s)
{
    size_t at;
    if (s->found->gave_up || !matcher_gave_up(s->matcher, &at))
        return;
    s->found->gave_up = s->number; /* the last counted line, or a later one */
    at += s->begin;
    if (at > s->counted)
        s->found->gave_up += needle_count_lines(str_n(s->p + s->counted, at - s->counted));
}

/* Searches from `begin` to `end`: whole lines, or part of an overlong one. Returns false if the
 * file is done. */
static bool search_lines(struct scan *s, size_t end, bool whole)
{
    struct matcher_hit hit;
    int flags = (s->within ? REGEX_NOT_BEGIN : 0) | (whole ? 0 : REGEX_NOT_END);
    matcher_begin(s->matcher, str_n(s->p + s->begin, end - s->begin), flags);
    while (matcher_next(s->matcher, &hit)) {
        /* A file that fits into the window is checked for NUL bytes only if something matches. */
        if (s->first && s->ended && s->found->matches == 0 && has_nul(s)) {
            s->found->end = SCAN_BINARY;
            return false;
        }
        show_hit(s, &hit, s->begin, whole);
        if (!whole)
            s->skip = true;
        if (s->found->matches >= s->options.limit || !whole)
            break;
    }
    note_gave_up(s);
    if (whole)
        show_after(s, end);
    return s->found->matches < s->options.limit && !stop_asked(s->stop);
}

/* Makes room at the end of the window; keeps lines that may still be shown as context. */
static void scan_roll(struct scan *s, size_t keep_from)
{
    if (keep_from > s->counted)
        number_at(s, keep_from);
    memmove(s->p, s->p + keep_from, s->n - keep_from);
    s->n -= keep_from;
    s->begin -= MIN(s->begin, keep_from);
    s->shown = s->shown > keep_from ? s->shown - keep_from : 0;
    s->counted = s->counted > keep_from ? s->counted - keep_from : 0;
    s->first = false;
}

static bool scan_fill(struct scan *s, int fd)
{
    while (!s->ended && s->n < SCAN_WINDOW) {
        size_t room = SCAN_WINDOW - s->n;
        if (s->first && s->size > s->n) /* reading past the end costs the kernel time */
            room = MIN(room, s->size - s->n);
        ssize_t n = read(fd, s->p + s->n, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            s->found->end = SCAN_FAILED;
            s->found->errnum = errno;
            return false;
        }
        s->n += (size_t)n;
        s->ended = n == 0;
        s->ended |= s->first && s->size > 0 && s->n == s->size;
    }
    return true;
}

/* Returns false if the file is binary, that is, contains NUL bytes. */
static bool scan_is_text(struct scan *s)
{
    if ((s->first && s->ended) || !has_nul(s))
        return true;
    s->found->end = s->first ? SCAN_BINARY : SCAN_BINARY_LATER;
    return false;
}

/* Skips the rest of a line that was already reported. */
static void scan_skip_line(struct scan *s)
{
    const char *newline = memchr(s->p + s->begin, '\n', s->n - s->begin);
    s->begin = newline ? (size_t)(newline - s->p) + 1 : s->n;
    s->shown = s->begin;
    s->skip = !newline;
    s->within = !newline;
}

/* Searches part of a line that fills the window and keeps an overlap for the next part. */
static bool search_part(struct scan *s)
{
    bool more = search_lines(s, s->n, false);
    size_t keep_from = s->n - SCAN_OVERLAP;
    s->begin = s->shown = keep_from;
    s->after = 0;
    s->within = true;
    scan_roll(s, keep_from);
    return more;
}

/* Searches the complete lines in the window. Returns false if the file is done. */
static bool search_window(struct scan *s)
{
    if (s->skip)
        scan_skip_line(s);
    const char *newline = memrchr(s->p + s->begin, '\n', s->n - s->begin);
    size_t end = s->ended ? s->n : newline ? (size_t)(newline - s->p) + 1 : s->begin;
    if (end == s->begin && !s->ended && s->n - s->begin > SCAN_WINDOW / 2)
        return search_part(s);
    if (end > s->begin) {
        if (!search_lines(s, end, true))
            return false;
        s->within = false;
        s->begin = end;
    }
    if (s->ended)
        return false;
    size_t keep_from = lines_before(s, s->begin, s->options.context, MIN(s->shown, s->begin));
    if (s->begin - keep_from > SCAN_WINDOW / 4)
        keep_from = s->begin;
    scan_roll(s, keep_from);
    return true;
}

static void skip_mark(struct scan *s)
{
    if (s->first && s->n >= 3 && memcmp(s->p, "\xEF\xBB\xBF", 3) == 0)
        s->begin = s->shown = s->counted = 3;
}

void scan_fd(struct scan *s, int fd, size_t size, struct found *found)
{
    s->size = size;
    s->n = s->begin = s->shown = s->counted = s->after = 0;
    s->number = 1;
    s->ended = s->within = s->skip = false;
    s->first = true;
    s->found = found;
    if (!scan_fill(s, fd))
        return;
    skip_mark(s);
    while (scan_is_text(s) && search_window(s) && !stop_now(s->stop))
        if (!scan_fill(s, fd))
            break;
    if (found->end == SCAN_BINARY) {
        found->n = 0;
        found->matches = 0;
    }
}
