/* Internal state of a terminal, shared by the files of this directory only.
 *
 * Rows and columns are 0-based ints; sequence parameters are 1-based and unchecked.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_STATE_H
#define TERM_TERM_STATE_H

#include "base/buf.h"
#include "term/cluster.h"
#include "term/grid.h"
#include "term/parser.h"
#include "term/style.h"
#include "term/term.h"
#include "term/term_link.h"
#include "term/unicode.h"

enum {
    KITTY_STACK = 8,
    TITLE_STACK = 10,
    SGR_STACK = 10,
    COLORS_STACK = 10,
    SPECIAL_COLORS = 8,
    CELL_PIXELS_WIDTH = 10,
    CELL_PIXELS_HEIGHT = 20,
    SCREEN_ROWS = 60, /* maximum window size to report */
    SCREEN_COLS = 200,
    LEVEL_MAX = 64, /* VT420 */
};

/* Modes as bit numbers. Their mode numbers and side effects are in mode.c's table. */
enum mode {
    /* ANSI */
    MODE_KEYBOARD_LOCK,
    MODE_INSERT,
    MODE_ECHO_OFF,
    MODE_NEWLINE,
    /* DEC and xterm */
    MODE_CURSOR_KEYS,
    MODE_COLUMNS_132,
    MODE_SMOOTH,
    MODE_REVERSE_SCREEN,
    MODE_ORIGIN,
    MODE_AUTOWRAP,
    MODE_AUTOREPEAT,
    MODE_MOUSE_X10,
    MODE_BLINK,
    MODE_PRINT_FF,
    MODE_PRINT_EXTENT,
    MODE_CURSOR,
    MODE_ALLOW_132,
    MODE_MORE_FIX,
    MODE_NATIONAL,
    MODE_MARGIN_BELL,
    MODE_REVERSE_WRAP,
    MODE_KEYPAD,
    MODE_BACKSPACE,
    MODE_MARGINS,
    MODE_KEEP_132,
    MODE_MOUSE_NORMAL,
    MODE_MOUSE_BUTTON,
    MODE_MOUSE_ANY,
    MODE_FOCUS,
    MODE_MOUSE_UTF8,
    MODE_MOUSE_SGR,
    MODE_ALTERNATE_SCROLL,
    MODE_MOUSE_URXVT,
    MODE_MOUSE_PIXELS,
    MODE_META_8BIT,
    MODE_NUM_LOCK,
    MODE_META_SENDS_ESC,
    MODE_ALT_SENDS_ESC,
    MODE_URGENT_BELL,
    MODE_RAISE_BELL,
    MODE_REVERSE_WRAP_MORE,
    MODE_ALT_47,
    MODE_ALT_1047,
    MODE_SAVE_CURSOR,
    MODE_ALT_1049,
    MODE_PASTE,
    MODE_SYNC,
    MODE_GRAPHEMES,
    MODE_COLOR_SCHEME,
    MODE_RESIZE_REPORTS,
    MODES,
};

#define MODE_BIT(mode) (UINT64_C(1) << (mode))

enum charset {
    CHARSET_ASCII,
    CHARSET_LINES, /* DEC special graphics */
    CHARSET_UK,
};

struct charsets {
    uint8_t g[4]; /* enum charset */
    uint8_t gl;   /* index of the set mapped to GL */
    uint8_t once; /* single shift: set for the next character only; 0: none */
};

/* State saved by DECSC. */
struct saved_cursor {
    int row, col;
    bool pending, origin;
    struct style pen;
    struct charsets charsets;
};

struct kitty_stack {
    uint8_t flags[KITTY_STACK]; /* the last of n is active */
    unsigned n;
};

struct screen {
    struct grid grid;
    struct saved_cursor saved;
    struct kitty_stack kitty;
};

struct palette {
    uint32_t colors[256];
    uint32_t special[SPECIAL_COLORS];
    uint32_t dynamic[10]; /* OSC 10 to 19 */
};

struct unknown_list {
    struct term_unknown *list;
    size_t n;
};

struct title_entry {
    char *title, *icon;
};

/* Position of an imaginary window, for programs that move it and query it. */
struct window {
    bool iconified;
    int x, y;
    int zoom_rows, zoom_cols; /* size before maximizing; 0: not maximized */
};

