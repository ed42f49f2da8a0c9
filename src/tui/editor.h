/* An editor of several lines as data: keys in, rows with a cursor out; no terminal.
 *
 *     struct editor *e = editor_new(&(struct editor_options){.complete = candidates});
 *     switch (editor_typed(e, &typed)) {         what term/typed.h made of the terminal's bytes
 *     case EDITOR_SENT:
 *         editor_content(e, &prompt);            pastes are whole again
 *         editor_clear(e); ...
 *     }
 *     editor_draw(e, &(struct editor_view){.width = 80, .rows = 10, .prompt = STR("> ")}, &rows,
 * &cursor);
 *
 * Keys are those of readline: Ctrl+a e b f d h w k u y t _, Alt+b f d y Backspace, arrows, Home,
 * End; Alt+Enter, Shift+Enter, Ctrl+j and Enter after a backslash make a new line. Characters are
 * grapheme clusters. Up and Down go through the history from the first and the last line; Ctrl+r
 * looks for older entries that begin as what is before the cursor does. A large paste is one
 * character, shown as "[pasted 1,000 lines]".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include "term/typed.h"
#include "tui/text.h"

enum {
    EDITOR_MAX = 4 << 20,      /* bytes of the content, and of all pastes in it */
    EDITOR_PASTES = 256,       /* large ones */
    EDITOR_PASTE_LINES = 10,   /* a paste with more is large, */
    EDITOR_PASTE_BYTES = 1000, /* or with more of these */
    EDITOR_HISTORY = 1000,     /* entries */
    EDITOR_HISTORY_ENTRY = 64 << 10,
    EDITOR_CANDIDATES = 64,
    EDITOR_CANDIDATE_BYTES = 1024,
    EDITOR_LIST = 6, /* candidates that are shown */
};

enum editor_event {
    EDITOR_IGNORED, /* a key that means nothing here: the caller may have a use for it */
    EDITOR_DONE,    /* something may look different */
    EDITOR_SENT,    /* Enter */
    EDITOR_INTERRUPT,
    EDITOR_END,     /* Ctrl+d without content */
    EDITOR_SUSPEND, /* Ctrl+z */
    EDITOR_REDRAW,  /* Ctrl+l: on an empty screen */
};

struct editor_list; /* of candidates */

struct editor_options {
    /* Offers what could stand in the place of a word, which begins with @ (anywhere) or / (at the
     * start); a blank after a backslash is part of it. Called when such a word changes. May be
     * NULL. */
    void (*complete)(void *context, struct str word, struct editor_list *list);
    void *context;
};

void editor_offer(struct editor_list *list, struct str candidate, struct str note);

struct editor;

MUST_USE struct editor *editor_new(const struct editor_options *options);
void editor_free(struct editor *e); /* accepts NULL */

enum editor_event editor_typed(struct editor *e, const struct typed *typed);
/* The name of the key, also of one that has no bytes of its own where a terminal sends something
 * for it (Shift+Enter); NULL: it is no key. */
const char *editor_key_name(const struct typed *typed);
/* Each of these for itself: a key by its name, typed text, a paste. */
enum editor_event editor_key(struct editor *e, const char *key);
enum editor_event editor_text(struct editor *e, struct str text);
enum editor_event editor_paste(struct editor *e, struct str text);

/* What would be sent. */
void editor_content(const struct editor *e, struct buf *out);
bool editor_empty(const struct editor *e);
/* Bytes of the content before the cursor, pastes whole. */
size_t editor_cursor(const struct editor *e);

void editor_set(struct editor *e, struct str text); /* can be undone */
void editor_clear(struct editor *e);                /* for something new: nothing to undo */

/* The newest entry of the history; one that repeats the one before it, or is empty, is none. */
void editor_remember(struct editor *e, struct str entry);

struct editor_view {
    unsigned width, rows; /* rows: at most so many, without the list of candidates */
    unsigned all;         /* with it; 0: as many as it likes */
    struct str prompt;    /* before the first row; blanks before the others */
    struct str hint;      /* shown while there is no content */
};

struct editor_place {
    size_t row, col;
};

void editor_draw(const struct editor *e, const struct editor_view *view, struct text *out,
    struct editor_place *ret_cursor);

#endif
