/* The user's terminal for a conversation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/console.h"

#include "base/clock.h"
#include "tui/editor.h"

#include <errno.h>
#include <poll.h>

enum {
    READ_SIZE = 64 << 10,
};

#define ENTER "\033[?2004h"
/* CAN aborts a partially written sequence. */
#define LEAVE "\030\033[?2026l\033[?2004l\033[m\033[?25h"

static bool console_is_set(const char *value)
{
    return value && *value;
}

struct live_options console_look(const struct console_environment *e)
{
    struct live_options look = {.colors = LIVE_16};
    struct str term = str_z(e->term ? e->term : "");
    bool rgb = console_is_set(e->colorterm) &&
               (strcmp(e->colorterm, "truecolor") == 0 || strcmp(e->colorterm, "24bit") == 0);
    if (term.n == 0 || str_is(term, "dumb"))
        look.plain = true;
    if (memmem(term.p, term.n, "256color", 8))
        look.colors = LIVE_256;
    if (rgb)
        look.colors = LIVE_RGB;
    if (console_is_set(e->no_color))
        look.colors = LIVE_NO_COLORS;
    look.no_reflow = str_is(term, "linux") || console_is_set(e->xterm_version);
    look.no_links = str_is(term, "linux");
    return look;
}

static bool take_terminal(struct console *c)
{
    return c->plain || tty_raw(&c->tty, c->in);
}

bool console_open(struct console *c, const struct console_options *o, struct err *err)
{
    const struct console_environment e = {getenv("TERM"), getenv("COLORTERM"),
        o->force_colors ? NULL : getenv("NO_COLOR"), getenv("XTERM_VERSION")};
    struct tty_size size = tty_size(STDOUT_FILENO);
    *c = CONSOLE_NONE;
    c->lines = !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
    c->look = console_look(&e);
    c->look.plain |= o->plain || c->lines;
    if (o->set_colors)
        c->look.colors = o->colors;
    c->look.rows = size.rows;
    c->look.cols = size.cols;
    c->plain = c->look.plain;
    c->bindings = o->bindings;
    c->in = STDIN_FILENO;
    if (!take_terminal(c)) {
        c->in = -1;
        return err_errno(err, E_IO, errno, "cannot change the terminal's modes");
    }
    outlet_open(&c->outlet, STDOUT_FILENO);
    c->live = live_new(&c->look);
    c->input = BUF_INIT(CONSOLE_INPUT_MAX);
    if (!c->plain) {
        buf_add_z(&c->outlet.pending, ENTER);
        outlet_guard(&c->outlet, &c->tty, LEAVE);
    }
    console_pump(c);
    return true;
}

void console_close(struct console *c)
{
    if (c->in < 0)
        return;
    live_close(c->live, false, &c->outlet.pending);
    outlet_close(&c->outlet, c->plain ? STR("") : STR(LEAVE), true);
    tty_restore(&c->tty);
    live_free(c->live);
    typed_keys_free(c->keys);
    buf_done(&c->input);
    *c = CONSOLE_NONE;
}

void console_leave(struct console *c)
{
    live_clear(c->live, &c->outlet.pending);
    if (!c->plain)
        buf_add_z(&c->outlet.pending, "\033[?2004l\033[?25h");
    console_pump(c);
    tty_restore(&c->tty);
}

void console_return(struct console *c)
{
    if (take_terminal(c) && !c->plain)
        buf_add_z(&c->outlet.pending, ENTER);
    (void)console_resize(c);
    console_pump(c);
}

void console_clear(struct console *c)
{
    live_scroll_screen(c->live, &c->outlet.pending);
    console_pump(c);
}

/* Keys ---------------------------------------------------------------------------------------- */

