/* The diff of a directory by git. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/git_diff.h"

#include "box/changes.h"
#include "box/git_run.h"
#include "io/file.h"
#include "io/interrupt.h"
#include "path/exact.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    RUNTIME_MS = 120 * 1000,
    SAID_MAX = 64 * 1024,
};

/* Uses a separate index and object directory in the private /tmp. Untracked files are added to that
 * index with --intent-to-add, so that the diff shows them. */
static const char script[] =
    "mkdir -p /tmp/objects/info &&"
    " git rev-parse --path-format=absolute --git-path objects >/tmp/objects/info/alternates &&"
    " { cp \"$(git rev-parse --git-path index)\" /tmp/index 2>/dev/null || :; } &&"
    " export GIT_INDEX_FILE=/tmp/index GIT_OBJECT_DIRECTORY=/tmp/objects &&"
    " git add --intent-to-add --all -- . &&"
    " base=$(git rev-parse --quiet --verify HEAD || git hash-object -t tree /dev/null) &&"
    " exec git diff --no-ext-diff --no-textconv --no-color --relative \"$base\" \"$@\"";

static const char *const forms[][4] = {
    [GIT_DIFF_PATCH] = {"--binary", "--full-index", "--no-renames"},
    [GIT_DIFF_STAT] = {"--stat=80", "--no-renames"},
    [GIT_DIFF_NAMES] = {"--name-only", "--no-renames"},
    [GIT_DIFF_STATUS] = {"--name-status", "-z", "--no-renames"},
};

/* Finds the directory that contains the repository: the project or a parent. Refuses a `.git` file,
 * which points elsewhere and may have been written by the box. */
static bool git_diff_find_top(
    struct arena *arena, struct str dir, struct str *ret_top, struct err *err)
{
    for (struct str at = dir; at.n > 1; at.n = (size_t)MAX(str_find_last(at, '/'), (ptrdiff_t)0)) {
        struct stat st;
        const char *git = arena_printf(arena, STR_FMT "/.git", STR_ARG(at));
        if (lstat(git, &st) != 0)
            continue;
        if (!S_ISDIR(st.st_mode)) {
            err_set(err, E_NOT_FOUND,
                "'%s' points to an external repository; git is not run against it because the box "
                "can write to this directory",
                git);
            return err_ctx(
                err, "remedy", "if you trust the changes made in the box, run git there yourself");
        }
        *ret_top = arena_str(arena, at);
        return true;
    }
    err_set(err, E_NOT_FOUND,
        "'" STR_FMT "' is not a git work tree: there is nothing to compare with", STR_ARG(dir));
    return err_ctx(err, "path", STR_FMT, STR_ARG(dir));
}

static struct str_pair git_diff_env[] = {
    {STR("PATH"), STR("/usr/local/bin:/usr/bin:/bin")},
    {STR("HOME"), STR("/tmp")},
    {STR("LC_ALL"), STR("C")},
    {STR("GIT_CONFIG_NOSYSTEM"), STR("1")},
    {STR("GIT_OPTIONAL_LOCKS"), STR("0")},
    {STR("GIT_LITERAL_PATHSPECS"), STR("1")}, /* paths are not patterns, as in other boxes */
    {STR("GIT_CONFIG_COUNT"), STR("1")},
    {STR("GIT_CONFIG_KEY_0"), STR("safe.directory")},
    {STR("GIT_CONFIG_VALUE_0"), STR("*")},
};

static const char *const *make_argv(struct arena *arena, const struct git_diff *what)
{
    const char *const *words = forms[what->form];
    const char **argv = ARENA_NEW(arena, const char *, what->n + 16);
    size_t at = 0;
    argv[at++] = "/bin/sh";
    argv[at++] = "-c";
    argv[at++] = script;
    argv[at++] = "git";
    for (size_t i = 0; i < ARRAY_LEN(forms[0]) && words[i]; i++)
        argv[at++] = words[i];
    argv[at++] = "--";
    for (size_t i = 0; i < what->n; i++)
        argv[at++] = what->paths[i];
    return argv;
}

static bool git_diff_read_output(int fd, size_t max, struct buf *text, struct err *err)
{
    return lseek(fd, 0, SEEK_SET) == 0
               ? file_read(fd, max, "output of git", text, err)
               : err_errno(err, E_IO, errno, "cannot read the output of git");
}

/* Fails with the first line that git printed on stderr. */
static bool git_failed(int said_fd, struct err *err)
{
    AUTO_BUF struct buf said = BUF_INIT(2 * SAID_MAX);
    AUTO_ERR struct err ignored = {0};
    bool some UNUSED = git_diff_read_output(said_fd, SAID_MAX, &said, &ignored);
    struct str first, rest;
    if (!str_cut(buf_str(&said), '\n', &first, &rest))
        first = STR("no error message");
    return err_set(err, E_COMMAND_FAILED, "git, in a sandbox, failed: " STR_FMT, STR_ARG(first));
}

static bool git_diff_run(
    const struct git_run *how, struct arena *arena, struct buf *text, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = interrupt_open(false, &set);
    AUTO_FD int out = file_nameless(), said = file_nameless();
    struct git_run run = *how;
    struct exec_result result;
    bool ok = out >= 0 && said >= 0;
    if (!ok)
        err_errno(err, E_IO, errno, "cannot create files for the output of git");
    run.output[0] = out;
    run.output[1] = said;
    run.signals = signals;
    ok = ok && git_run(&run, arena, &result, err);
    interrupt_close(&set);
    if (!ok)
        return false;
    bool canceled = result.status == EXEC_CANCELED || result.status == EXEC_ERRORED;
    if (result.status == EXEC_PASSED)
        ok = git_diff_read_output(out, GIT_DIFF_MAX - 1, text, err);
    else
        ok = canceled ? err_move(err, &result.error) : git_failed(said, err);
    err_done(&result.error);
    return ok;
}

bool git_diff(const struct box *box, const struct git_diff *what, struct arena *arena,
    struct buf *text, struct err *err)
{
    struct str top, dir = box->meta.workdir.host_path;
    if (!git_diff_find_top(arena, dir, &top, err))
        return false;
    const struct git_run run = {
        .argv = make_argv(arena, what),
        .dir = arena_strdup(arena, dir),
        .root = top,
        .env = git_diff_env,
        .n_env = ARRAY_LEN(git_diff_env),
        .runtime_ms = RUNTIME_MS,
        .output_bytes = GIT_DIFF_MAX,
    };
    return git_diff_run(&run, arena, text, err) || err_wrap(err, "git diff of '%s'", run.dir);
}

static const char *git_diff_change_name(struct str letter)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'A', "added"}, {'D', "deleted"}, {'T', "type"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (letter.n && letter.p[0] == names[i].letter)
            return names[i].name;
    return "modified";
}

json_t *git_diff_changes(struct str rest)
{
    json_t *list = json_array();
    struct str letter, path;
    while (rest.n && str_cut(rest, '\0', &letter, &rest) && str_cut(rest, '\0', &path, &rest)) {
        json_t *item = json_object();
        exact_put(item, "path", path);
        json_put(item, "change", json_string(git_diff_change_name(letter)));
        struct selfrun found = selfrun_look(path);
        changes_put_acts(item, &(struct risks_row){.class = found.class, .reason = found.reason});
        json_push(list, item);
    }
    return list;
}
