/* Files of interrupted sessions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/unfinished.h"

#include "base/id.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/lexical.h"
#include "path/private.h"
#include "repo/state.h"
#include "repo/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

enum {
    TEMP_SECONDS = 60,
    DAY_SECONDS = 24 * 60 * 60,
    TRIES = 5,
};

/* Opens the directory of the files; -1: it is missing, or not writable by the user only. */
static int open_dir(const struct protect *p, bool make)
{
    struct stat st;
    if (!p->options.sessions || p->options.idle || (make && !private_make(p->options.sessions)))
        return -1;
    AUTO_FD int dir = open(p->options.sessions, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir >= 0 && fstat(dir, &st) == 0 && private_is(&st) ? TAKE_FD(dir) : -1;
}

static bool is_foreign(const struct protect *p)
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
static bool write_file(struct protect *p, int dir, struct str text)
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

static const char *home_of(const struct protect *p, struct arena *a)
{
    struct str path = str_z(p->options.sessions);
    return arena_strdup(a, str_head(path, (size_t)MAX(str_find_last(path, '/'), (ptrdiff_t)0)));
}

static bool home_is_there(struct protect *p)
{
    struct stat st;
    return lstat(home_of(p, &p->arena), &st) == 0;
}

/* Empty directories are not left behind. */
static void remove_dirs(struct protect *p)
{
    if (rmdir(p->options.sessions) == 0 && p->made_home)
        rmdir(home_of(p, &p->arena));
}

void unfinished_note(struct protect *p)
{
    AUTO_BUF struct buf text = BUF_INIT(STATE_BYTES_MAX);
    if (!p->options.sessions || p->options.idle || p->n_roots == 0 || p->session)
        return;
    p->unkept = NULL;
    if (!state_write(p, &text)) {
        p->unkept = "it is too large";
        return;
    }
    p->made_home = !home_is_there(p);
    bool written = false;
    for (int i = 0; !written && i < TRIES; i++) {
        AUTO_FD int dir =
            open_dir(p, true); /* another session may remove it until we have a file */
        written = dir >= 0 && write_file(p, dir, buf_str(&text));
    }
    if (!written)
        p->unkept = is_foreign(p) ? "it is another user's, or others can write it, and sessions "
                                    "that were cut off are not looked for there either"
                                  : arena_printf(&p->arena, "%s", strerror(errno));
}

void unfinished_end(struct protect *p)
{
    AUTO_FD int dir = p->session && !p->unchecked ? open_dir(p, false) : -1;
    if (dir >= 0 && unlinkat(dir, p->session, 0) == 0)
        remove_dirs(p);
    if (p->session)
        close(TAKE_FD(p->session_fd));
    p->session = NULL;
}

/* Checking --------------------------------------------------------------------------------------
 */

/* The file of an interrupted session. */
struct file {
    int dir;
    const char *name;
    struct stat st;
    struct str text;
    struct state_roots roots;
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

static bool is_moved(const struct protect *p, const struct state_root *root)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (state_is(p->roots[i].fd, &root->id, true))
            return true;
    return false;
}

static enum concern concern_of(const struct protect *p, const struct file *f)
{
    enum concern concern = CONCERN_GONE;
    for (size_t i = 0; i < f->roots.n; i++) {
        const struct state_root *root = &f->roots.p[i];
        struct stat st;
        AUTO_FD int fd = open(root->path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool same = fd >= 0 && state_is(fd, &root->id, false);
        if (is_moved(p, root) || (same && is_related(p, root->path)))
            return CONCERN_OURS;
        if (!same && is_related(p, root->path) && lstat(root->path.p, &st) == 0)
            concern = CONCERN_OTHER;
        else if (concern == CONCERN_GONE && lstat(root->path.p, &st) == 0)
            concern = CONCERN_NONE;
    }
    return concern;
}

/* Warns about roots that are missing now: their part of the file is deleted with it. */
static void name_missing(struct protect *p, const struct protect *old, const struct file *f)
{
    for (size_t i = 0; old->n_roots < f->roots.n && i < f->roots.n; i++) {
        bool found = false;
        for (size_t k = 0; k < old->n_roots; k++)
            found |= state_is(old->roots[k].fd, &f->roots.p[i].id, false);
        if (!found)
            known_warn(p,
                "a session was cut off that could write " STR_FMT
                ", which is not there or another directory now: look at its git repositories "
                "yourself",
                STR_ARG(f->roots.p[i].path));
    }
}

/* Copies lines about parts that no mount protected. */
static void take_lines(struct protect *p, const struct protect *old)
{
    AUTO_BUF struct buf text = BUF_INIT(WATCH_LINES_MAX);
    struct str line, rest;
    watch_tell(old, &text);
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest))
        known_warn(p, STR_FMT, STR_ARG(line));
}

