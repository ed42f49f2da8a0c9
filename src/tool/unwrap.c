/* Commands that run other commands, and commands that deserve a second look. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/lexical.h"
#include "tool/tool_runs.h"

/* A command that runs another one, given after its options, some of which take a value, and after
 * `skips` operands. */
struct wrapper {
    const char *name;
    const char *valued; /* letters of options that take a value */
    unsigned skips;
    bool assigns; /* NAME=VALUE may precede the command */
};

static const struct wrapper wrappers[] = {
    {"builtin", "", 0, false},
    {"busybox", "", 0, false},
    {"catchsegv", "", 0, false},
    {"chronic", "", 0, false},
    {"chroot", "", 1, false},
    {"chrt", "", 1, false},
    {"command", "", 0, false},
    {"dbus-run-session", "", 0, false},
    {"doas", "uC", 0, false},
    {"env", "uCS", 0, true},
    {"exec", "a", 0, false},
    {"fakeroot", "", 0, false},
    {"ionice", "cnpPu", 0, false},
    {"ld-linux-aarch64.so.1", "", 0, false},
    {"ld-linux-riscv64-lp64d.so.1", "", 0, false},
    {"ld-linux-x86-64.so.2", "", 0, false},
    {"ld-musl-aarch64.so.1", "", 0, false},
    {"ld-musl-riscv64.so.1", "", 0, false},
    {"ld-musl-x86_64.so.1", "", 0, false},
    {"ld.so", "", 0, false},
    {"linux32", "", 0, false},
    {"linux64", "", 0, false},
    {"ltrace", "", 0, false},
    {"nice", "n", 0, false},
    {"nohup", "", 0, false},
    {"numactl", "", 0, false},
    {"prlimit", "", 0, false},
    {"rlwrap", "", 0, false},
    {"setpriv", "", 0, false},
    {"setsid", "", 0, false},
    {"stdbuf", "ioe", 0, false},
    {"strace", "eopsaPbEIOSUX", 0, false},
    {"sudo", "ugCDhpRrTtU", 0, true},
    {"taskset", "", 1, false},
    {"time", "fo", 0, false},
    {"timeout", "ks", 1, false},
    {"toybox", "", 0, false},
    {"unbuffer", "", 0, false},
    {"unshare", "", 0, false},
    {"valgrind", "", 0, false},
    {"xargs", "adEeIiLlnPs", 0, false},
    {"xvfb-run", "", 0, false},
};

/* Programs that also exist under names such as x86_64-linux-gnu-gcc-12 and gtar. */
static const char toolchain[] =
    "ar as c++ cc clang clang++ cpp g++ gcc gcc-ar gcc-nm gcc-ranlib gfortran ld ld.bfd ld.gold nm "
    "objcopy objdump ranlib readelf size strings strip";
static const char gnu[] =
    "awk chroot cpio dd env find install make nice nohup rm sed shred shuf sort split stdbuf tar "
    "time timeout uniq xargs";

static struct str without_version(struct str name)
{
    size_t n = name.n;
    while (n && memchr("0123456789.", name.p[n - 1], 11))
        n--;
    return n > 1 && n < name.n && name.p[n - 1] == '-' ? str_head(name, n - 1) : name;
}

static struct str without_target(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '-' && runs_listed(toolchain, str_skip(name, i + 1)) &&
            !runs_listed(toolchain, name))
            return str_skip(name, i + 1);
    return name;
}

struct str cmdline_name(const struct cmdline_command *c)
{
    struct str name = c->n ? lexical_name(c->words[0]) : str_n("", 0);
    name = without_target(without_version(name));
    bool is_gnu = name.n > 1 && name.p[0] == 'g' && runs_listed(gnu, str_skip(name, 1));
    return is_gnu ? str_skip(name, 1) : name;
}

bool cmdline_is_shell(struct str name)
{
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash"};
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (str_is(name, shells[i]))
            return true;
    return false;
}

static void unwrap_not_plain(struct cmdline *s, const char *why)
{
    s->why = s->why ? s->why : why;
}

