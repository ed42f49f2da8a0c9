/* Files of interrupted sessions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/unfinished.h"

#include "base/id.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/lexical.h"
#include "path/private.h"
#include "repo/protect_state.h"
#include "repo/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

enum {
    TEMP_SECONDS = 60,
    DAY_SECONDS = 24 * 60 * 60,
    TRIES = 5,
};

/* Opens the directory of the files; -1: it is missing, or not writable by the user only. */
static int unfinished_open_dir(const struct protect *p, bool make)
{
    struct stat st;
    if (!p->options.sessions || p->options.idle || (make && !private_make(p->options.sessions)))
        return -1;
    AUTO_FD int dir = open(p->options.sessions, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir >= 0 && fstat(dir, &st) == 0 && private_is(&st) ? TAKE_FD(dir) : -1;
}

static bool unfinished_is_foreign(const struct protect *p)
{
    struct stat st;
    int errnum = errno;
    bool foreign = lstat(p->options.sessions, &st) == 0 && S_ISDIR(st.st_mode) && !private_is(&st);
    errno = errnum;
    return foreign;
}

/* Writing ---------------------------------------------------------------------------------------
 */

/* The file is locked and complete before it gets its name. */
static bool unfinished_write_file(struct protect *p, int dir, struct str text)
{
    char id[ID_SIZE], temp[ID_SIZE + 8];
    id_new(id);
    snprintf(temp, sizeof(temp), ".%s", id);
    const struct replace_options o = {.dir = dir, .name = id, .temp = temp, .mode = 0600};
    AUTO_REPLACE struct replace r = REPLACE_NONE;
    if (!replace_open(&r, &o) || flock(r.fd, LOCK_EX | LOCK_NB) != 0 || !replace_write(&r, text) ||
        !replace_commit(&r))
        return false;
    p->session = arena_strdup(&p->arena, str_z(id));
    p->session_fd = TAKE_FD(r.fd);
    return true;
}

static const char *unfinished_home(const struct protect *p, struct arena *a)
{
    struct str path = str_z(p->options.sessions);
    return arena_strdup(a, str_head(path, (size_t)MAX(str_find_last(path, '/'), (ptrdiff_t)0)));
}

static bool unfinished_home_exists(struct protect *p)
{
    struct stat st;
    return lstat(unfinished_home(p, &p->arena), &st) == 0;
}

/* Empty directories are not left behind. */
static void unfinished_remove_dirs(struct protect *p)
{
    if (rmdir(p->options.sessions) == 0 && p->made_home)
        rmdir(unfinished_home(p, &p->arena));
}

void unfinished_write(struct protect *p)
{
    AUTO_BUF struct buf text = BUF_INIT(PROTECT_STATE_BYTES_MAX);
    if (!p->options.sessions || p->options.idle || p->n_roots == 0 || p->session)
        return;
    p->unkept = NULL;
    if (!protect_state_write(p, &text)) {
        p->unkept = "it is too large";
        return;
    }
    p->made_home = !unfinished_home_exists(p);
    bool written = false;
    for (int i = 0; !written && i < TRIES; i++) {
        AUTO_FD int dir =
            unfinished_open_dir(p, true); /* another session may remove it until we have a file */
        written = dir >= 0 && unfinished_write_file(p, dir, buf_str(&text));
    }
    if (!written)
        p->unkept = unfinished_is_foreign(p)
                        ? "the directory belongs to another user, or others can write to it, and "
                          "interrupted sessions are not searched for there either"
                        : arena_printf(&p->arena, "%s", strerror(errno));
}

void unfinished_remove(struct protect *p)
{
    AUTO_FD int dir = p->session && !p->unchecked ? unfinished_open_dir(p, false) : -1;
    if (dir >= 0 && unlinkat(dir, p->session, 0) == 0)
        unfinished_remove_dirs(p);
    if (p->session)
        close(TAKE_FD(p->session_fd));
    p->session = NULL;
}

/* Checking --------------------------------------------------------------------------------------
 */

/* The file of an interrupted session. */
struct unfinished_file {
    int dir;
    const char *name;
    struct stat st;
    struct str text;
    struct protect_state_roots roots;
};

/* Relevance of a file to these roots. */
enum concern {
    CONCERN_NONE,
    CONCERN_OURS,    /* one of its roots is one of these, above or below */
    CONCERN_OTHER,   /* another directory now has the path of one of its roots */
    CONCERN_GONE,    /* none of its roots exists any more */
    CONCERN_UNCLEAR, /* it can't be read */
};

static bool is_related(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path) || lexical_is_below(path, p->roots[i].path))
            return true;
    return false;
}

static bool unfinished_is_moved(const struct protect *p, const struct protect_state_root *root)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (protect_state_id_matches(p->roots[i].fd, &root->id, true))
            return true;
    return false;
}

