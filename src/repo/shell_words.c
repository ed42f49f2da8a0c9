/* Finds the files that commands in git's settings run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_words.h"

#include "path/lexical.h"
#include "repo/shell_heredoc.h"
#include "repo/shell_places.h"
#include "repo/shell_programs.h"
#include "repo/shell_quote.h"

#include <ctype.h>
#include <limits.h>

enum {
    DEPTH_MAX = 6, /* of substitutions, and of scripts for another shell */
    WORD_MAX = 64 * 1024,
    READ_MAX = 4 << 20, /* bytes, each as often as it is read */
    GROUPS_MAX = 16,    /* in each other */
};

/* State of a line and of all commands in it. */
struct shell_words_shared {
    shell_words_fn *visit;
    void *context;
    struct shell_places places;
    struct shell_limits limits;
};

/* The position of a command in its pipeline. */
struct shell_words_pipeline {
    size_t start;
    size_t input; /* the start of commands whose output is read, if `has_input` */
    bool has_input;
};

struct shell_words_reader {
    struct str line;
    size_t at;
    unsigned depth;
    struct shell_words_shared *shared;
    struct buf word; /* without quotes and substitutions */
    unsigned bases;  /* of a word that starts with a variable or substitution */
    bool known;
    const struct shell_program *meant; /* by a variable or substitution in the word */
    bool splits;                       /* the value of a variable may be several words */
    bool split;                        /* it was, and they are accepted */
    bool passed;         /* the word starts with an argument of the commands: $1, "$@" */
    bool runs_arguments; /* such a word is in the place of a program or script */
    bool feeds;          /* the output of the commands is run */
    struct shell_heredocs docs;
    bool line_runs_input; /* a command in the line does */
    struct shell_words_pipeline pipeline, groups[GROUPS_MAX];
    size_t n_groups;
    size_t fed; /* the end of commands that were read again because their output is run */
    /* Of the present command: */
    size_t start, n_words;
    enum shell_words_role place;
    const struct shell_program *program; /* the last one that runs another */
    unsigned skipped;                    /* next words that are values of options */
    bool perhaps;                        /* the next word may be the value of an option */
    bool doubt;                          /* there was such an option */
    bool operand;                        /* a word that is not run comes before the program */
    bool data;                           /* arguments may be run */
    bool numbered;                       /* a redirection follows its number */
    bool file_next;                      /* the next word is the file of an option */
    bool finds;                          /* find */
    bool from_input;                     /* a shell with -s */
    size_t input;                        /* the name of its standard input, if `has_input` */
    bool has_input;
};

static bool read_commands(const struct shell_words_reader *outer, struct str line, bool feeds);
static void read_all(struct shell_words_reader *r);
static void shell_words_read_word(struct shell_words_reader *r, char quote);

/* Words ---------------------------------------------------------------------------------------- */

/* The value of a variable or substitution is unknown, and can only be a directory. */
static void add_unknown(struct shell_words_reader *r, unsigned bases)
{
    r->known &= !r->bases && !r->word.n;
    r->bases |= bases;
}

static struct shell_words_reader inner_reader(const struct shell_words_reader *r, struct str line)
{
    return (struct shell_words_reader){.line = line,
        .depth = r->depth + 1,
        .shared = r->shared,
        .feeds = r->feeds,
        .docs = {.limits = &r->shared->limits},
        .word = BUF_INIT(WORD_MAX)};
}

/* Counts the text as read. Returns false if it is too much, or too deep. */
static bool may_read(struct shell_words_reader *r)
{
    struct shell_limits *limits = &r->shared->limits;
    limits->cut |= r->depth > DEPTH_MAX;
    return r->depth <= DEPTH_MAX && shell_limits_take(limits, r->line.n);
}

/* Substitutions in text that is not a word: all as in double quotes. */
static void read_text(const struct shell_words_reader *r, struct str text)
{
    struct shell_words_reader inner = inner_reader(r, text);
    inner.place = ARGUMENT;
    for (bool may = may_read(&inner); may && inner.at < text.n; inner.at++)
        shell_words_read_word(&inner, '"');
    buf_done(&inner.word);
}

static bool runs_input(const struct shell_words_reader *r)
{
    return r->place == SHELL || r->place == SCRIPT || r->from_input;
}

/* $(…), `…`, <(…) and >(…). Commands print code or its file if they are in the place of a program
 * or script, and those of <(…) in that of a script. */