static void unwrap_add_command(
    struct cmdline *s, struct str *words, size_t n, const struct cmdline_command *outer)
{
    if (n == 0)
        return;
    if (s->n == CMDLINE_COMMANDS_MAX) {
        unwrap_not_plain(s, "too many commands to check");
        return;
    }
    s->commands[s->n++] = (struct cmdline_command){words, n, outer->fixed, outer->fed};
}

/* Returns the index of the first word of the command that a wrapper runs. */
static size_t inner_start(const struct wrapper *w, const struct cmdline_command *c)
{
    size_t i = 1;
    for (; i < c->n && c->words[i].n > 1 && c->words[i].p[0] == '-'; i++) {
        struct str word = c->words[i];
        if (str_is(word, "--")) {
            i++;
            break;
        }
        bool is_long = word.p[1] == '-';
        if (!is_long && word.n == 2 && strchr(w->valued, word.p[1]))
            i++;
    }
    while (w->assigns && i < c->n && str_find(c->words[i], '=') > 0)
        i++;
    return i + w->skips;
}

/* -c SCRIPT, in any cluster of letters: -lc. */
static struct str script_of_shell(const struct cmdline_command *c)
{
    for (size_t i = 1; i + 1 < c->n; i++) {
        struct str word = c->words[i];
        if (word.n < 2 || (word.p[0] != '-' && word.p[0] != '+'))
            break;
        if (word.p[0] == '-' && word.p[1] != '-' && memchr(word.p, 'c', word.n))
            return c->words[i + 1];
    }
    return (struct str){0};
}

bool cmdline_has_script(const struct cmdline_command *shell)
{
    return script_of_shell(shell).p;
}

static struct str unwrap_join_words(const struct cmdline_command *c, size_t from, struct arena *a)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * CMDLINE_BYTES_MAX);
    for (size_t i = from; i < c->n; i++) {
        if (i > from)
            buf_add_byte(&text, ' ');
        buf_add_str(&text, c->words[i]);
    }
    return arena_str(a, buf_str(&text));
}

/* `{}` as a whole word is replaced by file names. These are certain to be files only if all
 * starting points begin with a dot: others may be options or scripts. */
static bool names_are_files(const struct cmdline_command *find)
{
    for (size_t i = 1; i < find->n; i++) {
        struct str word = find->words[i];
        if (word.n && strchr("-(!", word.p[0]))
            return true;
        if (word.n == 0 || word.p[0] != '.')
            return false;
    }
    return true;
}

static bool has_braces(struct str word)
{
    for (size_t i = 0; i + 1 < word.n; i++)
        if (word.p[i] == '{' && word.p[i + 1] == '}')
            return true;
    return false;
}

static bool words_are_certain(const struct cmdline_command *find, const struct str *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (has_braces(words[i]) && (i == 0 || !str_is(words[i], "{}") || !names_are_files(find)))
            return false;
    return n > 0;
}

/* Returns the end of the command that starts at `from`. `+` ends it only after `{}`;
 * implementations of find differ in its meaning elsewhere. */
static size_t exec_end(const struct cmdline_command *c, size_t from, bool *ret_certain)
{
    size_t i = from;
    bool plus = str_is(c->words[from - 1], "-exec") || str_is(c->words[from - 1], "-execdir");
    *ret_certain = true;
    for (; i < c->n && !str_is(c->words[i], ";"); i++) {
        if (!str_is(c->words[i], "+"))
            continue;
        if (plus && i > from && str_is(c->words[i - 1], "{}"))
            return i;
        *ret_certain = false;
    }
    *ret_certain &= i < c->n;
    return i;
}

/* -exec COMMAND ; and variants. */
static void unwrap_find(struct cmdline *s, const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++) {
        if (!str_is(c->words[i], "-exec") && !str_is(c->words[i], "-execdir") &&
            !str_is(c->words[i], "-ok") && !str_is(c->words[i], "-okdir"))
            continue;
        size_t from = i + 1;
        bool certain;
        i = exec_end(c, from, &certain);
        if (!certain || !words_are_certain(c, c->words + from, i - from))
            unwrap_not_plain(s, "find runs a command that is known only at run time");
        unwrap_add_command(s, c->words + from, i - from, c);
    }
}

