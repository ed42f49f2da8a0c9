/* Renders a conversation as rows: answers stream as Markdown; thinking and tool output are
 * collapsed to one line each and can be opened; failures are shown open. Does not depend on a
 * terminal, model or tool.
 *
 *     struct chat *c = chat_new(&(struct chat_options){.width = 80});
 *     chat_user(c, STR("why does it fail?"));
 *     chat_text(c, delta);                            part of the answer, as it arrives
 *     chat_call(c, STR("1"), STR("shell"), STR("make test"));
 *     chat_result(c, STR("1"), false, output);
 *     chat_rows(c, &stay, &region);                   for live_frame(), with an editor below
 *
 * Each row is returned as `stay` only once. All input is made safe for display (text.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CHAT_H
#define TUI_CHAT_H

#include "tui/text.h"

enum {
    CHAT_CALLS = 64,          /* running at the same time; others are shown only when they end */
    CHAT_KEPT = 256 << 10,    /* bytes kept of a collapsed text: its end, or the start of a diff */
    CHAT_FOLDS = 64,          /* maximum number of collapsed texts kept, and */
    CHAT_FOLDED = 1 << 20,    /* their total size in bytes */
    CHAT_DIFF_LINES = 24,     /* lines shown of a change that was made */
    CHAT_DIFF_MAX = 1 << 20,  /* bytes of a change */
    CHAT_PROMPT_LINES = 20,   /* lines shown of a prompt, and */
    CHAT_PROMPT_BYTES = 4000, /* maximum bytes of them */
    CHAT_FAILED_LINES = 20,   /* lines shown of failed output, from its end */
    CHAT_SUMMARY_BYTES = 512, /* in a call's line */
    CHAT_QUEUE = 16,          /* queued messages */
};

struct chat_options {
    unsigned width, rows; /* size of the terminal */
    bool show_links;      /* show URLs in brackets */
    bool whole_prompts;   /* do not collapse prompts: they could not be opened */
    unsigned most; /* rows returned at once, so that a long output does not delay key presses; 0:
                      all */
};

struct chat;

MUST_USE struct chat *chat_new(const struct chat_options *options);
void chat_free(struct chat *c); /* accepts NULL */
void chat_set_size(struct chat *c, unsigned width, unsigned rows);

void chat_user(struct chat *c, struct str text);
void chat_text(struct chat *c, struct str delta);
void chat_thinking(struct chat *c, struct str delta);
void chat_end(struct chat *c);     /* the answer is complete */
void chat_restart(struct chat *c); /* the answer is retried; drops its unprinted part */

/* Start of a tool call, by its id, and its end. A diff in the output is shown in colour. */
void chat_call(struct chat *c, struct str id, struct str name, struct str summary);
void chat_result(struct chat *c, struct str id, bool failed, struct str output);
/* Changes to files made by the current call, as a git diff; shown with its result. */
void chat_diff(struct chat *c, struct str diff);

/* A request for approval, shown in full: a command, a change to files, or paths and a text. The
 * diff is not shown again when the change is made. */
struct chat_question {
    struct str words;   /* "shell wants to run:" */
    struct str subject; /* the command, or paths, one per line */
    bool is_command;
    struct str diff; /* null: not known */
    struct str text; /* shown without a diff; may be empty */
    struct str why;
};
void chat_ask(struct chat *c, const struct chat_question *q);
/* Ends the request; until then, waiting calls are not shown. `command` is the edited command, or
 * null. */
void chat_asked(struct chat *c, struct str command);

void chat_note(struct chat *c, struct str text);
void chat_error(struct chat *c, struct str text);

/* Shows a message that is queued until the turn ends; and removes all of them. */
void chat_queue(struct chat *c, struct str text);
void chat_unqueue(struct chat *c);

/* Views the collapsed texts in the region, one at a time (step -1: previous, 1: next; the first
 * call shows the last one). Returns false if none exist. */
bool chat_look(struct chat *c, int step);
void chat_look_scroll(struct chat *c, int pages, int rows);
void chat_look_end(struct chat *c);
bool chat_looks(const struct chat *c);
/* Prints the text being viewed in full, or the last one that was not printed yet. Returns false if
 * none is left. */
bool chat_open(struct chat *c);

/* Appends new rows that stay, and the rows that may still change. `step` advances the progress
 * indicator. Returns true if more rows that stay are pending. */
bool chat_rows(struct chat *c, unsigned step, struct text *stay, struct text *region);

#endif
