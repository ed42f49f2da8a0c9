/* What the editor's files share: its state, and the one function that changes the content. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_EDITOR_STATE_H
#define TUI_EDITOR_STATE_H

#include "tui/editor.h"

enum {
    EDITOR_MARK = 0x10F000, /* the first of the code points that stand for large pastes */
    EDITOR_CHANGES = 1000,
    EDITOR_CHANGE_BYTES = 16 << 20,
    EDITOR_KILLS = 16,
    EDITOR_BACK = 256, /* bytes before a place in which its cluster begins */
};

/* What the last key did: some go on with it. */
enum editor_last {
    LAST_OTHER,
    LAST_TYPED,
    LAST_KILL,
    LAST_YANK,
    LAST_VERTICAL,
};

struct editor_change {
    size_t at;
    char *removed, *added;
    size_t removed_n, added_n;
    size_t cursor; /* before it */
};

struct editor_candidate {
    char *text, *note;
};

struct editor_list {
    struct editor_candidate items[EDITOR_CANDIDATES];
    size_t n, chosen;
    size_t start; /* of the word in the content */
    bool more;    /* than there is room for */
};

struct editor {
    struct editor_options options;
    struct buf text;
    size_t cursor;
    enum editor_last last, before; /* before: of the key before the one that is being obeyed */
    size_t column;                 /* where Up and Down want to be */

    struct editor_change changes[EDITOR_CHANGES];
    size_t n_changes, change_bytes;

    char *kills[EDITOR_KILLS]; /* the newest is first */
    size_t kill_n[EDITOR_KILLS];
    size_t yank, yank_at; /* which was inserted, and where */

    char *pastes[EDITOR_PASTES];
    size_t paste_n[EDITOR_PASTES], paste_lines[EDITOR_PASTES];
    size_t n_pastes, paste_bytes;

    char **history;
    size_t n_history, at_history; /* at_history == n_history: what is being written */
    char *draft;                  /* which is here meanwhile */

    struct editor_list list;
};

/* Takes n bytes away at a place and puts others there; the cursor goes behind them. */
void editor_replace(struct editor *e, size_t at, size_t n, struct str text);
void editor_undo(struct editor *e);

/* Places. */
size_t editor_next(const struct editor *e, size_t at); /* a cluster further, or back */
size_t editor_back(const struct editor *e, size_t at);
size_t editor_line_start(const struct editor *e, size_t at);
size_t editor_line_end(const struct editor *e, size_t at);

/* Candidates for the word at the cursor. */
void editor_list_update(struct editor *e);
void editor_list_close(struct editor *e);
/* False: the word is what is chosen already. */
bool editor_list_accept(struct editor *e);
bool editor_list_fits(const struct editor *e); /* it is that, and whole */

/* The number of the paste that a code point stands for; -1: none. */
int editor_paste_of(const struct editor *e, uint32_t codepoint);

#endif
