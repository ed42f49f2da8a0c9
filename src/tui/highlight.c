/* Syntax highlighting from small tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/highlight.h"

#include "tui/theme.h"

#include <strings.h>

enum {
    NAMES_MAX = 12,
    OPEN_MAX = 4,
    WORD_MAX = 24, /* longest keyword in bytes */
};

/* Delimited construct. `lines`: it may span several lines. */
struct highlight_pair {
    const char *open, *close;
    unsigned char look;
    bool lines, escapes;
};

struct language {
    const char *names[NAMES_MAX];
    const char *comment[OPEN_MAX]; /* comments to the end of the line */
    struct highlight_pair pairs[8];
    const char *words;    /* keywords, separated by spaces */
    bool lenient_comment; /* a comment needs a blank before it: # in shell and YAML */
    bool keys;            /* a name before a colon is a key: JSON, YAML */
    bool dashes;          /* names may contain dashes */
    bool diff;
};

#define DOUBLE_QUOTED                                                      \
    {                                                                      \
        .open = "\"", .close = "\"", .look = THEME_STRING, .escapes = true \
    }
#define SINGLE_QUOTED                                                    \
    {                                                                    \
        .open = "'", .close = "'", .look = THEME_STRING, .escapes = true \
    }
#define C_COMMENT                                                         \
    {                                                                     \
        .open = "/*", .close = "*/", .look = THEME_COMMENT, .lines = true \
    }

/* Longer opening delimiters must precede their own prefixes. */
static const struct language languages[] = {
    {.names = {"diff", "patch"}, .diff = true},
    {.names = {"c", "h", "cpp", "c++", "cc", "hpp", "cxx", "java", "cs", "csharp"},
        .comment = {"//"},
        .pairs = {C_COMMENT, DOUBLE_QUOTED, SINGLE_QUOTED},
        .words =
            " auto bool break case catch char class const constexpr continue default delete do "
            "double else enum explicit extern false final float for friend goto if inline int "
            "interface long namespace new null nullptr NULL operator override private "
            "protected public register restrict return short signed sizeof static struct "
            "super switch template this throw true try typedef typename union unsigned using "
            "virtual void volatile while import package extends implements boolean byte var "
            "#include #define #if #ifdef #ifndef #else #elif #endif #undef #pragma "},
    {.names = {"python", "py", "python3", "pycon"},
        .comment = {"#"},
        .pairs = {{.open = "\"\"\"",
                      .close = "\"\"\"",
                      .look = THEME_STRING,
                      .lines = true,
                      .escapes = true},
            {.open = "'''", .close = "'''", .look = THEME_STRING, .lines = true, .escapes = true},
            DOUBLE_QUOTED, SINGLE_QUOTED},
        .words =
            " False None True and as assert async await break class continue def del elif else "
            "except finally for from global if import in is lambda match case nonlocal not or "
            "pass raise return self try while with yield "},
    {.names = {"javascript", "js", "jsx", "typescript", "ts", "tsx", "mjs", "cjs"},
        .comment = {"//"},
        .pairs = {C_COMMENT,
            {.open = "`", .close = "`", .look = THEME_STRING, .lines = true, .escapes = true},
            DOUBLE_QUOTED, SINGLE_QUOTED},
        .words =
            " abstract any as async await boolean break case catch class const continue debugger "
            "declare default delete do else enum export extends false finally for from "
            "function if implements import in instanceof interface keyof let namespace new "
            "never null number of private protected public readonly return set get static "
            "string super switch this throw true try type typeof undefined unknown var void "
            "while with yield "},
    {.names = {"go", "golang"},
        .comment = {"//"},
        .pairs = {C_COMMENT, {.open = "`", .close = "`", .look = THEME_STRING, .lines = true},
            DOUBLE_QUOTED, SINGLE_QUOTED},
        .words = " bool break byte case chan const continue default defer else error fallthrough "
                 "false float32 float64 for func go goto if import int int32 int64 interface map "
                 "nil package range return rune select string struct switch true type uint uint8 "
                 "uint32 uint64 var "},
    {.names = {"rust", "rs"},
        .comment = {"//"},
        .pairs = {C_COMMENT, DOUBLE_QUOTED},
        .words =
            " as async await bool box break char const continue crate dyn else enum extern f32 "
            "f64 false fn for i8 i16 i32 i64 if impl in isize let loop match mod move mut pub "
            "ref return self Self static str struct super trait true type u8 u16 u32 u64 "
            "unsafe use usize where while "},
    {.names = {"sh", "bash", "shell", "zsh", "console", "fish", "dockerfile", "make", "makefile"},
        .comment = {"#"},
        .pairs =
            {{.open = "\"", .close = "\"", .look = THEME_STRING, .lines = true, .escapes = true},
                {.open = "'", .close = "'", .look = THEME_STRING, .lines = true}},
        .words = " if then else elif fi for while until do done case esac in function return exit "
                 "local export set unset shift break continue source cd echo read eval exec trap "
                 "test declare readonly ",
        .lenient_comment = true,
        .dashes = true},
    {.names = {"json", "jsonc", "json5", "jsonl"},
        .comment = {"//"},
        .pairs = {DOUBLE_QUOTED},
        .words = " true false null ",
        .keys = true},
    {.names = {"yaml", "yml", "toml"},
        .comment = {"#"},
        .pairs = {DOUBLE_QUOTED, {.open = "'", .close = "'", .look = THEME_STRING}},
        .words = " true false null yes no on off ~ ",
        .lenient_comment = true,
        .keys = true,
        .dashes = true},
};

