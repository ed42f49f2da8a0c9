/* Shell command line parser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/cmdline.h"

enum {
    DOCUMENTS_MAX = 32,
    COMMAND_WORDS_MAX = 256,
};

struct cmdline_parser {
    struct str text;
    size_t at;
    struct arena *a;
    struct cmdline *out;
    size_t n_words; /* of all commands */
    unsigned depth;
    unsigned n_documents;
};

/* A command being read. */
struct cmdline_reader {
    struct str words[COMMAND_WORDS_MAX];
    size_t n;
    bool fixed;
    bool fed;
    bool any; /* there was something here: words, or a compound command */
};

enum cmdline_end {
    END_TEXT,
    END_PAREN, /* at the matching ')' */
};

static void parse_list(struct cmdline_parser *p, enum cmdline_end end);

static void cmdline_not_plain(struct cmdline_parser *p, const char *why)
{
    if (!p->out->why)
        p->out->why = why;
}

static int cmdline_peek(const struct cmdline_parser *p, size_t ahead)
{
    return p->at + ahead < p->text.n ? (unsigned char)p->text.p[p->at + ahead] : -1;
}

static bool cmdline_starts_with(const struct cmdline_parser *p, const char *z)
{
    return str_starts_with(str_skip(p->text, p->at), str_z(z));
}

/* Parses a nested script into the same list of commands. */
static void parse_inner(struct cmdline_parser *p, struct str text)
{
    if (p->depth == CMDLINE_DEPTH_MAX) {
        cmdline_not_plain(p, "scripts nested too deeply to be checked");
        return;
    }
    struct cmdline_parser inner = {
        .text = text, .a = p->a, .out = p->out, .n_words = p->n_words, .depth = p->depth + 1};
    parse_list(&inner, END_TEXT);
    p->n_words = inner.n_words;
}

/* words --------------------------------------------------------------------------------------- */

static void skip_single_quotes(struct cmdline_parser *p, struct buf *word)
{
    const char *from = p->text.p + p->at;
    const char *quote = memchr(from, '\'', p->text.n - p->at);
    if (!quote) {
        cmdline_not_plain(p, "an unterminated quote");
        p->at = p->text.n;
        return;
    }
    buf_add(word, from, (size_t)(quote - from));
    p->at += (size_t)(quote - from) + 1;
}

/* $(…) and (…) contain a list of commands. */
static void parse_parens(struct cmdline_parser *p)
{
    if (++p->depth > CMDLINE_DEPTH_MAX) {
        cmdline_not_plain(p, "commands nested too deeply to be checked");
        p->at = p->text.n;
    } else {
        parse_list(p, END_PAREN);
    }
    p->depth--;
}

static void parse_backquotes(struct cmdline_parser *p)
{
    AUTO_BUF struct buf inner = BUF_INIT(CMDLINE_BYTES_MAX);
    cmdline_not_plain(p, "a command substitution");
    for (; cmdline_peek(p, 0) != '`'; p->at++) {
        if (cmdline_peek(p, 0) < 0) {
            cmdline_not_plain(p, "an unterminated quote");
            return;
        }
        if (cmdline_peek(p, 0) == '\\' && cmdline_peek(p, 1) >= 0)
            p->at++;
        buf_add_byte(&inner, (char)cmdline_peek(p, 0));
    }
    p->at++;
    parse_inner(p, arena_str(p->a, buf_str(&inner)));
}

/* Skips ${…} to its end, but finds substitutions in it. */
static void parse_braced(struct cmdline_parser *p)
{
    size_t open = 1;
    while (open && cmdline_peek(p, 0) >= 0) {
        if (cmdline_starts_with(p, "$(")) {
            p->at += 2;
            parse_parens(p);
            continue;
        }
        if (cmdline_peek(p, 0) == '`') {
            p->at++;
            parse_backquotes(p);
            continue;
        }
        open += cmdline_peek(p, 0) == '{';
        open -= cmdline_peek(p, 0) == '}';
        p->at++;
    }
}

