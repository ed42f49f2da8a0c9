/* Main loop of a conversation: keys and frames. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "chat/chat.h"

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
static bool chat_loop_has_room(const struct buf *b, size_t n)
{
    return n + 2 <= b->max - b->n;
}

static void chat_loop_send(struct chat *chat)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * EDITOR_MAX);
    if (chat_ask_take_edited(chat))
        return;
    editor_content(chat->editor, &text);
    if (chat->busy &&
        !(chat_loop_has_room(&chat->queue, text.n) && chat_loop_has_room(&chat->later, text.n))) {
        chat_note(chat, "too many messages are queued: send this when the turn is over");
        return;
    }
    editor_clear(chat->editor);
    struct str words = str_trim_end(str_trim_end(buf_str(&text), '\n'), ' ');
    if (words.n == 0)
        return;
    editor_remember(chat->editor, words);
    chat_remember(chat, words);
    chat_loop_say(chat, words);
}

void chat_loop_say(struct chat *chat, struct str words)
{
    if (chat_commands_take(chat, words))
        return;
    if (!chat->busy) {
        chat_turn_start(chat, words);
        return;
    }
    if (chat->queue.n)
        buf_add_z(&chat->queue, "\n\n");
    buf_add_str(&chat->queue, words);
    pthread_mutex_lock(&chat->lock);
    chat_rows_queue(chat->rows, words);
    pthread_mutex_unlock(&chat->lock);
}

static void say_again(struct chat *chat)
{
    AUTO_BUF struct buf words = BUF_INIT(64 << 10);
    config_add_keys(&chat->setup.config, &chat->bindings, "interrupt", &words);
    buf_add_z(&words, " again to quit");
    chat_note(chat, buf_z(&words));
}

static void chat_loop_interrupt(struct chat *chat)
{
    uint64_t now = clock_mono_ms();
    bool again = now - chat->interrupted_ms < AGAIN_MS && chat->interrupted_ms;
    chat->interrupted_ms = now;
    if (chat->console.lines) {
        err_set(&chat->end, E_CANCELED, "interrupted");
        chat->leave = true;
    } else if (chat->busy)
        chat_turn_cancel(chat);
    else if (!editor_empty(chat->editor))
        editor_clear(chat->editor);
    else if (!again)
        say_again(chat);
    if (again)
        chat->leave = true;
}

/* Adapts the conversation to the terminal's size. */
static void chat_loop_resize(struct chat *chat)
{
    pthread_mutex_lock(&chat->lock);
    chat_rows_set_size(chat->rows, chat->console.look.cols, chat->console.look.rows);
    pthread_mutex_unlock(&chat->lock);
    chat->dirty = true;
}

static void chat_loop_suspend(struct chat *chat)
{
    console_leave(&chat->console);
    raise(SIGSTOP);
    console_return(&chat->console);
    chat_loop_resize(chat); /* the size may have changed while stopped */
}

/* Handles keys that the editor ignores. */
static void chat_loop_other_key(struct chat *chat, const char *key)
{
    if (strcmp(key, "Escape") == 0 && !chat_ask_leave_edited(chat) && chat->busy)
        chat_turn_interrupt(chat); /* waiting input is then sent */
}

static void chat_loop_handle_key(struct chat *chat, const struct typed *typed)
{
    if (chat_ask_key(chat, typed) || chat_look_key(chat, typed))
        return;
    enum editor_event event = editor_typed(chat->editor, typed);
    if (event != EDITOR_INTERRUPT)
        chat->interrupted_ms = 0;
    switch (event) {
    case EDITOR_SENT:
        chat_loop_send(chat);
        break;
    case EDITOR_INTERRUPT:
        chat_loop_interrupt(chat);
        break;
    case EDITOR_END:
        chat->leave = true;
        break;
    case EDITOR_SUSPEND:
        chat_loop_suspend(chat);
        break;
    case EDITOR_IGNORED:
        if (typed->kind == TYPED_KEY)
            chat_loop_other_key(chat, typed->key);
        break;
    case EDITOR_REDRAW:
        console_clear(&chat->console);
        break;
    case EDITOR_DONE:
        break;
    }
}

static void chat_loop_handle_keys(struct chat *chat)
{
    struct typed typed;
    while (!chat->leave && console_next(&chat->console, &typed)) {
        chat_loop_handle_key(chat, &typed);
        chat->drawn_ms = 0; /* show typed text at once */
        chat->dirty = true;
    }
}

/* Drawing ------------------------------------------------------------------------------------- */

/* Called after a frame and the input typed before it. Nothing counts as shown while the terminal
 * has not read everything. */
static void look_at_question(struct chat *chat)
{
    if (!chat->drawn || chat->stay.n || console_waits(&chat->console))
        return;
    chat->drawn = false;
    chat_ask_shown(chat);
}