static void read_substitution(struct shell_words_reader *r)
{
    AUTO_BUF struct buf code = BUF_INIT(WORD_MAX);
    char c = r->line.p[r->at];
    bool back = c == '`', starts = !r->word.n && !r->bases, first = r->place <= SCRIPT && starts;
    size_t start = r->at + (back ? 1 : 2);
    size_t end = back ? shell_quote_backquotes(r->line, start)
                      : shell_quote_substitution(r->line, start, &r->shared->limits);
    struct str inner = str_n(r->line.p + start, end - start);
    r->at = MIN(end + 1, r->line.n);
    first &= !str_starts_with(str_skip(r->line, r->at), STR("/")) &&
             !str_starts_with(str_skip(r->line, r->at), STR("\"/"));
    if (back) {
        shell_quote_remove_backslashes(inner, &code);
        inner = buf_ok(&code) ? buf_str(&code) : inner;
    }
    if (r->place != CODE)
        (void)read_commands(r, inner, c == '<' ? runs_input(r) : first && c != '>');
    if (starts)
        r->meant = shell_programs_of_search(inner);
    if (!starts || !str_starts_with(inner, STR("git rev-parse --show-cdup"))) /* "" or "../" */
        add_unknown(r, WORD_TOP | WORD_GITDIR);
    r->known &= c != '<' && c != '>';
}

/* The value of a variable that may be several words: they are read as part of the command. */
static void read_split(struct shell_words_reader *r, struct str text)
{
    struct shell_words_reader inner = inner_reader(r, text);
    inner.place = r->place;
    inner.program = r->program;
    inner.skipped = r->skipped;
    inner.perhaps = r->perhaps;
    inner.operand = r->operand;
    inner.doubt = r->doubt;
    inner.data = r->data;
    if (may_read(&inner))
        read_all(&inner);
    buf_done(&inner.word);
    r->place = inner.place;
    r->program = inner.program;
    r->skipped = inner.skipped;
    r->perhaps = inner.perhaps;
    r->operand = inner.operand;
    r->doubt = inner.doubt;
    r->data = inner.data;
    r->split = true;
}

/* ${NAME:-word} and ${NAME:+word}: the word is the value if the variable has none, or has one. */
static void add_default(struct shell_words_reader *r, struct str text, char quote)
{
    bool splits = r->splits && !quote && !r->word.n && !r->bases &&
                  shell_quote_word(text, 0, 0, &r->shared->limits) < text.n;
    if (splits) {
        read_split(r, text);
        return;
    }
    struct shell_words_reader inner = inner_reader(r, text);
    inner.place = r->place == CODE ? CODE : ARGUMENT;
    if (may_read(&inner)) {
        shell_words_read_word(&inner, quote);
        read_text(r, str_skip(text, inner.at));
    }
    r->known &= inner.known && !(inner.bases && r->word.n);
    r->bases |= inner.bases;
    buf_add_str(&r->word, buf_str(&inner.word));
    buf_done(&inner.word);
}

