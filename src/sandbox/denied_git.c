/* Finds git's own command among its processes, and decides whether it may be shown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied_git.h"

#include "base/utf8.h"
#include "path/lexical.h"
#include "sandbox/denied_path.h"
#include "sandbox/proc_entry.h"

#include <fcntl.h>

enum {
    GIT_WORDS = 16,
    GIT_DEPTH = 8, /* processes of git that start each other */
    GIT_ENVIRON = 8 * 1024,
};

/* Processes ----------------------------------------------------------------------------------- */

static bool git_is_program(pid_t pid)
{
    char exe[DENIED_PROGRAM_MAX];
    size_t n = proc_entry_link(pid, "exe", exe, sizeof(exe));
    return str_ends_with(str_n(exe, n), STR("/git"));
}

static struct str read_words(pid_t pid, char to[DENIED_COMMAND_MAX])
{
    char name[PROC_ENTRY_NAME];
    proc_entry_name(name, pid, "cmdline");
    AUTO_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, to, DENIED_COMMAND_MAX) : 0;
    return n > 0 && n < DENIED_COMMAND_MAX ? str_n(to, (size_t)n) : (struct str){0};
}

/* A command of git that is a shell script. */
static bool is_git_script(pid_t pid)
{
    char text[DENIED_COMMAND_MAX];
    struct str shell, script, rest = read_words(pid, text);
    return rest.n && str_cut(rest, '\0', &shell, &rest) && str_cut(rest, '\0', &script, &rest) &&
           str_starts_with(lexical_name(script), STR("git-"));
}

static pid_t git_parent(pid_t pid)
{
    char text[PROC_ENTRY_MAX];
    return proc_entry_read(pid, "status", text) ? (pid_t)proc_entry_number(text, "\nPPid:", 10) : 0;
}

static pid_t first_git(pid_t thread)
{
    pid_t first = 0, pid = thread;
    for (int i = 0; i < GIT_DEPTH && pid > 0; i++, pid = git_parent(pid)) {
        if (git_is_program(pid))
            first = pid;
        else if (!is_git_script(pid))
            break;
    }
    return first;
}

/* PWD, as a shell set it for the process. */
static struct str git_start(pid_t pid, char text[GIT_ENVIRON])
{
    char name[PROC_ENTRY_NAME];
    proc_entry_name(name, pid, "environ");
    AUTO_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, GIT_ENVIRON) : 0;
    struct str one, rest = str_n(text, n > 0 ? (size_t)n : 0);
    while (str_cut(rest, '\0', &one, &rest))
        if (str_starts_with(one, STR("PWD=")) && rest.n)
            return str_skip(one, strlen("PWD="));
    return (struct str){0};
}

/* git enters the top of the work tree: paths in its arguments may start at a directory below it,
 * unless an option named one. */
static struct str git_dir(pid_t pid, bool by_option, char to[PATH_MAX])
{
    char text[GIT_ENVIRON];
    struct str dir = str_n(to, proc_entry_link(pid, "cwd", to, PATH_MAX - 1));
    struct str start = by_option ? (struct str){0} : git_start(pid, text);
    if (dir.n && start.n && start.n < PATH_MAX && lexical_is_below(dir, start)) {
        memcpy(to, start.p, start.n);
        dir.n = start.n;
    }
    return dir;
}

struct str denied_git_command(pid_t thread, struct str start, char to[DENIED_COMMAND_MAX])
{
    char text[DENIED_COMMAND_MAX], at[PATH_MAX];
    struct str word, rest, name, more;
    pid_t pid = first_git(thread);
    bool by_option = false;
    rest = pid ? read_words(pid, text) : (struct str){0};
    if (!rest.n || !str_cut(rest, '\0', &name, &rest))
        return (struct str){0};
    while (str_starts_with(rest, str_n("-C", 3))) { /* followed already */
        by_option = true;
        if (!str_cut(str_skip(rest, 3), '\0', &word, &more))
            return (struct str){0};
        rest = more;
    }
    struct str dir = git_dir(pid, by_option, at);
    bool elsewhere = dir.n && !str_eq(dir, start);
    int n = elsewhere
                ? snprintf(to, DENIED_COMMAND_MAX, "git%c-C%c" STR_FMT "%c", 0, 0, STR_ARG(dir), 0)
                : snprintf(to, DENIED_COMMAND_MAX, "git%c", 0);
    if (n <= 0 || (size_t)n + rest.n > DENIED_COMMAND_MAX)
        return (struct str){0};
    if (rest.n)
        memcpy(to + n, rest.p, rest.n);
    return str_n(to, (size_t)n + rest.n);
}

/* Commands ------------------------------------------------------------------------------------ */

struct git_command {
    const struct str *words;
    size_t n; /* words[0] is git's first argument after its directory */
};

static bool is_among(struct str word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(word, names[i]))
            return true;
    return false;
}

