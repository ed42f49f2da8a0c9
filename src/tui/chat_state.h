/* State shared by chat.c and chat_look.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CHAT_STATE_H
#define TUI_CHAT_STATE_H

#include "tui/chat.h"
#include "tui/markdown.h"
#include "tui/theme.h"

struct call {
    char *id, *name, *line;
};

/* A collapsed text. */
struct fold {
    char *title, *text;
    size_t n;
    bool diff, opened;
};

/* Viewer for collapsed texts. */
struct look {
    bool on;
    size_t at;        /* index, from the oldest */
    size_t top;       /* first visible row */
    struct text rows; /* of the text */
};

struct chat {
    struct chat_options options;
    struct text stay; /* rows that stay; the first `at` were returned already */
    size_t at;
    struct markdown *answer;
    bool speaks;         /* the current message has text */
    bool any, gap;       /* something was printed; add a blank row before the next item */
    size_t handed;       /* rows already removed from `stay` */
    size_t blank;        /* number of rows up to and including the last blank one */
    struct buf thinking; /* end of the current thinking */
    size_t thought;      /* its total length; 0: none */
    struct buf diff;     /* of the current call */
    bool diff_seen;      /* already shown in a request for approval */
    bool asks;           /* a request for approval is pending */
    struct fold folds[CHAT_FOLDS];
    size_t n_folds, folded; /* and their total size in bytes */
    struct look look;
    struct call calls[CHAT_CALLS];
    size_t n_calls;
    char *queue[CHAT_QUEUE];
    size_t n_queue;
};

char *chat_copy(struct str s);
/* Begins an item. `apart` separates it with blank rows from the items before and after it. */
void chat_begin(struct chat *c, bool apart);
/* Verbatim and indented; a diff is shown in colour. */
void chat_put_output(const struct chat *c, struct str text, struct text *out);

/* Adds a collapsed text. */
void chat_fold(struct chat *c, struct str title, struct str text, bool diff);
void chat_folds_done(struct chat *c);
void chat_put_look(struct chat *c, struct text *region);
/* Lays out the viewed text again after a change of width. */
void chat_relook(struct chat *c);

#endif
