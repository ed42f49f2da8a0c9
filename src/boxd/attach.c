/* Shows a box's screen in the user's terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "boxd/client.h"
#include "boxd/link.h"
#include "term/typed.h"
#include "tui/canvas.h"
#include "tui/display.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

enum {
    PREFIX = 0x1D, /* Ctrl-] */
    INPUT = 64 * 1024,
    ESCAPE_MS = 50, /* timeout for the rest of an escape sequence */
    HINT_MS = 2500, /* duration of the initial hint */
    SEND_MS = 2000,
    PACKETS_MAX = 4096, /* handled before keyboard input */
    WHEEL_LINES = 3,
};

struct attach {
    int fd;
    const struct client_look *look;
    struct display display;
    struct typed_keys *keys;
    struct buf input;
    uint64_t input_ms;
    struct link_screen screen;
    struct buf rows[LINK_SIZE_MAX]; /* as received */
    unsigned from_row, from_col;    /* top left cell of the visible part of the box's screen */
    bool drawn;                     /* at least one complete update was received */
    bool prefix, scrolls;
    uint64_t hint_until_ms;
    bool over;
    enum client_end end;
    struct link_packet packet;
};

static void attach_finish(struct attach *a, enum client_end how)
{
    a->over = true;
    a->end = how;
}

/* Drawing ------------------------------------------------------------------------------------- */

/* Start of the visible range of a larger screen: keeps the cursor visible. */
static unsigned attach_window_start(unsigned from, unsigned cursor, unsigned size, unsigned shown)
{
    if (shown >= size)
        return 0;
    if (cursor < from)
        from = cursor;
    if (cursor >= from + shown)
        from = cursor - shown + 1;
    return MIN(from, size - shown);
}

static void draw_hint(struct attach *a)
{
    const struct style style = {.attrs = STYLE_INVERSE};
    struct canvas *c = a->display.canvas;
    unsigned row = canvas_rows(c) - 1, cols = canvas_cols(c);
    char text[256];
    if (a->prefix)
        snprintf(text, sizeof(text), " d detach   [ scroll back   Ctrl-] send Ctrl-] ");
    else if (a->scrolls)
        snprintf(text, sizeof(text), " %u of %u lines back   q quit ", a->screen.back,
            a->screen.history);
    else if (clock_mono_ms() < a->hint_until_ms)
        snprintf(
            text, sizeof(text), " box " STR_FMT "   Ctrl-] d detaches ", STR_ARG(a->look->name));
    else
        return;
    unsigned end = canvas_text(c, row, 0, cols, str_z(text), &style);
    canvas_fill(c, row, end, cols, &style);
}

static void attach_draw(struct attach *a)
{
    struct canvas *c = a->display.canvas;
    const struct link_screen *s = &a->screen;
    unsigned rows = MIN(canvas_rows(c), (unsigned)s->rows),
             cols = MIN(canvas_cols(c), (unsigned)s->cols);
    canvas_clear(c);
    if (a->drawn) {
        a->from_row = attach_window_start(a->from_row, s->cursor_row, s->rows, canvas_rows(c));
        a->from_col = attach_window_start(a->from_col, s->cursor_col, s->cols, canvas_cols(c));
    }
    for (unsigned row = 0; row < rows; row++) {
        const struct canvas_place place = {row, 0, a->from_col, a->from_col + cols};
        if (!canvas_put_row(c, buf_str(&a->rows[a->from_row + row]), &place))
            attach_finish(a, CLIENT_CUT); /* malformed: not from our supervisor */
    }
    canvas_set_cursor(
        c, &(struct canvas_cursor){s->cursor_visible && !a->scrolls, s->cursor_row - a->from_row,
               s->cursor_col - a->from_col, s->cursor_shape});
    draw_hint(a);
    display_want_mouse(&a->display, a->scrolls ? TERM_MOUSE_NORMAL : (enum term_mouse)s->mouse);
    display_draw(&a->display);
}

/* From the supervisor ------------------------------------------------------------------------- */

