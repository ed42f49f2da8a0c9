/* Inside and outside of a sandbox, compared. Allocates nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied_path.h"

#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    LINKS_MAX = 16,
    TRIES = 64,
};

/* The plan ------------------------------------------------------------------------------------ */

/* The last step at exactly this path; a pin changes nothing about it. */
static const struct plan_step *denied_path_step_at(const struct plan *plan, struct str path)
{
    size_t low = 0, high = plan->n_steps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan_path_order(plan->steps[middle].at, path) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && str_eq(plan->steps[low - 1].at, path); low--)
        if (plan->steps[low - 1].kind != PLAN_PIN)
            return &plan->steps[low - 1];
    return NULL;
}

const struct plan_step *denied_path_step(const struct plan *plan, struct str path)
{
    for (;;) {
        const struct plan_step *step = denied_path_step_at(plan, path);
        if (step || path.n <= 1)
            return step;
        path = str_head(path, (size_t)MAX(str_find_last(path, '/'), 1));
    }
}

static unsigned step_access(const struct plan_step *step)
{
    if (!step)
        return 0;
    switch (step->kind) {
    case PLAN_BIND:
    case PLAN_OVERLAY:
    case PLAN_TMPFS:
        return step->access;
    case PLAN_LOADER:
        return PLAN_READ | PLAN_EXEC;
    case PLAN_FILE:
    case PLAN_LINK:
        return PLAN_READ;
    case PLAN_DEVICE:
    case PLAN_DEVPTS:
    case PLAN_PROC:
        return PLAN_READ | PLAN_WRITE | PLAN_EXEC; /* nothing to report there */
    default:
        return 0;
    }
}

/* Inside -------------------------------------------------------------------------------------- */

/* The kernel can't tell whether ".." stays in the root while anything on the machine is renamed or
 * mounted: then it must be tried again. */
static int open_inside(int root, const char *path, int flags)
{
    const struct open_how how = {.flags = (unsigned)(O_PATH | O_CLOEXEC | flags),
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd = -1;
    errno = EAGAIN;
    for (int i = 0; i < TRIES && fd < 0 && errno == EAGAIN; i++)
        fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
    return fd;
}

/* A path being resolved: `done` has no symlinks. */
struct denied_walk {
    char done[PATH_MAX];
    size_t n;
    char rest[2 * PATH_MAX];
    unsigned links;
};

static bool walk_push(struct denied_walk *w, struct str part)
{
    if (w->n + part.n + 2 > sizeof(w->done))
        return false;
    w->done[w->n++] = '/';
    memcpy(w->done + w->n, part.p, part.n);
    w->n += part.n;
    w->done[w->n] = '\0';
    return true;
}

static void walk_pop(struct denied_walk *w)
{
    ptrdiff_t slash = str_find_last(str_n(w->done, w->n), '/');
    w->n = slash > 0 ? (size_t)slash : 0;
    w->done[w->n] = '\0';
}

/* `done` ends in a symlink: continues with its target, before the rest. */
static bool walk_follow(struct denied_walk *w, int link, struct str rest)
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
    if (n <= 0 || ++w->links > LINKS_MAX)
        return false;
    target[n] = '\0';
    if (snprintf(joined, sizeof(joined), "%s/" STR_FMT, target, STR_ARG(rest)) >=
        (int)sizeof(joined))
        return false;
    if (target[0] == '/')
        w->n = 0;
    else
        walk_pop(w);
    w->done[w->n] = '\0';
    memcpy(w->rest, joined, strlen(joined) + 1);
    return true;
}

/* Resolves the symlinks that exist inside. Returns false if that is not possible; otherwise `done`
 * is the path, whether it exists or not. */
static bool walk_inside(const struct denied_look *look, struct denied_walk *w)
{
    struct str part, rest;
    size_t n = strlen(look->path);
    w->n = 0;
    w->links = 0;
    w->done[0] = '\0';
    if (n >= sizeof(w->rest))
        return false;
    memcpy(w->rest, look->path, n + 1);
    rest = str_z(w->rest);
    while (lexical_next(&rest, &part)) {
        struct stat st;
        if (str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            walk_pop(w);
            continue;
        }
        if (!walk_push(w, part))
            return false;
        if (look->entry && rest.n == 0)
            break;
        AUTO_FD int fd = open_inside(look->root, w->done, O_NOFOLLOW);
        if (fd < 0 && errno == ELOOP)
            return false; /* of /proc */
        if (fd < 0 || fstat(fd, &st) != 0 || !S_ISLNK(st.st_mode))
            continue;
        if (!walk_follow(w, fd, rest))
            return false;
        rest = str_z(w->rest);
    }
    if (w->n == 0)
        memcpy(w->done, "/", sizeof("/"));
    w->n = strlen(w->done);
    return true;
}

/* Outside ------------------------------------------------------------------------------------- */

