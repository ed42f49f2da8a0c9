/* Reports the new output of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/poll.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "term/snapshot_json.h"
#include "tool/clean.h"
#include "tool/guard.h"
#include "tool/limit.h"

#include <limits.h>
#include <signal.h>

enum {
    HEAD_MAX = 1 << 20, /* start of a large output, if not all is read */
    TAIL_MAX = 3 << 20, /* end of it */
    CHUNK = 64 * 1024,
    SCREEN_ARENA = 256 << 20,
};

struct poll {
    struct toolbox *box;
    struct tool_session *s;
    const struct poll_args *args;
    struct tool_result *result;
    int interrupted; /* the signal, or 0 */
};

/* Output -------------------------------------------------------------------------------------- */

static size_t poll_count_lines(const struct outlog *log, uint64_t from, uint64_t to)
{
    AUTO_BUF struct buf chunk = BUF_INIT(CHUNK + 1);
    size_t n = 0;
    while (from < to) {
        buf_reset(&chunk);
        outlog_read(log, from, (size_t)MIN(to - from, (uint64_t)CHUNK), &chunk);
        if (chunk.n == 0)
            break;
        for (size_t i = 0; i < chunk.n; i++)
            n += chunk.p[i] == '\n';
        from += chunk.n;
    }
    return n;
}

/* Reads the new bytes; omits the middle of a very large output, at line breaks if there are any. */
static void read_new(struct poll *p, struct buf *bytes, struct limit *cap)
{
    const struct outlog *log = &p->s->log;
    uint64_t from = p->s->reported, to = log->size;
    if (to - from <= HEAD_MAX + TAIL_MAX) {
        outlog_read(log, from, (size_t)(to - from), bytes);
        return;
    }
    outlog_read(log, from, HEAD_MAX, bytes);
    ptrdiff_t end = str_find_last(buf_str(bytes), '\n');
    if (end >= 0)
        buf_truncate(bytes, (size_t)end + 1);
    AUTO_BUF struct buf tail = BUF_INIT(TAIL_MAX + 1);
    outlog_read(log, to - TAIL_MAX, TAIL_MAX, &tail);
    ptrdiff_t start = str_find(buf_str(&tail), '\n');
    struct str rest = str_skip(buf_str(&tail), (size_t)(start + 1));
    cap->skipped_bytes = (size_t)(to - from) - bytes->n - rest.n;
    cap->skipped_lines = poll_count_lines(log, from + bytes->n, to - rest.n);
    buf_add_str(bytes, rest);
}

static size_t cap_bytes(const struct poll *p)
{
    uint64_t asked = (uint64_t)p->args->max_output_tokens * POLL_TOKEN;
    if (p->s->shown >= SESSIONS_SHOWN_MAX)
        return POLL_BYTES_MIN;
    return (size_t)MAX(MIN(asked, (uint64_t)POLL_BYTES_MAX), (uint64_t)POLL_BYTES_MIN);
}

static void name_log(struct poll *p, bool cut)
{
    AUTO_ERR struct err err = {0};
    struct outlog *log = &p->s->log;
    if (cut && !log->path && !outlog_save(log, p->s->log_dir, &err))
        tool_warns(p->result, "%s", err.message);
    if (log->path) {
        toolbox_show_logs(p->box);
        tool_detail(p->result, "log", json_text(str_z(log->path)));
    }
    if (log->failed)
        tool_warns(p->result, "the log does not contain all of the output");
}

/* Appends the text, truncated, and counts it for the session. */
static void poll_append_text(struct poll *p, const struct limit *cap, struct str text)
{
    struct buf *content = &p->result->content;
    AUTO_BUF struct buf where = BUF_INIT(PATH_MAX + 100);
    bool cut = cap->skipped_bytes || text.n > cap->bytes || limit_lines(text) > cap->lines;
    name_log(p, cut);
    limit_where(p->s->log.path, &where);
    p->result->truncated |= limit_ends(cap, text, buf_z(&where), content);
    p->s->shown += content->n;
}

static void poll_read_output(struct poll *p, bool visible)
{
    struct tool_session *s = p->s;
    AUTO_BUF struct buf bytes = BUF_INIT(HEAD_MAX + TAIL_MAX + 2);
    AUTO_BUF struct buf text = BUF_INIT(4 * (HEAD_MAX + TAIL_MAX) + 16);
    struct limit cap = {.bytes = cap_bytes(p), .lines = LIMIT_LINES};
    read_new(p, &bytes, &cap);
    struct str whole = buf_str(&bytes);
    size_t open = s->over ? 0 : p->args->raw ? clean_open_character(whole) : clean_open(whole);
    whole.n -= open;
    if (p->args->raw)
        utf8_add_lossy(&text, whole);
    else
        clean_text(whole, &text);
    s->reported = s->log.size - open;
    tool_detail(p->result, "output_bytes", json_integer((json_int_t)(whole.n + cap.skipped_bytes)));
    if (visible)
        poll_append_text(p, &cap, buf_str(&text));
}

