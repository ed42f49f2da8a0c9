/* A conversation with an agent in a terminal, or line by line without one.
 *
 *     const struct chat_options options = {.arena = arena, .agent = {.model = "..."}};
 *     ok = chat_run(&options, err);
 *
 * Its parts: `events` adds events of the agent's thread to the rows,
 * `ask` handles approval questions, `turn` starts and ends the agent's thread, `commands` handles
 * input other than prompts (`undo`, `session`, `shell`, `consent` are the larger commands), `lines`
 * works without a terminal, `loop` reads keys and draws. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAT_CHAT_H
#define CHAT_CHAT_H

#include "agent/agent_setup.h"
#include "chat/history.h"
#include "tui/chat_rows.h"
#include "tui/console.h"
#include "tui/editor.h"

#include <pthread.h>

struct chat_options {
    struct arena *arena;
    struct agent_options agent;
    bool plain;              /* never redraw */
    const char *color;       /* "always", "never" or "auto"; NULL: not given */
    struct notices warnings; /* before the terminal is used */
    struct notices notes;    /* after it */
};

MUST_USE bool chat_run(const struct chat_options *options, struct err *err);

/* The rest is shared by the parts -------------------------------------------------------------- */

/* An approval question. Its choices are shown below it only after a delay, and keys count as
 * answers only once the choices are shown: a user who is just typing must not approve by accident.
 * While the proposed text is edited, it is in the editor. */
struct chat_question {
    bool open, is_command;
    bool editing;              /* main thread only */
    bool half;                 /* plain mode: ignore the line break after "e" */
    struct buf rule;           /* rule that "always" adds; empty: not offered */
    struct approve_edit *edit; /* owned by the waiting agent thread; NULL: nothing to edit */
    struct buf draft;          /* previous content of the editor */
    bool drawn, offered;       /* the whole question, and its choices, are in a frame */
    uint64_t since_ms;         /* time at which it was shown; 0: not yet */
    bool armed;                /* the choices were shown: keys count as answers */
    enum approve_answer answer;
};

/* Cached data for the status line. */
struct chat_place {
    struct buf branch;
    uint64_t looked_ms; /* time of the last check; 0: none yet */
};

struct chat;
/* Work for the agent's thread: a turn, or a command that needs a model or a tool. */
typedef bool (*chat_work)(struct chat *chat, struct err *err);

struct chat {
    const struct chat_options *options;
    struct agent_setup setup;
    struct console console;
    struct editor *editor;
    pthread_mutex_t lock;
    pthread_cond_t news; /* of `work`, `over` and `quits` */
    int wake, answered;  /* eventfds that wake this and the agent's thread */
    int resized;         /* signalfd for SIGWINCH and SIGTSTP */
    /* Protected by the lock: */
    struct chat_rows *rows;
    struct chat_question question;
    struct buf held; /* possible start of a key */
    struct usage used;
    uint64_t context; /* tokens of the last request and its answer */
    bool over, ok;    /* the turn has ended, and whether it succeeded */
    chat_work work;   /* for the agent's thread; NULL: none */
    bool quits;       /* it must end */
    bool woken;       /* main thread was woken for changes not drawn yet */
    struct err err;
    /* Main thread only: */
    pthread_t thread; /* the agent's */
    bool has_thread;
    uint64_t window; /* context window of the model; 0: unknown */
    bool busy, leave;
    json_t *prompt;
    struct buf queue;
    struct text stay; /* rows for the scrollback, not drawn yet */
    struct chat_place place;
    uint64_t began_ms, drawn_ms, interrupted_ms;
    bool dirty, drawn; /* a frame is due; one was drawn, but may not be written yet */
    /* Settings, and data kept between conversations: */
    struct bindings bindings;
    struct history history;
    /* Without a terminal, the reason to stop before the end of input: */
    struct err end;
    /* Commands: */
    struct buf typed;   /* command line of the running `!` command */
    struct buf later;   /* commands waiting for the end of the turn, NUL-terminated */
    struct buf aside;   /* text for the model, sent with the next prompt */
    struct buf consent; /* under the lock: /approve changes while the agent works, by line */
};

void chat_signal(int eventfd);
void chat_drain(int eventfd);
/* Add a note, or an error, to the conversation. */
void chat_note(struct chat *chat, const char *words);
void chat_note_error(struct chat *chat, struct err *err);
/* Adds a prompt to the history. */
void chat_remember(struct chat *chat, struct str words);

/* events: in the agent's thread ---------------------------------------------------------------- */

/* Requests a redraw. Call with the lock held. */
void chat_events_redraw(struct chat *chat);
/* Shows a past call and its result. Call with the lock held. */
void chat_events_add_past(struct chat *chat, const json_t *message, const json_t *result);
bool chat_events_add(void *chat, const struct agent_event *event);
void chat_events_add_retry(void *chat, const struct retry_notice *notice);
/* Shows text held back as a possible start of a key. Call with the lock held. */
void chat_events_flush(struct chat *chat);

