/* Commands that run more than their words show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_runs.h"

#include <strings.h>

#define EVALUATES "bash evaluates its arguments"
#define CHANGES   "it changes the meaning of later commands in the shell"
#define STARTS    "it runs the command in its arguments"
#define OPTION    "one of its options runs another program"
#define WRITES    "one of its options writes files"

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

static bool runs_has_option(const struct cmdline_command *c, const char *letters, const char *names)
{
    for (size_t i = 1; i < c->n; i++)
        if (runs_option(c->words[i], letters, names))
            return true;
    return false;
}

/* Builtins of bash ---------------------------------------------------------------------------- */

/* Determined by trying each builtin of bash 5.2 with a substitution in quotes, option by option;
 * tests/tool/bash_oracle.py repeats this. Builtins that assign are listed without options: a
 * variable may be an integer (SECONDS, OPTIND), whose value is evaluated, or special to the shell.
 * A builtin without a row (cd, echo, pwd, type, …) treats its words as text. */
static const struct runs_builtin {
    const char *name;
    const char *letters; /* only with one of these options; NULL: always */
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

/* printf's %n stores a number in a variable, which may be PATH. */
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
            (!builtins[i].letters || runs_has_option(c, builtins[i].letters, NULL)))
            return builtins[i].why;
    return str_is(name, "printf") && has_percent_n(c) ? EVALUATES : NULL;
}

/* Programs ------------------------------------------------------------------------------------ */

/* Programs whose words are a command or code, in ways that unwrap.c does not parse. */
static const char starters[] =
    "at autossh batch bwrap crontab dc entr expect file-rename firejail flock gdb "
    "gitk mosh nsenter parallel prename rename run-parts runuser screen script "
    "setarch slogin socat ssh ssh-agent sshpass start-stop-daemon su systemd-run tmux "
    "watch";

/* Options by which programs that seem to only read, or are allowed for one task, start another
 * program, load code, or write to an arbitrary file. */
