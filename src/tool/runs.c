/* Commands that run more than their words show. */
#include "tool/runs.h"

#define EVALUATES "bash evaluates what is in its words"
#define CHANGES   "it changes what later commands of the shell mean"
#define STARTS    "it runs the command in its words"
#define OPTION    "an option of it runs another program"
#define WRITES    "an option of it writes files"

bool runs_listed(const char *list, struct str word)
{
    struct str each, rest = str_z(list);
    while (rest.n && str_cut(rest, ' ', &each, &rest))
        if (each.n && str_eq(each, word))
            return true;
    return false;
}

static bool is_abbreviation(const char *names, struct str word)
{
    struct str name, rest = str_z(names);
    ptrdiff_t equals = str_find(word, '=');
    word = equals >= 0 ? str_head(word, (size_t)equals) : word;
    while (word.n && rest.n && str_cut(rest, ' ', &name, &rest))
        if (name.n && str_starts_with(name, word))
            return true;
    return false;
}

bool runs_option(struct str word, const char *letters, const char *names)
{
    if (word.n < 2 || word.p[0] != '-')
        return false;
    if (word.p[1] == '-')
        return names && is_abbreviation(names, str_skip(word, 2));
    for (size_t i = 1; letters && i < word.n; i++)
        if (strchr(letters, word.p[i]) && word.p[i])
            return true;
    return false;
}

static bool has_option(const struct cmdline_command *c, const char *letters, const char *names)
{
    for (size_t i = 1; i < c->n; i++)
        if (runs_option(c->words[i], letters, names))
            return true;
    return false;
}

/* bash's own ---------------------------------------------------------------------------------- */

/* Found by trying each builtin of bash 5.2 with a substitution in quotes, option by option:
 * tests/tool/bash_oracle.py does it again. Those that assign are here as a whole: a variable may
 * be an integer (SECONDS, OPTIND), whose value is evaluated, or mean something to the shell. A
 * builtin in no row (cd, echo, pwd, type, …) takes its words as text. */
static const struct builtin {
    const char *name;
    const char *letters; /* only with one of these options; NULL: in any case */
    const char *why;
} builtins[] = {
    {".", NULL, "it runs a file"},
    {"[", "vR", EVALUATES},
    {"[[", NULL, EVALUATES},
    {"alias", NULL, CHANGES},
    {"bind", NULL, EVALUATES},
    {"compgen", NULL, EVALUATES},
    {"complete", NULL, EVALUATES},
    {"compopt", NULL, CHANGES},
    {"coproc", NULL, STARTS},
    {"declare", NULL, EVALUATES},
    {"enable", NULL, CHANGES},
    {"eval", NULL, EVALUATES},
    {"export", NULL, EVALUATES},
    {"fc", NULL, STARTS},
    {"getopts", NULL, EVALUATES},
    {"hash", "p", CHANGES},
    {"history", "anrwsp", CHANGES},
    {"jobs", "x", STARTS},
    {"let", NULL, EVALUATES},
    {"local", NULL, EVALUATES},
    {"mapfile", NULL, EVALUATES},
    {"printf", "v", EVALUATES},
    {"read", NULL, EVALUATES},
    {"readarray", NULL, EVALUATES},
    {"readonly", NULL, EVALUATES},
    {"set", NULL, CHANGES},
    {"shopt", NULL, CHANGES},
    {"source", NULL, "it runs a file"},
    {"test", "vR", EVALUATES},
    {"trap", NULL, EVALUATES},
    {"typeset", NULL, EVALUATES},
    {"unalias", NULL, CHANGES},
    {"unset", NULL, EVALUATES},
    {"wait", "p", EVALUATES},
};

/* printf's %n stores a number in a variable, PATH among others. */
static bool has_percent_n(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++)
        for (size_t k = 0; k < c->words[i].n; k++) {
            if (c->words[i].p[k] != '%')
                continue;
            for (k++;
                 k < c->words[i].n && memchr("0123456789.*+-# 'hlLqjzt", c->words[i].p[k], 24);)
                k++;
            if (k < c->words[i].n && c->words[i].p[k] == 'n')
                return true;
        }
    return false;
}

