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
    PASSED,   /* arguments of commands that run them: sh -c 'exec "$0"' */
    ARGUMENT, /* anything else */
};

/* Programs that run others, by name, and letters of their options. After an option that is in none
 * of the lists the next word may be its value, or what runs: both are taken for files that run. */
struct program {
    enum place next;
    const char *names;
    const char *values; /* the next word is a value, and not a file that runs */
    const char *flags;  /* there is no value; NULL: all others */
    const char *code;   /* the next word is a program itself */
    bool operand;       /* a word comes before the program */
};

static const struct program programs[] = {
    {PROGRAM, " ! { builtin coproc do elif else if then until while ", "", "", "", false},
    {WRAPPED, " busybox chronic command doas nohup setsid unbuffer ", "u", "cfpnVvw", "", false},
    {WRAPPED, " env ", "Cu", "0iv", "S", false},
    {WRAPPED, " exec ", "a", "cl", "", false},
    {WRAPPED, " flock taskset ", "", "ensuxopa", "", true},
    {WRAPPED, " chrt ionice nice ", "cnpPuT", "bfiort", "", false},
    {WRAPPED, " stdbuf ", "eio", "", "", false},
    {WRAPPED, " sudo ", "CDRTUghprtu", "ABEHKNPSVbeiklnsv", "", false},
    {WRAPPED, " time ", "fo", "Vapqv", "", false},
    {WRAPPED, " timeout ", "ks", "fpv", "", false},
    {WRAPPED, " xargs ", "EILPadns", "0oprtx", "", false},
    {SHELL, " ash bash dash fish ksh mksh rbash sh zsh ", "Oo", NULL, "c", false},
    {SCRIPT, " . source ", "", "", "", false},
    {SCRIPT, " bun deno lua luajit nodejs node tclsh ", "", "iAc", "", false},
    {SCRIPT, " perl ", "", "0UWXacflnpstuvw", "Ee", false},
    {SCRIPT, " php ", "", "ahilmnqsvw", "r", false},
    {SCRIPT, " pypy python ", "WX", "BEIOPSbdiqsuvx", "cm", false},
    {SCRIPT, " ruby ", "", "Sacdlnpsvwy", "e", false},
    {CODE, " eval trap ", "", "", "", false},
};

struct reader {
    struct str line;
    size_t at;
    unsigned depth;
    words_fn *visit;
    void *context;
    struct buf word; /* without quotes and substitutions */
    unsigned bases;  /* of a word that starts with a variable or substitution */
    bool known;
    bool passed;         /* the word starts with an argument of the commands: $1, "$@" */
    bool runs_arguments; /* such a word is in the place of a program or script */
    /* Of the present command: */
    enum place place;
    const struct program *program; /* the last one that runs another */
    unsigned skipped;              /* next words that are values of options */
    bool perhaps;                  /* the next word may be the value of an option */
    bool from_input;               /* a shell with -s */
    size_t input;                  /* the name of its standard input, if `has_input` */
    bool has_input;
};

static bool read_commands(const struct reader *outer, struct str line);
static void read_word(struct reader *r);

/* Words ---------------------------------------------------------------------------------------- */

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
        (void)read_commands(r, str_n(r->line.p + start, end - start));
    add_unknown(r, WORD_TOP | WORD_GITDIR);
}

