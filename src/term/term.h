/* A terminal: bytes in, cells out. It touches no system call, and nothing that a program prints
 * makes it fail, grow without bound, or take more than linear time.
 *
 *     struct term *t = term_new(&(struct term_options){.rows = 24, .cols = 80});
 *     term_feed(t, bytes);
 *     struct str answer = term_replies(t);      what the program asked for: to be written to it
 *     term_drop_replies(t, answer.n);
 *     snapshot_take(t, &arena, 0, &snapshot);   see snapshot.h
 *     term_free(t);
 *
 * However the bytes are cut into pieces, the state after them is the same.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_H
#define TERM_TERM_H

#include "term/style.h"

enum {
    TERM_ROWS_MAX = 1000,
    TERM_COLS_MAX = 1000,
    TERM_SCROLLBACK = 1000, /* lines, unless asked for others */
    TERM_SCROLLBACK_MAX = 100000,
    TERM_STRING_MAX = 64 * 1024, /* bytes of an OSC, DCS or APC that are kept */
    TERM_REPLIES_MAX = 64 * 1024,
    TERM_TITLE_MAX = 4096,
    TERM_UNKNOWN_KINDS = 64, /* kinds of unknown sequences that are told apart */
    TERM_UNKNOWN_TEXT = 64,  /* bytes of each that are kept */
};

enum term_width {
    TERM_WIDTH_GRAPHEME, /* a cluster is as wide as it is drawn */
    TERM_WIDTH_WCWIDTH,  /* every code point counts for itself */
};

enum term_event_type {
    TERM_EVENT_TITLE, /* text: the new title */
    TERM_EVENT_ICON,  /* text: the new icon name */
    TERM_EVENT_BELL,
    TERM_EVENT_UNKNOWN,    /* text: the sequence, the first of its kind */
    TERM_EVENT_UNANSWERED, /* text: a query that got no answer */
    TERM_EVENT_REPLACED,   /* text: bytes that became U+FFFD */
    TERM_EVENT_TRUNCATED,  /* text: the start of a string that was too long */
    TERM_EVENT_CLIPBOARD,  /* OSC 52, refused; text: what it wanted */
    TERM_EVENT_RESIZE,     /* the program asks for another size; value: rows << 16 | cols */
    TERM_EVENT_FRAME,      /* the end of a synchronized update */
    TERM_EVENT_QUERY,      /* something was asked and answered */
    TERM_EVENTS,
};

struct term_event {
    enum term_event_type type;
    struct str text; /* as it came: anything may be in it */
    unsigned value;
};

struct term_options {
    unsigned rows, cols; /* 1 to TERM_ROWS_MAX, TERM_COLS_MAX */
    unsigned scrollback; /* lines; memory may allow fewer of very long ones */
    enum term_width width;
    bool onlcr;      /* LF does CR too, as a tty's output does */
    bool may_resize; /* the program may change the size (CSI 8 t, DECCOLM, DECSLPP) */
    /* What happens, while it happens; must not call back into the terminal. May be NULL. */
    void (*event)(void *context, const struct term_event *event);
    void *context;
};

struct term;

MUST_USE struct term *term_new(const struct term_options *options);
void term_free(struct term *t);

void term_feed(struct term *t, struct str bytes);

/* Feeds up to the byte that ends an event of these types (1 << enum term_event_type), or all; gives
 * how much was taken. */
size_t term_feed_until(struct term *t, struct str bytes, unsigned types);

/* No more bytes come: a character that was cut off is replaced. */
void term_feed_end(struct term *t);

void term_resize(struct term *t, unsigned rows, unsigned cols);

/* Answers to be written to the program; the slice holds until the next call. Bytes beyond the limit
 * are lost, whole answers at a time. */
struct str term_replies(const struct term *t);
void term_drop_replies(struct term *t, size_t n);

/* Looking at it ------------------------------------------------------------------------------- */

struct term_cursor {
    unsigned row, col; /* col is below cols, also with a wrap pending */
    bool visible, blink, pending_wrap;
    unsigned shape; /* 0 block, 1 underline, 2 bar */
};

unsigned term_rows(const struct term *t);
unsigned term_cols(const struct term *t);
unsigned term_scrollback(const struct term *t); /* lines that are above the screen */
struct term_cursor term_cursor(const struct term *t);
bool term_alternate(const struct term *t);
/* Counts what a program does that draws a screen rather than printing lines: it goes to the
 * alternate screen, to a row, up, or clears what is above the cursor. */
uint64_t term_drawn(const struct term *t);
bool term_in_frame(const struct term *t); /* within a synchronized update */
bool term_mid_sequence(const struct term *t);
enum term_width term_width(const struct term *t);
struct str term_title(const struct term *t);
struct str term_icon(const struct term *t);
bool term_reverse_screen(const struct term *t); /* DECSCNM */

/* A cell of the screen; rows below 0 are in the scrollback, -1 the newest. */
struct term_cell {
    uint32_t codepoints[32]; /* n of them; none: an empty cell */
    unsigned n;
    unsigned width; /* 1, 2, or 0: the right half of a wide one */
    struct style style;
};

/* A row of nothing but ASCII as text, without the empty cells at its end: how many bytes of at most
 * term_cols(). SIZE_MAX if there is anything else in it. */
size_t term_row_ascii(const struct term *t, int row, char *bytes);

void term_cell(const struct term *t, int row, unsigned col, struct term_cell *ret_cell);
bool term_row_wraps(const struct term *t, int row); /* goes on in the next row */

/* Changes when, and only when, something that can be seen in the row changes (but for chance). */
uint64_t term_row_hash(const struct term *t, unsigned row);
/* All rows, the cursor, the alternate screen and the title. */
uint64_t term_hash(const struct term *t);

/* A link of OSC 8 by its number in a style; no value if there is none. */
struct str term_link(const struct term *t, uint32_t link);
struct str term_link_id(const struct term *t, uint32_t link);

/* Unknown sequences: kinds, the first of each as it came, and how many there were of it. */
struct term_unknown {
    char text[TERM_UNKNOWN_TEXT];
    unsigned n; /* bytes of it */
    uint64_t count;
};

size_t term_unknowns(const struct term *t, const struct term_unknown **ret_list);

/* Queries that got no answer, the same way. */
size_t term_unanswered(const struct term *t, const struct term_unknown **ret_list);

/* What the keyboard and the mouse need to know (keys.h). */
enum term_mouse {
    TERM_MOUSE_OFF,
    TERM_MOUSE_X10,    /* 9: presses only */
    TERM_MOUSE_NORMAL, /* 1000: presses and releases */
    TERM_MOUSE_BUTTON, /* 1002: and motion with a button held */
    TERM_MOUSE_ANY,    /* 1003: and every motion */
};

enum term_mouse_coding {
    TERM_MOUSE_BYTES,  /* X10: one byte each */
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
    bool alternate_scroll; /* 1007: the wheel is cursor keys on the alternate screen */
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