static void parse_dollar(struct cmdline_parser *p, struct buf *word)
{
    p->at++;
    int c = cmdline_peek(p, 0);
    if (c == '(') {
        cmdline_not_plain(p, "a command substitution");
        p->at++;
        parse_parens(p);
    } else if (c == '{') {
        cmdline_not_plain(p, "a variable");
        p->at++;
        parse_braced(p);
    } else {
        cmdline_not_plain(p, "a variable");
        buf_add_byte(word, '$');
    }
}

static void parse_double_quotes(struct cmdline_parser *p, struct buf *word, bool *fixed)
{
    for (;;) {
        int c = cmdline_peek(p, 0);
        if (c < 0) {
            cmdline_not_plain(p, "an unterminated quote");
            return;
        }
        if (c == '"') {
            p->at++;
            return;
        }
        if (c == '$' && cmdline_peek(p, 1) != '"' && cmdline_peek(p, 1) != ' ') {
            *fixed = false;
            parse_dollar(p, word);
        } else if (c == '`') {
            *fixed = false;
            p->at++;
            parse_backquotes(p);
        } else if (c == '\\' && cmdline_peek(p, 1) >= 0 && strchr("$`\"\\\n", cmdline_peek(p, 1))) {
            cmdline_not_plain(p, "an escape");
            *fixed = false;
            if (cmdline_peek(p, 1) != '\n')
                buf_add_byte(word, (char)cmdline_peek(p, 1));
            p->at += 2;
        } else {
            buf_add_byte(word, (char)c);
            p->at++;
        }
    }
}

static void parse_escape(struct cmdline_parser *p, struct buf *word)
{
    cmdline_not_plain(p, "an escape");
    if (cmdline_peek(p, 1) >= 0 && cmdline_peek(p, 1) != '\n')
        buf_add_byte(word, (char)cmdline_peek(p, 1));
    p->at += MIN((size_t)2, p->text.n - p->at);
}

static bool cmdline_ends_word(int c)
{
    return c < 0 || strchr(" \t\n;&|<>()", c);
}

static bool cmdline_is_number(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] < '0' || word.p[i] > '9')
            return false;
    return word.n > 0;
}

/* Parses one word and removes its quotes. Returns false if part of it is known only at run time. */
static bool parse_word(struct cmdline_parser *p, struct str *ret_word)
{
    AUTO_BUF struct buf word = BUF_INIT(CMDLINE_BYTES_MAX);
    bool fixed = true, first = true;
    for (int c; !cmdline_ends_word(c = cmdline_peek(p, 0)); first = false) {
        if (c == '\'') {
            p->at++;
            skip_single_quotes(p, &word);
        } else if (c == '"') {
            p->at++;
            parse_double_quotes(p, &word, &fixed);
        } else if (c == '\\') {
            fixed = false;
            parse_escape(p, &word);
        } else if (c == '`') {
            fixed = false;
            p->at++;
            parse_backquotes(p);
        } else if (c == '$') {
            fixed = false;
            parse_dollar(p, &word);
        } else {
            if (strchr("*?[]{}~^#!", c) || (c == '=' && first)) {
                fixed = false;
                cmdline_not_plain(p, "an expansion: a wildcard, a brace or a tilde");
            }
            buf_add_byte(&word, (char)c);
            p->at++;
        }
    }
    *ret_word = arena_str(p->a, buf_str(&word));
    return fixed;
}

/* commands ------------------------------------------------------------------------------------ */

static bool cmdline_is_name_byte(char c, bool first)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && c >= '0' && c <= '9');
}

static bool is_assignment(struct str word)
{
    size_t i = 0;
    while (i < word.n && cmdline_is_name_byte(word.p[i], i == 0))
        i++;
    return i > 0 && i < word.n && (word.p[i] == '=' || word.p[i] == '+' || word.p[i] == '[');
}

static void add_command(struct cmdline_parser *p, struct cmdline_reader *r)
{
    struct cmdline *out = p->out;
    if (r->n == 0)
        return;
    if (out->n == CMDLINE_COMMANDS_MAX || p->n_words + r->n > CMDLINE_WORDS_MAX) {
        cmdline_not_plain(p, "too many commands to check");
    } else {
        struct str *words = ARENA_NEW(p->a, struct str, r->n);
        memcpy(words, r->words, r->n * sizeof(*words));
        p->n_words += r->n;
        out->commands[out->n++] = (struct cmdline_command){words, r->n, r->fixed, r->fed};
    }
}

