/* Styles by purpose. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/theme.h"

#include "base/choice.h"

#define ANSI(n) ((uint32_t)COLOR_ANSI << 24 | (n))

enum {
    RED = 1,
    GREEN,
    YELLOW,
    BLUE,
    MAGENTA,
    CYAN,
};

static struct style styles[THEMES] = {
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

const struct style *const theme = styles;

const char *const theme_names[THEMES] = {
    [THEME_TITLE] = "title",
    [THEME_HEADING] = "heading",
    [THEME_STRONG] = "strong",
    [THEME_EMPHASIS] = "emphasis",
    [THEME_STRIKE] = "strike",
    [THEME_CODE] = "code",
    [THEME_LINK] = "link",
    [THEME_QUOTE] = "quote",
    [THEME_BULLET] = "bullet",
    [THEME_RULE] = "rule",
    [THEME_DIM] = "dim",
    [THEME_KEYWORD] = "keyword",
    [THEME_STRING] = "string",
    [THEME_COMMENT] = "comment",
    [THEME_NUMBER] = "number",
    [THEME_ADDED] = "added",
    [THEME_REMOVED] = "removed",
    [THEME_HUNK] = "hunk",
    [THEME_CHOSEN] = "chosen",
    [THEME_ASK] = "ask",
};

void theme_change(enum theme what, const struct style *style)
{
    styles[what] = *style;
}

bool theme_find(struct str name, enum theme *ret_theme, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(name);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX);
    for (unsigned i = 0; i < THEMES; i++) {
        if (!theme_names[i])
            continue;
        if (str_is(name, theme_names[i])) {
            *ret_theme = (enum theme)i;
            return true;
        }
        choice_add(&c, theme_names[i]);
    }
    choice_hint(&c, "", &hint);
    return err_set(err, E_CONFIG, "no such part of a theme%s%s%s", buf_z(&hint),
        hint.n ? "" : "; available: ", hint.n ? "" : choice_list(&c));
}

/* Style syntax -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    uint16_t attr;
} attributes[] = {
    {"bold", STYLE_BOLD},
    {"faint", STYLE_FAINT},
    {"italic", STYLE_ITALIC},
    {"strike", STYLE_STRIKE},
    {"inverse", STYLE_INVERSE},
    {"underline", 0},
};

static const char *const colors[] = {
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};

static bool read_rgb(struct str hex, color *ret_color)
{
    unsigned value = 0;
    if (hex.n != 6)
        return false;
    for (size_t i = 0; i < hex.n; i++) {
        static const char digits[] = "0123456789abcdef";
        char c = (char)(hex.p[i] >= 'A' && hex.p[i] <= 'F' ? hex.p[i] - 'A' + 'a' : hex.p[i]);
        const char *at = memchr(digits, c, sizeof(digits) - 1);
        if (!at)
            return false;
        value = value << 4 | (unsigned)(at - digits);
    }
    *ret_color = color_rgb(value >> 16, value >> 8 & 0xFF, value & 0xFF);
    return true;
}

static bool read_color(struct str word, color *ret_color)
{
    struct str base = word;
    int64_t number;
    bool bright = str_starts_with(word, STR("bright-"));
    if (str_starts_with(word, STR("#")))
        return read_rgb(str_skip(word, 1), ret_color);
    if (str_to_int(word, 0, 255, &number)) {
        *ret_color = color_indexed((unsigned)number);
        return true;
    }
    if (bright)
        base = str_skip(word, strlen("bright-"));
    for (unsigned i = 0; i < ARRAY_LEN(colors); i++)
        if (str_is(base, colors[i])) {
            *ret_color = color_ansi(bright ? i + 8 : i);
            return true;
        }
    return false;
}

static bool read_attribute(struct str word, struct style *style)
{
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        if (str_is(word, attributes[i].word)) {
            style->attrs |= attributes[i].attr;
            if (!attributes[i].attr)
                style->underline = UNDERLINE_SINGLE;
            return true;
        }
    return str_is(word, "plain");
}

static bool theme_unknown_word(struct str word, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(word);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX);
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        choice_add(&c, attributes[i].word);
    for (size_t i = 0; i < ARRAY_LEN(colors); i++)
        choice_add(&c, colors[i]);
    choice_add(&c, "plain");
    choice_hint(&c, "", &hint);
    return err_set(err, E_CONFIG,
        "'" STR_FMT "' is not valid in a style; expected a style such as \"bold bright-cyan on "
        "#202020\"%s",
        STR_ARG(word), buf_z(&hint));
}

bool theme_parse(struct str text, struct style *ret_style, struct err *err)
{
    struct style style = {0};
    struct str word;
    bool behind = false;
    size_t n = 0;
    while (str_cut(text, ' ', &word, &text)) {
        if (word.n == 0)
            continue;
        n++;
        if (str_is(word, "on") && !behind) {
            behind = true;
            continue;
        }
        if (!behind && read_attribute(word, &style))
            continue;
        if (!read_color(word, behind ? &style.bg : &style.fg))
            return theme_unknown_word(word, err);
        behind = false;
    }
    if (behind || n == 0)
        return err_set(err, E_CONFIG, "%s",
            n ? "expected a colour after 'on'"
              : "expected a style such as \"bold bright-cyan on #202020\", or \"plain\"");
    *ret_style = style;
    return true;
}
