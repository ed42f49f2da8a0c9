/* A conversation as rows: what is said streams as Markdown; thinking and tools' output are one line
 * each, which can be opened; what failed is open. Pure: it knows no terminal, model or tool.
 *
 *     struct chat *c = chat_new(&(struct chat_options){.width = 80});
 *     chat_user(c, STR("why does it fail?"));
 *     chat_text(c, delta);                            of the answer, as it comes
 *     chat_call(c, STR("1"), STR("shell"), STR("make test"));
 *     chat_result(c, STR("1"), false, output);
 *     chat_rows(c, &stay, &region);                   for live_frame(), with an editor below
 *
 * What was handed out as `stay` is handed out once. Whatever comes in is shown harmlessly (text.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CHAT_H
#define TUI_CHAT_H

#include "tui/text.h"

enum {
    CHAT_CALLS = 64,          /* at work at the same time; more are only told of when they end */
    CHAT_KEPT = 256 << 10,    /* bytes of a collapsed text that can be opened: its end */
    CHAT_FOLDS = 64,          /* so many of them, the last ones, */
    CHAT_FOLDED = 1 << 20,    /* with so many bytes in all */
    CHAT_DIFF_LINES = 24,     /* of a change that was made are shown */
    CHAT_DIFF_MAX = 1 << 20,  /* bytes of a change */
    CHAT_PROMPT_LINES = 20,   /* of a prompt are shown, */
    CHAT_PROMPT_BYTES = 4000, /* with at most so many of these */
    CHAT_FAILED_LINES = 20,   /* the last ones of what failed are shown */
    CHAT_SUMMARY_BYTES = 512, /* of a call's line */
    CHAT_QUEUE = 16,          /* messages that wait */
};

struct chat_options {
    unsigned width, rows; /* of the terminal */
    bool show_links;      /* where they lead, in brackets */
    bool whole_prompts;   /* where nobody could open them */
    unsigned most; /* rows that are handed out at once, so that a key is not kept waiting by them;
                      0: all */
};

struct chat;

MUST_USE struct chat *chat_new(const struct chat_options *options);
void chat_free(struct chat *c); /* accepts NULL */
void chat_set_size(struct chat *c, unsigned width, unsigned rows);

void chat_user(struct chat *c, struct str text);
void chat_text(struct chat *c, struct str delta);
void chat_thinking(struct chat *c, struct str delta);
void chat_end(struct chat *c);     /* of an answer: all of it has come */
void chat_restart(struct chat *c); /* it begins anew; what is not printed yet is void */

/* A call at work, by its id; and its end. A diff in what it gave is shown in colours. */
void chat_call(struct chat *c, struct str id, struct str name, struct str summary);
void chat_result(struct chat *c, struct str id, bool failed, struct str output);
/* What the call at work has made of files, in git's form: shown with its result. */
void chat_diff(struct chat *c, struct str diff);

/* What somebody has to decide on, shown whole: a command, what would become of files, or paths and
 * a text. The change is not shown once more when it is made. */
struct chat_question {
    struct str words;   /* "shell wants to run:" */
    struct str subject; /* the command, or paths, one a line */
    bool is_command;
    struct str diff; /* no value: not known */
    struct str text; /* then: what there is instead; may be none */
    struct str why;
};
void chat_ask(struct chat *c, const struct chat_question *q);
/* It is answered: until then what is at work waits. If the command was edited, what it is now. */
void chat_asked(struct chat *c, struct str command);

void chat_note(struct chat *c, struct str text);
void chat_error(struct chat *c, struct str text);

/* A message that waits for the turn to end, shown below; and all of them gone. */
void chat_queue(struct chat *c, struct str text);
void chat_unqueue(struct chat *c);

/* What was collapsed: the last ones can be looked at in the region, one after the other (step -1:
 * the one before it, 1: after it; the first time, the last one). False: there is none. */
bool chat_look(struct chat *c, int step);
void chat_look_scroll(struct chat *c, int pages, int rows);
void chat_look_end(struct chat *c);
bool chat_looks(const struct chat *c);
/* Prints the one that is looked at, whole, or else the last one that was not printed yet; false if
 * there is none. */
bool chat_open(struct chat *c);

/* Appends the rows that stay since the last time, and those that still change. `step` moves what
 * says that something is at work. True: there are more that stay. */
bool chat_rows(struct chat *c, unsigned step, struct text *stay, struct text *region);

#endif
