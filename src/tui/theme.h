/* How things look in a terminal, by what they are. By default only the 16 colours, so that the
 * user's own palette decides, and attributes that still tell things apart where there are no
 * colours.
 *
 *     text_add(&t, STR("heading"), &theme[THEME_HEADING]);
 *
 *     theme_change(THEME_CODE, &style);          once, before anything is drawn
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include "base/err.h"
#include "term/style.h"

enum theme {
    THEME_TEXT,
    THEME_TITLE, /* a heading of level 1 */
    THEME_HEADING,
    THEME_STRONG,
    THEME_EMPHASIS,
    THEME_STRIKE,
    THEME_CODE, /* within a line */
    THEME_LINK,
    THEME_QUOTE,
    THEME_BULLET,
    THEME_RULE, /* lines: of tables, between parts */
    THEME_DIM,
    THEME_KEYWORD,
    THEME_STRING,
    THEME_COMMENT,
    THEME_NUMBER,
    THEME_ADDED,
    THEME_REMOVED,
    THEME_HUNK,
    THEME_CHOSEN, /* of a list */
    THEME_ASK,    /* what waits for an answer */
    THEMES,
};

extern const struct style *const theme; /* of THEMES */

/* What settings call them; NULL: nothing that can be changed. */
extern const char *const theme_names[THEMES];

/* By its name; E_CONFIG with the nearest one. */
MUST_USE bool theme_find(struct str name, enum theme *ret_theme, struct err *err);

/* "bold bright-cyan on #202020": attributes, a colour (one of the 16 by name, 0 to 255, #rrggbb),
 * and after `on` one for behind; "plain": as other text. E_CONFIG. */
MUST_USE bool theme_parse(struct str text, struct style *ret_style, struct err *err);

void theme_change(enum theme what, const struct style *style);

#endif
