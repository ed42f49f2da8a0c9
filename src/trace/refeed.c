/* Walking over a transcript. */
#include "trace/refeed.h"

#include "term/term.h"

enum {
    FEED = 2048, /* at once: its answers fit into what the terminal keeps of them */
};

struct walk {
    const struct trace *t;
    const struct refeed *r;
    size_t at; /* byte */
    unsigned rows, cols;
};

static double time_at(const struct trace_mark *m, size_t start, size_t offset)
{
    if (m->offset <= start)
        return (double)m->at_ms;
    double part = (double)(offset - start) / (double)(m->offset - start);
    return (double)m->from_ms + part * (double)(m->at_ms - m->from_ms);
}

static void go(struct walk *w, const struct trace_mark *m, size_t start, size_t end)
{
    while (w->at < end) {
        size_t n = end - w->at;
        if (w->r->piece)
            n = MIN(n, w->r->piece);
        struct str bytes = str_n(w->t->transcript.p + w->at, n);
        w->at += n;
        if (w->r->output)
            w->r->output(w->r->context, time_at(m, start, w->at), bytes);
    }
}

static void resize(struct walk *w, double at_ms, unsigned rows, unsigned cols)
{
    if (rows == 0 || (rows == w->rows && cols == w->cols))
        return;
    w->rows = rows;
    w->cols = cols;
    if (w->r->resize)
        w->r->resize(w->r->context, at_ms, rows, cols);
}

void refeed_run(const struct trace *t, const struct refeed *r)
{
    struct walk w = {.t = t, .r = r, .rows = t->rows, .cols = t->cols};
    for (size_t i = 0; i < t->n_marks; i++) {
        const struct trace_mark *m = &t->marks[i];
        size_t start = w.at;
        if (m->size.rows) {
            go(&w, m, start, m->size.offset);
            resize(&w, m->size.offset == start ? (double)m->from_ms : time_at(m, start, w.at),
                m->size.rows, m->size.cols);
        }
        go(&w, m, start, m->offset);
        resize(&w, (double)m->at_ms, m->rows, m->cols); /* what the record says it was */
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

/* Up to a mark ----------------------------------------------------------------------------------
 */

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
