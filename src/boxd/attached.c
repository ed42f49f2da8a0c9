/* Attached clients: each receives the rows that differ from those it has, as fast as it reads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fnv.h"
#include "boxd/supervisor_loop.h"
#include "term/cells.h"

static bool is_attached(const struct client *c)
{
    return c->used && c->fd >= 0 && c->kind == CLIENT_ATTACHED;
}

void attached_done(struct attached *a)
{
    free(a->sent);
    *a = (struct attached){0};
}

/* Sending ------------------------------------------------------------------------------------- */

static struct link_screen attached_describe(const struct supervisor *sv, const struct attached *a)
{
    const struct term *t = session_term(sv->session);
    struct term_cursor cursor = term_cursor(t);
    struct term_input input;
    term_input(t, &input);
    return (struct link_screen){
        .rows = (uint16_t)term_rows(t),
        .cols = (uint16_t)term_cols(t),
        .cursor_row = (uint16_t)cursor.row,
        .cursor_col = (uint16_t)cursor.col,
        .cursor_visible = cursor.visible && !a->back,
        .cursor_shape = (uint8_t)cursor.shape,
        .mouse = (uint8_t)input.mouse,
        .alternate = term_alternate(t),
        .back = a->back,
        .history = term_scrollback(t),
    };
}

/* Encodes a row for the client, and returns its hash. */
static uint64_t encode_row(
    const struct supervisor *sv, const struct attached *a, unsigned row, struct buf *out)
{
    const struct term *t = session_term(sv->session);
    buf_reset(out);
    cells_put(t, (int)row - (int)a->back, LINK_SIZE_MAX, out);
    return fnv_add(FNV_START, buf_str(out));
}

static enum link_sent send_row(struct client *c, unsigned row, const struct buf *bytes)
{
    const struct link_row head = {(uint16_t)row};
    /* Not seen in practice: a row with so many different styles that it does not fit. It is not
     * updated. */
    if (!buf_ok(bytes) || bytes->n > LINK_PACKET_MAX - sizeof(head))
        return LINK_SENT;
    return link_send(c->fd, LINK_ROW, &head, sizeof(head), buf_str(bytes), NULL);
}

static enum link_sent send_rows(struct supervisor *sv, struct client *c, bool *ret_any)
{
    struct attached *a = &c->attached;
    AUTO_BUF struct buf bytes = BUF_INIT(4 * LINK_PACKET_MAX);
    enum link_sent sent = LINK_SENT;
    for (unsigned row = 0; row < a->n_sent && sent == LINK_SENT; row++) {
        uint64_t hash = encode_row(sv, a, row, &bytes);
        if (hash == a->sent[row])
            continue;
        sent = send_row(c, row, &bytes);
        *ret_any = true;
        if (sent == LINK_SENT)
            a->sent[row] = hash;
    }
    return sent;
}

static void attached_forget_rows(struct attached *a, unsigned rows)
{
    a->sent = base_realloc(a->sent, rows * sizeof(*a->sent));
    memset(a->sent, 0, rows * sizeof(*a->sent));
    a->n_sent = rows;
}

static enum link_sent send_picture(struct supervisor *sv, struct client *c)
{
    struct attached *a = &c->attached;
    a->back = MIN(a->back, term_scrollback(session_term(sv->session)));
    const struct link_screen screen = attached_describe(sv, a);
    bool any = memcmp(&screen, &a->last, sizeof(screen)) != 0;
    if (screen.rows != a->last.rows || screen.cols != a->last.cols)
        attached_forget_rows(a, screen.rows);
    enum link_sent sent = link_send(c->fd, LINK_SCREEN, &screen, sizeof(screen), STR(""), NULL);
    if (sent == LINK_SENT)
        sent = send_rows(sv, c, &any);
    if (sent == LINK_SENT)
        sent = link_send(c->fd, LINK_DRAWN, NULL, 0, STR(""), NULL);
    if (sent == LINK_SENT)
        a->last = screen;
    return sent;
}