static bool check_session(struct protect *p, const struct file *f)
{
    const struct protect_options options = p->options;
    struct protect *old = known_new(&options);
    bool ok = state_read(old, p, f->text);
    if (ok) {
        protect_check(old);
        p->cut |= old->cut;
        for (size_t i = 0; i < old->n_held; i++)
            known_report(p, &old->held[i]);
        p->n_unnamed += old->n_unnamed;
        for (size_t i = 0; i < old->n_roots; i++)
            for (size_t k = 0; k < old->roots[i].scan.n_foreign; k++)
                known_warn(p,
                    STR_FMT "/" STR_FMT " was not mounted when a session was cut off: "
                            "repositories in it were not searched",
                    STR_ARG(old->roots[i].path), STR_ARG(old->roots[i].scan.foreign[k]));
        name_missing(p, old, f);
        take_lines(p, old);
    }
    protect_free(old);
    return ok;
}

/* Files that stay are reported in each session that they may concern. */
static void name_file(struct protect *p, const struct file *f, const char *why)
{
    known_warn(p,
        "a session was cut off, and its changes were not looked for, as %s: look at the git "
        "repositories that it could write (hooks, .git/config), then delete %s/%s",
        why, p->options.sessions, f->name);
}

static bool is_old(const struct file *f)
{
    return time(NULL) - f->st.st_mtim.tv_sec > (time_t)UNFINISHED_DAYS * DAY_SECONDS;
}

static void check_text(struct protect *p, const struct file *f, enum concern concern)
{
    bool own = private_is(&f->st);
    bool checked = concern == CONCERN_OURS && own && check_session(p, f);
    if (concern == CONCERN_UNCLEAR || (concern == CONCERN_OURS && own && !checked))
        name_file(p, f, "its file is damaged or of another version of cordon");
    else if (concern == CONCERN_OTHER)
        name_file(p, f, "the directory is not the same one any more");
    else if (concern == CONCERN_OURS && !own)
        name_file(p, f, "its file is another user's");
    if (checked || (concern != CONCERN_NONE && own && is_old(f)))
        unlinkat(f->dir, f->name, 0);
}

/* A file whose lock is free belongs to an interrupted session. While we hold the lock, no other
 * session checks it. An incompletely written file has no name yet: no command had started. */
static void check_file(struct protect *p, int dir, const char *name)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)STATE_BYTES_MAX);
    struct file f = {.dir = dir, .name = name};
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && name[0] != '.' &&
        fstatat(dir, name, &f.st, AT_SYMLINK_NOFOLLOW) == 0)
        known_warn(p,
            "a session of another user (%u) runs or was cut off, and its file %s/%s can't be read: "
            "if it was cut off, start cordon once as that user in the same directory",
            f.st.st_uid, p->options.sessions, name);
    if (fd < 0 || fstat(fd, &f.st) != 0 || !S_ISREG(f.st.st_mode) ||
        flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &f.st) != 0 || f.st.st_nlink == 0)
        return;
    if (name[0] == '.') {
        if (private_is(&f.st) && time(NULL) - f.st.st_mtim.tv_sec > TEMP_SECONDS)
            unlinkat(dir, name, 0);
        return;
    }
    bool whole = file_read(fd, STATE_BYTES_MAX, name, &text, &ignored);
    f.text = buf_str(&text);
    check_text(p, &f, whole && state_roots(f.text, &f.roots) ? concern_of(p, &f) : CONCERN_UNCLEAR);
}

void unfinished_check(struct protect *p)
{
    AUTO_DIR struct dir d = DIR_INIT(UNFINISHED_FILES_MAX);
    if (!dir_take(&d, open_dir(p, false)))
        return;
    while (dir_next(&d))
        if (id_valid(str_z(d.name + (d.name[0] == '.'))))
            check_file(p, d.fd, d.name);
    if (!dir_complete(&d))
        known_warn(p,
            "%s holds more than %d files of sessions that were cut off, and not all were looked "
            "at: delete those of projects that you have looked at",
            p->options.sessions, UNFINISHED_FILES_MAX);
}