static void cmdline_end_command(struct cmdline_parser *p, struct cmdline_reader *r, bool pipe)
{
    add_command(p, r);
    *r = (struct cmdline_reader){.fixed = true, .fed = pipe};
}

static void cmdline_skip_line(struct cmdline_parser *p)
{
    while (cmdline_peek(p, 0) >= 0 && cmdline_peek(p, 0) != '\n')
        p->at++;
}

/* Parses up to a line that is the delimiter. Substitutions in it are expanded unless the delimiter
 * was quoted. */
static void parse_here_document(
    struct cmdline_parser *p, struct str delimiter, bool quoted, bool tabs)
{
    size_t here = p->at;
    if (p->n_documents++ == DOCUMENTS_MAX) {
        cmdline_not_plain(p, "too many here-documents to check");
        p->at = p->text.n;
        return;
    }
    cmdline_skip_line(p);
    size_t rest = p->at; /* end of the line with the operator */
    for (size_t i = here; i < rest; i++)
        if (delimiter.n == 0 || strchr("'\"\\`$", p->text.p[i]))
            cmdline_not_plain(p, "a here-document whose first line is too complex to check");
    p->at += p->at < p->text.n;
    size_t begin = p->at, end = p->text.n;
    bool found = false;
    while (p->at < p->text.n && !found) {
        size_t line_at = p->at;
        cmdline_skip_line(p);
        struct str line = str_head(str_skip(p->text, line_at), p->at - line_at);
        while (tabs && line.n && line.p[0] == '\t')
            line = str_skip(line, 1);
        found = str_eq(line, delimiter);
        end = found ? line_at : p->text.n;
        p->at += p->at < p->text.n;
    }
    if (!found)
        cmdline_not_plain(p, "an unterminated here-document");
    struct str body = str_head(str_skip(p->text, begin), end - begin);
    if (!quoted && (memchr(body.p, '$', body.n) || memchr(body.p, '`', body.n) ||
                       memchr(body.p, '\\', body.n))) {
        cmdline_not_plain(p, "an expansion in a here-document");
        AUTO_BUF struct buf quotes = BUF_INIT(2 * CMDLINE_BYTES_MAX);
        buf_printf(&quotes, ": \"" STR_FMT "\"", STR_ARG(body)); /* parsed as if double-quoted */
        size_t before = p->out->n;
        parse_inner(p, arena_str(p->a, buf_str(&quotes)));
        if (p->out->n > before) /* without the `:` added above */
            p->out->n = MAX(before, p->out->n - 1);
    }
    /* Continue with the rest of the operator's line, then after the document. */
    AUTO_BUF struct buf joined = BUF_INIT(2 * CMDLINE_BYTES_MAX);
    buf_add_str(&joined, str_head(str_skip(p->text, here), rest - here));
    buf_add_byte(&joined, '\n');
    buf_add_str(&joined, str_skip(p->text, p->at));
    p->text = arena_str(p->a, buf_str(&joined));
    p->at = 0;
}

static void cmdline_skip_blanks(struct cmdline_parser *p)
{
    while (
        cmdline_peek(p, 0) == ' ' || cmdline_peek(p, 0) == '\t' || cmdline_starts_with(p, "\\\n"))
        p->at += cmdline_peek(p, 0) == '\\' ? 2 : 1;
}