static bool attach_read_screen(struct attach *a)
{
    struct link_screen s;
    if (!link_body(&a->packet, &s, sizeof(s)) || s.rows < 1 || s.rows > LINK_SIZE_MAX ||
        s.cols < 1 || s.cols > LINK_SIZE_MAX || s.mouse > TERM_MOUSE_ANY)
        return false;
    if (s.rows != a->screen.rows || s.cols != a->screen.cols)
        for (unsigned row = 0; row < LINK_SIZE_MAX; row++)
            buf_reset(&a->rows[row]);
    a->screen = s;
    return true;
}

static bool attach_read_row(struct attach *a)
{
    struct link_row head;
    struct str body = a->packet.body;
    if (body.n < sizeof(head))
        return false;
    memcpy(&head, body.p, sizeof(head));
    if (head.row >= a->screen.rows)
        return false;
    buf_reset(&a->rows[head.row]);
    buf_add_str(&a->rows[head.row], str_skip(body, sizeof(head)));
    return true;
}

static void attach_handle_packet(struct attach *a)
{
    bool ok = true;
    switch (a->packet.word) {
    case LINK_SCREEN:
        ok = attach_read_screen(a);
        break;
    case LINK_ROW:
        ok = attach_read_row(a);
        break;
    case LINK_DRAWN:
        a->drawn = true;
        attach_draw(a);
        break;
    case LINK_BELL:
        buf_add_byte(&a->display.outlet.pending, '\a');
        display_pump(&a->display);
        break;
    case LINK_ENDED:
        attach_finish(a, CLIENT_ENDED);
        break;
    default:
        ok = false;
    }
    link_drop_fds(&a->packet);
    if (!ok)
        attach_finish(a, CLIENT_CUT);
}

static void attach_read_packets(struct attach *a, struct err *err)
{
    for (int i = 0; i < PACKETS_MAX && !a->over; i++) {
        enum link_got got = link_receive(a->fd, &a->packet);
        if (got == LINK_NOTHING)
            return;
        if (got == LINK_CLOSED)
            attach_finish(a, CLIENT_CUT);
        else if (a->packet.word == LINK_FAILED) {
            (void)link_get_err(a->packet.body, err);
            a->over = true;
        } else {
            attach_handle_packet(a);
        }
    }
}

/* To the supervisor --------------------------------------------------------------------------- */

static void attach_send(
    struct attach *a, enum link_word word, const void *head, size_t n, struct str tail)
{
    uint64_t until = clock_mono_ms() + SEND_MS;
    enum link_sent sent;
    while ((sent = link_send(a->fd, word, head, n, tail, NULL)) == LINK_FULL &&
           clock_mono_ms() < until) {
        struct pollfd wait = {.fd = a->fd, .events = POLLOUT};
        (void)poll(&wait, 1, SEND_MS / 10);
    }
    if (sent == LINK_LOST)
        attach_finish(a, CLIENT_CUT);
}

static struct link_size attach_size(const struct attach *a)
{
    const struct canvas *c = a->display.canvas;
    return (struct link_size){(uint16_t)MIN(canvas_rows(c), (unsigned)LINK_SIZE_MAX),
        (uint16_t)MIN(canvas_cols(c), (unsigned)LINK_SIZE_MAX)};
}

static void attach_send_size(struct attach *a, enum link_word word)
{
    const struct link_size size = attach_size(a);
    attach_send(a, word, &size, sizeof(size), STR(""));
}

/* Scrolling ----------------------------------------------------------------------------------- */

static void scroll_to(struct attach *a, int64_t back)
{
    const uint32_t to = (uint32_t)MIN(MAX(back, (int64_t)0), (int64_t)a->screen.history);
    a->screen.back = to;
    attach_send(a, LINK_SCROLL, &to, sizeof(to), STR(""));
}

static void leave_scrolling(struct attach *a)
{
    a->scrolls = false;
    scroll_to(a, 0);
    attach_draw(a);
}

