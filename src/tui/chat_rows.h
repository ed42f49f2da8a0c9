/* Renders a conversation as rows: answers stream as Markdown; thinking and tool output are
 * collapsed to one line each and can be opened; failures are shown open. Does not depend on a
 * terminal, model or tool.
 *
 *     struct chat_rows *c = chat_rows_new(&(struct chat_rows_options){.width = 80});
 *     chat_rows_user(c, STR("why does it fail?"));
 *     chat_rows_text(c, delta);                            part of the answer, as it arrives
 *     chat_rows_call(c, STR("1"), STR("shell"), STR("make test"));
 *     chat_rows_result(c, STR("1"), false, output);
 *     chat_rows_take(c, &stay, &region);                   for live_frame(), with an editor below
 *
 * Each row is returned as `stay` only once. All input is made safe for display (tui_text.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CHAT_ROWS_H
#define TUI_CHAT_ROWS_H

#include "tui/tui_text.h"

enum {
    CHAT_ROWS_CALLS = 64, /* running at the same time; others are shown only when they end */
    CHAT_ROWS_KEPT =
        256 << 10,        /* bytes kept of a collapsed text: its end, or the start of a diff */
    CHAT_ROWS_FOLDS = 64, /* maximum number of collapsed texts kept, and */
    CHAT_ROWS_FOLDED = 1 << 20,    /* their total size in bytes */
    CHAT_ROWS_DIFF_LINES = 24,     /* lines shown of a change that was made */
    CHAT_ROWS_DIFF_MAX = 1 << 20,  /* bytes of a change */
    CHAT_ROWS_PROMPT_LINES = 20,   /* lines shown of a prompt, and */
    CHAT_ROWS_PROMPT_BYTES = 4000, /* maximum bytes of them */
    CHAT_ROWS_FAILED_LINES = 20,   /* lines shown of failed output, from its end */
    CHAT_ROWS_SUMMARY_BYTES = 512, /* in a call's line */
    CHAT_ROWS_QUEUE = 16,          /* queued messages */
};

struct chat_rows_options {
    unsigned width, rows; /* size of the terminal */
    bool show_links;      /* show URLs in brackets */
    bool whole_prompts;   /* do not collapse prompts: they could not be opened */
    unsigned most; /* rows returned at once, so that a long output does not delay key presses; 0:
                      all */
};

struct chat_rows;

MUST_USE struct chat_rows *chat_rows_new(const struct chat_rows_options *options);
void chat_rows_free(struct chat_rows *c); /* accepts NULL */
void chat_rows_set_size(struct chat_rows *c, unsigned width, unsigned rows);

void chat_rows_user(struct chat_rows *c, struct str text);
void chat_rows_text(struct chat_rows *c, struct str delta);
void chat_rows_thinking(struct chat_rows *c, struct str delta);
void chat_rows_end(struct chat_rows *c);     /* the answer is complete */
void chat_rows_restart(struct chat_rows *c); /* the answer is retried; drops its unprinted part */

/* Start of a tool call, by its id, and its end. A diff in the output is shown in colour. */
void chat_rows_call(struct chat_rows *c, struct str id, struct str name, struct str summary);
void chat_rows_result(struct chat_rows *c, struct str id, bool failed, struct str output);
/* Changes to files made by the current call, as a git diff; shown with its result. */
void chat_rows_diff(struct chat_rows *c, struct str diff);

/* A request for approval, shown in full: a command, a change to files, or paths and a text. The
 * diff is not shown again when the change is made. */
struct chat_rows_question {
    struct str words;   /* "shell wants to run:" */
    struct str subject; /* the command, or paths, one per line */
    bool is_command;
    struct str diff; /* null: not known */
    struct str text; /* shown without a diff; may be empty */
    struct str why;
};
void chat_rows_ask(struct chat_rows *c, const struct chat_rows_question *q);
/* Ends the request; until then, waiting calls are not shown. `command` is the edited command, or
 * null. */
void chat_rows_asked(struct chat_rows *c, struct str command);

void chat_rows_note(struct chat_rows *c, struct str text);
void chat_rows_error(struct chat_rows *c, struct str text);
/* A note that replaces the one of the previous retry, until something else is shown. */
void chat_rows_retry(struct chat_rows *c, struct str text);

/* Shows a message that is queued until the turn ends; and removes all of them. */
void chat_rows_queue(struct chat_rows *c, struct str text);
void chat_rows_unqueue(struct chat_rows *c);

/* Views the collapsed texts in the region, one at a time (step -1: previous, 1: next; the first
 * call shows the last one). Returns false if none exist. */
bool chat_rows_look(struct chat_rows *c, int step);
void chat_rows_look_scroll(struct chat_rows *c, int pages, int rows);
void chat_rows_look_end(struct chat_rows *c);
bool chat_rows_looks(const struct chat_rows *c);
/* Prints the text being viewed in full, or the last one that was not printed yet. Returns false if
 * none is left. */
bool chat_rows_open(struct chat_rows *c);

/* Appends new rows that stay, and the rows that may still change. `step` advances the progress
 * indicator. Returns true if more rows that stay are pending. */
bool chat_rows_take(struct chat_rows *c, unsigned step, struct text *stay, struct text *region);

#endif
