/* Multi-line editor without a terminal: takes keys, produces rows and a cursor position.
 *
 *     struct editor *e = editor_new(&(struct editor_options){.complete = candidates});
 *     switch (editor_typed(e, &typed)) {         from term/typed.h
 *     case EDITOR_SENT:
 *         editor_content(e, &prompt);            with pastes expanded
 *         editor_clear(e); ...
 *     }
 *     struct editor_view view = {.width = 80, .rows = 10, .prompt = STR("> ")};
 *     editor_draw(e, &view, &rows, &cursor);
 *
 * Keys are those of readline: Ctrl+a e b f d h w k u y t _, Alt+b f d y Backspace, arrows, Home,
 * End; Alt+Enter, Shift+Enter, Ctrl+j and Enter after a backslash insert a line break. Characters
 * are grapheme clusters. Up in the first line and Down in the last move through the history; Ctrl+r
 * searches it for entries that begin with the text before the cursor. A large paste is one
 * character, shown as "[pasted 1,000 lines]".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include "term/typed.h"
#include "tui/tui_text.h"

enum {
    EDITOR_MAX = 4 << 20,      /* bytes of the content, and of all pastes in it */
    EDITOR_PASTES = 256,       /* maximum number of large pastes */
    EDITOR_PASTE_LINES = 10,   /* a paste is large if it has more lines */
    EDITOR_PASTE_BYTES = 1000, /* or more bytes */
    EDITOR_HISTORY = 1000,     /* entries */
    EDITOR_HISTORY_ENTRY = 64 << 10,
    EDITOR_CANDIDATES = 64,
    EDITOR_CANDIDATE_BYTES = 1024,
    EDITOR_LIST = 6, /* visible candidates */
};

enum editor_event {
    EDITOR_IGNORED, /* not handled here: the caller may use the key */
    EDITOR_DONE,    /* redraw */
    EDITOR_SENT,    /* Enter */
    EDITOR_INTERRUPT,
    EDITOR_END,     /* Ctrl+d without content */
    EDITOR_SUSPEND, /* Ctrl+z */
    EDITOR_REDRAW,  /* Ctrl+l: clear the screen */
};

struct editor_list; /* of candidates */

struct editor_options {
    /* Offers completions for a word that begins with @ (anywhere) or / (at the start); a blank
     * after a backslash is part of the word. Called when such a word changes. May be NULL. */
    void (*complete)(void *context, struct str word, struct editor_list *list);
    void *context;
};

void editor_offer(struct editor_list *list, struct str candidate, struct str note);

struct editor;

MUST_USE struct editor *editor_new(const struct editor_options *options);
void editor_free(struct editor *e); /* accepts NULL */

enum editor_event editor_typed(struct editor *e, const struct typed *typed);
/* Name of a key, including keys without a legacy encoding that some terminals send (Shift+Enter);
 * NULL if it is not a key. */
const char *editor_key_name(const struct typed *typed);
/* Single inputs: a key by name, typed text, a paste. */
enum editor_event editor_key(struct editor *e, const char *key);
enum editor_event editor_text(struct editor *e, struct str text);
enum editor_event editor_paste(struct editor *e, struct str text);

/* The content, with pastes expanded. */
void editor_content(const struct editor *e, struct buf *out);
bool editor_empty(const struct editor *e);
/* Offset of the cursor in the content, with pastes expanded. */
size_t editor_cursor(const struct editor *e);

void editor_set(struct editor *e, struct str text); /* can be undone */
void editor_clear(struct editor *e);                /* also clears the undo history */

/* Adds an entry to the history, unless it is empty or repeats the last one. */
void editor_remember(struct editor *e, struct str entry);

struct editor_view {
    unsigned width, rows; /* rows: maximum, without the list of candidates */
    unsigned all;         /* maximum including the list; 0: no limit */
    struct str prompt;    /* before the first row; the others are indented */
    struct str hint;      /* shown while the content is empty */
};

struct editor_place {
    size_t row, col;
};

void editor_draw(const struct editor *e, const struct editor_view *view, struct text *out,
    struct editor_place *ret_cursor);

#endif
