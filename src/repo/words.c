/* Finds the files that commands in git's settings run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/words.h"

#include "base/buf.h"
#include "path/lexical.h"

#include <ctype.h>
#include <limits.h>

enum {
    DEPTH_MAX = 6, /* of substitutions, and of scripts for another shell */
    WORD_MAX = 64 * 1024,
};

/* The role of the next word. */
enum place {
    PROGRAM,
    WRAPPED,  /* options of env, sudo, …, then a program */
    SHELL,    /* options of a shell, then its script */
    SCRIPT,   /* options of another interpreter, then its script */
    CODE,     /* commands */
    ARGUMENT, /* anything else */
};

struct reader {
    struct str line;
    size_t at;
    unsigned depth;
    words_fn *visit;
    void *context;
    struct buf word;     /* without quotes and substitutions */
    unsigned bases;      /* of a word that starts with a variable or substitution */
    bool known, skipped; /* skipped: the next word is the value of an option */
    enum place place;
};

static void read_commands(struct reader *outer, struct str line);

/* The value of a variable or substitution is unknown, and can only be a directory. */
static void add_unknown(struct reader *r, unsigned bases)
{
    r->known &= !r->bases && !r->word.n;
    r->bases |= bases;
}

static void read_substitution(struct reader *r)
{
    bool back = r->line.p[r->at] == '`';
    size_t start = r->at + (back ? 1 : 2), end = start;
    for (int open = 1; end < r->line.n; end++) {
        char c = r->line.p[end];
        open += back ? -(c == '`') : (c == '(') - (c == ')');
        if (open == 0)
            break;
    }
    r->at = MIN(end + 1, r->line.n);
    if (r->place != CODE)
        read_commands(r, str_n(r->line.p + start, end - start));
    add_unknown(r, WORD_TOP | WORD_GITDIR);
}

static void read_variable(struct reader *r)
{
    struct str rest = str_skip(r->line, r->at + 1);
    bool brace = rest.n && rest.p[0] == '{';
    size_t n = brace;
    while (n < rest.n &&
           (brace ? rest.p[n] != '}' : isalnum((unsigned char)rest.p[n]) || rest.p[n] == '_'))
        n++;
    struct str name = str_n(rest.p + brace, n - brace);
    r->at = MIN(r->at + 1 + n + brace, r->line.n);
    add_unknown(r, str_is(name, "HOME")  ? WORD_HOME
                   : str_is(name, "PWD") ? WORD_TOP
                                         : (unsigned)(WORD_TOP | WORD_GITDIR));
}

static void read_word(struct reader *r)
{
    char quote = '\0';
    buf_reset(&r->word);
    r->bases = 0;
    r->known = true;
    while (r->at < r->line.n) {
        char c = r->line.p[r->at], next = r->at + 1 < r->line.n ? r->line.p[r->at + 1] : '\0';
        if (!quote && strchr(" \t\n;&|()<>", c))
            return;
        if (quote != '\'' && (c == '`' || (c == '$' && next == '('))) {
            read_substitution(r);
            continue;
        }
        if (quote != '\'' && c == '$') {
            read_variable(r);
            continue;
        }
        r->at++;
        if (c == quote || (!quote && (c == '\'' || c == '"'))) {
            quote = quote ? '\0' : c;
            continue;
        }
        bool escaped = quote != '\'' && c == '\\' && next;
        buf_add_byte(&r->word, escaped ? next : c);
        r->at += escaped;
    }
}

static void visit(const struct reader *r)
{
    struct str text = buf_str(&r->word);
    struct word w = {.bases = r->bases, .is_script = r->place != PROGRAM && r->place != WRAPPED};
    bool slash = str_find(text, '/') >= 0;
    if (!r->known || r->word.overflow || text.n >= PATH_MAX || str_find(text, '\0') >= 0 ||
        !(slash || (w.is_script && text.n)) || (r->bases && text.p[0] != '/'))
        return;
    w.text = r->bases ? str_skip(text, 1) : text;
    w.is_bare = !slash;
    if (!r->bases)
        w.bases = text.p[0] == '/' ? WORD_ROOT : WORD_TOP;
    r->visit(r->context, &w);
}

