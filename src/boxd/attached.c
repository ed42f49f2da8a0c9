/* Attached clients: each receives the rows that differ from those it has, as fast as it reads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fnv.h"
#include "boxd/cells.h"
#include "boxd/supervisor_loop.h"

static bool is_watcher(const struct guest *g)
{
    return g->used && g->fd >= 0 && g->kind == GUEST_WATCHES;
}

void watcher_done(struct watcher *w)
{
    free(w->sent);
    *w = (struct watcher){0};
}

/* Sending ------------------------------------------------------------------------------------- */

static struct link_screen watcher_describe(const struct keeper *k, const struct watcher *w)
{
    const struct term *t = session_term(k->session);
    struct term_cursor cursor = term_cursor(t);
    struct term_input input;
    term_input(t, &input);
    return (struct link_screen){
        .rows = (uint16_t)term_rows(t),
        .cols = (uint16_t)term_cols(t),
        .cursor_row = (uint16_t)cursor.row,
        .cursor_col = (uint16_t)cursor.col,
        .cursor_visible = cursor.visible && !w->back,
        .cursor_shape = (uint8_t)cursor.shape,
        .mouse = (uint8_t)input.mouse,
        .alternate = term_alternate(t),
        .back = w->back,
        .history = term_scrollback(t),
    };
}

/* Encodes a row for the client, and returns its hash. */
static uint64_t encode_row(
    const struct keeper *k, const struct watcher *w, unsigned row, struct buf *out)
{
    const struct term *t = session_term(k->session);
    buf_reset(out);
    cells_put(t, (int)row - (int)w->back, LINK_SIZE_MAX, out);
    return fnv_add(FNV_START, buf_str(out));
}

static enum link_sent send_row(struct guest *g, unsigned row, const struct buf *bytes)
{
    const struct link_row head = {(uint16_t)row};
    /* Not seen in practice: a row with so many different styles that it does not fit. It is not
     * updated. */
    if (!buf_ok(bytes) || bytes->n > LINK_PACKET_MAX - sizeof(head))
        return LINK_SENT;
    return link_send(g->fd, LINK_ROW, &head, sizeof(head), buf_str(bytes), NULL);
}

static enum link_sent send_rows(struct keeper *k, struct guest *g, bool *ret_any)
{
    struct watcher *w = &g->watcher;
    AUTO_BUF struct buf bytes = BUF_INIT(4 * LINK_PACKET_MAX);
    enum link_sent sent = LINK_SENT;
    for (unsigned row = 0; row < w->n_sent && sent == LINK_SENT; row++) {
        uint64_t hash = encode_row(k, w, row, &bytes);
        if (hash == w->sent[row])
            continue;
        sent = send_row(g, row, &bytes);
        *ret_any = true;
        if (sent == LINK_SENT)
            w->sent[row] = hash;
    }
    return sent;
}

static void watcher_forget_rows(struct watcher *w, unsigned rows)
{
    w->sent = base_realloc(w->sent, rows * sizeof(*w->sent));
    memset(w->sent, 0, rows * sizeof(*w->sent));
    w->n_sent = rows;
}

static enum link_sent send_picture(struct keeper *k, struct guest *g)
{
    struct watcher *w = &g->watcher;
    w->back = MIN(w->back, term_scrollback(session_term(k->session)));
    const struct link_screen screen = watcher_describe(k, w);
    bool any = memcmp(&screen, &w->last, sizeof(screen)) != 0;
    if (screen.rows != w->last.rows || screen.cols != w->last.cols)
        watcher_forget_rows(w, screen.rows);
    enum link_sent sent = link_send(g->fd, LINK_SCREEN, &screen, sizeof(screen), STR(""), NULL);
    if (sent == LINK_SENT)
        sent = send_rows(k, g, &any);
    if (sent == LINK_SENT)
        sent = link_send(g->fd, LINK_DRAWN, NULL, 0, STR(""), NULL);
    if (sent == LINK_SENT)
        w->last = screen;
    return sent;
}

