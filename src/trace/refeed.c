/* Walks through a transcript. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/refeed.h"

#include "term/term.h"

enum {
    FEED = 2048,           /* at once: few enough that the replies fit into the terminal's buffer */
    CELLS_MAX = 256 << 20, /* sum over all sizes: allows a user's terminal 100,000 resizes */
    PAUSE_BYTES = 64,
    PAUSE_MS = 8, /* between two pieces of output: half a frame of a display */
};

struct refeed_walk {
    const struct trace *t;
    const struct refeed *r;
    size_t at;    /* offset in the transcript */
    size_t early; /* bytes before this offset arrived together with those after it */
    unsigned rows, cols;
    uint64_t cells; /* sum over all its sizes */
};

/* Returns the index of the recorded time of the byte before an offset. */
static size_t time_index(
    const struct refeed_walk *w, const struct trace_mark *m, size_t start, size_t offset)
{
    if (offset <= w->early)
        offset = w->early + 1;
    return m->first_time + MIN((offset - 1 - start) / m->every, m->n_times - 1);
}

static double time_at(
    const struct refeed_walk *w, const struct trace_mark *m, size_t start, size_t offset)
{
    if (m->offset <= start || offset <= start)
        return (double)(m->offset <= start ? m->at_ms : m->from_ms);
    if (m->n_times)
        return (double)w->t->times[time_index(w, m, start, offset)];
    double part = (double)(offset - start) / (double)(m->offset - start);
    return (double)m->from_ms + part * (double)(m->at_ms - m->from_ms);
}

/* Moves a pause, whose offset is known only to within a few bytes, to the likeliest place: after a
 * line or before an escape sequence. */
static size_t likely_pause(const struct refeed_walk *w, const struct trace_mark *m, size_t end)
{
    const char *p = w->t->transcript.p;
    size_t first = MAX(end - MIN(end, MIN(m->every, (size_t)PAUSE_BYTES)), w->at) + 1;
    for (size_t at = end; at >= first; at--)
        if (p[at - 1] == '\n' || p[at] == '\033')
            return at;
    return end;
}

/* Returns the end of the output that arrived at about the same time as the current byte. */
static size_t same_time(const struct refeed_walk *w, const struct trace_mark *m, size_t start,
    size_t end, size_t *ret_known)
{
    *ret_known = end;
    if (!m->n_times)
        return end;
    size_t first = time_index(w, m, start, w->at + 1), last = time_index(w, m, start, end),
           i = first;
    while (i < last && w->t->times[i + 1] - w->t->times[first] < PAUSE_MS)
        i++;
    if (i == last)
        return end;
    *ret_known = start + (i - m->first_time + 1) * m->every;
    return likely_pause(w, m, *ret_known);
}

static void refeed_emit_output(
    struct refeed_walk *w, const struct trace_mark *m, size_t start, size_t end)
{
    while (w->at < end) {
        size_t known, pause = same_time(w, m, start, end, &known), n = pause - w->at;
        if (w->r->piece)
            n = MIN(n, w->r->piece);
        struct str bytes = str_n(w->t->transcript.p + w->at, n);
        w->at += n;
        if (w->r->output)
            w->r->output(w->r->context, time_at(w, m, start, w->at), bytes);
        if (w->at == pause && pause < known)
            w->early = known;
    }
}

static void refeed_emit_resize(struct refeed_walk *w, double at_ms, unsigned rows, unsigned cols)
{
    if (rows == 0 || (rows == w->rows && cols == w->cols))
        return;
    w->cells += (uint64_t)rows * cols;
    if (w->cells > CELLS_MAX)
        return;
    w->rows = rows;
    w->cols = cols;
    if (w->r->resize)
        w->r->resize(w->r->context, at_ms, rows, cols);
}

void refeed_run(const struct trace *t, const struct refeed *r)
{
    struct refeed_walk w = {.t = t, .r = r, .rows = t->rows, .cols = t->cols};
    for (size_t i = 0; i < t->n_marks; i++) {
        const struct trace_mark *m = &t->marks[i];
        size_t start = w.at;
        if (m->size.rows) {
            refeed_emit_output(&w, m, start, m->size.offset);
            refeed_emit_resize(&w,
                m->size.offset == start ? (double)m->from_ms : time_at(&w, m, start, w.at),
                m->size.rows, m->size.cols);
        }
        refeed_emit_output(&w, m, start, m->offset);
        refeed_emit_resize(
            &w, (double)m->at_ms, m->rows, m->cols); /* the size according to the record */
        if (r->mark)
            r->mark(r->context, i);
    }
}

struct term *refeed_term(const struct trace *t)
{
    return term_new(&(struct term_options){.rows = t->rows,
        .cols = t->cols,
        .scrollback = TERM_SCROLLBACK, /* a resize brings lines back */
        .onlcr = t->plain});
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

/* Up to a mark -------------------------------------------------------------------------------- */

static void feed_output(void *context, double at_ms, struct str bytes)
{
    (void)at_ms;
    refeed_feed(context, bytes);
}

static void feed_resize(void *context, double at_ms, unsigned rows, unsigned cols)
{
    (void)at_ms;
    term_resize(context, rows, cols);
}

struct term *refeed_until(const struct trace *t, size_t mark)
{
    struct trace part = *t;
    part.n_marks = MIN(mark + 1, t->n_marks);
    struct term *term = refeed_term(t);
    refeed_run(
        &part, &(struct refeed){.output = feed_output, .resize = feed_resize, .context = term});
    return term;
}
