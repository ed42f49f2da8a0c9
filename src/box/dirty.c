/* Parses the output of git status as a stream: the number of files is unbounded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/dirty.h"

#include "base/clock.h"
#include "box/git_ask.h"
#include "path/root.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum {
    LINE_MAX_KEPT = 128, /* prefix of a record that is kept */
    CHUNK = 64 * 1024,
};

/* Reading ------------------------------------------------------------------------------------- */

/* Records are NUL-terminated; that of a renamed file has a second part. */
struct dirty_reader {
    struct dirty *dirty;
    char start[LINE_MAX_KEPT];
    size_t n;
    bool second;
};

static void dirty_read_head(struct dirty_reader *r)
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

static void dirty_read_record(struct dirty_reader *r)
{
    if (r->second) {
        r->second = false;
    } else if (r->n && r->start[0] == '#') {
        dirty_read_head(r);
    } else if (r->n && r->start[0] == '?') {
        r->dirty->untracked++;
    } else if (r->n) {
        r->dirty->changed++;
        r->second = r->start[0] == '2';
    }
    r->n = 0;
}

static void dirty_read_bytes(struct dirty_reader *r, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\0')
            dirty_read_record(r);
        else if (r->n < LINE_MAX_KEPT)
            r->start[r->n++] = bytes[i];
    }
}

/* Location in which git is run. */
struct dirty_place {
    struct str top;
    const char *dir;
    struct arena *arena;
};

/* Running git --------------------------------------------------------------------------------- */

#define GIT "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"

static bool dirty_read_all(int fd, struct dirty_reader *r)
{
    const uint64_t until = clock_mono_ms() + DIRTY_TIMEOUT_MS;
    char bytes[CHUNK];
    for (;;) {
        struct pollfd out = {.fd = fd, .events = POLLIN};
        uint64_t now = clock_mono_ms();
        if (now >= until)
            return false;
        int ready = poll(&out, 1, clock_timeout_ms(now, until));
        ssize_t n = ready > 0 ? read(fd, bytes, sizeof(bytes)) : -1;
        if (ready > 0 && n == 0)
            return true;
        if (n > 0)
            dirty_read_bytes(r, bytes, (size_t)n);
        else if (ready > 0 && errno != EINTR)
            return false;
    }
}

/* 128 plus the signal, as in a shell, if it was killed. */
static int exit_status(struct child *child, struct err *err)
{
    struct child_news news;
    if (!child_next(child, &news, err))
        return -1;
    if (news.word != CHILD_EXITED)
        return 128 + SIGKILL;
    return WIFEXITED(news.value) ? WEXITSTATUS(news.value) : 128 + WTERMSIG(news.value);
}

static bool dirty_run_git(const char *const *words, const struct dirty_place *at,
    struct dirty_reader *r, int *ret_status, struct err *err)
{
    struct child child = CHILD_NONE;
    if (!git_ask_start(at->top, at->dir, words, at->arena, &child, err))
        return err_wrap(err, "cannot ask git about '%s'", at->dir);
    close(TAKE_FD(child.in));
    bool ok = dirty_read_all(child.out, r);
    if (ok)
        *ret_status = exit_status(&child, err);
    child_kill(&child);
    child_close(&child);
    if (!ok)
        return err_set(err, E_IO, "git had no answer about '%s' within %d s", at->dir,
            DIRTY_TIMEOUT_MS / 1000);
    return *ret_status >= 0;
}

static bool dirty_query_status(const struct dirty_place *at, struct dirty *dirty, struct err *err)
{
    const char *const words[] = {GIT, "status", "--porcelain=v2", "--branch", "--no-ahead-behind",
        "--ignore-submodules=dirty", "-z", "--", ".", NULL};
    struct dirty_reader r = {.dirty = dirty};
    int status;
    if (!dirty_run_git(words, at, &r, &status, err))
        return false;
    if (status != 0)
        return err_set(err, E_IO,
            "git can't tell whether '%s' has uncommitted changes (its exit status is %d): run 'git "
            "status' there",
            at->dir, status);
    return true;
}

/* Leaves head empty if HEAD does not resolve to an existing commit. */
static bool dirty_query_head(const struct dirty_place *at, struct dirty *dirty, struct err *err)
{
    const char *const words[] = {GIT, "rev-parse", "-q", "--verify", "HEAD^{commit}", NULL};
    struct dirty_reader r = {.dirty = dirty};
    int status;
    if (!dirty_run_git(words, at, &r, &status, err))
        return false;
    size_t n = r.n;
    while (n && r.start[n - 1] == '\n')
        n--;
    if (status == 0 && n > 0 && n < sizeof(dirty->head))
        memcpy(dirty->head, r.start, n); /* the rest is already zero */
    return true;
}

static bool dirty_query(const char *dir,
    bool (*how)(const struct dirty_place *at, struct dirty *dirty, struct err *err),
    struct dirty *ret_dirty, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct root_found root;
    struct dirty dirty = {0};
    if (!root_detect(dir, &(struct root_options){0}, &a, &root, err))
        return false;
    dirty.is_git = str_is(root.marker, ".git");
    const struct dirty_place at = {root.dir, dir, &a};
    if (dirty.is_git && !how(&at, &dirty, err))
        return false;
    *ret_dirty = dirty;
    return true;
}

bool dirty_ask(const char *dir, struct dirty *ret_dirty, struct err *err)
{
    return dirty_query(dir, dirty_query_status, ret_dirty, err);
}

bool dirty_ask_head(const char *dir, struct dirty *ret_dirty, struct err *err)
{
    return dirty_query(dir, dirty_query_head, ret_dirty, err);
}
