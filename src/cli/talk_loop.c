/* Main loop of a conversation: keys and frames. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/talk.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

enum {
    FRAME_MS = 33, /* minimum time between frames while streaming */
    TURN_MS = 120, /* interval of the activity indicator */
    AGAIN_MS = 2000,
    LEAVE_MS = 1000, /* timeout for the last rows */
    OTHER_ROWS = 3,  /* one above the region, one between, the status line */
};

/* Keys ---------------------------------------------------------------------------------------- */

/* Includes the separator between waiting prompts. */
static bool talk_loop_has_room(const struct buf *b, size_t n)
{
    return n + 2 <= b->max - b->n;
}

static void talk_loop_send(struct talk *t)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * EDITOR_MAX);
    if (talk_take_edited(t))
        return;
    editor_content(t->editor, &text);
    if (t->busy &&
        !(talk_loop_has_room(&t->queue, text.n) && talk_loop_has_room(&t->later, text.n))) {
        talk_note(t, "too much waits already: this can be sent when the turn is over");
        return;
    }
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
    chat_rows_queue(t->chat, words);
    pthread_mutex_unlock(&t->lock);
}

static void say_again(struct talk *t)
{
    AUTO_BUF struct buf words = BUF_INIT(64 << 10);
    config_add_keys(&t->job.config, &t->bindings, "interrupt", &words);
    buf_add_z(&words, " once more leaves");
    talk_note(t, buf_z(&words));
}

static void talk_loop_interrupt(struct talk *t)
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
        say_again(t);
    if (again)
        t->leave = true;
}

/* Adapts the conversation to the terminal's size. */
static void talk_loop_resize(struct talk *t)
{
    pthread_mutex_lock(&t->lock);
    chat_rows_set_size(t->chat, t->console.look.cols, t->console.look.rows);
    pthread_mutex_unlock(&t->lock);
    t->dirty = true;
}

static void talk_loop_suspend(struct talk *t)
{
    console_leave(&t->console);
    raise(SIGSTOP);
    console_return(&t->console);
    talk_loop_resize(t); /* the size may have changed while stopped */
}

/* Handles keys that the editor ignores. */
static void talk_loop_other_key(struct talk *t, const char *key)
{
    if (strcmp(key, "Escape") == 0 && !talk_leave_edited(t) && t->busy)
        talk_interrupt(t); /* waiting input is then sent */
}

static void talk_loop_handle_key(struct talk *t, const struct typed *typed)
{
    if (talk_answer(t, typed) || talk_look_key(t, typed))
        return;
    enum editor_event event = editor_typed(t->editor, typed);
    if (event != EDITOR_INTERRUPT)
        t->interrupted_ms = 0;
    switch (event) {
    case EDITOR_SENT:
        talk_loop_send(t);
        break;
    case EDITOR_INTERRUPT:
        talk_loop_interrupt(t);
        break;
    case EDITOR_END:
        t->leave = true;
        break;
    case EDITOR_SUSPEND:
        talk_loop_suspend(t);
        break;
    case EDITOR_IGNORED:
        if (typed->kind == TYPED_KEY)
            talk_loop_other_key(t, typed->key);
        break;
    case EDITOR_REDRAW:
        console_anew(&t->console);
        break;
    case EDITOR_DONE:
        break;
    }
}

static void talk_loop_handle_keys(struct talk *t)
{
    struct typed typed;
    while (!t->leave && console_next(&t->console, &typed)) {
        talk_loop_handle_key(t, &typed);
        t->drawn_ms = 0; /* show typed text at once */
        t->dirty = true;
    }
}

/* Drawing ------------------------------------------------------------------------------------- */

/* Called after a frame and the input typed before it. Nothing counts as shown while the terminal
 * has not read everything. */
static void look_at_question(struct talk *t)
{
    if (!t->drawn || t->stay.n || console_waits(&t->console))
        return;
    t->drawn = false;
    talk_question_shown(t);
}

