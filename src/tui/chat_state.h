/* What the parts of a conversation share: chat.c and chat_look.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CHAT_STATE_H
#define TUI_CHAT_STATE_H

#include "tui/chat.h"
#include "tui/markdown.h"
#include "tui/theme.h"

struct call {
    char *id, *name, *line;
};

/* Something that was collapsed. */
struct fold {
    char *title, *text;
    size_t n;
    bool diff, opened;
};

/* Somebody looks at one of them. */
struct look {
    bool on;
    size_t at;        /* which, from the oldest */
    size_t top;       /* the first row that is shown */
    struct text rows; /* of it */
};

struct chat {
    struct chat_options options;
    struct text stay; /* rows that stay, of which `at` were handed out */
    size_t at;
    struct markdown *answer;
    bool speaks;         /* text of the answer has come */
    bool any, gap;       /* something was printed; a blank row comes before what is next */
    size_t handed;       /* rows that are no longer in `stay` */
    size_t blank;        /* rows up to and with the last blank one */
    struct buf thinking; /* its end */
    size_t thought;      /* bytes of it in all; 0: none */
    struct buf diff;     /* of the call at work */
    bool diff_seen;      /* in a question */
    bool asks;           /* a question is open */
    struct fold folds[CHAT_FOLDS];
    size_t n_folds, folded; /* and their bytes */
    struct look look;
    struct call calls[CHAT_CALLS];
    size_t n_calls;
    char *queue[CHAT_QUEUE];
    size_t n_queue;
};

char *chat_copy(struct str s);
/* What is apart from what is before it. */
void chat_begin(struct chat *c, bool apart);
/* Verbatim, in from the edge; a diff in its colours. */
void chat_put_output(const struct chat *c, struct str text, struct text *out);

/* Something that can be opened. */
void chat_fold(struct chat *c, struct str title, struct str text, bool diff);
void chat_folds_done(struct chat *c);
void chat_put_look(struct chat *c, struct text *region);
/* It has another width. */
void chat_relook(struct chat *c);

#endif
