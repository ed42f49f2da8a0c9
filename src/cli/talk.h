/* A conversation in a terminal, in parts: `tell` adds events of the agent's thread to the rows,
 * `ask` handles approval questions, `turn` starts and ends the agent's thread, `commands` handles
 * input other than prompts (`undo`, `session`, `shell`, `consent` are the larger commands), `lines`
 * works without a terminal, `loop` reads keys and draws. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "cli/agent_job.h"
#include "cli/history.h"
#include "tui/chat_rows.h"
#include "tui/console.h"
#include "tui/editor.h"

#include <pthread.h>

/* An approval question. Its choices are shown below it only after a delay, and keys count as
 * answers only once the choices are shown: a user who is just typing must not approve by accident.
 * While the proposed text is edited, it is in the editor. */
struct question {
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
struct talk_place {
    struct buf branch;
    uint64_t looked_ms; /* time of the last check; 0: none yet */
};

struct talk;
/* Work for the agent's thread: a turn, or a command that needs a model or a tool. */
typedef bool (*talk_work)(struct talk *t, struct err *err);

struct talk {
    struct agent_job job;
    struct console console;
    struct editor *editor;
    pthread_mutex_t lock;
    int wake, answered; /* eventfds that wake this and the agent's thread */
    int resized;        /* signalfd for SIGWINCH and SIGTSTP */
    /* Protected by the lock: */
    struct chat_rows *chat;
    struct question question;
    struct buf held; /* possible start of a key */
    struct usage used;
    uint64_t context; /* tokens of the last request and its answer */
    bool over, ok;    /* the turn has ended, and whether it succeeded */
    bool told;        /* main thread was woken for changes not drawn yet */
    struct err err;
    /* Main thread only: */
    pthread_t thread;
    uint64_t window; /* context window of the model; 0: unknown */
    bool busy, leave;
    json_t *prompt;
    struct buf queue;
    struct text stay; /* rows for the scrollback, not drawn yet */
    struct talk_place place;
    uint64_t began_ms, drawn_ms, interrupted_ms;
    bool dirty, drawn; /* a frame is due; one was drawn, but may not be written yet */
    /* Settings, and data kept between conversations: */
    struct bindings bindings;
    struct history history;
    /* Without a terminal, the reason to stop before the end of input: */
    struct err end;
    /* Commands: */
    talk_work work;
    struct buf typed;   /* command line of the running `!` command */
    struct buf later;   /* commands waiting for the end of the turn, NUL-terminated */
    struct buf aside;   /* text for the model, sent with the next prompt */
    struct buf consent; /* under the lock: /approve changes while the agent works, by line */
};

void talk_signal(int eventfd);
void talk_drain(int eventfd);

/* tell: in the agent's thread ------------------------------------------------------------------ */

/* Requests a redraw. Call with the lock held. */
void talk_changed(struct talk *t);
/* Shows a past call and its result. Call with the lock held. */
void talk_tell_past(struct talk *t, const json_t *message, const json_t *result);
bool talk_tell(void *talk, const struct agent_event *event);
void talk_tell_retry(void *talk, const struct retry_notice *notice);
/* Shows text held back as a possible start of a key. Call with the lock held. */
void talk_say_rest(struct talk *t);

/* ask ------------------------------------------------------------------------------------------ */

/* Called in the agent's thread. */
enum approve_answer talk_ask(void *talk, const struct approve_question *q, struct str rule);
/* Called in the agent's thread: shows the changes made by a call. */
void talk_tell_diff(void *talk, struct str diff);
/* Returns true if the input was for the question. */
bool talk_answer(struct talk *t, const struct typed *typed);
/* Take, or discard, the edited text. Return true if the editor's content was for the question. */
bool talk_take_edited(struct talk *t);
bool talk_leave_edited(struct talk *t);
/* Restores the editor's own text once the question is gone. */
void talk_end_edit(struct talk *t);
/* Call with the lock held. */
void talk_add_question(struct talk *t, unsigned width, struct text *region);
/* The next frame contains the whole question. Call with the lock held. */
void talk_question_drawn(struct talk *t);
/* The terminal received all frames: starts the delay for the choices, or accepts answers if the
 * choices were among them. */
void talk_question_shown(struct talk *t);
/* Whether the choices are part of a frame by now. */
bool talk_question_offered(struct talk *t);

/* turn ----------------------------------------------------------------------------------------- */

/* Adds a note to the conversation. */
void talk_note(struct talk *t, const char *words);
void talk_note_error(struct talk *t, struct err *err);
void talk_start_turn(struct talk *t, struct str text);
/* Starts other work in the agent's thread. Returns false, after a note, if that fails. */
bool talk_start_work(struct talk *t, talk_work work);
bool talk_turn_is_over(struct talk *t);
void talk_end_turn(struct talk *t);
/* Cancels and ends the last turn; waiting input is dropped. */
void talk_abandon_turn(struct talk *t);
/* Interrupts the turn, as Ctrl-C does in other programs; waiting input is then sent. */
void talk_interrupt(struct talk *t);
/* Interrupts the turn and drops waiting input. */
void talk_cancel(struct talk *t);
/* Reads pending signals. Returns true if SIGINT was among them; others set `leave`. */
bool talk_take_signals(struct talk *t);

/* look: collapsed output ----------------------------------------------------------------------- */

/* Returns true if the key was handled. */
bool talk_look_key(struct talk *t, const struct typed *typed);
/* The /open command: prints the last collapsed output that was not printed yet. */
void talk_open(struct talk *t, struct str words);

/* status --------------------------------------------------------------------------------------- */

void talk_add_status(struct talk *t, unsigned width, struct text *region);

/* commands ------------------------------------------------------------------------------------- */

/* Runs waiting commands after a turn, until one of them starts work. */
void talk_run_later(struct talk *t);
/* Returns false if the text is a prompt. */
bool talk_command(struct talk *t, struct str text);
/* Completion for the editor: words that begin with / or @. */
void talk_complete(void *talk, struct str word, struct editor_list *list);
/* Shows text that the user requested as a block without Markdown formatting. */
void talk_show_block(struct talk *t, const char *language, struct str text);

/* Commands; `words` are the arguments, possibly empty. */
void talk_undo(struct talk *t, struct str words);
void talk_diff(struct talk *t, struct str words);
void talk_model(struct talk *t, struct str words);
void talk_session(struct talk *t, struct str words);
void talk_fork(struct talk *t, struct str words);
void talk_export(struct talk *t, struct str words);
void talk_compact(struct talk *t, struct str words);
void talk_consent(struct talk *t, struct str words);
void talk_shell(struct talk *t, struct str command);
/* Applies changes from /approve. Called in the thread that calls tools, or while none is running.
 * Call with the lock held. */
void talk_apply_consent(struct talk *t);

/* Adds the text that the user typed in a message, without text added for the model. */
void talk_add_typed(const json_t *message, struct buf *text);
/* Shows the end of a resumed conversation. */
void talk_show_past(struct talk *t, const json_t *messages);

/* image ---------------------------------------------------------------------------------------- */

/* Attaches images whose paths are words of the text, with a note for each. */
void talk_add_images(struct talk *t, struct str text, json_t *message);

/* lines: without a terminal -------------------------------------------------------------------- */

/* Takes the next line once the last one is answered. Returns true if there was something to do. */
bool talk_take_lines(struct talk *t);
/* Writes all remaining output, and waits for the reader. */
void talk_draw_lines(struct talk *t);

/* loop ----------------------------------------------------------------------------------------- */

void talk_draw(struct talk *t);
void talk_loop(struct talk *t);
/* Runs a command, or starts or queues a prompt. */
void talk_say(struct talk *t, struct str words);
/* Adds a prompt to the history. */
void talk_remember(struct talk *t, struct str words);

#endif