/* Returns the role of the word after a program: python3.11 is python. */
static enum place after_program(struct str text)
{
    static const struct {
        enum place next;
        const char *names;
    } rows[] = {
        {PROGRAM, " ! { do elif else if then until while "},
        {WRAPPED, " busybox command env exec nice nohup setsid stdbuf sudo time timeout xargs "},
        {SHELL, " ash bash dash fish ksh sh zsh "},
        {SCRIPT, " . bun deno lua node nodejs perl php python pypy ruby source tclsh "},
        {CODE, " eval "},
    };
    struct str name = lexical_name(text);
    while (name.n > 1 && strchr("0123456789.", name.p[name.n - 1]))
        name.n--;
    char word[16];
    snprintf(word, sizeof(word), " " STR_FMT " ", STR_ARG(str_head(name, sizeof(word) - 3)));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (name.n && strstr(rows[i].names, word))
            return rows[i].next;
    return ARGUMENT;
}

/* Handles an option before a program or script: `sh -c` and `perl -e` take code instead of a
 * script. */
static enum place after_option(struct reader *r, struct str text)
{
    bool is_short = text.n > 1 && text.p[1] != '-';
    char last = text.p[text.n - 1];
    const char *with_value = r->place == WRAPPED ? "CIgu" : r->place == SHELL ? "Oo" : "WXr";
    r->skipped = text.n == 2 && strchr(with_value, last);
    if (r->place == SHELL && is_short && str_find(text, 'c') > 0)
        return CODE;
    if (r->place == SCRIPT && ((is_short && strchr("cemE", last)) || str_is(text, "--eval")))
        return ARGUMENT;
    return r->place;
}

static bool is_assignment(struct str text)
{
    size_t n = 0;
    while (n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
        n++;
    return n && n < text.n && text.p[n] == '=';
}

static void take_word(struct reader *r, struct str raw)
{
    struct str text = buf_str(&r->word);
    if (r->skipped || (r->place <= WRAPPED && is_assignment(text))) {
        r->skipped = false;
    } else if (r->place == CODE) {
        bool quoted = raw.n > 1 && strchr("'\"", raw.p[0]) && raw.p[raw.n - 1] == raw.p[0];
        read_commands(r, quoted ? str_n(raw.p + 1, raw.n - 2) : raw);
        r->place = ARGUMENT;
    } else if (r->place != PROGRAM && r->place != ARGUMENT && text.n && text.p[0] == '-') {
        r->place = after_option(r, text);
    } else if (r->place == WRAPPED && text.n && isdigit((unsigned char)text.p[0])) {
        return; /* the duration of timeout */
    } else if (r->place == SCRIPT && str_is(text, "run")) {
        return; /* deno, bun */
    } else if (r->place != ARGUMENT) {
        visit(r);
        r->place = r->place <= WRAPPED ? after_program(text) : ARGUMENT;
    } else if (str_is(text, "{")) {
        r->place = PROGRAM;
    }
}

static void read_commands(struct reader *outer, struct str line)
{
    struct reader r = {.line = line,
        .depth = outer->depth + 1,
        .visit = outer->visit,
        .context = outer->context,
        .word = BUF_INIT(WORD_MAX)};
    while (r.depth <= DEPTH_MAX && r.at < line.n) {
        char c = line.p[r.at];
        size_t start = r.at;
        if (strchr(" \t", c)) {
            r.at++;
        } else if (c == '<' || c == '>') { /* a redirection: the file is not run */
            while (r.at < line.n && strchr("<>&| \t", line.p[r.at]))
                r.at++;
            read_word(&r);
        } else if (strchr("\n;&|()", c)) {
            r.at++;
            r.place = PROGRAM;
            r.skipped = false;
        } else {
            read_word(&r);
            take_word(&r, str_n(line.p + start, r.at - start));
        }
    }
    buf_done(&r.word);
}

void words_each(struct str line, words_fn *visit_word, void *context)
{
    struct reader none = {.visit = visit_word, .context = context};
    read_commands(&none, line);
}