static void attached_draw_one(struct supervisor *sv, size_t index, uint64_t now)
{
    struct client *c = &sv->clients[index];
    struct attached *a = &c->attached;
    enum link_sent sent = send_picture(sv, c);
    if (sent == LINK_LOST || (a->full && now - a->full_ms > SUPERVISOR_STALLED_MS)) {
        clients_leave(sv, index);
        return;
    }
    if (sent == LINK_FULL && !a->full)
        a->full_ms = now;
    a->full = sent == LINK_FULL;
    a->stale = sent == LINK_FULL;
}

void attached_resume(struct supervisor *sv, size_t index, uint64_t now)
{
    if (sv->session)
        attached_draw_one(sv, index, now);
}

/* Keeps the view of scrolled-back clients on the same lines. */
static void follow_history(struct supervisor *sv)
{
    unsigned history = term_scrollback(session_term(sv->session));
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX && history > sv->history; i++)
        if (is_attached(&sv->clients[i]) && sv->clients[i].attached.back)
            sv->clients[i].attached.back += history - sv->history;
    sv->history = history;
}

static bool is_stale(const struct supervisor *sv)
{
    if (!sv->session)
        return false;
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (is_attached(&sv->clients[i]) && sv->clients[i].attached.stale &&
            !sv->clients[i].attached.full)
            return true;
    return false;
}

static void attached_send_bell(struct supervisor *sv)
{
    for (size_t i = 0; sv->recording.rang && i < SUPERVISOR_CLIENTS_MAX; i++)
        if (is_attached(&sv->clients[i]))
            (void)link_send(sv->clients[i].fd, LINK_BELL, NULL, 0, STR(""), NULL);
    sv->recording.rang = false;
}

void attached_draw(struct supervisor *sv, uint64_t now)
{
    if (!sv->session)
        return;
    bool changed = session_changes(sv->session) != sv->drawn_changes;
    changed |= sv->recording.rang;
    for (size_t i = 0; changed && i < SUPERVISOR_CLIENTS_MAX; i++)
        sv->clients[i].attached.stale = true;
    sv->drawn_changes = session_changes(sv->session);
    if (!is_stale(sv) || now - sv->drawn_ms < SUPERVISOR_FRAME_MS ||
        !term_may_draw(session_term(sv->session), now, SESSION_FRAME_MS, &sv->frame_since))
        return;
    sv->drawn_ms = now;
    attached_send_bell(sv);
    follow_history(sv);
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (is_attached(&sv->clients[i]) && sv->clients[i].attached.stale &&
            !sv->clients[i].attached.full)
            attached_draw_one(sv, i, now);
}

uint64_t attached_due(const struct supervisor *sv)
{
    if (!is_stale(sv))
        return UINT64_MAX;
    return sv->frame_since ? sv->frame_since + SESSION_FRAME_MS
                           : sv->drawn_ms + SUPERVISOR_FRAME_MS;
}

void attached_end(struct supervisor *sv)
{
    const struct session_exit *exit = sv->session ? session_exit_of(sv->session) : NULL;
    const struct link_end end = {exit ? exit->code : -1, exit ? exit->signal : 0};
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++) {
        struct client *c = &sv->clients[i];
        if (!is_attached(c))
            continue;
        (void)send_picture(sv, c);
        (void)link_send(c->fd, LINK_ENDED, &end, sizeof(end), STR(""), NULL);
        clients_leave(sv, i);
    }
}

/* Input --------------------------------------------------------------------------------------- */

/* The screen has the size of the client that was active last. */
static void attached_activate(struct supervisor *sv, size_t index)
{
    AUTO_ERR struct err ignored = {0};
    const struct attached *a = &sv->clients[index].attached;
    const struct term *t = session_term(sv->session);
    sv->active = index;
    sv->has_active = true;
    if (term_rows(t) != a->rows || term_cols(t) != a->cols)
        (void)!session_resize(sv->session, a->rows, a->cols, &ignored);
}

