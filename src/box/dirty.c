/* git status, read as it comes: the number of files has no bound. */
#include "box/dirty.h"

#include "base/arena.h"
#include "base/clock.h"
#include "path/root.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

enum {
    LINE_MAX_KEPT = 128, /* of a record: what it begins with */
    CHUNK = 64 * 1024,
};

/* Reading ------------------------------------------------------------------------------------- */

/* Records end in NUL; that of a renamed file has a second part. */
struct reader {
    struct dirty *dirty;
    char start[LINE_MAX_KEPT];
    size_t n;
    bool second;
};

static void take_head(struct reader *r)
{
    static const char key[] = "# branch.oid ";
    struct str line = str_n(r->start, r->n), sha;
    if (!str_starts_with(line, str_z(key)))
        return;
    sha = str_skip(line, sizeof(key) - 1);
    if (sha.n >= DIRTY_SHA_SIZE || str_starts_with(sha, STR("(")))
        return;
    memcpy(r->dirty->head, sha.p, sha.n);
    r->dirty->head[sha.n] = '\0';
}

static void take_record(struct reader *r)
{
    if (r->second) {
        r->second = false;
    } else if (r->n && r->start[0] == '#') {
        take_head(r);
    } else if (r->n && r->start[0] == '?') {
        r->dirty->untracked++;
    } else if (r->n) {
        r->dirty->changed++;
        r->second = r->start[0] == '2';
    }
    r->n = 0;
}

static void take(struct reader *r, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\0')
            take_record(r);
        else if (r->n < LINE_MAX_KEPT)
            r->start[r->n++] = bytes[i];
    }
}

/* Asking -------------------------------------------------------------------------------------- */

/* Without what would point git elsewhere, or make it run something. */
static char **environment(struct arena *a)
{
    size_t n = 0, all = 0;
    while (environ[all])
        all++;
    char **env = ARENA_NEW(a, char *, all + 3);
    for (size_t i = 0; i < all; i++)
        if (!str_starts_with(str_z(environ[i]), STR("GIT_")) &&
            !str_starts_with(str_z(environ[i]), STR("LC_ALL=")))
            env[n++] = environ[i];
    env[n++] = (char *)"LC_ALL=C";
    env[n++] = (char *)"GIT_TERMINAL_PROMPT=0";
    return env;
}

#define GIT(dir)                                                                 \
    "git", "-C", dir, "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", \
        "core.hooksPath=/dev/null"

static bool start(const char *const *argv, const char *dir, struct arena *a, pid_t *ret_pid,
    int *ret_out, struct err *err)
{
    int ends[2];
    posix_spawn_file_actions_t files;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, E_IO, errno, "cannot make a pipe");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(ret_pid, "git", &files, NULL, (char *const *)argv, environment(a));
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return err_errno(err, E_IO, failed, "cannot ask git about '%s'", dir);
    }
    *ret_out = ends[0];
    return true;
}

static bool read_all(int fd, struct reader *r)
{
    const uint64_t until = clock_mono_ms() + DIRTY_TIMEOUT_MS;
    char bytes[CHUNK];
    for (;;) {
        struct pollfd out = {.fd = fd, .events = POLLIN};
        uint64_t now = clock_mono_ms();
        if (now >= until)
            return false;
        int ready = poll(&out, 1, (int)(until - now));
        ssize_t n = ready > 0 ? read(fd, bytes, sizeof(bytes)) : -1;
        if (ready > 0 && n == 0)
            return true;
        if (n > 0)
            take(r, bytes, (size_t)n);
        else if (ready > 0 && errno != EINTR)
            return false;
    }
}

static bool run_git(const char *const *argv, const char *dir, struct arena *a, struct reader *r,
    int *ret_status, struct err *err)
{
    int fd = -1, status = 0;
    pid_t pid;
    if (!start(argv, dir, a, &pid, &fd, err))
        return false;
    bool ok = read_all(fd, r);
    close(fd);
    if (!ok)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!ok)
        return err_set(
            err, E_IO, "git had no answer about '%s' within %d s", dir, DIRTY_TIMEOUT_MS / 1000);
    *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static bool ask_git(const char *dir, struct arena *a, struct dirty *dirty, struct err *err)
{
    const char *const argv[] = {GIT(dir), "status", "--porcelain=v2", "--branch",
        "--no-ahead-behind", "--ignore-submodules=dirty", "-z", "--", ".", NULL};
    struct reader r = {.dirty = dirty};
    int status;
    if (!run_git(argv, dir, a, &r, &status, err))
        return false;
    if (status != 0)
        return err_set(err, E_IO,
            "git can't tell whether '%s' has uncommitted changes (its exit status is %d): run 'git "
            "status' there",
            dir, status);
    return true;
}

/* What is no commit's name, or a commit that is not there yet, is none. */
static bool ask_head(const char *dir, struct arena *a, struct dirty *dirty, struct err *err)
{
    const char *const argv[] = {GIT(dir), "rev-parse", "-q", "--verify", "HEAD^{commit}", NULL};
    struct reader r = {.dirty = dirty};
    int status;
    if (!run_git(argv, dir, a, &r, &status, err))
        return false;
    size_t n = r.n;
    while (n && r.start[n - 1] == '\n')
        n--;
    if (status == 0 && n > 0 && n < sizeof(dirty->head))
        memcpy(dirty->head, r.start, n); /* the rest is zero */
    return true;
}

static bool ask(const char *dir,
    bool (*how)(const char *dir, struct arena *a, struct dirty *dirty, struct err *err),
    struct dirty *ret_dirty, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct root_found root;
    struct dirty dirty = {0};
    if (!root_detect(dir, &(struct root_options){0}, &a, &root, err))
        return false;
    dirty.is_git = str_is(root.marker, ".git");
    if (dirty.is_git && !how(dir, &a, &dirty, err))
        return false;
    *ret_dirty = dirty;
    return true;
}

bool dirty_ask(const char *dir, struct dirty *ret_dirty, struct err *err)
{
    return ask(dir, ask_git, ret_dirty, err);
}

bool dirty_ask_head(const char *dir, struct dirty *ret_dirty, struct err *err)
{
    return ask(dir, ask_head, ret_dirty, err);
}
