/* Garbage collection of the tables. Cells contain style and cluster numbers, and styles contain
 * link numbers; unreferenced entries are freed and the rest are renumbered. If the scrollback alone
 * fills a table, its colours or combining marks are dropped: memory stays bounded for any
 * output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

enum {
    WAIT = 64 * 1024, /* requests refused after the screen itself fills a table */
};

struct compact_marks {
    uint16_t *styles;   /* new numbers; 0: unused (or the default) */
    uint32_t *clusters; /* likewise */
};

static void for_cells(struct term *t, bool history_only,
    void (*each)(struct term *, struct compact_marks *, cell *), struct compact_marks *marks)
{
    for (int i = 0; i < 2; i++) {
        struct grid *g = &t->screens[i].grid;
        for (int y = -g->history; y < (history_only ? 0 : g->rows); y++) {
            struct row *row = grid_row(g, y);
            for (int x = 0; x < row->used; x++)
                each(t, marks, &row->cells[x]);
        }
    }
}

static void compact_mark(struct term *t, struct compact_marks *m, cell *c)
{
    (void)t;
    m->styles[cell_style(*c)] = 1;
    if (*c & CELL_CLUSTER)
        m->clusters[cell_char(*c)] = 1;
}

static void compact_renumber(struct term *t, struct compact_marks *m, cell *c)
{
    (void)t;
    cell text = *c & ~CELL_STYLE;
    if (*c & CELL_CLUSTER)
        text = (text & ~CELL_CHAR) | m->clusters[cell_char(*c)];
    *c = text | cell_of(m->styles[cell_style(*c)]);
}

static void drop_style(struct term *t, struct compact_marks *m, cell *c)
{
    (void)t;
    (void)m;
    *c &= ~CELL_STYLE;
}

static void drop_marks(struct term *t, struct compact_marks *m, cell *c)
{
    (void)m;
    if (*c & CELL_CLUSTER)
        *c = (*c & ~CELL_TEXT) | cluster_get(&t->clusters, cell_char(*c)).codepoints[0];
}

static void keep_clusters(struct term *t, struct compact_marks *m)
{
    struct cluster_table fresh = {0};
    cluster_table_init(&fresh);
    for (uint32_t id = 1; id < t->clusters.n; id++) {
        if (!m->clusters[id])
            continue;
        struct cluster c = cluster_get(&t->clusters, id);
        m->clusters[id] = cluster_intern(&fresh, c.codepoints, c.n);
    }
    fresh.newest = CLUSTER_NONE; /* several cells may use it */
    cluster_table_done(&t->clusters);
    t->clusters = fresh;
}

/* Includes the links of styles outside cells: pens have no number, but may have a link. */
static void mark_links(struct term *t, const struct compact_marks *m, uint32_t links[LINKS_MAX])
{
    for (uint32_t id = 0; id < t->styles.n; id++)
        if (m->styles[id])
            links[t->styles.styles[id].link] = 1;
    links[t->pen.link] = 1;
    if (t->held)
        links[t->held->link] = 1;
    for (int i = 0; i < 2; i++)
        links[t->screens[i].saved.pen.link] = 1;
    for (unsigned i = 0; i < t->n_sgr; i++)
        links[t->sgr_stack[i].link] = 1;
    links[0] = 0;
}

static void move_links(struct term *t, const uint32_t links[LINKS_MAX])
{
    for (uint32_t id = 0; id < t->styles.n; id++)
        t->styles.styles[id].link = links[t->styles.styles[id].link];
    t->pen.link = links[t->pen.link];
    if (t->held)
        t->held->link = links[t->held->link];
    for (int i = 0; i < 2; i++)
        t->screens[i].saved.pen.link = links[t->screens[i].saved.pen.link];
    for (unsigned i = 0; i < t->n_sgr; i++)
        t->sgr_stack[i].link = links[t->sgr_stack[i].link];
}

static void keep_styles(struct term *t, struct compact_marks *m)
{
    uint32_t *links = base_alloc(LINKS_MAX * sizeof(*links));
    mark_links(t, m, links);
    link_table_keep(&t->links, links);
    move_links(t, links);
    free(links);
    struct style_table fresh = {0};
    style_table_init(&fresh);
    for (uint32_t id = 1; id < t->styles.n; id++)
        if (m->styles[id])
            m->styles[id] = style_intern(&fresh, &t->styles.styles[id]);
    style_table_done(&t->styles);
    t->styles = fresh;
}

static void compact_collect(struct term *t)
{
    struct compact_marks m = {
        .styles = base_alloc(t->styles.n * sizeof(*m.styles)),
        .clusters = base_alloc(t->clusters.n * sizeof(*m.clusters)),
    };
    for_cells(t, false, compact_mark, &m);
    m.styles[0] = 0;
    keep_clusters(t, &m);
    keep_styles(t, &m);
    for_cells(t, false, compact_renumber, &m);
    free(m.styles);
    free(m.clusters);
}

static bool compact_is_crowded(uint32_t n, uint32_t max)
{
    return n > max / 4 * 3;
}

bool term_may_compact(struct term *t)
{
    if (t->compact_wait == 0)
        return true;
    t->compact_wait--;
    return false;
}

void term_compact(struct term *t)
{
    compact_collect(t);
    bool styles =
        compact_is_crowded(t->styles.n, STYLES_MAX) || compact_is_crowded(t->links.n, LINKS_MAX);
    bool clusters = compact_is_crowded(t->clusters.n, CLUSTERS_MAX) ||
                    compact_is_crowded(t->clusters.pool_n, CLUSTER_POOL_MAX);
    if (styles)
        for_cells(t, true, drop_style, NULL);
    if (clusters)
        for_cells(t, true, drop_marks, NULL);
    if (styles || clusters)
        compact_collect(t);
    if (compact_is_crowded(t->styles.n, STYLES_MAX) || compact_is_crowded(t->links.n, LINKS_MAX) ||
        compact_is_crowded(t->clusters.n, CLUSTERS_MAX) ||
        compact_is_crowded(t->clusters.pool_n, CLUSTER_POOL_MAX))
        t->compact_wait = WAIT;
    pen_changed(t);
}
