/* Keys, frames, and the loop around them. */
#include "base/clock.h"
#include "cli/talk.h"
#include "tui/theme.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

enum {
    FRAME_MS = 33, /* between two frames of what streams */
    TURN_MS = 120, /* of what says that something is at work */
    AGAIN_MS = 2000,
    LEAVE_MS = 1000, /* for the last rows */
    STATUS_MAX = 512,
};

/* Keys ---------------------------------------------------------------------------------------- */

static void send(struct talk *t)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * EDITOR_MAX);
    editor_content(t->editor, &text);
    editor_clear(t->editor);
    struct str words = str_trim_end(str_trim_end(buf_str(&text), '\n'), ' ');
    if (words.n == 0)
        return;
    editor_remember(t->editor, words);
    talk_remember(t, words);
    talk_say(t, words);
}

void talk_say(struct talk *t, struct str words)
{
    if (talk_command(t, words))
        return;
    if (!t->busy) {
        talk_start_turn(t, words);
        return;
    }
    if (t->queue.n)
        buf_add_z(&t->queue, "\n\n");
    buf_add_str(&t->queue, words);
    pthread_mutex_lock(&t->lock);
    chat_queue(t->chat, words);
    pthread_mutex_unlock(&t->lock);
}

static void interrupt(struct talk *t)
{
    uint64_t now = clock_mono_ms();
    bool again = now - t->interrupted_ms < AGAIN_MS && t->interrupted_ms;
    t->interrupted_ms = now;
    if (t->console.lines) {
        err_set(&t->end, E_CANCELED, "interrupted");
        t->leave = true;
    } else if (t->busy)
        talk_cancel(t);
    else if (!editor_empty(t->editor))
        editor_clear(t->editor);
    else if (!again)
        talk_note(t, "Ctrl+c once more leaves");
    if (again)
        t->leave = true;
}

static void stop(struct talk *t)
{
    console_leave(&t->console);
    raise(SIGSTOP);
    console_return(&t->console);
}

/* Keys that mean nothing to the editor. */
static void other_key(struct talk *t, const char *key)
{
    pthread_mutex_lock(&t->lock);
    if (strcmp(key, "Ctrl+o") == 0)
        (void)chat_open(t->chat);
    pthread_mutex_unlock(&t->lock);
    if (strcmp(key, "Escape") == 0 && t->busy)
        talk_interrupt(t); /* and what waits is sent */
}

static void take_key(struct talk *t, const struct typed *typed)
{
    if (talk_answer(t, typed))
        return;
    enum editor_event event = editor_typed(t->editor, typed);
    if (event != EDITOR_INTERRUPT)
        t->interrupted_ms = 0;
    switch (event) {
    case EDITOR_SENT:
        send(t);
        break;
    case EDITOR_INTERRUPT:
        interrupt(t);
        break;
    case EDITOR_END:
        t->leave = true;
        break;
    case EDITOR_SUSPEND:
        stop(t);
        break;
    case EDITOR_IGNORED:
        if (typed->kind == TYPED_KEY)
            other_key(t, typed->key);
        break;
    case EDITOR_DONE:
    case EDITOR_REDRAW:
        break;
    }
}

static void take_keys(struct talk *t)
{
    struct typed typed;
    while (!t->leave && console_next(&t->console, &typed)) {
        take_key(t, &typed);
        t->drawn_ms = 0; /* what was typed is shown at once */
        t->dirty = true;
    }
}

/* Drawing ------------------------------------------------------------------------------------- */

static void add_status(const struct talk *t, unsigned width, struct text *region)
{
    AUTO_TEXT struct text line = TEXT_INIT;
    AUTO_BUF struct buf b = BUF_INIT(STATUS_MAX * 4);
    struct str cwd = str_z(t->job.bench.options.cwd);
    buf_add_str(&b, str_skip(cwd, (size_t)(str_find_last(cwd, '/') + 1)));
    buf_printf(&b, "  %s  %s", provider_model(t->job.provider),
        toolbox_mode_names[t->job.bench.options.mode]);
    AUTO_BUF struct buf used = BUF_INIT(STATUS_MAX);
    agent_view_used(&t->used, agent_job_model(&t->job), &used);
    if (used.n)
        buf_printf(&b, "  %s", buf_z(&used));
    if (t->window && t->context)
        buf_printf(&b, "  %llu%% full", (unsigned long long)(100 * t->context / t->window));
    if (t->busy)
        buf_printf(&b, "  %llu s", (unsigned long long)(clock_mono_ms() - t->began_ms) / 1000);
    text_add(&line, buf_str(&b), &theme[THEME_DIM]);
    text_end(&line);
    text_cut(region, &line, 0, 0, width);
    text_end(region);
}

