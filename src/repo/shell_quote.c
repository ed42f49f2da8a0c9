/* Quotes and substitutions of the shell. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_quote.h"

#include "repo/shell_heredoc.h"

#include <ctype.h>

enum {
    NESTED_MAX = 16, /* substitutions and quotes in each other */
};

/* Commands up to a `)`. */
struct shell_quote_commands {
    unsigned cases; /* open ones, whose patterns end with `)` */
    bool starts;    /* the next word is the first of a command */
};

static size_t shell_quote_find_end(struct str text, size_t at, struct shell_heredocs *docs);
static size_t find_brace(
    struct str text, size_t at, bool in_quotes, unsigned depth, struct shell_limits *limits);

bool shell_quote_ends_word(char c)
{
    return c && strchr(" \t\n;&|()<>", c);
}

bool shell_quote_escapes(char quote, struct str text, size_t at)
{
    if (text.p[at] != '\\' || at + 1 >= text.n || quote == '\'')
        return false;
    return !quote || strchr("\"\\$`\n", text.p[at + 1]);
}

/* Pieces of words -------------------------------------------------------------------------------
 */

/* Returns the offset behind a `\` and its character, or a substitution, if one starts at `at`. */
static size_t shell_quote_skip_substitution(
    struct str text, size_t at, char quote, unsigned depth, struct shell_limits *limits)
{
    struct str rest = str_skip(text, at);
    size_t end = at;
    if (shell_quote_escapes(quote, text, at))
        return at + 2;
    if (rest.p[0] == '`')
        end = shell_quote_backquotes(text, at + 1) + 1;
    else if (str_starts_with(rest, STR("$(")))
        end = shell_quote_find_end(
                  text, at + 2, &(struct shell_heredocs){.depth = depth + 1, .limits = limits}) +
              1;
    else if (str_starts_with(rest, STR("${")))
        end = find_brace(text, at + 2, quote == '"', depth + 1, limits) + 1;
    return MIN(end, text.n);
}

/* Returns the offset behind the quotes that start at `at`. */
static size_t skip_quotes(struct str text, size_t at, unsigned depth, struct shell_limits *limits)
{
    char quote = text.p[at++];
    while (at < text.n && text.p[at] != quote) {
        size_t end =
            quote == '"' ? shell_quote_skip_substitution(text, at, quote, depth, limits) : at;
        at = MAX(end, at + 1);
    }
    return MIN(at + 1, text.n);
}

/* The same for $'…', which starts behind its first quote. */
static size_t skip_escaped(struct str text, size_t at)
{
    while (at < text.n && text.p[at] != '\'')
        at += text.p[at] == '\\' ? 2 : 1;
    return MIN(at + 1, text.n);
}

/* Returns an offset behind `at`. */
static size_t skip_piece(struct str text, size_t at, unsigned depth, struct shell_limits *limits)
{
    size_t end = shell_quote_skip_substitution(text, at, '\0', depth, limits);
    if (end > at)
        return end;
    if (str_starts_with(str_skip(text, at), STR("$'")))
        return skip_escaped(text, at + 2);
    if (text.p[at] == '\'' || text.p[at] == '"')
        return skip_quotes(text, at, depth, limits);
    return at + 1;
}

static size_t skip_word(struct str text, size_t at, unsigned depth, struct shell_limits *limits)
{
    while (at < text.n && !shell_quote_ends_word(text.p[at]))
        at = skip_piece(text, at, depth, limits);
    return at;
}

size_t shell_quote_word(struct str text, size_t at, unsigned depth, struct shell_limits *limits)
{
    size_t end = skip_word(text, at, depth, limits);
    (void)shell_limits_take(limits, end - at);
    return end;
}

/* Substitutions ---------------------------------------------------------------------------------
 */

/* ${x#word} and others: quotes in the word are quotes, wherever it is. */
static bool is_pattern(struct str text)
{
    size_t n = 0;
    while (n < text.n && (isalnum((unsigned char)text.p[n]) || strchr("_!@*", text.p[n])))
        n++;
    return n < text.n && strchr("#%/^,", text.p[n]);
}

/* Returns the offset of the `}`; quotes are characters if `literal`. */
static size_t find_close(
    struct str text, size_t at, bool literal, unsigned depth, struct shell_limits *limits)
{
    while (at < text.n && text.p[at] != '}' && depth < NESTED_MAX) {
        size_t end = at;
        if (text.p[at] == '\\')
            end = at + 2;
        else if (!literal)
            end = skip_piece(text, at, depth, limits);
        else if (text.p[at] == '"')
            end = skip_quotes(text, at, depth, limits);
        else
            end = shell_quote_skip_substitution(text, at, '"', depth, limits);
        at = MAX(end, at + 1);
    }
    limits->cut |= depth >= NESTED_MAX;
    return at < text.n && depth < NESTED_MAX ? at : text.n;
}

static size_t find_brace(
    struct str text, size_t at, bool in_quotes, unsigned depth, struct shell_limits *limits)
{
    return find_close(text, at, in_quotes && !is_pattern(str_skip(text, at)), depth, limits);
}

