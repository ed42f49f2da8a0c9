/* Terminal emulator: takes a program's output and maintains a grid of cells. It makes no system
 * calls, and no output can make it fail, grow without bound, or take more than linear time.
 *
 *     struct term *t = term_new(&(struct term_options){.rows = 24, .cols = 80});
 *     term_feed(t, bytes);
 *     struct str answer = term_replies(t);      answers to queries: write them to the program
 *     term_drop_replies(t, answer.n);
 *     snapshot_take(t, &arena, 0, &snapshot);   see snapshot.h
 *     term_free(t);
 *
 * The resulting state does not depend on how the input is split across calls.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_H
#define TERM_TERM_H

#include "term/style.h"

enum {
    TERM_ROWS_MAX = 1000,
    TERM_COLS_MAX = 1000,
    TERM_SCROLLBACK = 1000, /* lines, by default */
    TERM_SCROLLBACK_MAX = 100000,
    TERM_STRING_MAX = 64 * 1024, /* maximum bytes kept of an OSC, DCS or APC string */
    TERM_REPLIES_MAX = 64 * 1024,
    TERM_TITLE_MAX = 4096,
    TERM_UNKNOWN_KINDS = 64, /* maximum number of distinct unknown sequences */
    TERM_UNKNOWN_TEXT = 64,  /* maximum bytes kept of each */
};

enum term_width {
    TERM_WIDTH_GRAPHEME, /* width of a cell is that of the grapheme cluster as drawn */
    TERM_WIDTH_WCWIDTH,  /* each code point counts by itself, as with wcwidth() */
};

enum term_event_type {
    TERM_EVENT_TITLE, /* text: the new title */
    TERM_EVENT_ICON,  /* text: the new icon name */
    TERM_EVENT_BELL,
    TERM_EVENT_UNKNOWN,    /* text: the first sequence of its kind */
    TERM_EVENT_UNANSWERED, /* text: a query without an answer */
    TERM_EVENT_REPLACED,   /* text: bytes replaced by U+FFFD, or a dropped bidi control */
    TERM_EVENT_TRUNCATED,  /* text: start of a string that was too long */
    TERM_EVENT_CLIPBOARD,  /* OSC 52, refused; text: the request */
    TERM_EVENT_RESIZE,     /* the program requests a new size; value: rows << 16 | cols */
    TERM_EVENT_FRAME,      /* end of a synchronized update */
    TERM_EVENT_QUERY,      /* a query was answered */
    TERM_EVENTS,
};

struct term_event {
    enum term_event_type type;
    struct str text; /* unsanitized; may contain any bytes */
    unsigned value;
};

struct term_options {
    unsigned rows, cols; /* 1 to TERM_ROWS_MAX, TERM_COLS_MAX */
    unsigned scrollback; /* lines; fewer if very long ones would take too much memory */
    enum term_width width;
    bool onlcr;      /* LF implies CR, as in a tty's output processing */
    bool may_resize; /* the program may change the size (CSI 8 t, DECCOLM, DECSLPP) */
    /* Called synchronously for each event; must not call back into the terminal. May be NULL. */
    void (*event)(void *context, const struct term_event *event);
    void *context;
};

struct term;

MUST_USE struct term *term_new(const struct term_options *options);
void term_free(struct term *t);

void term_feed(struct term *t, struct str bytes);

/* Feeds bytes up to and including the one that completes an event in `types` (a mask of 1 << enum
 * term_event_type), or all of them. Returns the number of bytes consumed. */
size_t term_feed_until(struct term *t, struct str bytes, unsigned types);

/* Marks the end of input: replaces an incomplete character. */
void term_feed_end(struct term *t);

void term_resize(struct term *t, unsigned rows, unsigned cols);

/* Pending answers to the program; valid until the next call. When the limit is reached, whole
 * answers are dropped. */
struct str term_replies(const struct term *t);
void term_drop_replies(struct term *t, size_t n);

/* Inspection ---------------------------------------------------------------------------------- */

struct term_cursor {
    unsigned row, col; /* col is less than cols even when a wrap is pending */
    bool visible, blink, pending_wrap;
    unsigned shape; /* 0 block, 1 underline, 2 bar */
};

