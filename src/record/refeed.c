/* Plays transcripts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/refeed.h"

enum {
    FEED = 2048,           /* at once: few enough that the replies fit into the terminal's buffer */
    CELLS_MAX = 512 << 20, /* sum over all resizes: 2,500 of a wide terminal with its scrollback */
    PAUSE_BYTES = 64,
    PAUSE_MS = 8, /* between two pieces of output: half a frame of a display */
};

/* Returns the index of the recorded time of the byte before an offset. */
static size_t time_index(
    const struct refeed *r, const struct timeline_mark *m, size_t start, size_t offset)
{
    if (offset <= r->early)
        offset = r->early + 1;
    return m->first_time + MIN((offset - 1 - start) / m->every, m->n_times - 1);
}

static double time_at(
    const struct refeed *r, const struct timeline_mark *m, size_t start, size_t offset)
{
    if (m->offset <= start || offset <= start)
        return (double)(m->offset <= start ? m->at_ms : m->from_ms);
    if (m->n_times)
        return (double)r->timeline->times[time_index(r, m, start, offset)];
    double part = (double)(offset - start) / (double)(m->offset - start);
    return (double)m->from_ms + part * (double)(m->at_ms - m->from_ms);
}

/* Moves a pause, whose offset is known only to within a few bytes, to the likeliest place: after a
 * line or before an escape sequence. */
static size_t likely_pause(const struct refeed *r, const struct timeline_mark *m, size_t end)
{
    const char *p = r->bytes.p;
    size_t first = MAX(end - MIN(end, MIN(m->every, (size_t)PAUSE_BYTES)), r->at) + 1;
    for (size_t at = end; at >= first; at--)
        if (p[at - 1] == '\n' || p[at] == '\033')
            return at;
    return end;
}

/* Returns the end of the output that arrived at about the same time as the current byte. */
static size_t same_time(const struct refeed *r, const struct timeline_mark *m, size_t start,
    size_t end, size_t *ret_known)
{
    *ret_known = end;
    if (!m->n_times)
        return end;
    size_t first = time_index(r, m, start, r->at + 1), last = time_index(r, m, start, end),
           i = first;
    while (i < last && r->timeline->times[i + 1] - r->timeline->times[first] < PAUSE_MS)
        i++;
    if (i == last)
        return end;
    *ret_known = start + (i - m->first_time + 1) * m->every;
    return likely_pause(r, m, *ret_known);
}

/* The bytes may end before the offsets of the timeline do. */
static void refeed_emit_output(
    struct refeed *r, const struct timeline_mark *m, size_t start, size_t end)
{
    end = MIN(end, r->bytes.n);
    while (r->at < end) {
        size_t known, pause = same_time(r, m, start, end, &known), n = pause - r->at;
        if (r->piece)
            n = MIN(n, r->piece);
        struct str bytes = str_n(r->bytes.p + r->at, n);
        r->at += n;
        if (r->output)
            r->output(r->context, time_at(r, m, start, r->at), bytes);
        else if (r->term)
            refeed_feed(r->term, bytes);
        if (r->at == pause && pause < known)
            r->early = known;
    }
}

/* Returns the number of cells that a resize rewraps, including the scrollback, which is not known
 * while the alternate screen is shown. */
static uint64_t refeed_rewrapped(const struct refeed *r, unsigned rows, unsigned cols)
{
    uint64_t lines = MAX(rows, r->rows);
    if (r->term)
        lines += term_alternate(r->term) ? r->timeline->scrollback : term_scrollback(r->term);
    return lines * MAX(cols, r->cols);
}

static void refeed_emit_resize(struct refeed *r, double at_ms, unsigned rows, unsigned cols)
{
    if (rows == 0 || (rows == r->rows && cols == r->cols))
        return;
    r->cells += refeed_rewrapped(r, rows, cols);
    if (r->cells > CELLS_MAX)
        return;
    r->rows = rows;
    r->cols = cols;
    if (r->resize)
        r->resize(r->context, at_ms, rows, cols);
    else if (r->term)
        term_resize(r->term, rows, cols);
}

static void refeed_emit_mark(struct refeed *r, const struct timeline_mark *m)
{
    size_t start = r->at;
    if (m->resize.rows) {
        refeed_emit_output(r, m, start, m->resize.offset);
        refeed_emit_resize(r,
            m->resize.offset == start ? (double)m->from_ms : time_at(r, m, start, r->at),
            m->resize.rows, m->resize.cols);
    }
    refeed_emit_output(r, m, start, m->offset);
    refeed_emit_resize(
        r, (double)m->at_ms, m->rows, m->cols); /* the size according to the record */
}

void refeed_to(struct refeed *r, size_t mark)
{
    const struct timeline *t = r->timeline;
    if (r->next == 0) {
        r->rows = t->rows;
        r->cols = t->cols;
    }
    for (; r->next <= mark && r->next < t->n; r->next++) {
        refeed_emit_mark(r, &t->marks[r->next]);
        if (r->mark)
            r->mark(r->context, r->next);
    }
}

void refeed_run(struct refeed *r)
{
    refeed_to(r, r->timeline->n);
}

struct term *refeed_term(const struct timeline *t,
    void (*event)(void *context, const struct term_event *event), void *context)
{
    return term_new(&(struct term_options){.rows = t->rows,
        .cols = t->cols,
        .scrollback = t->scrollback,
        .onlcr = t->plain,
        .event = event,
        .context = context});
}

void refeed_feed(struct term *term, struct str bytes)
{
    while (bytes.n) {
        struct str piece = str_head(bytes, FEED);
        term_feed(term, piece);
        term_drop_replies(term, term_replies(term).n);
        bytes = str_skip(bytes, piece.n);
    }
}
