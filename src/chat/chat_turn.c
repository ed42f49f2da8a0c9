/* Turns: the agent runs in a separate thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/output_reader.h"
#include "base/clock.h"
#include "chat/chat.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

static bool run_turn(struct chat *chat, struct err *err)
{
    struct agent agent = agent_setup_agent(&chat->setup);
    struct agent_outcome outcome;
    agent.tell = chat_events_add;
    agent.context = chat;
    bool ok = agent_run(&agent, chat->prompt, &outcome, err);
    agent_outcome_done(&outcome);
    return ok;
}

static void do_work(struct chat *chat, chat_work work)
{
    AUTO_ERR struct err err = {0};
    bool ok = work(chat, &err);
    pthread_mutex_lock(&chat->lock);
    chat_events_flush(chat);
    chat->ok = ok;
    if (!ok)
        (void)err_move(&chat->err, &err);
    chat->over = true;
    pthread_cond_broadcast(&chat->news);
    pthread_mutex_unlock(&chat->lock);
    chat_signal(chat->wake);
}

/* One thread for all turns: processes that a command leaves running end with the thread that
 * started them. Their output is also read between turns. */
static void *chat_turn_thread(void *context)
{
    struct chat *chat = context;
    struct output_reader reader;
    for (;;) {
        output_reader_begin(&reader, chat->setup.tools.box);
        pthread_mutex_lock(&chat->lock);
        while (!chat->work && !chat->quits)
            pthread_cond_wait(&chat->news, &chat->lock);
        chat_work work = chat->work;
        chat->work = NULL;
        pthread_mutex_unlock(&chat->lock);
        output_reader_end(&reader);
        if (!work)
            return NULL;
        do_work(chat, work);
    }
}

bool chat_turn_start_work(struct chat *chat, chat_work what)
{
    if (!chat->has_thread)
        chat->has_thread = pthread_create(&chat->thread, NULL, chat_turn_thread, chat) == 0;
    if (!chat->has_thread) {
        chat_note(chat, "cannot start a thread");
        return false;
    }
    chat->began_ms = clock_mono_ms();
    chat->busy = true;
    pthread_mutex_lock(&chat->lock);
    chat->over = false;
    chat->work = what;
    pthread_cond_broadcast(&chat->news);
    pthread_mutex_unlock(&chat->lock);
    return true;
}

void chat_turn_start(struct chat *chat, struct str text)
{
    pthread_mutex_lock(&chat->lock);
    if (!chat->console.plain || chat->console.lines) /* otherwise the terminal has echoed it */
        chat_rows_user(chat->rows, text);
    pthread_mutex_unlock(&chat->lock);
    chat->prompt = message_user(text);
    if (chat->aside.n)
        json_array_insert_new(
            json_object_get(chat->prompt, "content"), 0, block_text(buf_str(&chat->aside)));
    chat_image_add(chat, text, chat->prompt);
    if (chat_turn_start_work(chat, run_turn)) {
        buf_reset(&chat->aside);
        return;
    }
    json_decref(chat->prompt);
    chat->prompt = NULL;
}

/* SIGINT has ended the turn, as intended; any other signal ends the program. */
bool chat_turn_take_signals(struct chat *chat)
{
    struct toolbox *box = chat->setup.tools.box;
    bool interrupted = false;
    struct signalfd_siginfo info;
    if (!chat->busy && box->signal && box->signal != SIGINT) /* a command received it first */
        chat->leave = true;
    struct pollfd fd = {.fd = chat->setup.tools.options.signals, .events = POLLIN};
    while (poll(&fd, 1, 0) > 0 && read(fd.fd, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo == SIGINT)
            interrupted = true;
        else
            chat->leave = true;
    return interrupted;
}

static void show_end(struct chat *chat)
{
    if (chat->ok)
        return;
    mask_err(&chat->setup.mask, &chat->err);
    if (chat->console.lines && !isatty(STDIN_FILENO)) { /* later prompts depend on this one */
        if (!chat->end.code)
            (void)err_move(&chat->end, &chat->err);
        chat->leave = true;
        return;
    }
    if (chat->err.code == E_CANCELED) {
        chat_rows_note(chat->rows, STR("interrupted"));
    } else {
        chat_rows_error(chat->rows, str_z(chat->err.message));
    }
    err_done(&chat->err);
}

void chat_turn_end(struct chat *chat)
{
    json_decref(chat->prompt);
    chat->prompt = NULL;
    chat->busy = false;
    pthread_mutex_lock(&chat->lock);
    show_end(chat);
    chat_rows_unqueue(chat->rows);
    chat_ask_end_edit(chat); /* the next question has another text */
    chat_consent_apply(chat);
    pthread_mutex_unlock(&chat->lock);
    (void)chat_turn_take_signals(chat);
    if (!chat->leave)
        chat_commands_run_later(chat);
    if (chat->busy) /* a command started work: waiting prompts are sent after it */
        return;
    if (chat->queue.n && !chat->leave) {
        AUTO_FREE char *next = buf_take(&chat->queue);
        chat_turn_start(chat, str_z(next));
    }
    buf_reset(&chat->queue);
}

bool chat_turn_is_over(struct chat *chat)
{
    pthread_mutex_lock(&chat->lock);
    bool over = chat->busy && chat->over;
    pthread_mutex_unlock(&chat->lock);
    return over;
}

void chat_turn_interrupt(struct chat *chat)
{
    if (chat->busy)
        kill(getpid(), SIGINT); /* everything that blocks also waits for signals */
}

void chat_turn_cancel(struct chat *chat)
{
    buf_reset(&chat->queue);
    buf_reset(&chat->later);
    chat_turn_interrupt(chat);
}

void chat_turn_abandon(struct chat *chat)
{
    if (!chat->has_thread)
        return;
    if (chat->busy)
        chat_turn_cancel(chat);
    pthread_mutex_lock(&chat->lock);
    chat->quits = true;
    pthread_cond_broadcast(&chat->news);
    pthread_mutex_unlock(&chat->lock);
    pthread_join(chat->thread, NULL);
    chat->has_thread = false;
    if (!chat->busy)
        return;
    json_decref(chat->prompt);
    pthread_mutex_lock(&chat->lock);
    show_end(chat);
    pthread_mutex_unlock(&chat->lock);
}