static const struct runs_row {
    const char *programs;
    const char *letters; /* option letters; "*": any option, including "+…" */
    const char *names;   /* long options */
    const char *starts;  /* prefixes of words */
    const char *why;
} rows[] = {
    {"ack ag bat batcat", NULL, "ackrc pager", NULL, OPTION},
    {"bsdcpio bsdtar cpio tar", "FITg",
        "checkpoint-action files-from index-file info-script listed-incremental "
        "new-volume-script rmt-command rsh-command to-command use-compress-program volno-file",
        NULL, OPTION},
    {"ar as gcc-ar gcc-nm gcc-ranlib ld ld.bfd ld.gold ld.lld lld nm objcopy objdump ranlib "
     "readelf size strings strip",
        NULL, "plugin", "-load -plugin @", OPTION},
    {"c++ c89 c99 cc clang clang++ clang-cpp cpp g++ gcc gccgo gdc gfortran gnat gnatmake ld "
     "ld.bfd ld.gold ld.lld lld",
        NULL, "config config-system-dir config-user-dir for-linker ld-path plugin prefix specs",
        "-B -Wa,@ -Wl,--plugin -Wl,-plugin -Wl,@ -Wp,@ -Xassembler -Xclang -Xlinker "
        "-Xpreprocessor -fplugin -fuse-ld=/ -fuse-ld=. -load -plugin -specs -wrapper @",
        OPTION},
    {"bazel bazelisk", NULL, "bazelrc run_under workspace_status_command", NULL, OPTION},
    {"cargo", "CZ", "config manifest-path", "+", OPTION},
    {"cmake", "CDEP", "preset toolchain", NULL, OPTION},
    {"ctest", "DST", "build-and-test overwrite script test-command", NULL, OPTION},
    {"curl", "DJKOTco",
        "alt-svc config cookie-jar dump-header engine etag-save hsts libcurl output output-dir "
        "remote-header-name remote-name remote-name-all stderr trace trace-ascii upload-file",
        NULL, WRITES},
    {"diff3 sdiff", "o", "diff-program output", NULL, OPTION},
    {"emacs ex gvim nano nvim rvim vi view vim vimdiff", "*", NULL, NULL, OPTION},
    {"fd fdfind", "xX", "exec exec-batch", NULL, OPTION},
    {"file", "C", "compile", NULL, WRITES},
    {"find", NULL, NULL, "-delete -files0-from -fls -fprint", "it removes or writes files"},
    {"go", NULL, "C asmflags exec gccgoflags gcflags ldflags modfile overlay toolexec vettool",
        "-C -asmflags -exec -gccgoflags -gcflags -ldflags -modfile -overlay -toolexec -vettool -w",
        OPTION},
    {"gpg gpg2", NULL,
        "agent-program dirmngr-program exec-path homedir keyboxd-program options photo-viewer",
        NULL, OPTION},
    {"gradle gradlew", "I", "build-file init-script settings-file", NULL, OPTION},
    {"hg", "R", "config config-file cwd repository", NULL, OPTION},
    {"install", NULL, "strip-program", NULL, OPTION},
    {"ip", "b", "batch", "exec", OPTION},
    {"javac", NULL, "processor processor-path", "-J -processor", OPTION},
    {"less", "Ook", "LOG-FILE lesskey-content lesskey-file lesskey-src log-file", "+", OPTION},
    {"make gmake", "CEIf", "directory eval file include-dir makefile", NULL, OPTION},
    {"man", "CHPp", "config-file html pager preprocessor", NULL, OPTION},
    {"mariadb mysql mysqldump psql", "LTefco",
        "command default-auth defaults-extra-file defaults-file execute file init-command "
        "log-file output pager plugin-dir result-file tee",
        "\\", OPTION},
    {"meson", "C", NULL, NULL, OPTION},
    {"mvn mvnw", "fgst", "file global-settings settings toolchains", NULL, OPTION},
    {"nc ncat netcat", "ce", "exec lua-exec sh-exec", NULL, OPTION},
    {"ninja", "Cf", NULL, NULL, OPTION},
    {"npm pnpm yarn", "C",
        "call cwd dir globalconfig node-options prefix script-shell use-yarnrc userconfig", NULL,
        OPTION},
    {"openssl", NULL, NULL, "-engine -provider", OPTION},
    {"rg", NULL, "hostname-bin pre", NULL, OPTION},
    {"rsync", "Me", "config daemon dparam remote-option rsh rsync-path server", NULL, OPTION},
    {"rustc rustdoc", "C", "codegen sysroot test-runtool", NULL, OPTION},
    {"scp sftp", "DFIJSo", NULL, NULL, OPTION},
    {"shuf sort", "o", "compress-program output", NULL, OPTION},
    {"split", NULL, "filter", NULL, OPTION},
    {"sqlite3", "A", NULL, "-cmd -init --cmd --init", OPTION},
    {"svn svnsync", NULL, "config-dir config-option diff-cmd diff3-cmd editor-cmd merge-tool", NULL,
        OPTION},
    {"tcpdump", "wz", NULL, NULL, OPTION},
    {"tree", "o", NULL, NULL, WRITES},
    {"wget", "OPaeio",
        "append-output config directory-prefix execute hsts-file output-document output-file "
        "post-file save-cookies use-askpass warc-file",
        NULL, OPTION},
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

static bool row_fits(const struct runs_row *r, struct str word)
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

/* Special cases ------------------------------------------------------------------------------- */

/* Letters without a dash (`tar xIf`), and archives on other hosts, which a program fetches. */
static const char *tar_runs(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++) {
        struct str word = c->words[i];
        ptrdiff_t colon = str_find(word, ':'), slash = str_find(word, '/');
        if (i == 1 && word.n && word.p[0] != '-' &&
            (str_find(word, 'I') >= 0 || str_find(word, 'F') >= 0 || str_find(word, 'T') >= 0 ||
                str_find(word, 'g') >= 0))
            return OPTION;
        if (colon > 0 && (slash < 0 || slash > colon))
            return OPTION;
    }
    return NULL;
}

