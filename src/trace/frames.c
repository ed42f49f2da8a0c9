/* Makes frames: feeds the transcript to a terminal and compares its rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/frames.h"

#include "base/utf8.h"
#include "record/refeed.h"
#include "term/look.h"
#include "term/term_box.h"

enum {
    SHAPE_FIRST = 0x2500,
    SHAPES = 0xA0,
    PROMPT_FIRST = 0xE0B0, /* bits after those */
    PROMPTS = 4,
    CLUSTER_BYTES = 32 * UTF8_MAX,
    CACHE = 4096, /* rows by hash, a power of two */
};

enum look_flag {
    LOOK_BOLD = 1,
    LOOK_ITALIC = 2,
    LOOK_BLINK = 4,
    LOOK_STRIKE = 8,
    LOOK_OVERLINE = 16,
    LOOK_HIDDEN = 32,
};

/* Cache, so that rows that only move are not written again. */
struct frames_cached {
    uint64_t hash;
    uint32_t id; /* number + 1; 0: free */
};

struct frames_maker {
    struct frames *f;
    struct term *term;
    const struct trace *t;
    unsigned rows, cols;
    bool reverse;
    struct style style; /* last style looked up, and its number */
    uint32_t style_id;
    uint64_t *hashes; /* of the last frame's rows */
    uint32_t *ids;
    struct snapshot_cell *cells; /* one row of styles, for look_of() */
    struct frames_cached *cache;
    uint32_t *of_mark;
    struct term_cursor cursor;
    uint32_t title;
    double last_ms;
    bool pending; /* output since the last frame */
    double pending_ms;
};

/* Rows ---------------------------------------------------------------------------------------- */

static uint32_t style_id(struct frames_maker *m, const struct snapshot *s, unsigned col)
{
    const struct style *style = &s->cells[col].style;
    if (memcmp(style, &m->style, sizeof(*style)) == 0)
        return m->style_id;
    struct look l = look_of(s, 0, col);
    char text[80];
    unsigned flags = (l.bold ? LOOK_BOLD : 0u) | (l.italic ? LOOK_ITALIC : 0u) |
                     (l.blink ? LOOK_BLINK : 0u) | (l.strike ? LOOK_STRIKE : 0u) |
                     (l.overline ? LOOK_OVERLINE : 0u) | (l.hidden ? LOOK_HIDDEN : 0u);
    snprintf(text, sizeof(text), "[%u,%u,%u,%u,%u]", l.fg, l.bg,
        l.underline ? l.underline_color : 0, flags, l.underline);
    m->style = *style;
    m->style_id = intern_add(&m->f->styles, str_z(text));
    return m->style_id;
}