static const char *builtin_runs(struct str name, const struct cmdline_command *c)
{
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
        if (str_is(name, builtins[i].name) &&
            (!builtins[i].letters || has_option(c, builtins[i].letters, NULL)))
            return builtins[i].why;
    return str_is(name, "printf") && has_percent_n(c) ? EVALUATES : NULL;
}

/* Programs ------------------------------------------------------------------------------------ */

/* Their words are a command, or code, in ways that unwrap.c does not take apart. */
static const char starters[] =
    "at batch bwrap crontab dc entr expect file-rename firejail flock gdb gitk nsenter parallel "
    "prename rename run-parts runuser screen script setarch socat ssh-agent start-stop-daemon su "
    "systemd-run tmux watch";

/* Programs that seem to read only, or are allowed for one task: options by which they start
 * another program, load code, or write to a file of any name. */
static const struct row {
    const char *programs;
    const char *letters; /* of options; "*": any option, "+…" included */
    const char *names;   /* of long options */
    const char *starts;  /* how words begin */
    const char *why;
} rows[] = {
    {"ack ag bat batcat", NULL, "ackrc pager", NULL, OPTION},
    {"bsdtar cpio tar", "IF",
        "checkpoint-action info-script new-volume-script rmt-command rsh-command to-command "
        "use-compress-program",
        NULL, OPTION},
    {"c++ cc clang clang++ cpp g++ gcc ld", NULL, "plugin specs",
        "-B -Wl,--plugin -Wl,-plugin -Xclang -Xlinker -fplugin -load -plugin -specs -wrapper @",
        OPTION},
    {"bazel bazelisk", NULL, "bazelrc run_under workspace_status_command", NULL, OPTION},
    {"cargo", "Z", "config manifest-path", "+", OPTION},
    {"cmake", "CDEP", NULL, NULL, OPTION},
    {"ctest", "DST", "build-and-test overwrite script test-command", NULL, OPTION},
    {"diff3 sdiff", "o", "diff-program output", NULL, OPTION},
    {"emacs ex gvim nano nvim rvim vi view vim vimdiff", "*", NULL, NULL, OPTION},
    {"fd fdfind", "xX", "exec exec-batch", NULL, OPTION},
    {"file", "C", "compile", NULL, WRITES},
    {"find", NULL, NULL, "-delete -files0-from -fls -fprint", "it removes or writes files"},
    {"go", NULL, "exec overlay toolexec vettool", "-exec -overlay -toolexec -vettool", OPTION},
    {"gpg gpg2", NULL,
        "agent-program dirmngr-program exec-path homedir keyboxd-program options photo-viewer",
        NULL, OPTION},
    {"gradle gradlew", "I", "build-file init-script settings-file", NULL, OPTION},
    {"install", NULL, "strip-program", NULL, OPTION},
    {"ip", "b", "batch", "exec", OPTION},
    {"javac", NULL, "processor processor-path", "-J -processor", OPTION},
    {"less", "Ook", "LOG-FILE lesskey-content lesskey-file lesskey-src log-file", "+", OPTION},
    {"make gmake", "CEIf", "directory eval file include-dir makefile", NULL, OPTION},
    {"man", "CHPp", "config-file html pager preprocessor", NULL, OPTION},
    {"nc ncat netcat", "ce", "exec lua-exec sh-exec", NULL, OPTION},
    {"ninja", "Cf", NULL, NULL, OPTION},
    {"npm pnpm yarn", NULL, "call globalconfig node-options prefix script-shell userconfig", NULL,
        OPTION},
    {"openssl", NULL, NULL, "-engine -provider", OPTION},
    {"rg", NULL, "hostname-bin pre", NULL, OPTION},
    {"rsync", "Me", "config daemon dparam remote-option rsh rsync-path server", NULL, OPTION},
    {"rustc rustdoc", "C", "codegen sysroot test-runtool", NULL, OPTION},
    {"scp sftp ssh", "DFISo", NULL, NULL, OPTION},
    {"shuf sort", "o", "compress-program output", NULL, OPTION},
    {"split", NULL, "filter", NULL, OPTION},
    {"tcpdump", "wz", NULL, NULL, OPTION},
    {"tree", "o", NULL, NULL, WRITES},
    {"wget", "e", "config execute use-askpass", NULL, OPTION},
    {"zip", "T", "unzip-command", NULL, OPTION},
};