/* Screens ------------------------------------------------------------------------------------- */

static void show_screen(struct poll *p, bool as_content)
{
    AUTO_ARENA struct arena a = ARENA_INIT(SCREEN_ARENA);
    struct snapshot snapshot;
    char id[ID_SIZE];
    id_new(id);
    snapshot_take(session_term(p->s->session), &a, 0, &snapshot);
    tool_detail(p->result, "screen", snapshot_json(&snapshot, id));
    if (!as_content)
        return;
    struct buf *content = &p->result->content;
    unsigned last = snapshot.rows;
    while (last > 0 && snapshot.lines[last - 1].n == 0)
        last--;
    for (unsigned row = 0; row < last; row++) {
        buf_add_str(content, snapshot.lines[row]);
        buf_add_byte(content, '\n');
    }
    buf_printf(content, "[the screen, %u by %u; the cursor is in row %u, column %u]\n",
        snapshot.rows, snapshot.cols, snapshot.cursor.row + 1, snapshot.cursor.col + 1);
}

static void show_news(struct poll *p)
{
    struct tool_session *s = p->s;
    const struct term *t = session_term(s->session);
    bool fills = term_alternate(t) && !s->over;
    p->result->has_output = true;
    poll_read_output(p, !fills || p->args->raw);
    if (fills || term_drawn(t) != s->drawn)
        show_screen(p, fills && !p->args->raw);
    s->drawn = term_drawn(t);
    struct buf *content = &p->result->content;
    if (content->n && content->p[content->n - 1] != '\n' && !p->args->raw)
        buf_add_byte(content, '\n');
}

/* Exit ---------------------------------------------------------------------------------------- */

/* Reports death by a signal as a shell does: 128 + signal. */
static bool poll_report_exit(struct poll *p, struct err *err)
{
    const struct session_exit *e = session_exit_of(p->s->session);
    const struct err *error = session_error(p->s->session);
    int code = e->signal ? 128 + e->signal : e->code;
    tool_detail(p->result, "exit_code", json_integer(code));
    if (e->signal)
        tool_detail(p->result, "signal", json_integer(e->signal));
    if (error->code) {
        err_copy(err, error);
        return e->known ? false : tool_not_started(p->result, err);
    }
    if (e->signal)
        err_set(err, E_COMMAND_FAILED, "the command was killed by signal %d (SIG%s)", e->signal,
            sigabbrev_np(e->signal) ? sigabbrev_np(e->signal) : "?");
    else if (code != 0)
        err_set(err, E_COMMAND_FAILED, "the command failed with exit status %d", code);
    else
        tool_says(p->result, "exit status 0");
    if (err->code)
        child_explain_kill(session_child(p->s->session), err);
    return err->code == ERR_NONE;
}

void poll_tell_ended(struct tool_result *result)
{
    json_object_del(result->details, "session_id");
    tool_detail(result, "ended", json_true());
}

/* Reports a session that is still running, unless it ends with this call. */
static void poll_report_running(struct poll *p)
{
    struct tool_session *s = p->s;
    if (p->box->options->one_call) {
        poll_tell_ended(p->result);
        tool_says(p->result,
            "still running, and killed at the end of this call; use cordon tool --serve to "
            "keep it running");
    } else {
        tool_detail(p->result, "session_id", json_integer(s->id));
        tool_says(p->result, "still running; session_id %u", s->id);
    }
}

static bool poll_finish(struct poll *p, struct err *err)
{
    struct tool_session *s = p->s;
    bool ok = true;
    if (s->over)
        ok = poll_report_exit(p, err);
    else
        poll_report_running(p);
    if (p->interrupted && !s->over)
        ok = guard_error(err, p->interrupted);
    const char *message = ok ? buf_z(&p->result->message) : err->message;
    if (!ok || !s->over)
        buf_printf(&p->result->content, "[%s]\n", message);
    if (s->over)
        confine_tell_denied(p->box, s->confine, session_inside(s->session), !ok, p->result);
    return ok;
}

bool poll_session(struct toolbox *box, struct tool_session *s, const struct poll_args *args,
    struct tool_result *result, struct err *err)
{
    struct poll p = {.box = box, .s = s, .args = args, .result = result};
    struct pollfd signals = {.fd = box->options->signals, .events = POLLIN};
    const struct sessions_wait wait = {
        .deadline_ms = clock_mono_ms() + args->yield_time_ms,
        .ending = s,
        .fds = &signals,
        .n_fds = 1,
    };
    if (sessions_wait(box, &wait) == SESSIONS_READABLE)
        p.interrupted = guard_take(box->options->signals);
    show_news(&p);
    bool ok = poll_finish(&p, err);
    s->reports += s->over;
    return ok;
}