/* Returns the length of the name at the start of the text in ${…}. */
static size_t variable_name(struct str text)
{
    size_t n = 0;
    while (n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
        n++;
    return n + (n == 0 && text.n && strchr("@*", text.p[0]));
}

/* Returns the word in ${…} that may be the value; no value: there is none. */
static struct str default_word(struct str text)
{
    size_t n = variable_name(text), op = n + (n < text.n && text.p[n] == ':');
    return n && op < text.n && strchr("-=+", text.p[op]) ? str_skip(text, op + 1) : (struct str){0};
}

/* Returns true if the text in ${…} has a word that may be the value. */
static bool read_braced(struct shell_words_reader *r, struct str text, char quote)
{
    size_t n = variable_name(text);
    struct str word = default_word(text);
    if (word.p) {
        add_default(r, word, quote);
        return true;
    }
    if (n < text.n && r->place != CODE)
        read_text(r, str_skip(text, n));
    return false;
}

/* The value of ${HOME:?} and ${HOME%/} is that of $HOME. */
static struct str plain_name(struct str text)
{
    struct str name = str_head(text, variable_name(text)), rest = str_skip(text, name.n);
    bool same = str_starts_with(rest, STR(":?")) || str_starts_with(rest, STR("?")) ||
                str_is(rest, "%/") || str_is(rest, "%%/");
    return same ? name : text;
}

static void read_variable(struct shell_words_reader *r, char quote)
{
    struct str rest = str_skip(r->line, r->at + 1);
    bool brace = rest.n && rest.p[0] == '{';
    size_t n = brace;
    if (brace)
        n = shell_quote_braces(rest, 1, quote == '"', &r->shared->limits);
    while (!brace && n < rest.n && (isalnum((unsigned char)rest.p[n]) || rest.p[n] == '_'))
        n++;
    n += n == 0 && rest.n && strchr("@*#?$!-", rest.p[0]);
    struct str name = str_n(rest.p + brace, n - brace);
    r->at = MIN(r->at + 1 + n + brace, r->line.n);
    r->passed |= !r->word.n && name.n && strchr("@*0123456789", name.p[0]);
    if (!r->word.n && !r->bases)
        r->meant = shell_programs_of_variable(name);
    if (brace && read_braced(r, name, quote))
        return;
    name = plain_name(name);
    add_unknown(r, str_is(name, "HOME")  ? WORD_HOME
                   : str_is(name, "PWD") ? WORD_TOP
                                         : (unsigned)(WORD_TOP | WORD_GITDIR));
}

/* Reads what starts with `$`, a backquote or `<(`. Returns false for anything else. */
static bool read_special(struct shell_words_reader *r, char quote)
{
    char c = r->line.p[r->at], next = r->at + 1 < r->line.n ? r->line.p[r->at + 1] : '\0';
    bool opens = next == '(' && (c == '$' || (!quote && (c == '<' || c == '>')));
    if (quote == '\'')
        return false;
    if (c == '`' || opens)
        read_substitution(r);
    else if (c == '$' && !quote && next == '\'')
        r->at = shell_quote_add_escaped(r->line, r->at + 2, &r->word);
    else if (c == '$' && !quote && next == '"')
        r->at++;
    else if (c == '$')
        read_variable(r, quote);
    else
        return false;
    return true;
}

/* Reads a word, which begins in quotes if `quote` is not NUL. */
static void shell_words_read_word(struct shell_words_reader *r, char quote)
{
    buf_reset(&r->word);
    r->bases = 0;
    r->known = true;
    r->meant = NULL;
    r->passed = r->split = false;
    while (r->at < r->line.n) {
        char c = r->line.p[r->at], next = r->at + 1 < r->line.n ? r->line.p[r->at + 1] : '\0';
        if (read_special(r, quote))
            continue;
        if (!quote && strchr(" \t\n;&|()<>", c))
            return;
        r->at++;
        if (c == quote || (!quote && (c == '\'' || c == '"'))) {
            quote = quote ? '\0' : c;
            continue;
        }
        bool escaped = shell_quote_escapes(quote, r->line, r->at - 1);
        if (!escaped || next != '\n')
            buf_add_byte(&r->word, escaped ? next : c);
        r->at += escaped;
    }
}

/* Returns true if the commands run their arguments. */
static bool read_code(const struct shell_words_reader *r, struct str raw)
{
    AUTO_BUF struct buf code = BUF_INIT(WORD_MAX);
    shell_quote_remove(raw, &code);
    return buf_ok(&code) && read_commands(r, buf_str(&code), false);
}

/* Returns false if the word can't be a file. */
static bool make_word(const struct shell_words_reader *r, struct str text,
    enum shell_words_role place, struct shell_word *w)
{
    *w = (struct shell_word){.bases = r->bases,
        .is_script = place != PROGRAM && place != WRAPPED,
        .is_argument = place == ARGUMENT,
        .is_data = place == DATA};
    if (str_starts_with(text, STR("~+/"))) /* $PWD */
        text = str_skip(text, 3);
    bool slash = str_find(text, '/') >= 0;
    if (!r->known || r->word.overflow || text.n >= PATH_MAX || str_find(text, '\0') >= 0 ||
        !(slash || (w->is_script && text.n)) || (r->bases && text.p[0] != '/'))
        return false;
    w->text = r->bases ? str_skip(text, 1) : text;
    w->is_bare = !slash;
    if (!r->bases)
        w->bases = text.p[0] == '/' ? WORD_ROOT : WORD_TOP;
    return true;
}

static void visit_text(
    const struct shell_words_reader *r, struct str text, enum shell_words_role place)
{
    struct shell_words_shared *shared = r->shared;
    struct shell_word w;
    if (make_word(r, text, place, &w))
        shell_places_visit(&shared->places, &w, shared->visit, shared->context);
}

static void shell_words_visit(struct shell_words_reader *r)
{
    struct shell_words_shared *shared = r->shared;
    struct str text = buf_str(&r->word);
    r->runs_arguments |= r->passed;
    visit_text(r, text, r->place);
    if (r->place <= WRAPPED && r->known && !r->bases && text.n && text.n < PATH_MAX &&
        str_find(text, '/') < 0 && str_find(text, '\0') < 0 && !shell_programs_is_builtin(text))
        shell_places_visit_program(&shared->places, text, shared->visit, shared->context);
}

/* Programs that run others ----------------------------------------------------------------------
 */

/* A redirection before the interpreter. */
static void visit_input(struct shell_words_reader *r)
{
    size_t at = r->at;
    r->at = r->input;
    r->has_input = false;
    shell_words_read_word(r, '\0');
    visit_text(r, buf_str(&r->word), SCRIPT);
    r->at = at;
}

/* Continues after a program, or after a script. */
static void shell_words_enter(struct shell_words_reader *r, const struct shell_program *program)
{
    r->place = program ? program->next : ARGUMENT;
    r->program = program;
    r->operand = program && program->operand;
    r->perhaps = r->doubt = false;
    r->finds |= r->place == FINDER;
    r->data = r->place == FINDER; /* find a -exec {} */
    if (r->place == FINDER)
        r->place = ARGUMENT;
    if (r->has_input && (r->place == SHELL || r->place == SCRIPT))
        visit_input(r);
}

static bool is_option(const struct shell_words_reader *r, struct str text)
{
    return r->place != PROGRAM && r->place != PASSED && r->program && text.n &&
           (text.p[0] == '-' || (r->program->next == SHELL && text.p[0] == '+'));
}

/* An option with two dashes: --name, --name=value. */
static void take_long(struct shell_words_reader *r, struct str text)
{
    static const char flags[] =
        " --background --close --exclusive --foreground --ignore-environment --interactive --login "
        "--nb --nonblock --noprofile --norc --null --posix --preserve-env --preserve-status "
        "--quiet --shared --unlock --verbose ";
    static const char *const starts[] = {"--allow-", "--no-", "--trace-"};
    char word[40];
    ptrdiff_t equals = str_find(text, '=');
    if (text.n == 2)
        return;
    if (equals > 0 && str_is(str_head(text, (size_t)equals), "--split-string")) {
        (void)read_commands(r, str_skip(text, (size_t)equals + 1), false);
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
        r->doubt |= r->perhaps;
    }
}

/* python3 -m a.b: a/b.py or a/b/__main__.py. */
static void visit_module(struct shell_words_reader *r, struct str name)
{
    static const char *const ends[] = {".py", "/__main__.py"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO_BUF struct buf path = BUF_INIT(2 * PATH_MAX);
        buf_add_str(&path, str_head(name, PATH_MAX));
        for (size_t k = 0; k < path.n; k++)
            path.p[k] = path.p[k] == '.' ? '/' : path.p[k];
        buf_add_z(&path, ends[i]);
        if (name.n && !r->bases)
            visit_text(r, buf_str(&path), SCRIPT);
    }
}

/* One letter of an option; returns true if the rest of the word is its value. */
static bool take_letter(struct shell_words_reader *r, char c, struct str rest)
{
    const struct shell_program *p = r->program;
    r->from_input |= p->next == SHELL && c == 's';
    if (strchr(p->code, c)) {
        if (r->place == WRAPPED && rest.n)
            (void)read_commands(r, rest, false);
        r->place = r->place == SCRIPT || (r->place == WRAPPED && rest.n) ? ARGUMENT : CODE;
        if (p->next == SCRIPT && c == 'm' && rest.n)
            visit_module(r, rest);
        else if (p->next == SCRIPT && c == 'm')
            r->place = MODULE;
        return p->next != SHELL;
    }
    if (strchr(p->values, c)) {
        r->skipped += p->next == SHELL || !rest.n;
        return p->next != SHELL;
    }
    if (!p->flags || strchr(p->flags, c))
        return false;
    r->perhaps = !rest.n;
    r->doubt = true;
    if (r->place == SCRIPT && str_find(rest, '/') >= 0) /* -r./file */
        visit_text(r, rest, SCRIPT);
    return true;
}

static void shell_words_take_option(struct shell_words_reader *r, struct str text)
{
    r->perhaps = false;
    r->from_input |= text.n == 1 && r->place == SCRIPT; /* python3 - */
    if (str_starts_with(text, STR("--"))) {
        take_long(r, text);
        return;
    }
    for (size_t i = 1; i < text.n && isalnum((unsigned char)text.p[i]); i++)
        if (take_letter(r, text.p[i], str_skip(text, i + 1)))
            return;
}

/* An option of a program that reads its script from a file, or another word. */
static void take_reader_word(struct shell_words_reader *r, struct str text)
{
    static const char *const names[] = {"--exec", "--file", "--include", "--makefile"};
    const struct shell_program *p = r->program;
    bool file = r->file_next, option = text.n > 1 && text.p[0] == '-';
    r->file_next = false;
    if (file || (!option && r->feeds)) {
        visit_text(r, text, file ? SCRIPT : ARGUMENT);
        return;
    }
    for (size_t i = 0; option && i < ARRAY_LEN(names); i++) {
        struct str rest = str_skip(text, strlen(names[i]));
        r->file_next |= str_is(text, names[i]);
        if (str_starts_with(text, str_z(names[i])) && rest.n && rest.p[0] == '=')
            visit_text(r, str_skip(rest, 1), SCRIPT);
    }
    for (size_t i = 1; option && text.p[1] != '-' && i < text.n && text.p[i]; i++) {
        struct str rest = str_skip(text, i + 1);
        bool is_file = strchr(p->code, text.p[i]);
        if (is_file && rest.n)
            visit_text(r, rest, SCRIPT);
        r->file_next = is_file && !rest.n;
        r->skipped += !rest.n && strchr(p->values, text.p[i]);
        if (is_file || strchr(p->values, text.p[i]))
            return;
    }
}

/* Commands --------------------------------------------------------------------------------------
 */

static bool shell_words_is_assignment(struct str text)
{
    size_t n = 0;
    while (n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
        n++;
    size_t equals = n + (n < text.n && text.p[n] == '+');
    return n && equals < text.n && text.p[equals] == '=';
}

static bool shell_words_is_quoted(struct str raw)
{
    return raw.n > 1 && strchr("'\"", raw.p[0]);
}

/* A duration, a priority, a set of processors. */
static bool is_count(struct str text)
{
    return text.n && isdigit((unsigned char)text.p[0]) && str_find(text, '/') < 0;
}

static void take_code(struct shell_words_reader *r, struct str raw)
{
    if (r->program->next == SHELL || shell_words_is_quoted(raw)) {
        r->place = read_code(r, raw) ? PASSED : ARGUMENT;
        return;
    }
    if (r->bases) /* eval $(./a) */
        (void)read_code(r, raw);
    r->place = PROGRAM; /* eval ./a */
    shell_words_visit(r);
    shell_words_enter(r, shell_programs_find(buf_str(&r->word)));
}

/* A directory of PATH; an empty one is the current directory. */
static void add_path(const struct shell_words_reader *r, struct str raw)
{
    struct shell_word dir = {.bases = WORD_TOP};
    struct shell_words_reader inner = inner_reader(r, raw);
    inner.place = CODE; /* substitutions are read already */
    shell_words_read_word(&inner, '\0');
    bool empty = inner.known && !inner.bases && !inner.word.n;
    if (empty || make_word(&inner, buf_str(&inner.word), SCRIPT, &dir))
        shell_places_add_path(&r->shared->places, &dir);
    buf_done(&inner.word);
}

/* Adds directories at the colons of PATH, which may be in ${X:+:$X}; the last one stays in `part`.
 * Returns the quote at the end of the text. */
static char split_path(const struct shell_words_reader *r, struct str text, char quote,
    unsigned depth, struct buf *part)
{
    struct shell_limits *limits = &r->shared->limits;
    limits->cut |= depth > DEPTH_MAX;
    for (size_t i = 0; i < text.n && depth <= DEPTH_MAX; i++) {
        struct str rest = str_skip(text, i);
        size_t end = i;
        if (quote != '\'' && str_starts_with(rest, STR("${"))) {
            end = shell_quote_braces(text, i + 2, quote == '"', limits);
            struct str word = default_word(str_n(text.p + i + 2, end - i - 2));
            if (word.p) {
                quote = split_path(r, word, quote, depth + 1, part);
                i = end;
                continue;
            }
        } else if (quote != '\'' && str_starts_with(rest, STR("$("))) {
            end = shell_quote_substitution(text, i + 2, limits);
        } else if (shell_quote_escapes(quote, text, i)) {
            end = i + 1;
        } else if (rest.p[0] == ':') {
            if (quote)
                buf_add_byte(part, quote);
            add_path(r, buf_str(part));
            buf_reset(part);
            rest = quote ? str_n(&quote, 1) : STR("");
        } else if (rest.p[0] == quote || (!quote && strchr("'\"", rest.p[0]))) {
            quote = quote ? '\0' : rest.p[0];
        }
        buf_add_str(part, str_head(rest, MIN(end, text.n - 1) - i + 1));
        i = end;
    }
    return quote;
}

/* Directories in which programs are looked for: PATH=t:"$HOME/u":$PATH. */
static void take_path(const struct shell_words_reader *r, struct str raw)
{
    AUTO_BUF struct buf part = BUF_INIT(WORD_MAX);
    (void)split_path(r, str_skip(raw, (size_t)str_find(raw, '=') + 1), '\0', 0, &part);
    add_path(r, buf_str(&part));
    r->shared->limits.cut |= !buf_ok(&part);
}

static void take_directory(struct shell_words_reader *r)
{
    struct shell_word dir = {.bases = WORD_HOME};
    bool home = r->known && r->bases == WORD_HOME && !r->word.n;
    if (home || make_word(r, buf_str(&r->word), SCRIPT, &dir))
        shell_places_add_dir(&r->shared->places, &dir);
    r->place = ARGUMENT;
}

/* `cd` without a directory. */
static void finish_mover(struct shell_words_reader *r)
{
    if (r->place == MOVER)
        shell_places_add_dir(&r->shared->places, &(struct shell_word){.bases = WORD_HOME});
}

static void open_group(struct shell_words_reader *r)
{
    r->shared->limits.cut |= r->n_groups == GROUPS_MAX;
    if (r->n_groups < GROUPS_MAX)
        r->groups[r->n_groups++] = r->pipeline;
    r->pipeline.start = r->at;
}

/* The group is a command of the pipeline in which it began. */
static void shell_words_close_group(struct shell_words_reader *r)
{
    r->pipeline = r->n_groups ? r->groups[--r->n_groups] : (struct shell_words_pipeline){0};
}

static void take_group_word(struct shell_words_reader *r, struct str text)
{
    static const char *const opening[] = {"{", "case", "for", "if", "select", "until", "while"},
                             *const closing[] = {"}", "done", "esac", "fi"};
    for (size_t i = 0; i < ARRAY_LEN(opening); i++)
        if (str_is(text, opening[i]))
            open_group(r);
    for (size_t i = 0; i < ARRAY_LEN(closing); i++)
        if (str_is(text, closing[i]))
            shell_words_close_group(r);
}

static void take_argument(struct shell_words_reader *r, struct str text)
{
    if (str_is(text, "{")) {
        open_group(r);
        r->place = PROGRAM;
    } else if (r->feeds && text.n && text.p[0] != '-') {
        visit_text(r, text, ARGUMENT);
    } else if (r->data) {
        ptrdiff_t equals = text.n && text.p[0] == '-' ? str_find(text, '=') : -1;
        if (equals > 0 || !text.n || text.p[0] != '-')
            visit_text(r, str_skip(text, (size_t)(equals + 1)), DATA);
    }
}

/* The value of an option, the word before a program, or the program. */
static void take_perhaps(struct shell_words_reader *r, struct str text)
{
    const struct shell_program *p = r->place == WRAPPED ? shell_programs_find(text) : NULL;
    if (r->perhaps || r->doubt)
        shell_words_visit(r);
    if (r->perhaps)
        r->perhaps = false;
    else
        r->operand = false;
    if (p && r->doubt)
        shell_words_enter(r, p);
}

/* node a: a.js or a/index.js. */
static void visit_endings(struct shell_words_reader *r, struct str text)
{
    static const char *const ends[] = {".js", ".cjs", ".mjs", "/index.js"};
    for (size_t i = 0; i < ARRAY_LEN(ends) && str_find(lexical_name(text), '.') < 0; i++) {
        AUTO_BUF struct buf path = BUF_INIT(2 * PATH_MAX);
        buf_add_str(&path, str_head(text, PATH_MAX));
        buf_add_z(&path, ends[i]);
        visit_text(r, buf_str(&path), DATA);
    }
}

/* A program, or the script of an interpreter. */
static void take_file(struct shell_words_reader *r, struct str text)
{
    bool input = str_is(text, "/dev/stdin") || str_is(text, "/dev/fd/0");
    if ((r->place == WRAPPED && is_count(text)) || (r->place == SCRIPT && str_is(text, "run")))
        return; /* deno run, bun run */
    if (r->place == PROGRAM)
        take_group_word(r, text);
    bool unknown = r->bases && !text.n, runs = r->place <= WRAPPED;
    const struct shell_program *p = unknown ? r->meant : shell_programs_find(text);
    r->from_input |= input && runs_input(r);
    shell_words_visit(r);
    if (r->place == SCRIPT && strstr(r->program->names, " node "))
        visit_endings(r, text);
    shell_words_enter(r, runs ? p : NULL);
    r->data |= unknown ? !r->program : runs && !p && !shell_programs_only_reads(text);
}

static void shell_words_accept(struct shell_words_reader *r, struct str raw)
{
    struct str text = buf_str(&r->word);
    if (str_starts_with(text, STR("PATH=")) || str_starts_with(text, STR("PATH+=")))
        take_path(r, raw);
    if (r->finds && shell_programs_is_exec(text)) {
        r->place = PROGRAM;
    } else if (r->skipped) {
        r->skipped--;
    } else if (r->place == ARGUMENT) {
        take_argument(r, text);
    } else if (r->place == READER) {
        take_reader_word(r, text);
    } else if (r->place == PASSED) {
        shell_words_visit(r);
    } else if (r->place == MODULE) {
        visit_module(r, text);
        r->place = ARGUMENT;
    } else if (is_option(r, text) && !(r->place == CODE && shell_words_is_quoted(raw))) {
        shell_words_take_option(r, text);
    } else if (r->place == CODE) {
        take_code(r, raw);
    } else if (r->place == MOVER) {
        take_directory(r);
    } else if (r->place <= WRAPPED && shell_words_is_assignment(text)) {
        visit_text(r, str_skip(text, (size_t)str_find(text, '=') + 1), DATA); /* S=a; sh $S */
        r->perhaps = false;
    } else if (r->perhaps || r->operand) {
        take_perhaps(r, text);
    } else {
        take_file(r, text);
    }
}

/* Moves to the line break of a continued line. */
static bool skip_continuation(struct shell_words_reader *r)
{
    bool continued = str_starts_with(str_skip(r->line, r->at), STR("\\\n"));
    r->at += continued;
    return continued;
}

/* <(…) or >(…). */
static bool shell_words_is_process(const struct shell_words_reader *r)
{
    struct str rest = str_skip(r->line, r->at);
    return rest.n > 1 && (rest.p[0] == '<' || rest.p[0] == '>') && rest.p[1] == '(';
}

/* A file that is not run, unless a shell reads its commands from it. */
static void take_redirection(struct shell_words_reader *r)
{
    struct str rest = str_skip(r->line, r->at);
    bool input = rest.n > 1 && rest.p[0] == '<' && !strchr("<&(", rest.p[1]);
    bool text = str_starts_with(rest, STR("<<<"));
    while (r->at < r->line.n && (strchr("<>&| \t", r->line.p[r->at]) || skip_continuation(r)) &&
           !shell_words_is_process(r))
        r->at++;
    size_t start = r->at;
    bool runs = runs_input(r);
    shell_words_read_word(r, '\0');
    if (input && r->numbered) { /* exec 3<a; sh <&3 */
        visit_text(r, buf_str(&r->word), DATA);
    } else if (input && runs) {
        visit_text(r, buf_str(&r->word), SCRIPT);
    } else if (input && r->feeds) {
        visit_text(r, buf_str(&r->word), ARGUMENT);
    } else if (text && runs) {
        (void)read_code(r, str_n(r->line.p + start, r->at - start));
    } else if (input && r->place <= WRAPPED) {
        r->input = start;
        r->has_input = true;
    }
    r->numbered = false;
}

/* Commands whose output the present one runs are read again: their arguments may be files. */
static void finish_command(struct shell_words_reader *r)
{
    size_t from = MAX(r->pipeline.input, r->fed);
    bool runs = runs_input(r);
    r->line_runs_input |= runs;
    finish_mover(r);
    if (!runs || r->feeds || !r->pipeline.has_input || from >= r->start)
        return;
    r->fed = r->start;
    (void)read_commands(r, str_n(r->line.p + from, r->start - from), true);
}

/* The position in the pipeline after the operator at `at`. */
static void take_operator(struct shell_words_reader *r)
{
    char c = r->line.p[r->at++];
    bool twice = r->at < r->line.n && r->line.p[r->at] == c;
    bool pipes = c == '|' && !twice;
    r->at += c == '|' && r->at < r->line.n && (twice || r->line.p[r->at] == '&');
    if (c == '(') {
        open_group(r);
    } else if (c == ')') {
        shell_words_close_group(r);
    } else if (pipes) {
        r->pipeline.input = r->pipeline.start;
        r->pipeline.has_input = true;
    } else if (c != '\n' || r->n_words) {
        size_t start = r->at;
        r->pipeline =
            r->n_groups ? r->groups[r->n_groups - 1] : (struct shell_words_pipeline){.start = 0};
        r->pipeline.start = start;
    }
}

/* Here-documents after the end of a line; a line that ends with `|` continues after them. */
static void read_documents(struct shell_words_reader *r)
{
    struct shell_heredoc doc;
    bool runs = r->line_runs_input || r->feeds || r->n_words == 0;
    while (shell_heredoc_next(&r->docs, r->line, &r->at, &doc)) {
        if (runs)
            (void)read_commands(r, doc.body, false);
        if (!doc.quoted)
            read_text(r, doc.body);
    }
    r->line_runs_input = false;
}

static void shell_words_end_command(struct shell_words_reader *r)
{
    bool line = r->line.p[r->at] == '\n';
    finish_command(r);
    take_operator(r);
    if (line)
        read_documents(r);
    r->start = r->at;
    r->n_words = 0;
    r->place = PROGRAM;
    r->program = NULL;
    r->skipped = 0;
    r->perhaps = r->from_input = r->has_input = r->file_next = r->finds = false;
    r->doubt = r->operand = r->data = false;
}

/* The number before a redirection: 2>file. */
static bool is_descriptor(const struct shell_words_reader *r, struct str raw)
{
    size_t n = 0;
    while (n < raw.n && isdigit((unsigned char)raw.p[n]))
        n++;
    return n == raw.n && r->at < r->line.n && strchr("<>", r->line.p[r->at]);
}

static void shell_words_take_word(struct shell_words_reader *r)
{
    size_t start = r->at;
    r->splits = true;
    shell_words_read_word(r, '\0');
    r->splits = false;
    struct str raw = str_n(r->line.p + start, r->at - start);
    if (is_descriptor(r, raw)) {
        r->numbered = !str_is(raw, "0");
        return;
    }
    r->n_words++;
    if (!r->split)
        shell_words_accept(r, raw);
}

static void read_all(struct shell_words_reader *r)
{
    struct str line = r->line;
    while (r->at < line.n) {
        char c = line.p[r->at];
        if (strchr(" \t", c) || skip_continuation(r)) {
            r->at++;
        } else if (c == '#') {
            while (r->at < line.n && line.p[r->at] != '\n')
                r->at++;
        } else if (shell_heredoc_at(line, r->at)) {
            r->at = shell_heredoc_open(&r->docs, line, r->at);
        } else if ((c == '<' || c == '>') && !shell_words_is_process(r)) {
            take_redirection(r);
        } else if (strchr("\n;&|()", c)) {
            shell_words_end_command(r);
        } else {
            shell_words_take_word(r);
        }
    }
    finish_command(r);
}

/* Returns true if the commands run their arguments. */
static bool read_commands(const struct shell_words_reader *outer, struct str line, bool feeds)
{
    struct shell_words_reader r = inner_reader(outer, line);
    r.feeds |= feeds;
    if (may_read(&r))
        read_all(&r);
    buf_done(&r.word);
    return r.runs_arguments;
}

bool shell_words_each(struct str line, shell_words_fn *visit_word, void *context)
{
    struct shell_words_shared shared = {
        .visit = visit_word, .context = context, .limits = {.left = READ_MAX}};
    struct shell_words_reader none = {.shared = &shared};
    (void)read_commands(&none, line, false);
    return !shared.limits.cut && !shared.places.cut;
}
