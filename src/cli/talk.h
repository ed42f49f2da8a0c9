/* A conversation in a terminal, in pieces: `tell` is what the agent's thread puts into its rows,
 * `ask` its questions and their answers, `turn` begins and ends its thread, `commands` are the
 * user's words that are no prompts, `lines` is how it goes without a terminal, `loop` takes keys
 * and draws. */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "cli/agent_job.h"
#include "cli/history.h"
#include "tui/chat.h"
#include "tui/console.h"
#include "tui/editor.h"

#include <pthread.h>

/* What it is about stays above; below are the answers that count, as soon as they do: who is just
 * typing must not have said yes. */
struct question {
    bool open, has_rule;
    struct buf choices;
    uint64_t since_ms; /* when it was shown; 0: not yet */
    enum approve_answer answer;
};

struct talk {
    struct agent_job job;
    struct console console;
    struct editor *editor;
    pthread_mutex_t lock;
    int wake, answered; /* eventfds: to this thread, and to the agent's */
    int resized;        /* a signalfd */
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
    uint64_t began_ms, drawn_ms, interrupted_ms;
    bool dirty;
    /* Settings, and what is kept between conversations. */
    struct bindings bindings;
    struct history history;
    /* Without a terminal: why it ends before its lines do. */
    struct err end;
};

void talk_signal(int eventfd);
void talk_drain(int eventfd);

/* tell: in the agent's thread ------------------------------------------------------------------ */

/* There is something to draw. With the lock. */
void talk_changed(struct talk *t);
bool talk_tell(void *talk, const struct agent_event *event);
void talk_tell_retry(void *talk, const struct retry_notice *notice);
/* What is held back because it may be the start of a key. With the lock. */
void talk_say_rest(struct talk *t);

/* ask ------------------------------------------------------------------------------------------ */

/* In the agent's thread. */
enum approve_answer talk_ask(void *talk, const struct approve_question *q, struct str rule);
/* True: what was typed was for the question. */
bool talk_answer(struct talk *t, const struct typed *typed);
/* With the lock. */
void talk_add_question(struct talk *t, unsigned width, struct text *region);

/* turn ----------------------------------------------------------------------------------------- */

/* A line of ours in the conversation. */
void talk_note(struct talk *t, const char *words);
void talk_start_turn(struct talk *t, struct str text);
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

/* commands ------------------------------------------------------------------------------------- */

/* False: this is for the model. */
bool talk_command(struct talk *t, struct str text);
/* For the editor: words that begin with / or @. */
void talk_complete(void *talk, struct str word, struct editor_list *list);

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