void talk_draw(struct talk *t)
{
    AUTO_TEXT struct text region = TEXT_INIT;
    const struct live_options *look = &t->console.look;
    struct editor_place at = {0};
    const struct editor_view view = {.width = look->cols,
        .rows = MAX(look->rows / 3, 1u),
        .prompt = STR("> "),
        .hint = STR("what is to be done?")};
    pthread_mutex_lock(&t->lock);
    t->told = false;
    bool more = chat_rows(t->chat, (unsigned)(clock_mono_ms() / TURN_MS), &t->stay, &region);
    talk_add_question(t, look->cols, &region);
    text_end(&region);
    editor_draw(t->editor, &view, &region, &at);
    add_status(t, look->cols, &region);
    pthread_mutex_unlock(&t->lock);
    const struct live_cursor cursor = {at.row, at.col, true};
    bool shown = console_frame(&t->console, &t->stay, &region, &cursor);
    if (shown)
        text_reset(&t->stay);
    t->dirty = !shown || more;
    t->drawn_ms = more ? 0 : clock_mono_ms();
}

/* All that is still to be shown, to a terminal that takes it. */
static void draw_rest(struct talk *t)
{
    uint64_t now = clock_mono_ms(), end = now + LEAVE_MS;
    if (t->console.lines) {
        talk_draw_lines(t);
        return;
    }
    for (t->dirty = true; t->dirty && !t->console.gone && now < end; now = clock_mono_ms()) {
        struct pollfd fd = {.fd = t->console.outlet.fd, .events = POLLOUT};
        if (console_waits(&t->console) && poll(&fd, 1, (int)(end - now)) > 0)
            console_pump(&t->console);
        talk_draw(t);
    }
}

/* The loop ------------------------------------------------------------------------------------ */

static int wait_ms(const struct talk *t)
{
    uint64_t since = clock_mono_ms() - t->drawn_ms;
    int key = console_timeout(&t->console), frame = -1;
    if (t->dirty && !console_waits(&t->console))
        frame = since >= FRAME_MS ? 0 : (int)(FRAME_MS - since);
    else if (t->busy)
        frame = TURN_MS;
    return key < 0 ? frame : frame < 0 ? key : MIN(key, frame);
}

static void step(struct talk *t)
{
    struct pollfd fds[] = {
        {.fd = t->console.lines && t->busy ? -1 : t->console.in, .events = POLLIN},
        {.fd = console_waits(&t->console) ? t->console.outlet.fd : -1, .events = POLLOUT},
        {.fd = t->wake, .events = POLLIN},
        {.fd = t->resized, .events = POLLIN},
        {.fd = t->busy ? -1 : t->job.bench.options.signals, .events = POLLIN},
    };
    int n = poll(fds, ARRAY_LEN(fds), wait_ms(t));
    if (n == 0 && t->busy)
        t->dirty = true;
    if (fds[1].revents)
        console_pump(&t->console);
    if (fds[2].revents) {
        talk_drain(t->wake);
        t->dirty = true;
    }
    if (fds[3].revents) {
        struct signalfd_siginfo info;
        (void)!read(t->resized, &info, sizeof(info));
        if (console_resize(&t->console)) {
            pthread_mutex_lock(&t->lock);
            chat_set_width(t->chat, t->console.look.cols);
            pthread_mutex_unlock(&t->lock);
        }
        t->dirty = true;
    }
    if (fds[4].revents && talk_take_signals(t) && t->console.plain) {
        interrupt(t);
        t->dirty = true;
    }
    if (fds[0].revents)
        console_read(&t->console);
    if (t->console.lines)
        return;
    take_keys(t);
    if (t->console.gone)
        t->leave = true;
}

void talk_loop(struct talk *t)
{
    t->dirty = true;
    while (!t->leave) {
        if (t->dirty && !console_waits(&t->console) && clock_mono_ms() - t->drawn_ms >= FRAME_MS)
            talk_draw(t);
        if (t->console.lines && talk_take_lines(t))
            continue;
        step(t);
        if (talk_turn_is_over(t))
            talk_end_turn(t);
    }
    talk_abandon_turn(t);
    draw_rest(t);
}