static bool exists_outside(const struct denied_look *look, const char *path)
{
    struct stat st;
    AUTO_FD int fd = outside_open(look->outside, path, &st);
    return fd >= 0;
}

int denied_path_open(const struct denied_look *look, const char *path, struct stat *ret_st)
{
    int fd = open_inside(look->root, path, 0);
    if (fd >= 0 && fstat(fd, ret_st) != 0)
        auto_fd(&fd);
    return fd >= 0 ? fd : outside_open(look->outside, path, ret_st);
}

bool denied_path_is_inside(const struct denied_look *look, const char *path)
{
    AUTO_FD int fd = open_inside(look->root, path, 0);
    return fd >= 0;
}

static bool user_may(int fd, int mode)
{
    return faccessat(fd, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

static bool parent_of(const char *path, char parent[PATH_MAX])
{
    ptrdiff_t slash = str_find_last(str_z(path), '/');
    if (slash < 0)
        return false;
    memcpy(parent, path, (size_t)slash);
    memcpy(parent + slash, slash == 0 ? "/" : "", slash == 0 ? 2 : 1);
    return true;
}

/* Whether a write would have had an effect outside: to a file that exists, or a new one in a
 * directory that does. */
static bool could_write(const struct denied_look *look, const char *path, bool *ret_own)
{
    char parent[PATH_MAX];
    struct stat st;
    AUTO_FD int file = outside_open(look->outside, path, &st);
    if (file >= 0 && !look->entry) {
        *ret_own = !user_may(file, W_OK);
        return !S_ISDIR(st.st_mode);
    }
    if ((file < 0 && !look->creates) || !parent_of(path, parent))
        return false;
    AUTO_FD int dir = outside_open(look->outside, parent, &st);
    *ret_own = dir >= 0 && !user_may(dir, W_OK);
    return dir >= 0 && S_ISDIR(st.st_mode);
}

/* Optional files ------------------------------------------------------------------------------ */

/* Names of files that programs read if they exist, and of caches that they write if they can. */
bool denied_path_is_optional(struct str path)
{
    static const char *const names[] = {"pyvenv.cfg", "ld.so.preload", "gitconfig", "bash.bashrc",
        "profile", "inputrc", "nsswitch.conf", "gai.conf", "host.conf", "locale-archive",
        "openssl.cnf", "passwd", "group", "localtime", "vimrc", "nanorc", "wgetrc", "npmrc",
        "pip.conf", "ssh_config", "mailcap", "mime.types", "magic", "os-release", "debian_version",
        "papersize", "environment", "machine-id"};
    static const char *const trees[] = {"/proc", "/sys", "/dev", "/run", "/var/cache",
        "/usr/lib/locale", "/usr/share/locale", "/usr/local/share/locale", "/etc/terminfo",
        "/lib/terminfo", "/usr/share/terminfo", "/usr/share/zoneinfo"};
    struct str rest = path, part, last = {0};
    for (size_t i = 0; i < ARRAY_LEN(trees); i++)
        if (lexical_is_below(str_z(trees[i]), path))
            return true;
    while (lexical_next(&rest, &part))
        last = part;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(last, names[i]))
            return true;
    /* Settings: ~/.bashrc, .gitconfig, ~/.config/x */
    rest = path;
    while (lexical_next(&rest, &part))
        if (str_is(part, ".config") || str_is(part, ".cache") || str_is(part, ".local"))
            return true;
    return last.n > 2 && last.p[0] == '.' &&
           (str_ends_with(last, STR("rc")) || str_ends_with(last, STR("profile")) ||
               str_ends_with(last, STR("config")) || str_ends_with(last, STR(".conf")) ||
               str_ends_with(last, STR("_history")) || str_ends_with(last, STR(".ini")));
}

/* Whether a step shows something at or below a path. */
static bool plan_shows_below(const struct plan *plan, struct str path)
{
    size_t low = 0, high = plan->n_steps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan_path_order(plan->steps[middle].at, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->n_steps && lexical_is_below(path, plan->steps[low].at);
}

/* A name in a private directory for temporary files: the command expects its own there, and the
 * host's files of the same name are not those. Unless it was given the name, or its directory there
 * contains something that is shown. */
static bool denied_path_is_private(
    const struct denied_look *look, const struct plan_step *step, struct str path)
{
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};
    bool temporary = false;
    if (look->named || !step || step->kind != PLAN_TMPFS)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        temporary |= str_is(step->at, places[i]);
    if (!temporary || path.n <= step->at.n)
        return temporary;
    size_t end = step->at.n + 1;
    while (end < path.n && path.p[end] != '/')
        end++;
    return !plan_shows_below(look->plan, str_head(path, end));
}

/* Caches that Python writes if it can. */
static bool is_cache(struct str path)
{
    struct str part;
    while (lexical_next(&path, &part))
        if (str_is(part, "__pycache__"))
            return true;
    return false;
}

/* Judging ------------------------------------------------------------------------------------- */

static bool step_hides(const struct plan_step *step)
{
    return step && (step->kind == PLAN_COVER || step->kind == PLAN_MASK);
}

static bool is_missing(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == EACCES;
}

static bool judge_read(
    const struct denied_look *look, const struct plan_step *step, struct denied_verdict *v)
{
    struct stat st;
    v->rule = step_hides(step) ? DENIED_HIDDEN : DENIED_NOT_SHOWN;
    if (step_hides(step))
        return step->kind == PLAN_COVER;
    AUTO_FD int fd = open_inside(look->root, v->target, 0);
    if (fd >= 0 || !is_missing(errno))
        return false;
    AUTO_FD int file = outside_open(look->outside, v->target, &st);
    v->own = file >= 0 && !user_may(file, R_OK);
    return file >= 0;
}

/* A private directory has none of the directories and files of the host. */
static bool denied_path_is_writable(
    const struct denied_look *look, const struct plan_step *step, const char *path)
{
    char parent[PATH_MAX];
    if (!(step_access(step) & PLAN_WRITE))
        return false;
    if (step->kind != PLAN_TMPFS || !parent_of(path, parent))
        return true;
    AUTO_FD int fd = open_inside(look->root, look->creates ? parent : path, 0);
    return fd >= 0 || !is_missing(errno);
}

static bool judge_write(
    const struct denied_look *look, const struct plan_step *step, struct denied_verdict *v)
{
    AUTO_FD int inside = look->fresh ? open_inside(look->root, v->target, O_NOFOLLOW) : -1;
    if (inside >= 0 || denied_path_is_writable(look, step, v->target) ||
        !could_write(look, v->target, &v->own))
        return false;
    if (step && step->kept && !step_hides(step))
        v->optional = false; /* also settings of other programs: the file stays as it was */
    if (step_hides(step))
        v->rule = DENIED_HIDDEN;
    else if (step && step->kept)
        v->rule = DENIED_KEPT;
    else if (step && step->kind != PLAN_TMPFS && step_access(step) & PLAN_READ)
        v->rule = DENIED_READ_ONLY;
    else
        v->rule = DENIED_NOT_SHOWN;
    return true;
}

static bool judge_exec(
    const struct denied_look *look, const struct plan_step *step, struct denied_verdict *v)
{
    struct stat st;
    AUTO_FD int fd = open_inside(look->root, v->target, 0);
    if (fd >= 0 && step_access(step) & PLAN_EXEC)
        return false;
    AUTO_FD int file = fd >= 0 ? -1 : outside_open(look->outside, v->target, &st);
    bool known = fd >= 0 ? fstat(fd, &st) == 0 : file >= 0;
    v->rule = DENIED_NOT_LISTED;
    return known && S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* The usual cases, without resolving symlinks step by step. Where a directory of the host is shown,
 * its symlinks are the same inside and outside. */
static bool is_plainly_fine(const struct denied_look *look)
{
    struct str path = str_z(look->path);
    const struct plan_step *step = denied_path_step(look->plan, path);
    /* A new file in /tmp */
    if (look->creates && step && step->kind == PLAN_TMPFS &&
        str_find_last(path, '/') == (ptrdiff_t)step->at.n)
        return true;
    if (look->op == DENIED_EXEC)
        return str_eq(path, look->plan->command);
    if (look->op != DENIED_READ)
        return false;
    if (step_hides(step))
        return false;
    AUTO_FD int fd = open_inside(look->root, look->path, 0);
    if (fd >= 0 || !is_missing(errno))
        return true;
    return step && step->kind == PLAN_BIND && str_eq(step->at, step->text) &&
           !exists_outside(look, look->path);
}

/* Apart from its caller, which rarely needs this much of the stack. */
__attribute__((noinline)) static bool judge_resolved(
    const struct denied_look *look, struct denied_verdict *v)
{
    struct denied_walk w;
    if (!walk_inside(look, &w))
        return false;
    const struct plan_step *step = denied_path_step(look->plan, str_n(w.done, w.n));
    if ((step && step->kind == PLAN_PROC) || is_cache(str_n(w.done, w.n)) ||
        denied_path_is_private(look, step, str_n(w.done, w.n)))
        return false;
    v->own = false;
    memcpy(v->target, w.done, w.n + 1);
    v->optional = look->op != DENIED_EXEC && denied_path_is_optional(str_n(w.done, w.n));
    switch (look->op) {
    case DENIED_READ:
        return judge_read(look, step, v);
    case DENIED_WRITE:
        return judge_write(look, step, v);
    default:
        return judge_exec(look, step, v);
    }
}

bool denied_path_judge(const struct denied_look *look, struct denied_verdict *v)
{
    return !is_plainly_fine(look) && judge_resolved(look, v);
}