unsigned term_rows(const struct term *t);
unsigned term_cols(const struct term *t);
unsigned term_scrollback(const struct term *t); /* lines above the screen */
struct term_cursor term_cursor(const struct term *t);
bool term_alternate(const struct term *t);
/* Counts operations typical of programs that draw a screen rather than print lines: switching to
 * the alternate screen, moving to a given row or up, clearing above the cursor. */
uint64_t term_drawn(const struct term *t);
bool term_in_frame(const struct term *t); /* within a synchronized update */
/* Whether to show the screen now: not within a synchronized update, which is shown as a whole,
 * unless it takes max_ms. `since` is the caller's: when it was first seen; 0: there is none. */
bool term_may_draw(const struct term *t, uint64_t now, uint64_t max_ms, uint64_t *since);
bool term_mid_sequence(const struct term *t);
enum term_width term_width(const struct term *t);
struct str term_title(const struct term *t);
struct str term_icon(const struct term *t);
bool term_reverse_screen(const struct term *t); /* DECSCNM */

/* A cell of the screen. Negative rows are in the scrollback; -1 is the newest. */
struct term_cell {
    uint32_t codepoints[32]; /* n of them; n == 0: empty cell */
    unsigned n;
    unsigned width; /* 1, 2, or 0 for the right half of a wide cell */
    struct style style;
};

/* Copies a pure ASCII row to `bytes` (room for term_cols()) without trailing empty cells. Returns
 * the length, or SIZE_MAX if the row contains anything else. */
size_t term_row_ascii(const struct term *t, int row, char *bytes);

void term_cell(const struct term *t, int row, unsigned col, struct term_cell *ret_cell);
bool term_row_wraps(const struct term *t, int row); /* continues in the next row */

/* Changes if and only if something visible in the row changes, barring hash collisions. */
uint64_t term_row_hash(const struct term *t, unsigned row);
/* Hash of all rows, the cursor, the alternate screen and the title. */
uint64_t term_hash(const struct term *t);

/* An OSC 8 link by the number in its style; empty if there is no such link. */
struct str term_link(const struct term *t, uint32_t link);
struct str term_link_id(const struct term *t, uint32_t link);

/* Unknown sequences: the first one of each kind, unmodified, and a count. */
struct term_unknown {
    char text[TERM_UNKNOWN_TEXT];
    unsigned n; /* length of text */
    uint64_t count;
};

size_t term_unknowns(const struct term *t, const struct term_unknown **ret_list);

/* Unanswered queries, in the same form. */
size_t term_unanswered(const struct term *t, const struct term_unknown **ret_list);

/* Modes that affect keyboard and mouse input (keys.h). */
enum term_mouse {
    TERM_MOUSE_OFF,
    TERM_MOUSE_X10,    /* 9: presses only */
    TERM_MOUSE_NORMAL, /* 1000: presses and releases */
    TERM_MOUSE_BUTTON, /* also motion with a button held */
    TERM_MOUSE_ANY,    /* also any motion */
};

enum term_mouse_coding {
    TERM_MOUSE_BYTES,  /* X10: one byte per number */
    TERM_MOUSE_UTF8,   /* 1005 */
    TERM_MOUSE_SGR,    /* 1006 */
    TERM_MOUSE_URXVT,  /* 1015 */
    TERM_MOUSE_PIXELS, /* 1016: SGR in pixels */
};

struct term_input {
    bool cursor_keys;      /* DECCKM: application cursor keys */
    bool keypad;           /* DECKPAM */
    bool backspace_is_bs;  /* DECBKM */
    bool newline;          /* LNM: Enter sends CR LF */
    bool bracketed_paste;  /* 2004 */
    bool focus;            /* 1004 */
    bool alternate_scroll; /* 1007: the wheel sends cursor keys on the alternate screen */
    bool alternate_screen;
    unsigned modify_other; /* modifyOtherKeys: 0, 1, 2 */
    unsigned format_other; /* formatOtherKeys: 0 CSI 27 ~, 1 CSI u */
    unsigned kitty;        /* flags of the kitty keyboard protocol: 1 disambiguate, 2 event types,
                              4 alternate keys, 8 all as escape codes, 16 text */
    enum term_mouse mouse;
    enum term_mouse_coding mouse_coding;
    unsigned cell_width, cell_height; /* in pixels, for 1016 */
    unsigned rows, cols;
};

void term_input(const struct term *t, struct term_input *ret_input);

#endif