/* Settings that neither run programs nor lead elsewhere; "*" is any subsection. */
static bool is_plain_setting(struct str key)
{
    static const char *const plain[] = {"branch.*.merge", "branch.*.rebase", "branch.*.remote",
        "core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "fetch.prune",
        "init.defaultBranch", "pull.ff", "pull.rebase", "push.autoSetupRemote", "push.default",
        "remote.*.fetch", "remote.*.url", "rerere.enabled", "user.email", "user.name"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        struct str before, after;
        bool any = str_cut(str_z(plain[i]), '*', &before, &after) && after.n;
        if (any ? key.n > before.n + after.n && str_starts_with(key, before) &&
                      str_ends_with(key, after)
                : str_is(key, plain[i]))
            return true;
    }
    return false;
}

/* Whether it is one of the commands that only name a place for git. */
static bool is_known_command(const struct git_command *c)
{
    static const struct {
        const char *name;
        const char *subs[7]; /* none: any */
    } commands[] = {
        {"branch", {0}},
        {"checkout", {0}},
        {"push", {0}},
        {"remote", {"add", "rename", "remove", "rm", "set-branches", "set-head", "set-url"}},
        {"submodule", {"add", "deinit", "init", "set-branch", "set-url", "sync"}},
        {"switch", {0}},
        {"worktree", {"add"}},
    };
    for (size_t i = 0; c->n && i < ARRAY_LEN(commands); i++) {
        size_t subs = 0;
        while (subs < ARRAY_LEN(commands[i].subs) && commands[i].subs[subs])
            subs++;
        if (str_is(c->words[0], commands[i].name))
            return !subs || (c->n > 1 && is_among(c->words[1], commands[i].subs, subs));
    }
    return c->n > 2 && str_is(c->words[0], "config") && is_plain_setting(c->words[1]);
}

/* Neither an option that is not known, nor a refspec that overwrites, nor a helper program. */
static bool is_plain_word(struct str word)
{
    static const char *const options[] = {"-b", "-c", "-m", "-q", "-t", "-u", "--branch",
        "--create", "--name", "--quiet", "--set-upstream", "--set-upstream-to", "--track"};
    struct str name, value;
    if (!utf8_printable(word) || strstr(word.p, "::"))
        return false;
    if (word.n && word.p[0] == '-')
        return is_among(word, options, ARRAY_LEN(options)) ||
               (str_cut(word, '=', &name, &value) && str_is(name, "--set-upstream-to"));
    return word.n && word.p[0] != '+' && word.p[0] != ':';
}

static bool is_plain_command(const struct git_command *c)
{
    bool plain = is_known_command(c);
    for (size_t i = 1; plain && i < c->n; i++)
        plain = is_plain_word(c->words[i]);
    return plain;
}

void denied_git_add_word(struct buf *b, struct str word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+=:,-";
    size_t same = 0;
    while (same < word.n && memchr(plain, word.p[same], sizeof(plain) - 1))
        same++;
    if (same == word.n) {
        buf_add_str(b, word);
        return;
    }
    buf_add_byte(b, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            buf_add_z(b, "'\\'");
        buf_add_byte(b, word.p[i]);
    }
    buf_add_byte(b, '\'');
}

/* Opens the settings in an editor: the values that the process chose are not repeated. */
static void git_add_edit(struct buf *b, struct str target)
{
    if ((!str_ends_with(target, STR("/config")) &&
            !str_ends_with(target, STR("/config.worktree"))) ||
        target.n >= DENIED_TARGET_MAX || !utf8_printable(target))
        return;
    buf_add_z(b, "git config --edit --file ");
    denied_git_add_word(b, target);
}

void denied_git_add_fix(struct buf *b, struct str command, struct str target)
{
    struct str rest = command, words[GIT_WORDS];
    size_t n = 0, skip = 1;
    if (rest.n && rest.p[rest.n - 1] == '\0') {
        rest.n--;
        while (n < GIT_WORDS && str_cut(rest, '\0', &words[n], &rest))
            n++;
    }
    if (n > 3 && str_is(words[1], "-C") && words[2].n && words[2].p[0] == '/' &&
        utf8_printable(words[2]))
        skip = 3;
    if (n == GIT_WORDS || n <= skip ||
        !is_plain_command(&(struct git_command){words + skip, n - skip})) {
        git_add_edit(b, target);
        return;
    }
    buf_add_z(b, "git");
    for (size_t i = 1; i < n; i++) {
        buf_add_byte(b, ' ');
        denied_git_add_word(b, words[i]);
    }
}

/* Work trees ---------------------------------------------------------------------------------- */

static struct str git_above(struct str path)
{
    return str_head(path, (size_t)MAX(str_find_last(path, '/'), (ptrdiff_t)0));
}

bool denied_git_adds_tree(const struct plan *plan, struct str path)
{
    char config[PATH_MAX];
    struct str above = git_above(path);
    if (str_is(lexical_name(above), "worktrees"))
        above = git_above(above);
    else if (!str_is(lexical_name(path), "worktrees"))
        return false;
    int n = snprintf(config, sizeof(config), STR_FMT "/config", STR_ARG(above));
    if (n <= 0 || n >= (int)sizeof(config))
        return false;
    const struct plan_step *step = denied_path_step(plan, str_n(config, (size_t)n));
    return step && step->kept && step->at.n == (size_t)n;
}