/* Harmless: duplicating a file descriptor, /dev/null, here-documents and here-strings. */
static void parse_redirection(struct cmdline_parser *p, struct cmdline_reader *r)
{
    struct str target;
    bool in = cmdline_peek(p, 0) == '<';
    r->fed |= cmdline_starts_with(p, "<<");
    if (cmdline_starts_with(p, "<<<")) {
        p->at += 3;
        cmdline_skip_blanks(p);
        r->fixed &= parse_word(p, &target);
        return;
    }
    if (cmdline_starts_with(p, "<<")) {
        bool tabs = cmdline_peek(p, 2) == '-';
        p->at += tabs ? 3 : 2;
        cmdline_skip_blanks(p);
        size_t from = p->at;
        parse_word(p, &target);
        struct str raw = str_head(str_skip(p->text, from), p->at - from);
        bool quoted =
            memchr(raw.p, '\'', raw.n) || memchr(raw.p, '"', raw.n) || memchr(raw.p, '\\', raw.n);
        parse_here_document(p, target, quoted, tabs);
        return;
    }
    if ((in && cmdline_peek(p, 1) == '(') || (!in && cmdline_peek(p, 1) == '(')) {
        cmdline_not_plain(p, "a process substitution");
        r->fixed = false;
        p->at += 2;
        parse_parens(p);
        return;
    }
    while (cmdline_peek(p, 0) >= 0 && strchr("<>|&", cmdline_peek(p, 0)) && cmdline_peek(p, 0))
        p->at++;
    bool copy = p->text.p[p->at - 1] == '&';
    cmdline_skip_blanks(p);
    size_t from = p->at;
    bool fixed = parse_word(p, &target);
    /* The raw text: for bash, `<&-''` closes a file descriptor, and '' is a word of the command. */
    struct str raw = str_head(str_skip(p->text, from), p->at - from);
    bool number = str_is(raw, "-") || cmdline_is_number(raw);
    if (!fixed || !((copy && number) || str_is(target, "/dev/null")))
        cmdline_not_plain(p, in ? "a redirection from a file" : "a redirection to a file");
}

/* Reserved words of the shell that precede a command. */
static bool cmdline_is_keyword(struct str word)
{
    static const char *const keywords[] = {"!", "if", "then", "elif", "else", "fi", "while",
        "until", "do", "done", "{", "}", "esac", "time", "coproc"};
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (str_is(word, keywords[i]))
            return true;
    return false;
}

/* `for x in a b`, `case x in`, `function f`: the rest is not a command. */
static bool is_header(struct str word)
{
    return str_is(word, "for") || str_is(word, "select") || str_is(word, "case") ||
           str_is(word, "function");
}

static void skip_header(struct cmdline_parser *p, struct str keyword)
{
    struct str word;
    while (cmdline_peek(p, 0) >= 0 && !strchr(";\n", cmdline_peek(p, 0))) {
        cmdline_skip_blanks(p);
        if (cmdline_ends_word(cmdline_peek(p, 0))) {
            if (cmdline_peek(p, 0) < 0 || strchr(";\n", cmdline_peek(p, 0)))
                return;
            p->at++;
            continue;
        }
        parse_word(p, &word);
        if (str_is(keyword, "function") || (str_is(keyword, "case") && str_is(word, "in")))
            return;
    }
}

static void cmdline_read_word(struct cmdline_parser *p, struct cmdline_reader *r)
{
    size_t from = p->at;
    const char *why = p->out->why;
    struct str word;
    bool fixed = parse_word(p, &word);
    struct str raw = str_head(str_skip(p->text, from), p->at - from);
    r->any = true;
    if (cmdline_is_number(raw) && (cmdline_peek(p, 0) == '<' || cmdline_peek(p, 0) == '>'))
        return; /* a file descriptor: part of the redirection */
    if (r->n == 0 && (cmdline_is_keyword(raw) || is_header(raw))) {
        p->out->why = why ? why : "a compound command";
        r->fixed = true;
        if (is_header(raw))
            skip_header(p, raw);
        return;
    }
    if (r->n == 0 && is_assignment(raw)) {
        cmdline_not_plain(p, "an assignment");
        return;
    }
    if (r->n == 0 && str_starts_with(raw, STR("[[")))
        cmdline_not_plain(p, "a compound command");
    if (r->n == ARRAY_LEN(r->words)) {
        cmdline_not_plain(p, "too many words to check");
        return;
    }
    r->fixed &= fixed;
    r->words[r->n++] = word;
}

