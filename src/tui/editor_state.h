/* State shared by the editor's files, and the one function that changes the content. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_EDITOR_STATE_H
#define TUI_EDITOR_STATE_H

#include "tui/editor.h"

enum {
    EDITOR_MARK = 0x10F000, /* first of the code points that represent large pastes */
    EDITOR_CHANGES = 1000,
    EDITOR_CHANGE_BYTES = 16 << 20,
    EDITOR_KILLS = 16,
    EDITOR_BACK = 256, /* bytes to search back for the start of a cluster */
};

/* Kind of the last key: some keys continue its operation. */
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
    size_t cursor; /* before the change */
};

struct editor_candidate {
    char *text, *note;
};

struct editor_list {
    struct editor_candidate items[EDITOR_CANDIDATES];
    size_t n, chosen;
    size_t start; /* offset of the word in the content */
    bool more;    /* some candidates did not fit */
};

struct editor {
    struct editor_options options;
    struct buf text;
    size_t cursor;
    enum editor_last last, before; /* before: of the key before the current one */
    size_t column;                 /* column that Up and Down try to keep */

    struct editor_change changes[EDITOR_CHANGES];
    size_t n_changes, change_bytes;

    char *kills[EDITOR_KILLS]; /* newest first */
    size_t kill_n[EDITOR_KILLS];
    size_t yank, yank_at; /* index of the inserted kill, and its offset */

    char *pastes[EDITOR_PASTES];
    size_t paste_n[EDITOR_PASTES], paste_lines[EDITOR_PASTES];
    size_t n_pastes, paste_bytes;

    char **history;
    size_t n_history, at_history; /* at_history == n_history: the draft */
    char *draft;                  /* saved while a history entry is shown */

    struct editor_list list;
};

/* Replaces n bytes at an offset with text and puts the cursor after it. */
void editor_replace(struct editor *e, size_t at, size_t n, struct str text);
void editor_undo(struct editor *e);

/* Offsets. */
size_t editor_next(const struct editor *e, size_t at); /* of the next and previous cluster */
size_t editor_back(const struct editor *e, size_t at);
size_t editor_line_start(const struct editor *e, size_t at);
size_t editor_line_end(const struct editor *e, size_t at);

/* Candidates for the word at the cursor. */
void editor_list_update(struct editor *e);
void editor_list_close(struct editor *e);
/* Inserts the chosen candidate. Returns false if the word is equal to it already. */
bool editor_list_accept(struct editor *e);
bool editor_list_fits(const struct editor *e); /* it is equal, and not a directory */

/* Returns the index of the paste that a code point represents, or -1. */
int editor_paste_of(const struct editor *e, uint32_t codepoint);

#endif