/* ${NAME:-word}: the word is the value if the variable has none. */
static bool add_default(struct reader *r, struct str text)
{
    size_t n = 0;
    while (n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
        n++;
    n += n < text.n && text.p[n] == ':';
    if (n == 0 || n >= text.n || !strchr("-=", text.p[n]) || r->depth >= DEPTH_MAX)
        return false;
    struct reader inner = {.line = str_skip(text, n + 1),
        .depth = r->depth + 1,
        .visit = r->visit,
        .context = r->context,
        .word = BUF_INIT(WORD_MAX)};
    read_word(&inner);
    r->known &= inner.known && !(inner.bases && r->word.n);
    r->bases |= inner.bases;
    buf_add_str(&r->word, buf_str(&inner.word));
    buf_done(&inner.word);
    return true;
}

static void read_variable(struct reader *r)
{
    struct str rest = str_skip(r->line, r->at + 1);
    bool brace = rest.n && rest.p[0] == '{';
    size_t n = brace;
    while (n < rest.n &&
           (brace ? rest.p[n] != '}' : isalnum((unsigned char)rest.p[n]) || rest.p[n] == '_'))
        n++;
    n += n == 0 && rest.n && strchr("@*#?$!-", rest.p[0]);
    struct str name = str_n(rest.p + brace, n - brace);
    r->at = MIN(r->at + 1 + n + brace, r->line.n);
    r->passed |= !r->word.n && name.n && strchr("@*0123456789", name.p[0]);
    if (brace && add_default(r, name))
        return;
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
    r->passed = false;
    while (r->at < r->line.n) {
        char c = r->line.p[r->at], next = r->at + 1 < r->line.n ? r->line.p[r->at + 1] : '\0';
        if (!quote && strchr(" \t\n;&|()<>", c))
            return;
        if (quote != '\'' && (c == '`' || (c == '$' && next == '('))) {
            read_substitution(r);
            continue;
        }
        if (!quote && c == '$' && (next == '\'' || next == '"')) {
            r->at++;
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

/* Removes one level of quotes, and leaves substitutions to the shell that reads the result. */
static void unquote(struct str raw, struct buf *code)
{
    char quote = '\0';
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i], next = i + 1 < raw.n ? raw.p[i + 1] : '\0';
        if (c == quote || (!quote && (c == '\'' || c == '"'))) {
            quote = quote ? '\0' : c;
        } else if (c == '\\' && next && (!quote || (quote == '"' && strchr("\"\\$`", next)))) {
            buf_add_byte(code, next);
            i++;
        } else {
            buf_add_byte(code, c);
        }
    }
}

/* Returns true if the commands run their arguments. */
static bool read_code(const struct reader *r, struct str raw)
{
    AUTO_BUF struct buf code = BUF_INIT(WORD_MAX);
    unquote(raw, &code);
    return buf_ok(&code) && read_commands(r, buf_str(&code));
}

static void visit_text(const struct reader *r, struct str text, enum place place)
{
    struct word w = {.bases = r->bases, .is_script = place != PROGRAM && place != WRAPPED};
    if (str_starts_with(text, STR("~+/"))) /* $PWD */
        text = str_skip(text, 3);
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

static void visit(struct reader *r)
{
    r->runs_arguments |= r->passed;
    visit_text(r, buf_str(&r->word), r->place);
}

/* Programs that run others ----------------------------------------------------------------------
 */

/* Returns NULL for any other program: python3.11 is python. */
static const struct program *find_program(struct str text)
{
    struct str name = lexical_name(text);
    while (name.n > 1 && strchr("0123456789.", name.p[name.n - 1]))
        name.n--;
    char word[16];
    snprintf(word, sizeof(word), " " STR_FMT " ", STR_ARG(str_head(name, sizeof(word) - 3)));
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (name.n && strstr(programs[i].names, word))
            return &programs[i];
    return NULL;
}

/* A redirection before the interpreter. */
static void visit_input(struct reader *r)
{
    size_t at = r->at;
    r->at = r->input;
    r->has_input = false;
    read_word(r);
    visit_text(r, buf_str(&r->word), SCRIPT);
    r->at = at;
}

/* Goes on after a program, or after a script. */
static void enter(struct reader *r, const struct program *program)
{
    r->place = program ? program->next : ARGUMENT;
    r->program = program;
    r->perhaps = program && program->operand;
    if (r->has_input && (r->place == SHELL || r->place == SCRIPT))
        visit_input(r);
}

static bool is_option(const struct reader *r, struct str text)
{
    return r->place != PROGRAM && r->place != PASSED && r->program && text.n &&
           (text.p[0] == '-' || (r->program->next == SHELL && text.p[0] == '+'));
}

/* An option with two dashes: --name, --name=value. */
static void take_long(struct reader *r, struct str text)
{
    static const char flags[] =
        " --background --foreground --ignore-environment --interactive --login --noprofile --norc "
        "--null --posix --preserve-env --preserve-status --verbose ";
    static const char *const starts[] = {"--allow-", "--no-", "--trace-"};
    char word[40];
    ptrdiff_t equals = str_find(text, '=');
    if (text.n == 2)
        return;
    if (equals > 0 && str_is(str_head(text, (size_t)equals), "--split-string")) {
        (void)read_commands(r, str_skip(text, (size_t)equals + 1));
    } else if (equals > 0) {
        if (r->place != WRAPPED) /* --require=FILE */
            visit_text(r, str_skip(text, (size_t)equals + 1), r->place);
    } else if (str_is(text, "--eval") || str_is(text, "--print") || str_is(text, "--command") ||
               str_is(text, "--split-string")) {
        r->place = r->place == SCRIPT ? ARGUMENT : CODE;
    } else {
        snprintf(word, sizeof(word), " " STR_FMT " ", STR_ARG(str_head(text, sizeof(word) - 3)));
        r->perhaps = !strstr(flags, word);
        for (size_t i = 0; i < ARRAY_LEN(starts); i++)
            r->perhaps &= !str_starts_with(text, str_z(starts[i]));
    }
}

/* One letter of an option; returns true if the rest of the word is its value. */
static bool take_letter(struct reader *r, char c, struct str rest)
{
    const struct program *p = r->program;
    r->from_input |= p->next == SHELL && c == 's';
    if (strchr(p->code, c)) {
        if (r->place == WRAPPED && rest.n)
            (void)read_commands(r, rest);
        r->place = r->place == SCRIPT || (r->place == WRAPPED && rest.n) ? ARGUMENT : CODE;
        return p->next != SHELL;
    }
    if (strchr(p->values, c)) {
        r->skipped += p->next == SHELL || !rest.n;
        return p->next != SHELL;
    }
    if (!p->flags || strchr(p->flags, c))
        return false;
    r->perhaps = !rest.n;
    if (r->place == SCRIPT && str_find(rest, '/') >= 0) /* -r./file */
        visit_text(r, rest, SCRIPT);
    return true;
}

static void take_option(struct reader *r, struct str text)
{
    r->perhaps = false;
    if (str_starts_with(text, STR("--"))) {
        take_long(r, text);
        return;
    }
    for (size_t i = 1; i < text.n && isalnum((unsigned char)text.p[i]); i++)
        if (take_letter(r, text.p[i], str_skip(text, i + 1)))
            return;
}

/* Commands --------------------------------------------------------------------------------------
 */

static bool is_assignment(struct str text)
{
    size_t n = 0;
    while (n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
        n++;
    return n && n < text.n && text.p[n] == '=';
}

static bool is_quoted(struct str raw)
{
    return raw.n > 1 && strchr("'\"", raw.p[0]);
}

/* A duration, a priority, a set of processors. */
static bool is_count(struct str text)
{
    return text.n && isdigit((unsigned char)text.p[0]) && str_find(text, '/') < 0;
}

static void take_code(struct reader *r, struct str raw)
{
    if (r->program->next == SHELL || is_quoted(raw)) {
        r->place = read_code(r, raw) ? PASSED : ARGUMENT;
        return;
    }
    r->place = PROGRAM; /* eval ./a */
    visit(r);
    enter(r, find_program(buf_str(&r->word)));
}

static void take_word(struct reader *r, struct str raw)
{
    struct str text = buf_str(&r->word);
    if (r->skipped) {
        r->skipped--;
    } else if (r->place == ARGUMENT) {
        r->place = str_is(text, "{") ? PROGRAM : ARGUMENT;
    } else if (r->place == PASSED) {
        visit(r);
    } else if (is_option(r, text) && !is_quoted(raw)) {
        take_option(r, text);
    } else if (r->place == CODE) {
        take_code(r, raw);
    } else if (r->place <= WRAPPED && is_assignment(text)) {
        r->perhaps = false;
    } else if (r->perhaps) {
        const struct program *p = r->place == WRAPPED ? find_program(text) : NULL;
        visit(r);
        r->perhaps = false;
        if (p)
            enter(r, p);
    } else if (!(r->place == WRAPPED && is_count(text)) &&
               !(r->place == SCRIPT && str_is(text, "run"))) { /* deno, bun */
        visit(r);
        enter(r, r->place <= WRAPPED ? find_program(text) : NULL);
    }
}

/* A file that is not run, unless a shell reads its commands from it. */
static void take_redirection(struct reader *r)
{
    struct str rest = str_skip(r->line, r->at);
    bool input = rest.n > 1 && rest.p[0] == '<' && !strchr("<>&(", rest.p[1]);
    bool text = str_starts_with(rest, STR("<<<"));
    while (r->at < r->line.n && strchr("<>&| \t", r->line.p[r->at]))
        r->at++;
    size_t start = r->at;
    bool runs = r->place == SHELL || r->place == SCRIPT || r->from_input;
    read_word(r);
    if (input && runs) {
        visit_text(r, buf_str(&r->word), SCRIPT);
    } else if (text && runs) {
        (void)read_code(r, str_n(r->line.p + start, r->at - start));
    } else if (input && r->place <= WRAPPED) {
        r->input = start;
        r->has_input = true;
    }
}

static void end_command(struct reader *r)
{
    r->at++;
    r->place = PROGRAM;
    r->program = NULL;
    r->skipped = 0;
    r->perhaps = r->from_input = r->has_input = false;
}

/* The number before a redirection: 2>file. */
static bool is_descriptor(const struct reader *r, struct str raw)
{
    size_t n = 0;
    while (n < raw.n && isdigit((unsigned char)raw.p[n]))
        n++;
    return n == raw.n && r->at < r->line.n && strchr("<>", r->line.p[r->at]);
}

/* Returns true if the commands run their arguments. */
static bool read_commands(const struct reader *outer, struct str line)
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
        } else if (c == '<' || c == '>') {
            take_redirection(&r);
        } else if (strchr("\n;&|()", c)) {
            end_command(&r);
        } else {
            read_word(&r);
            struct str raw = str_n(line.p + start, r.at - start);
            if (!is_descriptor(&r, raw))
                take_word(&r, raw);
        }
    }
    buf_done(&r.word);
    return r.runs_arguments;
}

void words_each(struct str line, words_fn *visit_word, void *context)
{
    struct reader none = {.visit = visit_word, .context = context};
    (void)read_commands(&none, line);
}
