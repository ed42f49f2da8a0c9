/* Running git in a sandbox. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_git.h"

#include "io/file.h"
#include "io/interrupt.h"
#include "job/job.h"
#include "policy/preset.h"

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
    [BOX_GIT_PATCH] = {"--binary", "--full-index", "--no-renames"},
    [BOX_GIT_STAT] = {"--stat=80", "--no-renames"},
    [BOX_GIT_NAMES] = {"--name-only", "--no-renames"},
    [BOX_GIT_STATUS] = {"--name-status", "-z", "--no-renames"},
};

/* Finds the directory that contains the repository: the project or a parent. Refuses a `.git` file,
 * which points elsewhere and may have been written by the box. */
static bool find_top(struct cli *cli, struct str dir, struct str *ret_top, struct err *err)
{
    for (struct str at = dir; at.n > 1; at.n = (size_t)MAX(str_find_last(at, '/'), (ptrdiff_t)0)) {
        struct stat st;
        const char *git = arena_printf(cli->arena, STR_FMT "/.git", STR_ARG(at));
        if (lstat(git, &st) != 0)
            continue;
        if (!S_ISDIR(st.st_mode)) {
            err_set(err, E_NOT_FOUND,
                "'%s' only names a repository elsewhere, and git is not led there from a "
                "directory that a box writes to",
                git);
            return err_ctx(err, "remedy", "if you trust what the box did, run git there yourself");
        }
        *ret_top = arena_str(cli->arena, at);
        return true;
    }
    err_set(err, E_NOT_FOUND, "'" STR_FMT "' is no git work tree: there is nothing to compare with",
        STR_ARG(dir));
    return err_ctx(err, "path", STR_FMT, STR_ARG(dir));
}

static bool box_git_make_policy(
    struct cli *cli, struct str top, struct policy *ret_policy, struct err *err)
{
    static struct str_pair env[] = {
        {STR("PATH"), STR("/usr/local/bin:/usr/bin:/bin")},
        {STR("HOME"), STR("/tmp")},
        {STR("LC_ALL"), STR("C")},
        {STR("GIT_CONFIG_NOSYSTEM"), STR("1")},
        {STR("GIT_OPTIONAL_LOCKS"), STR("0")},
        {STR("GIT_CONFIG_COUNT"), STR("1")},
        {STR("GIT_CONFIG_KEY_0"), STR("safe.directory")},
        {STR("GIT_CONFIG_VALUE_0"), STR("*")},
    };
    if (!preset_load("readonly", top, cli->arena, ret_policy, err))
        return false;
    ret_policy->exec.allow_shell = true;
    ret_policy->env.set = (struct str_map){env, ARRAY_LEN(env)};
    ret_policy->budgets.max_runtime_ms = RUNTIME_MS;
    ret_policy->budgets.max_output_bytes = BOX_GIT_MAX;
    return true;
}

static const char *const *make_argv(
    struct cli *cli, enum box_git_form form, const char *const *paths, size_t n)
{
    const char **argv = ARENA_NEW(cli->arena, const char *, n + 16);
    size_t at = 0;
    argv[at++] = "/bin/sh";
    argv[at++] = "-c";
    argv[at++] = script;
    argv[at++] = "git";
    for (size_t i = 0; i < ARRAY_LEN(forms[form]) && forms[form][i]; i++)
        argv[at++] = forms[form][i];
    argv[at++] = "--";
    for (size_t i = 0; i < n; i++)
        argv[at++] = paths[i];
    return argv;
}

static bool box_git_read_output(int fd, size_t max, struct buf *text, struct err *err)
{
    return lseek(fd, 0, SEEK_SET) == 0 ? file_read(fd, max, "what git said", text, err)
                                       : err_errno(err, E_IO, errno, "cannot read what git said");
}

/* Fails with the first line that git printed on stderr. */
static bool git_failed(int said_fd, struct err *err)
{
    AUTO_BUF struct buf said = BUF_INIT(2 * SAID_MAX);
    AUTO_ERR struct err ignored = {0};
    bool some UNUSED = box_git_read_output(said_fd, SAID_MAX, &said, &ignored);
    struct str first, rest;
    if (!str_cut(buf_str(&said), '\n', &first, &rest))
        first = STR("no word");
    return err_set(err, E_COMMAND_FAILED, "git, in a sandbox, failed: " STR_FMT, STR_ARG(first));
}

static bool box_git_run(struct prepared *p, struct buf *text, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = interrupt_open(false, &set);
    AUTO_FD int out = file_nameless(), said = file_nameless();
    struct exec_options wish = {
        .input = -1, .output = {out, said}, .signals = signals, .cancel = -1};
    struct observed_exec done;
    bool ok = out >= 0 && said >= 0;
    if (!ok)
        err_errno(err, E_IO, errno, "cannot keep what git says");
    ok = ok && prepare_run(p, err) && job_exec(p, &wish, false, &done, err);
    interrupt_close(&set);
    if (!ok)
        return false;
    bool canceled = done.result.status == EXEC_CANCELED || done.result.status == EXEC_ERRORED;
    if (done.result.status == EXEC_PASSED)
        ok = box_git_read_output(out, BOX_GIT_MAX - 1, text, err);
    else
        ok = canceled ? err_move(err, &done.result.error) : git_failed(said, err);
    observed_exec_done(&done);
    return ok;
}

bool box_git_diff(struct cli *cli, const struct box *box, enum box_git_form form,
    const char *const *paths, size_t n, struct buf *text, struct err *err)
{
    struct prepare_options options = {.cwd = arena_strdup(cli->arena, box->meta.workdir.host_path)};
    struct policy policy;
    struct str top;
    if (!find_top(cli, box->meta.workdir.host_path, &top, err) ||
        !box_git_make_policy(cli, top, &policy, err))
        return false;
    struct prepared p = {.arena = cli->arena,
        .options = &options,
        .given = &policy,
        .host.own_env = true,
        .argv = make_argv(cli, form, paths, n)};
    bool ok = prepare_policy(&p, err) && box_git_run(&p, text, err);
    prepared_done(&p);
    return ok || err_wrap(err, "git's view of '%s'", options.cwd);
}