static bool is_name(const struct language *l, char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (uint8_t)c >= 0x80 || (l->dashes && c == '-');
}

struct highlight highlight_start(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(languages); i++)
        for (size_t k = 0; k < NAMES_MAX && languages[i].names[k]; k++)
            if (strlen(languages[i].names[k]) == name.n &&
                strncasecmp(languages[i].names[k], name.p, name.n) == 0)
                return (struct highlight){.language = &languages[i]};
    return (struct highlight){0};
}

/* Diffs --------------------------------------------------------------------------------------- */

static void diff_line(struct str line, struct text *out)
{
    static const struct {
        const char *start;
        enum theme look;
    } rows[] = {
        {"+++", THEME_STRONG},
        {"---", THEME_STRONG},
        {"@@", THEME_HUNK},
        {"diff ", THEME_STRONG},
        {"index ", THEME_DIM},
        {"+", THEME_ADDED},
        {"-", THEME_REMOVED},
    };
    enum theme look = THEME_TEXT;
    for (size_t i = 0; look == THEME_TEXT && i < ARRAY_LEN(rows); i++)
        if (str_starts_with(line, str_z(rows[i].start)))
            look = rows[i].look;
    text_add(out, line, &theme[look]);
}

/* Other languages ----------------------------------------------------------------------------- */

static bool highlight_is_keyword(const struct language *l, struct str word)
{
    char key[WORD_MAX + 3];
    if (!l->words || word.n > WORD_MAX)
        return false;
    snprintf(key, sizeof(key), " " STR_FMT " ", STR_ARG(word));
    return strstr(l->words, key);
}

/* Length up to and including the closing delimiter; the whole line if it is missing. */
static size_t closed_at(struct str rest, const char *close, bool escapes, bool *ret_closed)
{
    struct str end = str_z(close);
    for (size_t i = 0; i < rest.n; i++) {
        if (escapes && rest.p[i] == '\\')
            i++;
        else if (str_starts_with(str_skip(rest, i), end)) {
            *ret_closed = true;
            return i + end.n;
        }
    }
    *ret_closed = false;
    return rest.n;
}

static const struct highlight_pair *pair_at(const struct language *l, struct str rest)
{
    for (size_t i = 0; i < ARRAY_LEN(l->pairs) && l->pairs[i].open; i++)
        if (str_starts_with(rest, str_z(l->pairs[i].open)))
            return &l->pairs[i];
    return NULL;
}

static bool comment_at(const struct language *l, struct str line, size_t at)
{
    bool alone = at == 0 || line.p[at - 1] == ' ' || line.p[at - 1] == '\t';
    for (size_t i = 0; i < OPEN_MAX && l->comment[i]; i++)
        if (str_starts_with(str_skip(line, at), str_z(l->comment[i])))
            return alone || !l->lenient_comment;
    return false;
}

/* Consumes a name, a number, or one other character, depending on the first byte. */
static size_t highlight_read_word(const struct language *l, struct str rest, struct text *out)
{
    size_t n = rest.p[0] == '#'; /* of a preprocessor directive */
    bool digit = rest.p[0] >= '0' && rest.p[0] <= '9';
    while (n < rest.n && (is_name(l, rest.p[n]) || (digit && rest.p[n] == '.')))
        n++;
    if (n == 0) {
        text_add(out, str_head(rest, 1), NULL);
        return 1;
    }
    struct str word = str_head(rest, n), after = str_skip(rest, n);
    enum theme look = digit                                         ? THEME_NUMBER
                      : l->keys && str_starts_with(after, STR(":")) ? THEME_KEYWORD
                      : highlight_is_keyword(l, word)               ? THEME_KEYWORD
                                                                    : THEME_TEXT;
    text_add(out, word, &theme[look]);
    return n;
}

static size_t highlight_read_pair(
    struct highlight *h, const struct highlight_pair *pair, struct str rest, struct text *out)
{
    bool closed;
    size_t open = strlen(pair->open);
    size_t n = open + closed_at(str_skip(rest, open), pair->close, pair->escapes, &closed);
    bool key = h->language->keys && str_starts_with(str_skip(rest, n), STR(":"));
    text_add(out, str_head(rest, n), &theme[key ? THEME_KEYWORD : pair->look]);
    if (!closed && pair->lines) {
        h->until = pair->close;
        h->open = pair->look;
    }
    return n;
}

void highlight_line(struct highlight *h, struct str line, struct text *out)
{
    const struct language *l = h->language;
    size_t at = 0;
    if (!l || l->diff) {
        (l ? diff_line(line, out) : text_add(out, line, NULL));
        return;
    }
    if (h->until) {
        bool closed;
        at = closed_at(line, h->until, h->open == THEME_STRING, &closed);
        text_add(out, str_head(line, at), &theme[h->open]);
        if (closed)
            h->until = NULL;
    }
    while (at < line.n) {
        struct str rest = str_skip(line, at);
        const struct highlight_pair *pair = pair_at(l, rest);
        if (comment_at(l, line, at)) {
            text_add(out, rest, &theme[THEME_COMMENT]);
            return;
        }
        at += pair ? highlight_read_pair(h, pair, rest, out) : highlight_read_word(l, rest, out);
    }
}