static void watcher_draw(struct keeper *k, size_t index, uint64_t now)
{
    struct guest *g = &k->guests[index];
    struct watcher *w = &g->watcher;
    enum link_sent sent = send_picture(k, g);
    if (sent == LINK_LOST || (w->full && now - w->full_ms > KEEPER_DEAF_MS)) {
        guest_leave(k, index);
        return;
    }
    if (sent == LINK_FULL && !w->full)
        w->full_ms = now;
    w->full = sent == LINK_FULL;
    w->stale = sent == LINK_FULL;
}

void watcher_go_on(struct keeper *k, size_t index, uint64_t now)
{
    if (k->session)
        watcher_draw(k, index, now);
}

/* Not within a synchronized update, which must be shown as a whole. */
static bool may_draw(struct keeper *k, uint64_t now)
{
    if (!term_in_frame(session_term(k->session)))
        k->frame_since = 0;
    else if (!k->frame_since)
        k->frame_since = now;
    return !k->frame_since || now - k->frame_since >= SESSION_FRAME_MS;
}

/* Keeps the view of scrolled-back clients on the same lines. */
static void follow_history(struct keeper *k)
{
    unsigned history = term_scrollback(session_term(k->session));
    for (size_t i = 0; i < KEEPER_GUESTS_MAX && history > k->history; i++)
        if (is_watcher(&k->guests[i]) && k->guests[i].watcher.back)
            k->guests[i].watcher.back += history - k->history;
    k->history = history;
}

static bool is_stale(const struct keeper *k)
{
    if (!k->session)
        return false;
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (is_watcher(&k->guests[i]) && k->guests[i].watcher.stale && !k->guests[i].watcher.full)
            return true;
    return false;
}

static void watcher_send_bell(struct keeper *k)
{
    for (size_t i = 0; k->recording.rang && i < KEEPER_GUESTS_MAX; i++)
        if (is_watcher(&k->guests[i]))
            (void)link_send(k->guests[i].fd, LINK_BELL, NULL, 0, STR(""), NULL);
    k->recording.rang = false;
}

void watchers_draw(struct keeper *k, uint64_t now)
{
    if (!k->session)
        return;
    bool changed = session_changes(k->session) != k->drawn_changes;
    changed |= k->recording.rang;
    for (size_t i = 0; changed && i < KEEPER_GUESTS_MAX; i++)
        k->guests[i].watcher.stale = true;
    k->drawn_changes = session_changes(k->session);
    if (!is_stale(k) || now - k->drawn_ms < KEEPER_FRAME_MS || !may_draw(k, now))
        return;
    k->drawn_ms = now;
    watcher_send_bell(k);
    follow_history(k);
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (is_watcher(&k->guests[i]) && k->guests[i].watcher.stale && !k->guests[i].watcher.full)
            watcher_draw(k, i, now);
}

uint64_t watchers_due(const struct keeper *k)
{
    if (!is_stale(k))
        return UINT64_MAX;
    return k->frame_since ? k->frame_since + SESSION_FRAME_MS : k->drawn_ms + KEEPER_FRAME_MS;
}

void watchers_end(struct keeper *k)
{
    const struct session_exit *exit = k->session ? session_exit_of(k->session) : NULL;
    const struct link_end end = {exit ? exit->code : -1, exit ? exit->signal : 0};
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++) {
        struct guest *g = &k->guests[i];
        if (!is_watcher(g))
            continue;
        (void)send_picture(k, g);
        (void)link_send(g->fd, LINK_ENDED, &end, sizeof(end), STR(""), NULL);
        guest_leave(k, i);
    }
}

/* Input --------------------------------------------------------------------------------------- */

/* The screen has the size of the client that was active last. */
static void watcher_activate(struct keeper *k, size_t index)
{
    AUTO_ERR struct err ignored = {0};
    const struct watcher *w = &k->guests[index].watcher;
    const struct term *t = session_term(k->session);
    k->active = index;
    k->has_active = true;
    if (term_rows(t) != w->rows || term_cols(t) != w->cols)
        (void)!session_resize(k->session, w->rows, w->cols, &ignored);
}