static bool starts_so(const char *list, struct str word)
{
    struct str each, rest = str_z(list);
    while (rest.n && str_cut(rest, ' ', &each, &rest))
        if (each.n && str_starts_with(word, each))
            return true;
    return false;
}

static bool row_fits(const struct row *r, struct str word)
{
    bool any = r->letters && strcmp(r->letters, "*") == 0;
    if (any)
        return word.n > 1 && (word.p[0] == '-' || word.p[0] == '+');
    return runs_option(word, r->letters, r->names) || (r->starts && starts_so(r->starts, word));
}

static const char *option_runs(struct str name, const struct cmdline_command *c)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!runs_listed(rows[i].programs, name))
            continue;
        for (size_t w = 1; w < c->n; w++)
            if (row_fits(&rows[i], c->words[w]))
                return rows[i].why;
    }
    return NULL;
}

/* Rules of single programs -------------------------------------------------------------------- */

/* Letters without a dash (`tar xIf`), and archives of other hosts, which are fetched by a program.
 */
static const char *tar_runs(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++) {
        struct str word = c->words[i];
        ptrdiff_t colon = str_find(word, ':'), slash = str_find(word, '/');
        if (i == 1 && word.n && word.p[0] != '-' &&
            (memchr(word.p, 'I', word.n) || memchr(word.p, 'F', word.n)))
            return OPTION;
        if (colon > 0 && (slash < 0 || slash > colon))
            return OPTION;
    }
    return NULL;
}

/* NAME=VALUE: variables of make are commands, those of a program's environment may be. */
static const char *assignment_runs(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (str_find(c->words[i], '=') >= 0)
            return "a variable may make it run something else";
    return NULL;
}

/* The second file is written. */
static const char *second_operand_writes(const struct cmdline_command *c)
{
    size_t n = 0;
    for (size_t i = 1; i < c->n; i++)
        n += c->words[i].n && c->words[i].p[0] != '-';
    return n > 1 ? "it writes a file" : NULL;
}

static const struct special {
    const char *programs;
    const char *(*runs)(const struct cmdline_command *c);
} specials[] = {
    {"awk gawk mawk nawk original-awk", runs_awk},
    {"cpio tar", tar_runs},
    {"doas env gmake make sudo", assignment_runs},
    {"git", runs_git},
    {"gsed sed", runs_sed},
    {"uniq xxd", second_operand_writes},
};

const char *runs_more(const struct cmdline_command *c)
{
    struct str name = cmdline_name(c);
    const char *why = builtin_runs(name, c);
    for (size_t i = 0; !why && i < ARRAY_LEN(specials); i++)
        if (runs_listed(specials[i].programs, name))
            why = specials[i].runs(c);
    if (!why && runs_listed(starters, name))
        why = STARTS;
    return why ? why : option_runs(name, c);
}

/* Input --------------------------------------------------------------------------------------- */

static const char interpreters[] =
    "at batch bc bun crontab csi dc deno ed erl ex expect gdb ghci gnuplot gst guile iex irb "
    "julia lua luajit m4 mysql node nodejs octave patch perl php psql python python2 python3 "
    "racket "
    "R Rscript ruby sftp sqlite3 ssh swipl tclsh tcsh csh vi vim wish";

enum runs_fed runs_fed(const struct cmdline_command *c)
{
    struct str name = cmdline_name(c);
    if (!c->fed)
        return RUNS_NOT_FED;
    if (cmdline_is_shell(name))
        return cmdline_has_script(c) ? RUNS_NOT_FED : RUNS_FED_SHELL;
    while (name.n && (memchr("0123456789.", name.p[name.n - 1], 11))) /* python3.11 */
        name.n--;
    bool known = runs_listed(interpreters, cmdline_name(c)) || runs_listed(interpreters, name);
    return known ? RUNS_FED_INTERPRETER : RUNS_NOT_FED;
}
