/* A conversation in a terminal, in pieces: `tell` is what the agent's thread puts into its rows,
 * `ask` its questions and their answers, `turn` begins and ends its thread, `commands` are the
 * user's words that are no prompts (`undo`, `session`, `shell`, `consent` the larger ones), `lines`
 * is how it goes without a terminal, `loop` takes keys and draws. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "cli/agent_job.h"
#include "cli/history.h"
#include "tui/chat.h"
#include "tui/console.h"
#include "tui/editor.h"

#include <pthread.h>

/* What it is about stays above; below are the answers that count, as soon as they do: who is just
 * typing must not have said yes. While it is edited, the editor has its text. */
struct question {
    bool open, is_command;
    bool editing;              /* this thread's own */
    bool half;                 /* of a line "e": its end does not end the text */
    struct buf rule;           /* of always; none: it can't be */
    struct approve_edit *edit; /* the agent's thread waits with it; NULL: no text to edit */
    struct buf draft;          /* what was in the editor before */
    bool drawn, offered;       /* all of it is in a frame, and its answers are */
    uint64_t since_ms;         /* when it was shown; 0: not yet */
    bool armed;                /* the answers were shown, and count */
    enum approve_answer answer;
};

/* What the status line says that is not at hand. */
struct talk_place {
    struct buf branch;
    uint64_t looked_ms; /* when; 0: not yet */
};

struct talk;
/* What the thread does: a turn, or what a command needs a model or a tool for. */
typedef bool (*talk_work)(struct talk *t, struct err *err);

struct talk {
    struct agent_job job;
    struct console console;
    struct editor *editor;
    pthread_mutex_t lock;
    int wake, answered; /* eventfds: to this thread, and to the agent's */
    int resized;        /* a signalfd; also of what stops us */
    /* With the lock: */
    struct chat *chat;
    struct question question;
    struct buf held; /* the start of a key, perhaps */
    struct usage used;
    uint64_t context; /* tokens of the last request and its answer */
    bool over, ok;    /* the turn, and how it ended */
    bool told;        /* of something that is not drawn yet */
    struct err err;
    /* This thread's own: */
    pthread_t thread;
    uint64_t window; /* of the model; 0: not known */
    bool busy, leave;
    json_t *prompt;
    struct buf queue;
    struct text stay; /* not drawn yet */
    struct talk_place place;
    uint64_t began_ms, drawn_ms, interrupted_ms;
    bool dirty, drawn; /* a frame, of which the terminal may have to take some yet */
    /* Settings, and what is kept between conversations. */
    struct bindings bindings;
    struct history history;
    /* Without a terminal: why it ends before its lines do. */
    struct err end;
    /* Of commands: */
    talk_work work;
    struct buf typed;   /* the command line of `!` that is at work */
    struct buf later;   /* commands that wait until the turn is over, line by line */
    struct buf aside;   /* what the model is told with the next prompt */
    struct buf consent; /* with the lock: what /approve said while the agent works, line by line */
};

void talk_signal(int eventfd);
void talk_drain(int eventfd);

/* tell: in the agent's thread ------------------------------------------------------------------ */

/* There is something to draw. With the lock. */
void talk_changed(struct talk *t);
/* A call of a message and its result, of long ago. With the lock. */
void talk_tell_past(struct talk *t, const json_t *message, const json_t *result);
bool talk_tell(void *talk, const struct agent_event *event);
void talk_tell_retry(void *talk, const struct retry_notice *notice);
/* What is held back because it may be the start of a key. With the lock. */
void talk_say_rest(struct talk *t);

/* ask ------------------------------------------------------------------------------------------ */