static void note_shape(struct frames *f, uint32_t cp)
{
    unsigned bit = cp >= PROMPT_FIRST ? SHAPES + (cp - PROMPT_FIRST) : cp - SHAPE_FIRST;
    if (box_known(cp))
        f->shapes[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Returns the text of a cell; *single if it has one column and at most one code point. */
static void cell_text(const struct term_cell *cell, struct buf *text, bool *single)
{
    char raw[CLUSTER_BYTES];
    size_t n = 0;
    for (unsigned i = 0; i < cell->n; i++)
        n += utf8_write(cell->codepoints[i], raw + n);
    buf_reset(text);
    look_add_text(text, str_n(raw, n));
    *single = cell->width == 1 && cell->n <= 1;
    if (text->n == 0)
        buf_add_byte(text, ' ');
}

struct row_writer {
    struct buf out; /* the row */
    struct buf run; /* text not yet in it */
    uint32_t style;
};

static void end_run(struct row_writer *w)
{
    if (w->run.n == 0)
        return;
    buf_printf(&w->out, "%s%u,", w->out.n > 1 ? "," : "", w->style);
    json_add_text(&w->out, buf_str(&w->run));
    buf_reset(&w->run);
}

static void add_cell(struct frames_maker *m, struct row_writer *w, const struct snapshot *s,
    unsigned col, const struct term_cell *cell, struct buf *text)
{
    bool single;
    uint32_t style = style_id(m, s, col);
    cell_text(cell, text, &single);
    if (cell->n == 1)
        note_shape(m->f, cell->codepoints[0]);
    if (!single || style != w->style)
        end_run(w);
    w->style = style;
    if (single) {
        buf_add_str(&w->run, buf_str(text));
        return;
    }
    buf_printf(&w->out, "%s%lld,", w->out.n > 1 ? "," : "", -1 - (long long)style);
    json_add_text(&w->out, buf_str(text));
    buf_printf(&w->out, ",%u", cell->width);
}

static uint32_t row_id(struct frames_maker *m, unsigned row)
{
    struct snapshot one = {
        .rows = 1, .cols = m->cols, .reverse_screen = m->reverse, .cells = m->cells};
    struct row_writer w = {
        .out = BUF_INIT(16 << 20), .run = BUF_INIT(1 << 20), .style = UINT32_MAX};
    AUTO_BUF struct buf text = BUF_INIT(4096);
    struct term_cell cell;
    unsigned end = m->cols;
    for (bool blank = true; end > 0 && blank; end -= blank) {
        term_cell(m->term, (int)row, end - 1, &cell);
        m->cells[0].style = cell.style;
        blank = cell.width == 1 && (cell.n == 0 || (cell.n == 1 && cell.codepoints[0] == ' ')) &&
                style_id(m, &one, 0) == 0;
    }
    buf_add_byte(&w.out, '[');
    for (unsigned col = 0; col < end; col++) {
        term_cell(m->term, (int)row, col, &cell);
        if (cell.width == 0)
            continue;
        m->cells[col].style = cell.style;
        add_cell(m, &w, &one, col, &cell, &text);
    }
    end_run(&w);
    buf_add_byte(&w.out, ']');
    uint32_t id = intern_add(&m->f->rows, buf_str(&w.out));
    buf_done(&w.out);
    buf_done(&w.run);
    return id;
}

/* Frames -------------------------------------------------------------------------------------- */

static bool frames_same_cursor(const struct term_cursor *a, const struct term_cursor *b)
{
    return a->row == b->row && a->col == b->col && a->visible == b->visible && a->shape == b->shape;
}

static void frames_add_number(struct buf *list, const char *format, double number)
{
    if (list->n)
        buf_add_byte(list, ',');
    buf_printf(list, format, number);
}

/* Adds the rows that differ, or all, to the delta. */
static void add_rows(struct frames_maker *m, bool all)
{
    for (unsigned row = 0; row < m->rows; row++) {
        uint64_t hash = term_row_hash(m->term, row);
        bool changed = all || hash != m->hashes[row];
        m->hashes[row] = hash;
        if (!changed)
            continue;
        struct frames_cached *c = &m->cache[hash & (CACHE - 1)];
        if (!c->id || c->hash != hash)
            *c = (struct frames_cached){hash, row_id(m, row) + 1};
        m->ids[row] = c->id - 1;
        buf_printf(&m->f->delta, "%s%u,%u", m->f->n_delta ? "," : "", row, m->ids[row]);
        m->f->n_delta += 2;
    }
}

static void add_key(struct frames_maker *m)
{
    struct frames *f = m->f;
    frames_add_number(&f->keys, "%.0f", (double)f->n);
    f->n_keys++;
}

static void frames_fit_buffers(struct frames_maker *m)
{
    m->rows = term_rows(m->term);
    m->cols = term_cols(m->term);
    m->hashes = base_realloc(m->hashes, m->rows * sizeof(*m->hashes));
    m->ids = base_realloc(m->ids, m->rows * sizeof(*m->ids));
    m->cells = base_realloc(m->cells, m->cols * sizeof(*m->cells));
    memset(m->cells, 0, m->cols * sizeof(*m->cells));
}

static uint32_t title_id(struct frames_maker *m)
{
    AUTO_BUF struct buf text = BUF_INIT(8 * TERM_TITLE_MAX), json = BUF_INIT(64 * TERM_TITLE_MAX);
    look_add_text(&text, term_title(m->term));
    json_add_text(&json, buf_str(&text));
    return intern_add(&m->f->titles, buf_str(&json));
}

static void take_frame(struct frames_maker *m, double at_ms)
{
    struct frames *f = m->f;
    bool resized = m->rows != term_rows(m->term) || m->cols != term_cols(m->term);
    bool reverse = term_reverse_screen(m->term);
    struct term_cursor cursor = term_cursor(m->term);
    uint32_t title = title_id(m);
    size_t start = f->n_delta;
    bool other = resized || reverse != m->reverse || title != m->title ||
                 !frames_same_cursor(&cursor, &m->cursor);
    bool key = resized || reverse != m->reverse || f->n % FRAMES_KEY == 0;
    if (reverse != m->reverse)
        m->style.unused = 1; /* differs from every style */
    if (reverse != m->reverse || resized)
        memset(m->cache, 0, CACHE * sizeof(*m->cache));
    m->reverse = reverse;
    m->pending = false;
    if (resized)
        frames_fit_buffers(m);
    for (unsigned row = 0; row < m->rows && !other; row++)
        other = term_row_hash(m->term, row) != m->hashes[row];
    if (!other || !buf_ok(&f->rows.text) || !buf_ok(&f->delta))
        return;
    add_rows(m, key);
    if (key)
        add_key(m);
    m->cursor = cursor;
    m->title = title;
    m->last_ms = MAX(at_ms, m->last_ms);
    frames_add_number(&f->times, "%.1f", m->last_ms);
    frames_add_number(&f->starts, "%.0f", (double)start);
    frames_add_number(&f->title_ids, "%.0f", title);
    buf_printf(&f->cursors, "%s%u,%u,%d", f->n ? "," : "", cursor.row, cursor.col,
        cursor.visible ? (int)cursor.shape : -1);
    buf_printf(&f->sizes, "%s%u,%u", f->n ? "," : "", m->rows, m->cols);
    f->n++;
}

/* Callback for output. Takes no frame in the middle of a sequence or of a synchronized update. */
static void frames_on_output(void *context, double at_ms, struct str bytes)
{
    struct frames_maker *m = context;
    bool enough = m->f->rows.text.n + m->f->delta.n > FRAMES_BYTES_ENOUGH;
    if (m->pending && !enough && !term_in_frame(m->term) && !term_mid_sequence(m->term))
        take_frame(m, m->pending_ms);
    refeed_feed(m->term, bytes);
    m->pending = true;
    m->pending_ms = at_ms;
}

static void frames_on_resize(void *context, double at_ms, unsigned rows, unsigned cols)
{
    struct frames_maker *m = context;
    if (m->pending)
        take_frame(m, m->pending_ms);
    term_resize(m->term, rows, cols);
    take_frame(m, at_ms);
}

static void frames_on_mark(void *context, size_t index)
{
    struct frames_maker *m = context;
    if (index + 1 == m->t->timeline.n)
        term_feed_end(m->term);
    if (m->pending)
        take_frame(m, m->pending_ms);
    take_frame(m, (double)m->t->timeline.marks[index].at_ms);
    m->of_mark[index] = (uint32_t)(m->f->n - 1);
}

/* Adds a run, starting with a key frame: `moving` with frames between its observations too. Returns
 * the frames of its marks. */
static uint32_t *frames_add_run(struct frames_maker *m, const struct trace *t, bool moving)
{
    m->t = t;
    m->of_mark = base_alloc(MAX(t->timeline.n, (size_t)1) * sizeof(uint32_t));
    m->term = refeed_term(&t->timeline, NULL, NULL);
    m->rows = m->cols = 0;
    m->last_ms = 0;
    m->pending = false;
    take_frame(m, 0);
    refeed_run(&(struct refeed){
        .timeline = &t->timeline,
        .bytes = buf_str(&t->files.transcript),
        .term = m->term,
        .piece = MAX(t->files.transcript.n / FRAMES_SAMPLES, (size_t)FRAMES_PIECE_MIN),
        .output = moving ? frames_on_output : NULL,
        .resize = moving ? frames_on_resize : NULL,
        .mark = frames_on_mark,
        .context = m,
    });
    term_free(m->term);
    return m->of_mark;
}

void frames_make(const struct trace *t, struct frames *ret_frames)
{
    struct frames *f = ret_frames;
    struct frames_maker m = {.f = f, .style.unused = 1};
    *f = (struct frames){.n_replays = t->n_runs};
    struct buf *const lists[] = {
        &f->times, &f->starts, &f->keys, &f->cursors, &f->sizes, &f->title_ids, &f->delta};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        *lists[i] = BUF_INIT(FRAMES_BYTES_MAX);
    intern_init(&f->styles, ',', FRAMES_BYTES_MAX);
    intern_init(&f->rows, '\n', FRAMES_BYTES_MAX);
    intern_init(&f->titles, ',', FRAMES_BYTES_MAX);
    char plain[64];
    snprintf(plain, sizeof(plain), "[%u,%u,0,0,0]", (unsigned)LOOK_FG, (unsigned)LOOK_BG);
    intern_add(&f->styles, str_z(plain)); /* number 0 is an empty cell */
    intern_add(&f->rows, STR("[]"));
    m.cache = base_alloc(CACHE * sizeof(*m.cache));
    f->of_mark = frames_add_run(&m, t, true);
    f->n_film = f->n;
    f->of_replay = base_alloc(MAX(t->n_runs, (size_t)1) * sizeof(*f->of_replay));
    for (size_t i = 0; i < t->n_runs; i++)
        f->of_replay[i] = frames_add_run(&m, &t->runs[i].run, false);
    free(m.hashes);
    free(m.ids);
    free(m.cells);
    free(m.cache);
}

void frames_done(struct frames *f)
{
    struct buf *const lists[] = {
        &f->times, &f->starts, &f->keys, &f->cursors, &f->sizes, &f->title_ids, &f->delta};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        buf_done(lists[i]);
    intern_done(&f->styles);
    intern_done(&f->rows);
    intern_done(&f->titles);
    free(f->of_mark);
    for (size_t i = 0; i < f->n_replays; i++)
        free(f->of_replay[i]);
    free(f->of_replay);
    f->of_mark = NULL;
    f->of_replay = NULL;
}

/* JSON ---------------------------------------------------------------------------------------- */

static void add_shape(uint32_t cp, struct buf *out)
{
    AUTO_BUF struct buf crisp = BUF_INIT(4096), smooth = BUF_INIT(4096);
    char name[UTF8_MAX];
    size_t n = utf8_write(cp, name);
    box_add(cp, 0, 0, &(struct box_paths){&crisp, &smooth});
    json_add_text(out, str_n(name, n));
    buf_printf(out, ":[\"%s\",\"%s\",%u]", buf_z(&crisp), buf_z(&smooth), box_shade(cp));
}

bool frames_json(const struct frames *f, struct buf *out)
{
    const struct {
        const char *name;
        const struct buf *list;
    } parts[] = {
        {"styles", &f->styles.text},
        {"titles", &f->titles.text},
        {"t", &f->times},
        {"start", &f->starts},
        {"keys", &f->keys},
        {"cursor", &f->cursors},
        {"size", &f->sizes},
        {"title", &f->title_ids},
        {"delta", &f->delta},
    };
    bool first = true;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!buf_ok(parts[i].list))
            return false;
        buf_printf(out, "\"%s\":[", parts[i].name);
        buf_add_str(out, buf_str(parts[i].list));
        buf_add_z(out, "],");
    }
    buf_add_z(out, "\"shapes\":{");
    for (unsigned bit = 0; bit < SHAPES + PROMPTS; bit++) {
        if (!(f->shapes[bit / 64] >> bit % 64 & 1))
            continue;
        buf_add_z(out, first ? "" : ",");
        add_shape(bit < SHAPES ? SHAPE_FIRST + bit : PROMPT_FIRST + (bit - SHAPES), out);
        first = false;
    }
    buf_printf(out, "},\"cell\":[%d,%d],\"n\":%zu", LOOK_CELL_WIDTH, LOOK_CELL_HEIGHT, f->n_film);
    return buf_ok(out);
}