/* ask ------------------------------------------------------------------------------------------ */

/* Called in the agent's thread. */
enum approve_answer chat_ask_user(void *chat, const struct approve_question *q, struct str rule);
/* Called in the agent's thread: shows the changes made by a call. */
void chat_ask_show_diff(void *chat, struct str diff);
/* Returns true if the input was for the question. */
bool chat_ask_key(struct chat *chat, const struct typed *typed);
/* Take, or discard, the edited text. Return true if the editor's content was for the question. */
bool chat_ask_take_edited(struct chat *chat);
bool chat_ask_leave_edited(struct chat *chat);
/* Restores the editor's own text once the question is gone. */
void chat_ask_end_edit(struct chat *chat);
/* Call with the lock held. */
void chat_ask_add_rows(struct chat *chat, unsigned width, struct text *region);
/* The next frame contains the whole question. Call with the lock held. */
void chat_ask_drawn(struct chat *chat);
/* The terminal received all frames: starts the delay for the choices, or accepts answers if the
 * choices were among them. */
void chat_ask_shown(struct chat *chat);
/* Whether the choices are part of a frame by now. */
bool chat_ask_is_offered(struct chat *chat);

/* turn ----------------------------------------------------------------------------------------- */

void chat_turn_start(struct chat *chat, struct str text);
/* Starts other work in the agent's thread. Returns false, after a note, if that fails. */
bool chat_turn_start_work(struct chat *chat, chat_work work);
bool chat_turn_is_over(struct chat *chat);
void chat_turn_end(struct chat *chat);
/* Cancels and ends the last turn, and the agent's thread; waiting input is dropped. */
void chat_turn_abandon(struct chat *chat);
/* Interrupts the turn, as Ctrl-C does in other programs; waiting input is then sent. */
void chat_turn_interrupt(struct chat *chat);
/* Interrupts the turn and drops waiting input. */
void chat_turn_cancel(struct chat *chat);
/* Reads pending signals. Returns true if SIGINT was among them; others set `leave`. */
bool chat_turn_take_signals(struct chat *chat);

/* look: collapsed output ----------------------------------------------------------------------- */

/* Returns true if the key was handled. */
bool chat_look_key(struct chat *chat, const struct typed *typed);
/* The /open command: prints the last collapsed output that was not printed yet. */
void chat_look_open(struct chat *chat, struct str words);

/* status --------------------------------------------------------------------------------------- */

void chat_status_add(struct chat *chat, unsigned width, struct text *region);

/* commands ------------------------------------------------------------------------------------- */

/* Runs waiting commands after a turn, until one of them starts work. */
void chat_commands_run_later(struct chat *chat);
/* Returns false if the text is a prompt. */
bool chat_commands_take(struct chat *chat, struct str text);
/* Completion for the editor: words that begin with / or @. */
void chat_commands_complete(void *chat, struct str word, struct editor_list *list);
/* Shows text that the user requested as a block without Markdown formatting. */
void chat_commands_show_block(struct chat *chat, const char *language, struct str text);

/* Commands; `words` are the arguments, possibly empty. */
void chat_undo_run(struct chat *chat, struct str words);
void chat_undo_diff(struct chat *chat, struct str words);
void chat_session_model(struct chat *chat, struct str words);
void chat_session_run(struct chat *chat, struct str words);
void chat_session_fork(struct chat *chat, struct str words);
void chat_session_export(struct chat *chat, struct str words);
void chat_session_compact(struct chat *chat, struct str words);
void chat_consent_run(struct chat *chat, struct str words);
void chat_shell_run(struct chat *chat, struct str command);
/* Applies changes from /approve. Called in the thread that calls tools, or while none is running.
 * Call with the lock held. */
void chat_consent_apply(struct chat *chat);

/* past ----------------------------------------------------------------------------------------- */

/* Adds the text that the user typed in a message, without text added for the model. */
void chat_past_add_typed(const json_t *message, struct buf *text);
/* Shows the end of a resumed conversation. */
void chat_past_show(struct chat *chat, const json_t *messages);

/* image ---------------------------------------------------------------------------------------- */

/* Attaches images whose paths are words of the text, with a note for each. */
void chat_image_add(struct chat *chat, struct str text, json_t *message);

/* lines: without a terminal -------------------------------------------------------------------- */

/* Takes the next line once the last one is answered. Returns true if there was something to do. */
bool chat_lines_take(struct chat *chat);
/* Writes all remaining output, and waits for the reader. */
void chat_lines_draw(struct chat *chat);

/* loop ----------------------------------------------------------------------------------------- */

void chat_loop_draw(struct chat *chat);
void chat_loop_run(struct chat *chat);
/* Runs a command, or starts or queues a prompt. */
void chat_loop_say(struct chat *chat, struct str words);

#endif