static void unwrap_command(struct cmdline *s, const struct cmdline_command *c, struct arena *a)
{
    struct str name = cmdline_name(c), text = {0};
    for (size_t i = 0; i < ARRAY_LEN(wrappers); i++) {
        if (!str_is(name, wrappers[i].name))
            continue;
        size_t from = inner_start(&wrappers[i], c);
        /* Options may take values or run commands: the inner command is certain only without
         * them. */
        if (c->n > 1 && c->words[1].n && c->words[1].p[0] == '-')
            unwrap_not_plain(s, "a command that runs another one, with options");
        if (str_is(name, "xargs"))
            unwrap_not_plain(s, "arguments that are read at run time");
        if (from < c->n)
            unwrap_add_command(s, c->words + from, c->n - from, c);
        return;
    }
    if (str_is(name, "find"))
        unwrap_find(s, c);
    else if (cmdline_is_shell(name)) {
        text = script_of_shell(c);
        bool plain = c->n < 2 || c->words[1].n == 0 || c->words[1].p[0] != '-' ||
                     str_is(c->words[1], "-c") || str_is(c->words[1], "-lc");
        if (!plain)
            unwrap_not_plain(s, "a shell with options");
    } else if (str_is(name, "eval"))
        text = unwrap_join_words(c, 1, a);
    else if (str_is(name, "trap") && c->n > 2 && !str_starts_with(c->words[1], STR("-")))
        text = c->words[1];
    size_t before = s->n;
    if (text.p && !c->fixed)
        unwrap_not_plain(s, "a script that is known only at run time");
    if (text.p)
        cmdline_parse_more(text, 1, a, s);
    for (size_t i = before; i < s->n; i++) /* they inherit the input of the enclosing command */
        s->commands[i].fed |= c->fed;
}

void cmdline_unwrap(struct cmdline *s, struct arena *a)
{
    /* Also visits the commands it adds; each is shorter than its source, so this ends. */
    for (size_t i = 0; i < s->n; i++) {
        struct cmdline_command c = s->commands[i];
        if (arena_left(a) < (size_t)CMDLINE_ARENA / 4) {
            unwrap_not_plain(s, "too many commands to check");
            return;
        }
        unwrap_command(s, &c, a);
    }
}

/* Dangerous commands -------------------------------------------------------------------------- */

/* Whether there is an option by its letter, in any cluster, or by its long name, before "--". */
static bool unwrap_has_option(const struct cmdline_command *c, char letter, const char *name)
{
    for (size_t i = 1; i < c->n && !str_is(c->words[i], "--"); i++) {
        struct str word = c->words[i];
        if (word.n > 1 && word.p[0] == '-' && word.p[1] != '-' && letter &&
            memchr(word.p, letter, word.n))
            return true;
        if (name && word.n > 3 && str_starts_with(word, STR("--")) &&
            str_starts_with(str_z(name), str_skip(word, 2))) /* may be abbreviated */
            return true;
    }
    return false;
}

const char *cmdline_danger(const struct cmdline_command *c)
{
    static const char *const disks[] = {"dd", "mkfs", "shred", "wipefs", "fdisk", "parted"};
    struct str name = cmdline_name(c);
    if (str_is(name, "rm") && unwrap_has_option(c, 'f', "force"))
        return "removes files by force";
    if (str_is(name, "git"))
        return runs_git(c);
    for (size_t i = 1; str_is(name, "find") && i < c->n; i++)
        if (str_is(c->words[i], "-delete") || str_starts_with(c->words[i], STR("-fprint")) ||
            str_is(c->words[i], "-fls"))
            return "removes or writes files";
    if (runs_fed(c) == RUNS_FED_SHELL)
        return "executes its input";
    if (str_starts_with(name, STR("mkfs.")))
        return "overwrites a whole disk";
    for (size_t i = 0; i < ARRAY_LEN(disks); i++)
        if (str_is(name, disks[i]))
            return "may overwrite a whole disk";
    return NULL;
}