/* NAME=VALUE: variables of make are commands, and environment variables may be. */
static const char *assignment_runs(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (str_find(c->words[i], '=') >= 0)
            return "a variable may make it run another program";
    return NULL;
}

/* The second operand is an output file. */
static const char *second_operand_writes(const struct cmdline_command *c)
{
    size_t n = 0;
    for (size_t i = 1; i < c->n; i++)
        n += c->words[i].n && c->words[i].p[0] != '-';
    return n > 1 ? "it writes a file" : NULL;
}

/* Words after "--" are passed to the build program. */
static const char *cmake_runs(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (str_is(c->words[i], "--"))
            return OPTION;
    return NULL;
}

/* "exec" may be abbreviated. */
static const char *ip_runs(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (runs_listed("e ex exe exec", c->words[i]))
            return STARTS;
    return NULL;
}

/* Words that begin with a dot and a letter are commands of sqlite3 (.shell); some SQL functions
 * load code and write files. */
static const char *sqlite_runs(const struct cmdline_command *c)
{
    static const char *const functions[] = {"load_extension", "writefile", "edit"};
    for (size_t i = 1; i < c->n; i++) {
        struct str word = c->words[i];
        if (word.n > 1 && word.p[0] == '.' && word.p[1] != '/' && word.p[1] != '.')
            return STARTS;
        for (size_t at = 0; at < word.n; at++)
            for (size_t k = 0; k < ARRAY_LEN(functions); k++)
                if (word.n - at >= strlen(functions[k]) &&
                    strncasecmp(word.p + at, functions[k], strlen(functions[k])) == 0)
                    return "one of its functions loads code or writes files";
    }
    return NULL;
}

static const struct runs_special {
    const char *programs;
    const char *(*runs)(const struct cmdline_command *c);
} specials[] = {
    {"awk gawk mawk nawk original-awk", runs_awk},
    {"bsdcpio bsdtar cpio tar", tar_runs},
    {"cmake", cmake_runs},
    {"doas env gmake make sudo", assignment_runs},
    {"git", runs_git},
    {"ip", ip_runs},
    {"sed", runs_sed},
    {"sqlite3", sqlite_runs},
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

/* The working directory ----------------------------------------------------------------------- */

static const char by_directory[] =
    "ansible ansible-playbook ant bazel bazelisk buck2 bun bundle bundler bunx cabal cargo cmake "
    "composer conan cpack ctest deno direnv docker docker-compose dotnet dub dune eslint fastlane "
    "fossil git gmake go golangci-lint gradle gradlew grunt gulp hatch hg invoke inv jest jj just "
    "latexmk lein lerna make meson mill mise mix mocha msbuild mvn mvnw mypy nimble ninja node nox "
    "npm npx nx opam pants pdm perl php pip pip3 pipenv pnpm pnpx podman poetry pre-commit "
    "prettier prove pylint pytest python python3 qmake rake rebar3 rspec rubocop ruby ruff "
    "rustc rustup samu sbt scons sl stack svn swift task terraform tofu tox tsc tsx turbo uv "
    "vagrant vite vitest waf webpack xmake yarn zig";

bool runs_by_directory(const struct cmdline_command *c)
{
    struct str program = c->n ? c->words[0] : str_n("", 0);
    bool relative = str_find(program, '/') > 0;
    return relative || runs_listed(by_directory, cmdline_name(c));
}

/* Input --------------------------------------------------------------------------------------- */

static const char interpreters[] =
    "at batch bc bun crontab csi dc deno ed erl ex expect gdb ghci gnuplot gst guile "
    "iex irb julia lua luajit m4 mysql node nodejs octave patch perl php psql python "
    "python2 python3 racket R Rscript ruby sftp sqlite3 ssh swipl tclsh tcsh csh vi "
    "vim wish";

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
