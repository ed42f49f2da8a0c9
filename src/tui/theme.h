/* Styles by purpose. The defaults use only the 16 ANSI colours, so that the user's palette applies,
 * and attributes that keep things distinguishable without colours.
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
    THEME_TITLE, /* level 1 heading */
    THEME_HEADING,
    THEME_STRONG,
    THEME_EMPHASIS,
    THEME_STRIKE,
    THEME_CODE, /* inline code */
    THEME_LINK,
    THEME_QUOTE,
    THEME_BULLET,
    THEME_RULE, /* horizontal rules and table lines */
    THEME_DIM,
    THEME_KEYWORD,
    THEME_STRING,
    THEME_COMMENT,
    THEME_NUMBER,
    THEME_ADDED,
    THEME_REMOVED,
    THEME_HUNK,
    THEME_CHOSEN, /* selected list item */
    THEME_ASK,    /* requests for approval */
    THEMES,
};

extern const struct style *const theme; /* array of THEMES */

/* Names in the configuration; NULL: cannot be changed. */
extern const char *const theme_names[THEMES];

/* Finds a style by name. Fails with E_CONFIG, suggesting the nearest name. */
MUST_USE bool theme_find(struct str name, enum theme *ret_theme, struct err *err);

/* Parses "bold bright-cyan on #202020": attributes, a colour (one of the 16 by name, 0 to 255,
 * #rrggbb), and a background colour after `on`; "plain" is the default style. Fails with
 * E_CONFIG. */
MUST_USE bool theme_parse(struct str text, struct style *ret_style, struct err *err);

void theme_change(enum theme what, const struct style *style);

#endif