static void scroll_key(struct attach *a, const char *key)
{
    const int64_t page = MAX((int64_t)canvas_rows(a->display.canvas) - 2, (int64_t)1);
    const int64_t back = a->screen.back;
    const struct {
        const char *key;
        int64_t to;
    } moves[] = {
        {"Up", back + 1},
        {"Down", back - 1},
        {"PageUp", back + page},
        {"PageDown", back - page},
        {"Home", INT32_MAX},
        {"End", 0},
        {"k", back + 1},
        {"j", back - 1},
        {"b", back + page},
        {" ", back - page},
        {"g", INT32_MAX},
        {"G", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        if (strcasecmp(key, moves[i].key) == 0 &&
            (strlen(key) > 1 || strcmp(key, moves[i].key) == 0)) {
            scroll_to(a, moves[i].to);
            attach_draw(a);
            return;
        }
    if (strcmp(key, "q") == 0 || strcmp(key, "Escape") == 0 || strcmp(key, "Enter") == 0 ||
        strcmp(key, "Ctrl+c") == 0)
        leave_scrolling(a);
}

/* Keys ---------------------------------------------------------------------------------------- */

static void attach_handle_command(struct attach *a, const char *key)
{
    a->prefix = false;
    if (strcmp(key, "d") == 0) {
        attach_finish(a, CLIENT_DETACHED);
        return;
    }
    if (strcmp(key, "[") == 0 || strcmp(key, "PageUp") == 0) {
        a->scrolls = true;
        if (key[0] == 'P')
            scroll_key(a, key);
    }
    attach_draw(a);
}

/* Handles a key of the client itself; returns true if it was consumed. */
static bool attach_handle_own_key(struct attach *a, const char *key, bool is_prefix)
{
    if (a->prefix && is_prefix) {
        const char byte = PREFIX;
        a->prefix = false;
        attach_send(a, LINK_TEXT, NULL, 0, str_n(&byte, 1));
        attach_draw(a);
        return true;
    }
    if (a->prefix) {
        attach_handle_command(a, key);
        return true;
    }
    if (is_prefix) {
        a->prefix = true;
        attach_draw(a);
        return true;
    }
    if (a->scrolls)
        scroll_key(a, key);
    return a->scrolls || a->over;
}

static void attach_send_text(struct attach *a, enum link_word word, struct str text)
{
    for (; text.n; text = str_skip(text, LINK_TEXT_MAX))
        attach_send(a, word, NULL, 0, str_head(text, LINK_TEXT_MAX));
}

static void attach_handle_text(struct attach *a, struct str text)
{
    while (text.n && !a->over) {
        char key[2] = {text.p[0], '\0'};
        bool is_prefix = text.p[0] == PREFIX;
        if (a->prefix || a->scrolls || is_prefix) {
            (void)attach_handle_own_key(a, key, is_prefix);
            text = str_skip(text, 1);
            continue;
        }
        ptrdiff_t next = str_find(text, PREFIX);
        size_t n = next >= 0 ? (size_t)next : text.n;
        attach_send_text(a, LINK_TEXT, str_head(text, n));
        text = str_skip(text, n);
    }
}

static void attach_handle_mouse(struct attach *a, const struct mouse *m)
{
    const struct link_mouse mouse = {(uint32_t)m->button, (uint32_t)m->action, m->mods,
        m->row + a->from_row, m->col + a->from_col};
    int64_t back = a->screen.back;
    if (!a->scrolls)
        attach_send(a, LINK_MOUSE, &mouse, sizeof(mouse), STR(""));
    else if (m->button == MOUSE_WHEEL_UP || m->button == MOUSE_WHEEL_DOWN)
        scroll_to(a, m->button == MOUSE_WHEEL_UP ? back + WHEEL_LINES : back - WHEEL_LINES);
}

static void attach_handle_typed(struct attach *a, const struct typed *t)
{
    a->hint_until_ms = 0;
    switch (t->kind) {
    case TYPED_TEXT:
        attach_handle_text(a, t->bytes);
        break;
    case TYPED_KEY:
        if (!attach_handle_own_key(a, t->key, strcmp(t->key, "Ctrl+]") == 0))
            attach_send(a, LINK_KEY, NULL, 0, str_z(t->key));
        break;
    case TYPED_PASTE:
        if (!a->prefix && !a->scrolls)
            attach_send_text(a, LINK_PASTE, t->bytes);
        break;
    case TYPED_MOUSE:
        attach_handle_mouse(a, &t->mouse);
        break;
    case TYPED_UNKNOWN:
        break;
    }
}

static void attach_handle_input(struct attach *a, bool all)
{
    struct str rest = buf_str(&a->input);
    struct typed typed;
    size_t n;
    while (rest.n && !a->over && (n = typed_next(a->keys, rest, all, &typed)) > 0) {
        attach_handle_typed(a, &typed);
        rest = str_skip(rest, n);
    }
    size_t left = rest.n;
    memmove(a->input.p, a->input.p + a->input.n - left, left);
    buf_truncate(&a->input, left);
}

static void read_keys(struct attach *a)
{
    char bytes[INPUT];
    ssize_t n = read(a->display.in, bytes, sizeof(bytes));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        attach_finish(a, CLIENT_DETACHED); /* the terminal is gone */
        return;
    }
    if (a->input.n + (size_t)n > TYPED_PASTE_MAX)
        buf_reset(&a->input);
    buf_add(&a->input, bytes, (size_t)n);
    a->input_ms = clock_mono_ms();
    attach_handle_input(a, false);
}

static void attach_read_signal(struct attach *a)
{
    struct signalfd_siginfo info;
    if (read(a->look->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo != SIGWINCH) {
        attach_finish(a, CLIENT_DETACHED);
        return;
    }
    if (display_resize(&a->display)) {
        attach_send_size(a, LINK_SIZE);
        attach_draw(a);
    }
}

/* Main loop ----------------------------------------------------------------------------------- */

static int timeout_of(const struct attach *a)
{
    uint64_t now = clock_mono_ms();
    if (a->input.n)
        return ESCAPE_MS;
    if (a->hint_until_ms)
        return clock_timeout_ms(now, a->hint_until_ms);
    return -1;
}

static void attach_tick(struct attach *a)
{
    uint64_t now = clock_mono_ms();
    if (a->input.n && now - a->input_ms >= ESCAPE_MS)
        attach_handle_input(a, true);
    if (a->hint_until_ms && now >= a->hint_until_ms) {
        a->hint_until_ms = 0;
        attach_draw(a);
    }
}

static void attach_step(struct attach *a, struct err *err)
{
    struct pollfd fds[] = {
        {.fd = a->fd, .events = POLLIN},
        {.fd = a->display.in, .events = POLLIN},
        {.fd = a->look->signals, .events = POLLIN},
        {.fd = display_waits(&a->display) ? a->display.outlet.fd : -1, .events = POLLOUT},
    };
    if (poll(fds, ARRAY_LEN(fds), timeout_of(a)) > 0) {
        if (fds[3].revents) {
            display_pump(&a->display);
            if (!display_waits(&a->display))
                attach_draw(a);
        }
        if (fds[0].revents)
            attach_read_packets(a, err);
        if (fds[2].revents && !a->over)
            attach_read_signal(a);
        if (fds[1].revents && !a->over)
            read_keys(a);
    }
    if (!a->over)
        attach_tick(a);
}

static void attach_free(struct attach **at)
{
    struct attach *a = *at;
    display_close(&a->display);
    typed_keys_free(a->keys);
    buf_done(&a->input);
    for (unsigned row = 0; row < LINK_SIZE_MAX; row++)
        buf_done(&a->rows[row]);
    free(a);
}

bool client_attach(
    int fd, const struct client_look *look, enum client_end *ret_end, struct err *err)
{
    AUTO(attach_free) struct attach *a = base_alloc(sizeof(*a));
    AUTO_ERR struct err failed = {0};
    a->fd = fd;
    a->look = look;
    a->display = DISPLAY_NONE;
    a->end = CLIENT_CUT;
    a->input = BUF_INIT(TYPED_PASTE_MAX + INPUT);
    for (unsigned row = 0; row < LINK_SIZE_MAX; row++)
        a->rows[row] = BUF_INIT(LINK_PACKET_MAX);
    if (!display_open(&a->display, look->colors, err))
        return false;
    a->keys = typed_keys_new();
    a->hint_until_ms = clock_mono_ms() + HINT_MS;
    display_want_pastes(&a->display);
    attach_send_size(a, LINK_ATTACH);
    while (!a->over)
        attach_step(a, &failed);
    *ret_end = a->end;
    return !failed.code || err_move(err, &failed);
}