/* In the agent's thread. */
enum approve_answer talk_ask(void *talk, const struct approve_question *q, struct str rule);
/* In the agent's thread: what a call has changed. */
void talk_tell_diff(void *talk, struct str diff);
/* True: what was typed was for the question. */
bool talk_answer(struct talk *t, const struct typed *typed);
/* True: the content of the editor was for the question; and it is to be left as it is. */
bool talk_take_edited(struct talk *t);
bool talk_leave_edited(struct talk *t);
/* The editor has its own text again once the question is gone. */
void talk_end_edit(struct talk *t);
/* With the lock. */
void talk_add_question(struct talk *t, unsigned width, struct text *region);
/* All of it is in the next frame. With the lock. */
void talk_question_drawn(struct talk *t);
/* The terminal took all frames: soon answers count, or now, if they were among them. */
void talk_question_shown(struct talk *t);
/* Whether its answers are part of a frame by now. */
bool talk_question_offered(struct talk *t);

/* turn ----------------------------------------------------------------------------------------- */

/* A line of ours in the conversation. */
void talk_note(struct talk *t, const char *words);
void talk_note_error(struct talk *t, struct err *err);
void talk_start_turn(struct talk *t, struct str text);
/* The same with something else to do; false: it can't be started, and that is told. */
bool talk_start_work(struct talk *t, talk_work work);
bool talk_turn_is_over(struct talk *t);
void talk_end_turn(struct talk *t);
/* The last one, which does not go on with what waits. */
void talk_abandon_turn(struct talk *t);
/* The turn ends as if the user had typed Ctrl-C in another program; what waits is sent then. */
void talk_interrupt(struct talk *t);
/* And what waits is not sent. */
void talk_cancel(struct talk *t);
/* Whether there was an interruption among them. */
bool talk_take_signals(struct talk *t);

/* look: at what was collapsed -------------------------------------------------------------------
 */

/* True: the key was for that. */
bool talk_look_key(struct talk *t, const struct typed *typed);
/* A command: prints the last one that was not printed yet. */
void talk_open(struct talk *t, struct str words);

/* status --------------------------------------------------------------------------------------- */

void talk_add_status(struct talk *t, unsigned width, struct text *region);

/* commands ------------------------------------------------------------------------------------- */

/* When a turn is over: those that waited, until one of them begins something. */
void talk_run_later(struct talk *t);
/* False: this is for the model. */
bool talk_command(struct talk *t, struct str text);
/* For the editor: words that begin with / or @. */
void talk_complete(void *talk, struct str word, struct editor_list *list);
/* What a person asked for that prints text of its own: a block in which nothing is Markdown. */
void talk_show_block(struct talk *t, const char *language, struct str text);

/* Each has the words behind its name, which may be none. */
void talk_undo(struct talk *t, struct str words);
void talk_diff(struct talk *t, struct str words);
void talk_model(struct talk *t, struct str words);
void talk_session(struct talk *t, struct str words);
void talk_fork(struct talk *t, struct str words);
void talk_export(struct talk *t, struct str words);
void talk_compact(struct talk *t, struct str words);
void talk_consent(struct talk *t, struct str words);
void talk_shell(struct talk *t, struct str command);
/* What /approve said: in the thread that calls tools, or when none does. With the lock. */
void talk_apply_consent(struct talk *t);

/* What was said in a message, without what we told the model beside it. */
void talk_add_typed(const json_t *message, struct buf *text);
/* The end of a conversation that goes on. */
void talk_show_past(struct talk *t, const json_t *messages);

/* image ---------------------------------------------------------------------------------------- */

/* Attaches the images whose paths are words of the text, and says so. */
void talk_add_images(struct talk *t, struct str text, json_t *message);

/* lines: without a terminal ----------------------------------------------------------------------
 */

/* Takes the next line when the last one is answered. True: there was something to do. */
bool talk_take_lines(struct talk *t);
/* All that is still to be written, to whoever reads it. */
void talk_draw_lines(struct talk *t);

/* loop ----------------------------------------------------------------------------------------- */

void talk_draw(struct talk *t);
void talk_loop(struct talk *t);
/* A command, a prompt for now, or one for later. */
void talk_say(struct talk *t, struct str words);
/* For the next conversations. */
void talk_remember(struct talk *t, struct str words);

#endif