struct term {
    struct term_options options;
    struct parser parser;
    struct screen screens[2];
    struct screen *screen;
    struct grid *grid; /* of the current screen */
    int rows, cols;

    int row, col;
    bool pending;                 /* wrap before the next character */
    int top, bottom, left, right; /* margins, inclusive */

    struct style pen;
    cell template; /* cell with the pen's style; valid if `pen_known` */
    bool pen_known;
    cell blank; /* erased cell; valid if `blank_known` */
    bool blank_known;

    uint64_t modes, saved_modes;
    struct charsets charsets;
    bool plain; /* ASCII can be stored in cells unmodified */

    /* Text */
    uint8_t utf8[4]; /* incomplete character */
    uint8_t n_utf8;
    bool joinable; /* the last input was a character, at (prev_row, prev_col) */
    int prev_row, prev_col;
    struct grapheme grapheme;
    uint32_t last; /* last character, for REP */

    uint64_t tabs[(TERM_COLS_MAX + 63) / 64];
    unsigned cursor_style; /* DECSCUSR: 0 to 6 */
    unsigned level;        /* DECSCL: 61 to LEVEL_MAX */
    bool c1_replies;       /* S8C1T */
    bool guards;           /* SPA was used: erasing must check each cell */
    unsigned extent;       /* DECSACE: 2 is a rectangle, other values a stream */
    unsigned checksum;     /* XTCHECKSUM */
    unsigned modify_other, format_other;

    struct style_table styles;
    struct cluster_table clusters;
    struct link_table links;
    unsigned compact_wait;
    struct style *held; /* style about to be interned; keeps its link in use */

    struct buf title, icon;
    struct title_entry titles[TITLE_STACK];
    unsigned n_titles;
    unsigned title_modes;
    struct style sgr_stack[SGR_STACK];
    uint32_t sgr_which[SGR_STACK]; /* mask of the pushed attributes' SGR numbers; 0: all */
    unsigned n_sgr;
    struct palette palette;
    struct palette *color_stack[COLORS_STACK];
    unsigned n_colors;
    struct window window;

    struct buf replies;
    struct unknown_list unknown, unanswered;
    unsigned until; /* mask of events that stop term_feed_until() */
    uint64_t drawn; /* see term_drawn() */
};

static inline bool mode_is(const struct term *t, enum mode mode)
{
    return t->modes >> mode & 1;
}

static inline struct row *term_line(const struct term *t)
{
    return grid_row(t->grid, t->row);
}

/* Whether the cursor is between the left and right margins, and between all four. */
static inline bool in_side_margins(const struct term *t)
{
    return t->col >= t->left && t->col <= t->right;
}

static inline bool in_margins(const struct term *t)
{
    return in_side_margins(t) && t->row >= t->top && t->row <= t->bottom;
}

static inline int param(const struct term *t, unsigned i, int otherwise)
{
    return parser_param(&t->parser, i, otherwise);
}

/* term.c: events */
void term_tell(struct term *t, enum term_event_type type, struct str text, unsigned value);
void term_unknown(struct term *t);   /* reports the current sequence as unknown */
void term_no_answer(struct term *t); /* reports the current query as unanswered */
void term_reset(struct term *t);

