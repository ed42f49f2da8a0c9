/* How things look in a terminal, by what they are. Only the 16 colours, so that the user's own
 * palette decides, and attributes that still tell things apart where there are no colours.
 *
 *     text_add(&t, STR("heading"), &theme[THEME_HEADING]);
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

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

extern const struct style theme[THEMES];

#endif
