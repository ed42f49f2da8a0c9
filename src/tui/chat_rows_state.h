/* State shared by chat_rows.c and chat_rows_look.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CHAT_ROWS_STATE_H
#define TUI_CHAT_ROWS_STATE_H

#include "tui/chat_rows.h"
#include "tui/markdown.h"
#include "tui/theme.h"

struct chat_rows_call {
    char *id, *name, *line;
};

/* A collapsed text. */
struct fold {
    char *title, *text;
    size_t n;
    bool diff, opened;
};

/* Viewer for collapsed texts. */
struct chat_rows_style {
    bool on;
    size_t at;        /* index, from the oldest */
    size_t top;       /* first visible row */
    struct text rows; /* of the text */
};

struct chat_rows {
    struct chat_rows_options options;
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
    struct fold folds[CHAT_ROWS_FOLDS];
    size_t n_folds, folded; /* and their total size in bytes */
    struct chat_rows_style look;
    struct chat_rows_call calls[CHAT_ROWS_CALLS];
    size_t n_calls;
    char *queue[CHAT_ROWS_QUEUE];
    size_t n_queue;
    char *retry; /* the latest of several retries; NULL: none */
};

char *chat_rows_copy(struct str s);
/* Begins an item. `apart` separates it with blank rows from the items before and after it. */
void chat_rows_begin(struct chat_rows *c, bool apart);
/* Verbatim and indented; a diff is shown in colour. */
void chat_rows_put_output(const struct chat_rows *c, struct str text, struct text *out);

/* Adds a collapsed text. */
void chat_rows_fold(struct chat_rows *c, struct str title, struct str text, bool diff);
void chat_rows_folds_done(struct chat_rows *c);
void chat_rows_put_look(struct chat_rows *c, struct text *region);
/* Lays out the viewed text again after a change of width. */
void chat_rows_relook(struct chat_rows *c);

#endif