/* reply.c */
void reply(struct term *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* With the introducer: ESC and a byte, or the 8-bit C1 control. */
void reply_csi(struct term *t, const char *format, ...) PRINTF_LIKE(2, 3);
void reply_dcs(struct term *t, const char *format, ...) PRINTF_LIKE(2, 3);
void reply_osc(struct term *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* pen.c: the current style as a cell without a character */
cell pen_find(struct term *t);
cell pen_find_blank(struct term *t);

static inline cell pen_template(struct term *t)
{
    return t->pen_known ? t->template : pen_find(t);
}

/* Erased cell: background colour only. */
static inline cell pen_blank(struct term *t)
{
    return t->blank_known ? t->blank : pen_find_blank(t);
}

uint16_t pen_intern(struct term *t, const struct style *style);
void pen_changed(struct term *t);

/* term_compact.c: frees entries in the style, cluster and link tables */
void term_compact(struct term *t);
bool term_may_compact(struct term *t); /* false: a recent attempt freed too little */

/* text.c */
void text_ascii(void *context, const uint8_t *bytes, size_t n);
size_t text_utf8(void *context, const uint8_t *bytes, size_t n);
void text_flush(struct term *t); /* replaces an incomplete character */
void text_put(struct term *t, uint32_t codepoint);
void text_repeat(struct term *t, int n);
void text_mode_changed(struct term *t);

/* cursor.c */
int cursor_left_edge(const struct term *t);            /* of the region that contains the cursor */
int cursor_right_edge(const struct term *t);           /* inclusive */
void cursor_set(struct term *t, int row, int col);     /* clamped to the screen */
void cursor_address(struct term *t, int row, int col); /* honours origin mode */
void cursor_up(struct term *t, int n);
void cursor_down(struct term *t, int n);
void cursor_forward(struct term *t, int n);
void cursor_back(struct term *t, int n); /* with reverse wrap */
void cursor_return(struct term *t);
void cursor_index(struct term *t);         /* down, scrolls at the bottom margin */
void cursor_reverse_index(struct term *t); /* up, scrolls at the top margin */
void cursor_newline(struct term *t);       /* LF; also CR in newline mode */
void cursor_wrap(struct term *t);          /* to the next row, and marks this one as wrapped */
void cursor_tab(struct term *t, int n);
void cursor_back_tab(struct term *t, int n);
void cursor_save(struct term *t);
void cursor_restore(struct term *t);
void margins_reset(struct term *t);
void tabs_reset(struct term *t);
void tab_set(struct term *t, int col, bool on);
void scroll_up(struct term *t, int n);   /* within the margins; negative: down */
void scroll_left(struct term *t, int n); /* negative: right */

/* erase.c, cursor.c */
enum erase {
    ERASE_ALL,       /* except cells guarded by SPA */
    ERASE_SELECTIVE, /* except cells protected by DECSCA */
};
void erase_range(struct term *t, int row, int from, int to, enum erase how);
void erase_screen(struct term *t, int what, enum erase how);
void erase_line(struct term *t, int what, enum erase how);
void edit_insert_blanks(struct term *t, int n);
void edit_delete_chars(struct term *t, int n);
void edit_insert_lines(struct term *t, int n);
void edit_delete_lines(struct term *t, int n);
void edit_insert_columns(struct term *t, int n);
void edit_delete_columns(struct term *t, int n);

/* screen.c */
void screen_use(struct term *t, bool alternate, bool clear);
void screen_resize(struct term *t, int rows, int cols);

/* reflow.c: changes the grid's size, keeping the text and the cursor's position in it. The column
 * is `cols` for a cursor past the end of a full row. */
void grid_reflow(struct grid *g, int rows, int cols, int *row, int *col);
void grid_crop(struct grid *g, int rows, int cols, int *row);

/* Sequence handlers. Parameters are in t->parser. */
void csi_dispatch(void *context, uint8_t final);
void esc_dispatch(void *context, uint8_t final);
void control(void *context, uint8_t byte);
void string_dispatch(void *context, enum parser_string kind);
void osc_dispatch(struct term *t, struct str text);
void dcs_dispatch(struct term *t, struct str text);

void sgr(struct term *t);
void sgr_apply(struct term *t, struct style *s, unsigned first); /* parameters from `first` up */
/* Copies the attributes selected by the mask (0: all) from `from`, except link and protection. */
void sgr_restore(struct style *s, const struct style *from, uint32_t which);
void sgr_write(const struct style *s, struct buf *b); /* as parameters: "0;1;31" */

void mode_set(struct term *t, int number, bool dec, bool on);
int mode_report(const struct term *t, int number, bool dec); /* for DECRQM: 0 to 4 */
void mode_save(struct term *t, int number, bool restore);
void modes_reset(struct term *t, bool soft);

void rect_fill(struct term *t);
void rect_erase(struct term *t, enum erase how);
void rect_copy(struct term *t);
void rect_change(struct term *t, bool reverse);
void rect_checksum(struct term *t);

void palette_reset(struct palette *p);
bool palette_parse(struct str text, uint32_t *ret_color);
void palette_osc(struct term *t, int number, struct str text);

void report_attributes(struct term *t);
void report_status(struct term *t, bool dec);
void report_setting(struct term *t, struct str what);
void report_capabilities(struct term *t, struct str names);
void report_state(struct term *t);

void window_do(struct term *t);
void window_lines(struct term *t);   /* DECSNLS */
void window_columns(struct term *t); /* DECSCPP */
void title_set(struct term *t, bool title, bool icon, struct str text);
void titles_drop(struct term *t);

#endif