static void attached_set_size(struct attached *a, struct link_size size)
{
    a->rows = MIN(MAX(size.rows, (uint16_t)1), (uint16_t)LINK_SIZE_MAX);
    a->cols = MIN(MAX(size.cols, (uint16_t)2), (uint16_t)LINK_SIZE_MAX);
}

static void attached_handle_size(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    struct link_size size;
    struct attached *a = &sv->clients[index].attached;
    if (!link_body(p, &size, sizeof(size)))
        return;
    attached_set_size(a, size);
    if (sv->has_active && sv->active == index)
        attached_activate(sv, index);
    a->stale = true;
}

static void attached_begin(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    struct link_size size;
    if (!link_body(p, &size, sizeof(size)))
        return;
    attached_set_size(&sv->clients[index].attached, size);
    attached_activate(sv, index);
    sv->clients[index].attached.stale = true;
    sv->drawn_ms = 0;
}

static void attached_handle_scroll(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    uint32_t back;
    if (!link_body(p, &back, sizeof(back)))
        return;
    sv->clients[index].attached.back = MIN(back, term_scrollback(session_term(sv->session)));
    sv->clients[index].attached.stale = true;
    sv->drawn_ms = 0;
}

static void send_typed(struct supervisor *sv, size_t index, struct str bytes)
{
    AUTO_ERR struct err ignored = {0};
    if (!bytes.n)
        return;
    attached_activate(sv, index);
    sv->delivery.meddled = true;
    /* If the program does not read, input is lost, as with any terminal. */
    (void)!session_send(sv->session, bytes, &ignored);
}

static void attached_handle_text(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    send_typed(sv, index, p->body);
}

static void attached_handle_paste(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    AUTO_BUF struct buf bytes = BUF_INIT(4 * LINK_PACKET_MAX);
    struct term_input input;
    term_input(session_term(sv->session), &input);
    key_text(p->body, true, &input, &bytes);
    send_typed(sv, index, buf_str(&bytes));
}

static void attached_handle_key(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    AUTO_BUF struct buf bytes = BUF_INIT(256);
    AUTO_ERR struct err ignored = {0};
    struct term_input input;
    struct key key;
    if (!key_parse(p->body, &key, &ignored))
        return;
    term_input(session_term(sv->session), &input);
    key_encode(&key, &input, &bytes);
    send_typed(sv, index, buf_str(&bytes));
}

static void attached_handle_mouse(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    AUTO_BUF struct buf bytes = BUF_INIT(256);
    struct term_input input;
    struct link_mouse m;
    if (!link_body(p, &m, sizeof(m)) || m.button > MOUSE_FORWARD || m.action > MOUSE_MOVE)
        return;
    const struct mouse mouse = {
        (enum mouse_button)m.button, (enum mouse_action)m.action, m.row, m.col, m.mods};
    term_input(session_term(sv->session), &input);
    if (m.row < input.rows && m.col < input.cols && mouse_encode(&mouse, &input, &bytes))
        send_typed(sv, index, buf_str(&bytes));
}

void attached_take(struct supervisor *sv, size_t index, const struct link_packet *p)
{
    static void (*const takes[])(struct supervisor *, size_t, const struct link_packet *) = {
        [LINK_ATTACH] = attached_begin,
        [LINK_SIZE] = attached_handle_size,
        [LINK_SCROLL] = attached_handle_scroll,
        [LINK_TEXT] = attached_handle_text,
        [LINK_PASTE] = attached_handle_paste,
        [LINK_KEY] = attached_handle_key,
        [LINK_MOUSE] = attached_handle_mouse,
    };
    if (p->word < ARRAY_LEN(takes) && takes[p->word])
        takes[p->word](sv, index, p);
}
