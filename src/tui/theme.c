/* How things look. */
#include "tui/theme.h"

#define ANSI(n) ((uint32_t)COLOR_ANSI << 24 | (n))

enum {
    RED = 1,
    GREEN,
    YELLOW,
    BLUE,
    MAGENTA,
    CYAN,
};

const struct style theme[THEMES] = {
    [THEME_TITLE] = {.fg = ANSI(CYAN), .attrs = STYLE_BOLD, .underline = UNDERLINE_SINGLE},
    [THEME_HEADING] = {.fg = ANSI(CYAN), .attrs = STYLE_BOLD},
    [THEME_STRONG] = {.attrs = STYLE_BOLD},
    [THEME_EMPHASIS] = {.attrs = STYLE_ITALIC},
    [THEME_STRIKE] = {.attrs = STYLE_STRIKE},
    [THEME_CODE] = {.fg = ANSI(YELLOW)},
    [THEME_LINK] = {.fg = ANSI(BLUE), .underline = UNDERLINE_SINGLE},
    [THEME_QUOTE] = {.attrs = STYLE_FAINT},
    [THEME_BULLET] = {.fg = ANSI(CYAN)},
    [THEME_RULE] = {.attrs = STYLE_FAINT},
    [THEME_DIM] = {.attrs = STYLE_FAINT},
    [THEME_KEYWORD] = {.fg = ANSI(MAGENTA)},
    [THEME_STRING] = {.fg = ANSI(GREEN)},
    [THEME_COMMENT] = {.attrs = STYLE_FAINT | STYLE_ITALIC},
    [THEME_NUMBER] = {.fg = ANSI(YELLOW)},
    [THEME_ADDED] = {.fg = ANSI(GREEN)},
    [THEME_REMOVED] = {.fg = ANSI(RED)},
    [THEME_HUNK] = {.fg = ANSI(CYAN)},
    [THEME_CHOSEN] = {.attrs = STYLE_INVERSE},
    [THEME_ASK] = {.fg = ANSI(YELLOW), .attrs = STYLE_BOLD},
};