void console_read(struct console *c)
{
    if (c->taken) {
        memmove(c->input.p, c->input.p + c->taken, c->input.n - c->taken);
        buf_truncate(&c->input, c->input.n - c->taken);
        c->taken = 0;
    }
    char *room = buf_reserve(&c->input, READ_SIZE);
    if (!room) { /* unterminated input: use it as it is */
        c->input.overflow = false;
        c->since_ms = 0;
        c->too_long = true;
        return;
    }
    ssize_t n = read(c->in, room, READ_SIZE);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0)
        c->gone = true;
    else
        buf_grown(&c->input, (size_t)n);
    c->since_ms = clock_mono_ms();
}

static bool console_escape_is_late(const struct console *c)
{
    return clock_mono_ms() >= c->since_ms + CONSOLE_ESCAPE_MS;
}

/* Pastes have no timeout. */
static bool in_paste(const struct console *c)
{
    return str_starts_with(str_skip(buf_str(&c->input), c->taken), STR("\033[200~"));
}

int console_timeout(const struct console *c)
{
    if (c->taken == c->input.n || c->lines || in_paste(c))
        return -1;
    uint64_t now = clock_mono_ms(), end = c->since_ms + CONSOLE_ESCAPE_MS;
    return end > now ? (int)(end - now) : 0;
}

/* Applies a key binding. */
static void console_apply_binding(const struct console *c, struct typed *typed)
{
    const char *key = c->bindings ? editor_key_name(typed) : NULL;
    const char *means = key ? bind_key(c->bindings, key) : NULL;
    if (!key)
        return;
    *typed = (struct typed){.kind = means ? TYPED_KEY : TYPED_UNKNOWN, .key = means};
}

bool console_next(struct console *c, struct typed *ret_typed)
{
    struct str rest = str_skip(buf_str(&c->input), c->taken);
    if (!c->keys && rest.n) /* slow: do it after the first frame */
        c->keys = typed_keys_new();
    bool all = c->gone || (console_escape_is_late(c) && !in_paste(c)) || c->since_ms == 0;
    size_t n = typed_next(c->keys, rest, all, ret_typed);
    c->taken += n;
    /* Lines edited by the terminal end in LF. */
    if (n && c->plain && ret_typed->kind == TYPED_KEY && strcmp(ret_typed->key, "Ctrl+j") == 0)
        ret_typed->key = "Enter";
    if (n && !c->plain)
        console_apply_binding(c, ret_typed);
    return n > 0;
}

bool console_line(struct console *c, struct str *ret_line)
{
    struct str rest = str_skip(buf_str(&c->input), c->taken);
    ptrdiff_t end = str_find(rest, '\n');
    if (end < 0 && (!c->gone || rest.n == 0))
        return false;
    *ret_line = str_head(rest, end < 0 ? rest.n : (size_t)end);
    c->taken += ret_line->n + (end >= 0);
    *ret_line = str_trim_end(*ret_line, '\r');
    return true;
}

/* Frames -------------------------------------------------------------------------------------- */

bool console_resize(struct console *c)
{
    struct tty_size size = tty_size(STDOUT_FILENO);
    if (size.rows == c->look.rows && size.cols == c->look.cols)
        return false;
    c->look.rows = size.rows;
    c->look.cols = size.cols;
    live_resize(c->live, size.rows, size.cols, &c->outlet.pending);
    return true;
}

bool console_flush(struct console *c, int cancel_fd)
{
    for (console_pump(c); console_waits(c); console_pump(c)) {
        struct pollfd fds[] = {
            {.fd = c->outlet.fd, .events = POLLOUT}, {.fd = cancel_fd, .events = POLLIN}};
        if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
            return false;
        if (fds[1].revents)
            return false;
    }
    return !c->outlet.broken;
}

bool console_waits(const struct console *c)
{
    return outlet_waits(&c->outlet);
}

void console_pump(struct console *c)
{
    outlet_pump(&c->outlet);
}

bool console_frame(struct console *c, const struct text *stay, const struct text *region,
    const struct live_cursor *cursor)
{
    console_pump(c);
    if (console_waits(c))
        return false;
    live_frame(c->live, stay, region, cursor, &c->outlet.pending);
    console_pump(c);
    return true;
}