static void watcher_set_size(struct watcher *w, struct link_size size)
{
    w->rows = MIN(MAX(size.rows, (uint16_t)1), (uint16_t)LINK_SIZE_MAX);
    w->cols = MIN(MAX(size.cols, (uint16_t)2), (uint16_t)LINK_SIZE_MAX);
}

static void watcher_handle_size(struct keeper *k, size_t index, const struct link_packet *p)
{
    struct link_size size;
    struct watcher *w = &k->guests[index].watcher;
    if (!link_body(p, &size, sizeof(size)))
        return;
    watcher_set_size(w, size);
    if (k->has_active && k->active == index)
        watcher_activate(k, index);
    w->stale = true;
}

static void watcher_attach(struct keeper *k, size_t index, const struct link_packet *p)
{
    struct link_size size;
    if (!link_body(p, &size, sizeof(size)))
        return;
    watcher_set_size(&k->guests[index].watcher, size);
    watcher_activate(k, index);
    k->guests[index].watcher.stale = true;
    k->drawn_ms = 0;
}

static void watcher_handle_scroll(struct keeper *k, size_t index, const struct link_packet *p)
{
    uint32_t back;
    if (!link_body(p, &back, sizeof(back)))
        return;
    k->guests[index].watcher.back = MIN(back, term_scrollback(session_term(k->session)));
    k->guests[index].watcher.stale = true;
    k->drawn_ms = 0;
}

static void send_typed(struct keeper *k, size_t index, struct str bytes)
{
    AUTO_ERR struct err ignored = {0};
    if (!bytes.n)
        return;
    watcher_activate(k, index);
    k->delivery.meddled = true;
    /* If the program does not read, input is lost, as with any terminal. */
    (void)!session_send(k->session, bytes, &ignored);
}

static void watcher_handle_text(struct keeper *k, size_t index, const struct link_packet *p)
{
    send_typed(k, index, p->body);
}

static void watcher_handle_paste(struct keeper *k, size_t index, const struct link_packet *p)
{
    AUTO_BUF struct buf bytes = BUF_INIT(4 * LINK_PACKET_MAX);
    struct term_input input;
    term_input(session_term(k->session), &input);
    key_text(p->body, true, &input, &bytes);
    send_typed(k, index, buf_str(&bytes));
}

static void watcher_handle_key(struct keeper *k, size_t index, const struct link_packet *p)
{
    AUTO_BUF struct buf bytes = BUF_INIT(256);
    AUTO_ERR struct err ignored = {0};
    struct term_input input;
    struct key key;
    if (!key_parse(p->body, &key, &ignored))
        return;
    term_input(session_term(k->session), &input);
    key_encode(&key, &input, &bytes);
    send_typed(k, index, buf_str(&bytes));
}

static void watcher_handle_mouse(struct keeper *k, size_t index, const struct link_packet *p)
{
    AUTO_BUF struct buf bytes = BUF_INIT(256);
    struct term_input input;
    struct link_mouse m;
    if (!link_body(p, &m, sizeof(m)) || m.button > MOUSE_FORWARD || m.action > MOUSE_MOVE)
        return;
    const struct mouse mouse = {
        (enum mouse_button)m.button, (enum mouse_action)m.action, m.row, m.col, m.mods};
    term_input(session_term(k->session), &input);
    if (m.row < input.rows && m.col < input.cols && mouse_encode(&mouse, &input, &bytes))
        send_typed(k, index, buf_str(&bytes));
}

void watcher_take(struct keeper *k, size_t index, const struct link_packet *p)
{
    static void (*const takes[])(struct keeper *, size_t, const struct link_packet *) = {
        [LINK_ATTACH] = watcher_attach,
        [LINK_SIZE] = watcher_handle_size,
        [LINK_SCROLL] = watcher_handle_scroll,
        [LINK_TEXT] = watcher_handle_text,
        [LINK_PASTE] = watcher_handle_paste,
        [LINK_KEY] = watcher_handle_key,
        [LINK_MOUSE] = watcher_handle_mouse,
    };
    if (p->word < ARRAY_LEN(takes) && takes[p->word])
        takes[p->word](k, index, p);
}