/* Returns true if there was an operator. */
static bool parse_operator(
    struct cmdline_parser *p, struct cmdline_reader *r, enum cmdline_end end, bool *ret_stop)
{
    static const struct {
        const char *text;
        bool pipe;
        bool lone;       /* may follow another operator, or end the text */
        const char *why; /* reason why it is not plain */
    } operators[] = {
        {"&&", false, false, NULL},
        {"||", false, false, NULL},
        {"|&", true, false, NULL},
        {";;", false, true, "a compound command"},
        {"|", true, false, NULL},
        {";", false, false, NULL},
        {"\n", false, true, NULL},
        {"&", false, false, "a background command"},
    };
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (!cmdline_starts_with(p, operators[i].text))
            continue;
        if (!r->any && !operators[i].lone)
            cmdline_not_plain(p, "an operator without a command");
        if (operators[i].why)
            cmdline_not_plain(p, operators[i].why);
        bool open = operators[i].text[0] == '|' || strcmp(operators[i].text, "&&") == 0;
        p->at += strlen(operators[i].text);
        cmdline_end_command(p, r, operators[i].pipe);
        if (open) {
            while (cmdline_skip_blanks(p), cmdline_peek(p, 0) == '\n')
                p->at++;
            if (cmdline_peek(p, 0) < 0)
                cmdline_not_plain(p, "an operator without a command");
        }
        return true;
    }
    if (cmdline_peek(p, 0) == ')') {
        if (end != END_PAREN)
            cmdline_not_plain(p, "a compound command"); /* a `case` pattern */
        p->at++;
        cmdline_end_command(p, r, false);
        *ret_stop = end == END_PAREN;
        return true;
    }
    return false;
}

static void parse_list(struct cmdline_parser *p, enum cmdline_end end)
{
    struct cmdline_reader r = {.fixed = true};
    bool stop = false;
    while (!stop) {
        cmdline_skip_blanks(p);
        int c = cmdline_peek(p, 0);
        if (c < 0)
            break;
        if (c == '#')
            cmdline_skip_line(p);
        else if (c == '(') {
            cmdline_not_plain(p, r.n ? "a function" : "a subshell");
            r.any = true;
            p->at++;
            parse_parens(p);
            cmdline_end_command(p, &r, false);
            r.any = true;
        } else if (c == '<' || c == '>')
            parse_redirection(p, &r);
        else if (c >= '0' && c <= '9' && (cmdline_peek(p, 1) == '>' || cmdline_peek(p, 1) == '<'))
            p->at++;
        else if (cmdline_starts_with(p, "&>"))
            p->at++; /* redirects both streams */
        else if (!parse_operator(p, &r, end, &stop))
            cmdline_read_word(p, &r);
    }
    if (end == END_PAREN && !stop)
        cmdline_not_plain(p, "an unterminated parenthesis");
    cmdline_end_command(p, &r, false);
}

/* Rejects control characters and line continuations anywhere in the text. */
static void check_bytes(struct cmdline_parser *p, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if ((c < 0x20 && c != '\n') || c == 0x7f)
            cmdline_not_plain(p, "a control character");
        if (c == '\\' && i + 1 < text.n && text.p[i + 1] == '\n')
            cmdline_not_plain(p, "a line continuation");
    }
}

void cmdline_parse_more(struct str text, unsigned depth, struct arena *a, struct cmdline *script)
{
    struct cmdline_parser p = {.text = text, .a = a, .out = script, .depth = depth};
    for (size_t i = 0; i < script->n; i++)
        p.n_words += script->commands[i].n;
    if (text.n > CMDLINE_BYTES_MAX)
        cmdline_not_plain(&p, "a command line too long to check");
    else if (memchr(text.p, '\0', text.n))
        cmdline_not_plain(&p, "a NUL byte");
    else
        parse_list(&p, END_TEXT);
    check_bytes(&p, text);
}

void cmdline_parse(struct str text, struct arena *a, struct cmdline *ret_cmdline)
{
    struct cmdline s = {.commands = ARENA_NEW(a, struct cmdline_command, CMDLINE_COMMANDS_MAX)};
    cmdline_parse_more(text, 0, a, &s);
    if (s.n == 0 && !s.why)
        s.why = "no command";
    cmdline_unwrap(&s, a);
    *ret_cmdline = s;
}