void chat_loop_draw(struct chat *chat)
{
    AUTO_TEXT struct text region = TEXT_INIT;
    const struct live_options *look = &chat->console.look;
    struct editor_place at = {0};
    pthread_mutex_lock(&chat->lock);
    chat_ask_end_edit(chat);
    const struct editor_view view = {.width = look->cols,
        .rows = MAX(look->rows / 3, 1u),
        .all = MAX(look->rows, OTHER_ROWS + 1u) - OTHER_ROWS,
        .prompt = chat->question.editing ? STR("edit> ") : STR("> "),
        .hint = chat->question.open ? STR("") : STR("Ask anything, or /help")};
    chat->woken = false;
    bool more =
        chat_rows_take(chat->rows, (unsigned)(clock_mono_ms() / TURN_MS), &chat->stay, &region);
    chat_ask_add_rows(chat, look->cols, &region);
    if (!more)
        chat_ask_drawn(chat);
    text_end(&region);
    editor_draw(chat->editor, &view, &region, &at);
    chat_status_add(chat, look->cols, &region);
    pthread_mutex_unlock(&chat->lock);
    const struct live_cursor cursor = {at.row, at.col, true};
    bool shown = console_frame(&chat->console, &chat->stay, &region, &cursor);
    if (shown)
        text_reset(&chat->stay);
    chat->drawn = !chat->console.lines;
    chat->dirty = !shown || more;
    chat->drawn_ms = more ? 0 : clock_mono_ms();
}

/* Draws everything that is left, unless the terminal stops reading. */
static void draw_rest(struct chat *chat)
{
    uint64_t now = clock_mono_ms(), end = now + LEAVE_MS;
    if (chat->console.lines) {
        chat_lines_draw(chat);
        return;
    }
    for (chat->dirty = true; chat->dirty && !chat->console.gone && now < end;
         now = clock_mono_ms()) {
        struct pollfd fd = {.fd = chat->console.outlet.fd, .events = POLLOUT};
        if (console_waits(&chat->console) && poll(&fd, 1, (int)(end - now)) > 0)
            console_pump(&chat->console);
        chat_loop_draw(chat);
    }
}

/* Loop ---------------------------------------------------------------------------------------- */

static int chat_loop_wait_ms(const struct chat *chat)
{
    uint64_t since = clock_mono_ms() - chat->drawn_ms;
    int key = console_timeout(&chat->console), frame = -1;
    if (chat->drawn && !chat->stay.n && !console_waits(&chat->console))
        return 0;
    if (chat->dirty && !console_waits(&chat->console))
        frame = since >= FRAME_MS ? 0 : (int)(FRAME_MS - since);
    else if (chat->busy)
        frame = TURN_MS;
    return key < 0 ? frame : frame < 0 ? key : MIN(key, frame);
}

/* Handles a resize, or SIGTSTP: the terminal is restored before stopping. */
static void chat_loop_handle_window(struct chat *chat)
{
    struct signalfd_siginfo info;
    if (read(chat->resized, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGTSTP) {
        chat_loop_suspend(chat);
        return;
    }
    (void)console_resize(&chat->console);
    chat_loop_resize(chat);
}

static void chat_loop_step(struct chat *chat)
{
    struct pollfd fds[] = {
        {.fd = chat->console.lines && chat->busy ? -1 : chat->console.in, .events = POLLIN},
        {.fd = console_waits(&chat->console) ? chat->console.outlet.fd : -1, .events = POLLOUT},
        {.fd = chat->wake, .events = POLLIN},
        {.fd = chat->resized, .events = POLLIN},
        {.fd = chat->busy ? -1 : chat->setup.tools.options.signals, .events = POLLIN},
    };
    int n = poll(fds, ARRAY_LEN(fds), chat_loop_wait_ms(chat));
    if (n == 0 && chat->busy)
        chat->dirty = true;
    if (fds[1].revents)
        console_pump(&chat->console);
    if (fds[2].revents) {
        chat_drain(chat->wake);
        chat->dirty = true;
    }
    if (fds[3].revents)
        chat_loop_handle_window(chat);
    if (fds[4].revents && chat_turn_take_signals(chat) && chat->console.plain) {
        chat_loop_interrupt(chat);
        chat->dirty = true;
    }
    if (fds[0].revents)
        console_read(&chat->console);
    if (chat->console.lines)
        return;
    /* If the choices are already in a frame, check first whether they are shown: then the keys read
     * below count as answers. */
    if (chat_ask_is_offered(chat))
        look_at_question(chat);
    chat_loop_handle_keys(chat);
    look_at_question(chat);
    if (chat->console.gone)
        chat->leave = true;
}

void chat_loop_run(struct chat *chat)
{
    chat->dirty = true;
    while (!chat->leave) {
        if (chat->dirty && !console_waits(&chat->console) &&
            clock_mono_ms() - chat->drawn_ms >= FRAME_MS)
            chat_loop_draw(chat);
        if (chat->console.lines && chat_lines_take(chat))
            continue;
        chat_loop_step(chat);
        if (chat_turn_is_over(chat))
            chat_turn_end(chat);
    }
    chat_turn_abandon(chat);
    draw_rest(chat);
}