void talk_draw(struct talk *t)
{
    AUTO_TEXT struct text region = TEXT_INIT;
    const struct live_options *look = &t->console.look;
    struct editor_place at = {0};
    pthread_mutex_lock(&t->lock);
    talk_end_edit(t);
    const struct editor_view view = {.width = look->cols,
        .rows = MAX(look->rows / 3, 1u),
        .all = MAX(look->rows, OTHER_ROWS + 1u) - OTHER_ROWS,
        .prompt = t->question.editing ? STR("edit> ") : STR("> "),
        .hint = t->question.open ? STR("") : STR("what is to be done?")};
    t->told = false;
    bool more = chat_rows_take(t->chat, (unsigned)(clock_mono_ms() / TURN_MS), &t->stay, &region);
    talk_add_question(t, look->cols, &region);
    if (!more)
        talk_question_drawn(t);
    text_end(&region);
    editor_draw(t->editor, &view, &region, &at);
    talk_add_status(t, look->cols, &region);
    pthread_mutex_unlock(&t->lock);
    const struct live_cursor cursor = {at.row, at.col, true};
    bool shown = console_frame(&t->console, &t->stay, &region, &cursor);
    if (shown)
        text_reset(&t->stay);
    t->drawn = !t->console.lines;
    t->dirty = !shown || more;
    t->drawn_ms = more ? 0 : clock_mono_ms();
}

/* Draws everything that is left, unless the terminal stops reading. */
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

/* Loop ---------------------------------------------------------------------------------------- */

static int talk_loop_wait_ms(const struct talk *t)
{
    uint64_t since = clock_mono_ms() - t->drawn_ms;
    int key = console_timeout(&t->console), frame = -1;
    if (t->drawn && !t->stay.n && !console_waits(&t->console))
        return 0;
    if (t->dirty && !console_waits(&t->console))
        frame = since >= FRAME_MS ? 0 : (int)(FRAME_MS - since);
    else if (t->busy)
        frame = TURN_MS;
    return key < 0 ? frame : frame < 0 ? key : MIN(key, frame);
}

/* Handles a resize, or SIGTSTP: the terminal is restored before stopping. */
static void talk_loop_handle_window(struct talk *t)
{
    struct signalfd_siginfo info;
    if (read(t->resized, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGTSTP) {
        talk_loop_suspend(t);
        return;
    }
    (void)console_resize(&t->console);
    talk_loop_resize(t);
}

static void talk_loop_step(struct talk *t)
{
    struct pollfd fds[] = {
        {.fd = t->console.lines && t->busy ? -1 : t->console.in, .events = POLLIN},
        {.fd = console_waits(&t->console) ? t->console.outlet.fd : -1, .events = POLLOUT},
        {.fd = t->wake, .events = POLLIN},
        {.fd = t->resized, .events = POLLIN},
        {.fd = t->busy ? -1 : t->job.bench.options.signals, .events = POLLIN},
    };
    int n = poll(fds, ARRAY_LEN(fds), talk_loop_wait_ms(t));
    if (n == 0 && t->busy)
        t->dirty = true;
    if (fds[1].revents)
        console_pump(&t->console);
    if (fds[2].revents) {
        talk_drain(t->wake);
        t->dirty = true;
    }
    if (fds[3].revents)
        talk_loop_handle_window(t);
    if (fds[4].revents && talk_take_signals(t) && t->console.plain) {
        talk_loop_interrupt(t);
        t->dirty = true;
    }
    if (fds[0].revents)
        console_read(&t->console);
    if (t->console.lines)
        return;
    /* If the choices are already in a frame, check first whether they are shown: then the keys read
     * below count as answers. */
    if (talk_question_offered(t))
        look_at_question(t);
    talk_loop_handle_keys(t);
    look_at_question(t);
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
        talk_loop_step(t);
        if (talk_turn_is_over(t))
            talk_end_turn(t);
    }
    talk_abandon_turn(t);
    draw_rest(t);
}