/* bash finds the end with single quotes as quotes, unless it is called sh. */
size_t shell_quote_braces(struct str text, size_t at, bool in_quotes, struct shell_limits *limits)
{
    size_t end = find_brace(text, at, in_quotes, 0, limits);
    if (end == text.n && in_quotes)
        end = find_close(text, at, false, 0, limits);
    (void)shell_limits_take(limits, end - MIN(at, end));
    return end;
}

static void shell_quote_take_word(struct shell_quote_commands *c, struct str word)
{
    static const char *const before[] = {
        "!", "do", "elif", "else", "if", "then", "time", "until", "while", "{"};
    if (!c->starts)
        return;
    c->cases += str_is(word, "case");
    c->cases -= c->cases && str_is(word, "esac");
    c->starts = false;
    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        c->starts |= str_is(word, before[i]);
}

/* Returns the offset behind an operator, a comment or a blank. */
static size_t skip_operator(
    struct shell_quote_commands *c, struct shell_heredocs *docs, struct str text, size_t at)
{
    struct shell_heredoc doc;
    if (shell_heredoc_at(text, at))
        return shell_heredoc_open(docs, text, at);
    if (str_starts_with(str_skip(text, at), STR("<<<")))
        return at + 3;
    c->starts |= strchr("\n;&|)", text.p[at]) != NULL;
    bool ends_line = text.p[at++] == '\n';
    while (ends_line && shell_heredoc_next(docs, text, &at, &doc))
        continue;
    return at;
}

static size_t shell_quote_find_end(struct str text, size_t at, struct shell_heredocs *docs)
{
    struct shell_quote_commands c = {.starts = true};
    while (at < text.n && docs->depth < NESTED_MAX) {
        if (text.p[at] == ')' && c.cases == 0)
            return at;
        if (text.p[at] == '#') {
            while (at < text.n && text.p[at] != '\n')
                at++;
        } else if (text.p[at] == '(') {
            docs->depth++;
            at = shell_quote_find_end(text, at + 1, docs) + 1;
            docs->depth--;
            c.starts = true; /* a pattern of case; or a function's name */
        } else if (shell_quote_ends_word(text.p[at])) {
            at = skip_operator(&c, docs, text, at);
        } else {
            size_t end = skip_word(text, at, docs->depth, docs->limits);
            shell_quote_take_word(&c, str_n(text.p + at, end - at));
            at = end;
        }
    }
    docs->limits->cut |= docs->depth >= NESTED_MAX;
    return text.n;
}

size_t shell_quote_substitution(struct str text, size_t at, struct shell_limits *limits)
{
    size_t end = shell_quote_find_end(text, at, &(struct shell_heredocs){.limits = limits});
    (void)shell_limits_take(limits, end - MIN(at, end));
    return end;
}

size_t shell_quote_backquotes(struct str text, size_t at)
{
    while (at < text.n && text.p[at] != '`')
        at += text.p[at] == '\\' ? 2 : 1;
    return MIN(at, text.n);
}

/* Removal ---------------------------------------------------------------------------------------
 */

/* Adds the character of up to `most` digits; returns their number. */
static size_t add_digits(struct str text, unsigned base, size_t most, struct buf *word)
{
    static const char digits[] = "0123456789abcdef";
    unsigned value = 0;
    size_t n = 0;
    for (; n < MIN(most, text.n) && text.p[n]; n++) {
        const char *digit = strchr(digits, tolower((unsigned char)text.p[n]));
        if (!digit || digit - digits >= (ptrdiff_t)base)
            break;
        value = value * base + (unsigned)(digit - digits);
    }
    if (n)
        buf_add_byte(word, (char)value);
    return n;
}

size_t shell_quote_add_escaped(struct str text, size_t at, struct buf *word)
{
    static const char letters[] = "abefnrtv", values[] = "\a\b\033\f\n\r\t\v";
    while (at < text.n && text.p[at] != '\'') {
        char c = text.p[at++];
        if (c != '\\' || at == text.n) {
            buf_add_byte(word, c);
            continue;
        }
        size_t n = text.p[at] == 'x' ? add_digits(str_skip(text, at + 1), 16, 2, word) : 0;
        n = n ? n + 1 : add_digits(str_skip(text, at), 8, 3, word);
        const char *letter = text.p[at] ? strchr(letters, text.p[at]) : NULL;
        if (n == 0)
            buf_add_byte(word, letter ? values[letter - letters] : text.p[at]);
        at += MAX(n, (size_t)1);
    }
    return MIN(at + 1, text.n);
}

void shell_quote_remove(struct str text, struct buf *code)
{
    char quote = '\0';
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!quote && str_starts_with(str_skip(text, i), STR("$'"))) {
            i = shell_quote_add_escaped(text, i + 2, code) - 1;
        } else if (c == quote || (!quote && (c == '\'' || c == '"'))) {
            quote = quote ? '\0' : c;
        } else if (shell_quote_escapes(quote, text, i)) {
            if (text.p[++i] != '\n')
                buf_add_byte(code, text.p[i]);
        } else {
            buf_add_byte(code, c);
        }
    }
}

void shell_quote_remove_backslashes(struct str text, struct buf *code)
{
    for (size_t i = 0; i < text.n; i++) {
        bool escaped = text.p[i] == '\\' && i + 1 < text.n && strchr("\\$`", text.p[i + 1]);
        buf_add_byte(code, text.p[i += escaped]);
    }
}
