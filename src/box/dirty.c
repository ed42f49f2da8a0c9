/* Parses the output of git status as a stream: the number of files is unbounded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/dirty.h"

#include "box/git_ask.h"
#include "path/root.h"

enum {
    LINE_MAX_KEPT = 128, /* prefix of a record that is kept */
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

static void dirty_read_bytes(void *context, struct str bytes)
{
    struct dirty_reader *r = context;
    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i] == '\0')
            dirty_read_record(r);
        else if (r->n < LINE_MAX_KEPT)
            r->start[r->n++] = bytes.p[i];
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

static bool dirty_run_git(const char *const *words, const struct dirty_place *at,
    struct dirty_reader *r, int *ret_status, struct err *err)
{
    const struct git_ask ask = {
        .top = at->top,
        .dir = at->dir,
        .words = words,
        .timeout_ms = DIRTY_TIMEOUT_MS,
        .output = dirty_read_bytes,
        .context = r,
    };
    AUTO_ERR struct err failure = {0};
    if (git_ask(&ask, at->arena, ret_status, &failure))
        return true;
    if (failure.code == E_TIMEOUT)
        return err_set(err, E_IO, "timeout: git did not answer about '%s' within %d s", at->dir,
            DIRTY_TIMEOUT_MS / 1000);
    err_move(err, &failure);
    return err_wrap(err, "cannot run git on '%s'", at->dir);
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
            "git cannot determine whether '%s' has uncommitted changes (exit status %d): run "
            "'git status' there",
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
