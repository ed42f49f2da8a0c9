/* Turns: the agent runs in a separate thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/talk.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

void talk_signal(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

void talk_drain(int fd)
{
    uint64_t n;
    (void)!read(fd, &n, sizeof(n));
}

static bool run_turn(struct talk *t, struct err *err)
{
    struct agent agent = agent_job_agent(&t->job);
    struct agent_outcome outcome;
    agent.tell = talk_tell;
    agent.context = t;
    bool ok = agent_run(&agent, t->prompt, &outcome, err);
    agent_outcome_done(&outcome);
    return ok;
}

static void *talk_turn_thread(void *context)
{
    struct talk *t = context;
    AUTO_ERR struct err err = {0};
    bool ok = t->work(t, &err);
    pthread_mutex_lock(&t->lock);
    talk_say_rest(t);
    t->ok = ok;
    if (!ok)
        (void)err_move(&t->err, &err);
    t->over = true;
    pthread_mutex_unlock(&t->lock);
    talk_signal(t->wake);
    return NULL;
}

void talk_note(struct talk *t, const char *words)
{
    pthread_mutex_lock(&t->lock);
    chat_rows_note(t->chat, str_z(words));
    pthread_mutex_unlock(&t->lock);
}

void talk_note_error(struct talk *t, struct err *err)
{
    mask_err(&t->job.mask, err);
    pthread_mutex_lock(&t->lock);
    chat_rows_error(t->chat, str_z(err->message));
    pthread_mutex_unlock(&t->lock);
}

bool talk_start_work(struct talk *t, talk_work what)
{
    t->work = what;
    t->began_ms = clock_mono_ms();
    pthread_mutex_lock(&t->lock);
    t->over = false;
    pthread_mutex_unlock(&t->lock);
    t->busy = pthread_create(&t->thread, NULL, talk_turn_thread, t) == 0;
    if (!t->busy)
        talk_note(t, "no thread can be started");
    return t->busy;
}

void talk_start_turn(struct talk *t, struct str text)
{
    pthread_mutex_lock(&t->lock);
    if (!t->console.plain || t->console.lines) /* otherwise the terminal has echoed it */
        chat_rows_user(t->chat, text);
    pthread_mutex_unlock(&t->lock);
    t->prompt = message_user(text);
    if (t->aside.n)
        json_array_insert_new(
            json_object_get(t->prompt, "content"), 0, block_text(buf_str(&t->aside)));
    talk_add_images(t, text, t->prompt);
    if (talk_start_work(t, run_turn)) {
        buf_reset(&t->aside);
        return;
    }
    json_decref(t->prompt);
    t->prompt = NULL;
}

/* SIGINT has ended the turn, as intended; any other signal ends the program. */
bool talk_take_signals(struct talk *t)
{
    struct toolbox *box = t->job.bench.box;
    bool interrupted = false;
    struct signalfd_siginfo info;
    if (!t->busy && box->signal && box->signal != SIGINT) /* a command received it first */
        t->leave = true;
    struct pollfd fd = {.fd = t->job.bench.options.signals, .events = POLLIN};
    while (poll(&fd, 1, 0) > 0 && read(fd.fd, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo == SIGINT)
            interrupted = true;
        else
            t->leave = true;
    return interrupted;
}

static void show_end(struct talk *t)
{
    if (t->ok)
        return;
    mask_err(&t->job.mask, &t->err);
    if (t->console.lines && !isatty(STDIN_FILENO)) { /* later prompts depend on this one */
        if (!t->end.code)
            (void)err_move(&t->end, &t->err);
        t->leave = true;
        return;
    }
    if (t->err.code == E_CANCELED) {
        chat_rows_note(t->chat, STR("interrupted"));
    } else {
        chat_rows_error(t->chat, str_z(t->err.message));
    }
    err_done(&t->err);
}

void talk_end_turn(struct talk *t)
{
    pthread_join(t->thread, NULL);
    json_decref(t->prompt);
    t->prompt = NULL;
    t->busy = false;
    pthread_mutex_lock(&t->lock);
    show_end(t);
    chat_rows_unqueue(t->chat);
    talk_end_edit(t); /* the next question has another text */
    talk_apply_consent(t);
    pthread_mutex_unlock(&t->lock);
    (void)talk_take_signals(t);
    if (!t->leave)
        talk_run_later(t);
    if (t->busy) /* a command started work: waiting prompts are sent after it */
        return;
    if (t->queue.n && !t->leave) {
        AUTO_FREE char *next = buf_take(&t->queue);
        talk_start_turn(t, str_z(next));
    }
    buf_reset(&t->queue);
}

bool talk_turn_is_over(struct talk *t)
{
    pthread_mutex_lock(&t->lock);
    bool over = t->busy && t->over;
    pthread_mutex_unlock(&t->lock);
    return over;
}

void talk_interrupt(struct talk *t)
{
    if (t->busy)
        kill(getpid(), SIGINT); /* everything that blocks also waits for signals */
}

void talk_cancel(struct talk *t)
{
    buf_reset(&t->queue);
    buf_reset(&t->later);
    talk_interrupt(t);
}

void talk_abandon_turn(struct talk *t)
{
    if (!t->busy)
        return;
    talk_cancel(t);
    pthread_join(t->thread, NULL);
    json_decref(t->prompt);
    pthread_mutex_lock(&t->lock);
    show_end(t);
    pthread_mutex_unlock(&t->lock);
}