static enum concern concern_of(const struct protect *p, const struct unfinished_file *f)
{
    enum concern concern = CONCERN_GONE;
    for (size_t i = 0; i < f->roots.n; i++) {
        const struct protect_state_root *root = &f->roots.p[i];
        struct stat st;
        AUTO_FD int fd = open(root->path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool same = fd >= 0 && protect_state_id_matches(fd, &root->id, false);
        if (unfinished_is_moved(p, root) || (same && is_related(p, root->path)))
            return CONCERN_OURS;
        if (!same && is_related(p, root->path) && lstat(root->path.p, &st) == 0)
            concern = CONCERN_OTHER;
        else if (concern == CONCERN_GONE && lstat(root->path.p, &st) == 0)
            concern = CONCERN_NONE;
    }
    return concern;
}

/* Warns about roots that are missing now: their part of the file is deleted with it. */
static void unfinished_warn_missing(
    struct protect *p, const struct protect *old, const struct unfinished_file *f)
{
    for (size_t i = 0; old->n_roots < f->roots.n && i < f->roots.n; i++) {
        bool found = false;
        for (size_t k = 0; k < old->n_roots; k++)
            found |= protect_state_id_matches(old->roots[k].fd, &f->roots.p[i].id, false);
        if (!found)
            known_warn(p,
                "an interrupted session could write " STR_FMT
                ", which no longer exists or was replaced: check its git repositories yourself",
                STR_ARG(f->roots.p[i].path));
    }
}

/* Copies lines about parts that no mount protected. */
static void unfinished_copy_lines(struct protect *p, const struct protect *old)
{
    AUTO_BUF struct buf text = BUF_INIT(WATCH_LINES_MAX);
    struct str line, rest;
    watch_print(old, &text);
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        known_warn(p, STR_FMT, STR_ARG(line));
}

static bool unfinished_check_session(struct protect *p, const struct unfinished_file *f)
{
    const struct protect_options options = p->options;
    struct protect *old = known_new(&options);
    bool ok = protect_state_read(old, p, f->text);
    if (ok) {
        protect_check(old);
        p->cut |= old->cut;
        for (size_t i = 0; i < old->n_held; i++)
            protect_add_held(p, &old->held[i]);
        p->n_unnamed += old->n_unnamed;
        for (size_t i = 0; i < old->n_roots; i++)
            for (size_t k = 0; k < old->roots[i].scan.n_foreign; k++)
                known_warn(p,
                    STR_FMT
                    "/" STR_FMT
                    " was not mounted when a session was interrupted: repositories in it were not "
                    "searched",
                    STR_ARG(old->roots[i].path), STR_ARG(old->roots[i].scan.foreign[k]));
        unfinished_warn_missing(p, old, f);
        unfinished_copy_lines(p, old);
    }
    protect_free(old);
    return ok;
}

/* Files that stay are reported in each session that they may concern. */
static void unfinished_warn_file(
    struct protect *p, const struct unfinished_file *f, const char *why)
{
    known_warn(p,
        "a session was interrupted, and its changes were not checked because %s: check "
        "the git repositories that it could write (hooks, .git/config), then delete %s/%s",
        why, p->options.sessions, f->name);
}

static bool unfinished_is_old(const struct unfinished_file *f)
{
    return time(NULL) - f->st.st_mtim.tv_sec > (time_t)UNFINISHED_DAYS * DAY_SECONDS;
}

static void unfinished_check_text(
    struct protect *p, const struct unfinished_file *f, enum concern concern)
{
    bool own = private_is(&f->st);
    bool checked = concern == CONCERN_OURS && own && unfinished_check_session(p, f);
    if (concern == CONCERN_UNCLEAR || (concern == CONCERN_OURS && own && !checked))
        unfinished_warn_file(p, f, "its file is damaged or from another version of cordon");
    else if (concern == CONCERN_OTHER)
        unfinished_warn_file(p, f, "the directory was replaced");
    else if (concern == CONCERN_OURS && !own)
        unfinished_warn_file(p, f, "its file belongs to another user");
    if (checked || (concern != CONCERN_NONE && own && unfinished_is_old(f)))
        unlinkat(f->dir, f->name, 0);
}

/* A file whose lock is free belongs to an interrupted session. While we hold the lock, no other
 * session checks it. An incompletely written file has no name yet: no command had started. */
static void unfinished_check_file(struct protect *p, int dir, const char *name)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)PROTECT_STATE_BYTES_MAX);
    struct unfinished_file f = {.dir = dir, .name = name};
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && name[0] != '.' &&
        fstatat(dir, name, &f.st, AT_SYMLINK_NOFOLLOW) == 0)
        known_warn(p,
            "a session of another user (%u) is running or was interrupted, and its file %s/%s "
            "cannot be read: if it was interrupted, run cordon once as that user in the same "
            "directory",
            f.st.st_uid, p->options.sessions, name);
    if (fd < 0 || fstat(fd, &f.st) != 0 || !S_ISREG(f.st.st_mode) ||
        flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &f.st) != 0 || f.st.st_nlink == 0)
        return;
    if (name[0] == '.') {
        if (private_is(&f.st) && time(NULL) - f.st.st_mtim.tv_sec > TEMP_SECONDS)
            unlinkat(dir, name, 0);
        return;
    }
    bool whole = file_read(fd, PROTECT_STATE_BYTES_MAX, name, &text, &ignored);
    f.text = buf_str(&text);
    unfinished_check_text(p, &f,
        whole && protect_state_roots(f.text, &f.roots) ? concern_of(p, &f) : CONCERN_UNCLEAR);
}

void unfinished_check(struct protect *p)
{
    AUTO_DIR struct dir d = DIR_INIT(UNFINISHED_FILES_MAX);
    if (!dir_take(&d, unfinished_open_dir(p, false)))
        return;
    while (dir_next(&d))
        if (id_valid(str_z(d.name + (d.name[0] == '.'))))
            unfinished_check_file(p, d.fd, d.name);
    if (!dir_complete(&d))
        known_warn(p,
            "%s holds more than %d files of interrupted sessions, and not all were checked: "
            "delete those of projects that you have checked",
            p->options.sessions, UNFINISHED_FILES_MAX);
}
