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
#ifndef TUI_CHAT_H
#define TUI_CHAT_H

#include "tui/text.h"

enum {
    CHAT_CALLS = 64,          /* at work at the same time; more are only told of when they end */
    CHAT_KEPT = 256 << 10,    /* bytes of a collapsed text that can be opened: its end */
    CHAT_FAILED_LINES = 20,   /* the last ones of what failed are shown */
    CHAT_SUMMARY_BYTES = 512, /* of a call's line */
    CHAT_QUEUE = 16,          /* messages that wait */
};

struct chat_options {
    unsigned width;
    bool show_links; /* where they lead, in brackets */
    unsigned most;   /* rows that are handed out at once, so that a key is not kept waiting by them;
                        0: all */
};

struct chat;

MUST_USE struct chat *chat_new(const struct chat_options *options);
void chat_free(struct chat *c); /* accepts NULL */
void chat_set_width(struct chat *c, unsigned width);

void chat_user(struct chat *c, struct str text);
void chat_text(struct chat *c, struct str delta);
void chat_thinking(struct chat *c, struct str delta);
void chat_end(struct chat *c);     /* of an answer: all of it has come */
void chat_restart(struct chat *c); /* it begins anew; what is not printed yet is void */

/* A call at work, by its id; and its end. A diff in what it gave is shown in colours. */
void chat_call(struct chat *c, struct str id, struct str name, struct str summary);
void chat_result(struct chat *c, struct str id, bool failed, struct str output);

void chat_note(struct chat *c, struct str text);
void chat_error(struct chat *c, struct str text);

/* A message that waits for the turn to end, shown below; and all of them gone. */
void chat_queue(struct chat *c, struct str text);
void chat_unqueue(struct chat *c);

/* Prints the last thing that was collapsed, whole; false if there is none. */
bool chat_open(struct chat *c);

/* Appends the rows that stay since the last time, and those that still change. `step` moves what
 * says that something is at work. True: there are more that stay. */
bool chat_rows(struct chat *c, unsigned step, struct text *stay, struct text *region);

#endif
