/* Writes the index without some submodules: entries are copied unchanged, except the names of
 * version 4, each of which depends on the previous one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitlink.h"

#include "io/file.h"
#include "path/beneath.h"
#include "repo/gitindex.h"
#include "repo/gitname.h"
#include "repo/quarantine.h"
#include "repo/sha1.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define HELD_DIR  PARTS_HELD
#define HELD_NAME "gitlinks"
#define LOCK_NAME "index.lock"

enum {
    HEAD = 12,
    COUNT_AT = 8,
    LINES_MAX = 64 << 20,
};

_Static_assert((int)GITINDEX_SHA1 == (int)SHA1_BYTES, "one number");

/* The bytes ---------------------------------------------------------------------------------------
 */

struct gitlink_rewrite {
    struct buf *out;   /* NULL: dry run */
    struct buf *lines; /* lines for the removed entries; NULL: not wanted */
    struct buf last;   /* name of the last entry that was kept */
    bool differs;      /* the previous entry is not the one that was kept last */
    uint32_t kept, dropped;
};

static void gitlink_rewrite_done(struct gitlink_rewrite *w)
{
    buf_done(&w->last);
}

/* git's variable-length encoding: seven bits per byte, and each further byte adds one. */
static void gitlink_add_varint(struct buf *out, size_t n)
{
    char bytes[16];
    size_t at = sizeof(bytes) - 1;
    bytes[at] = (char)(n & 0x7f);
    while (n >>= 7)
        bytes[--at] = (char)(0x80 | (--n & 0x7f));
    buf_add(out, bytes + at, sizeof(bytes) - at);
}

static void add_short_name(struct gitlink_rewrite *w, struct str name)
{
    struct str last = buf_str(&w->last);
    size_t same = 0;
    while (same < last.n && same < name.n && last.p[same] == name.p[same])
        same++;
    gitlink_add_varint(w->out, last.n - same);
    buf_add_str(w->out, str_skip(name, same));
    buf_add_byte(w->out, '\0');
}

static void gitlink_keep_entry(
    struct gitlink_rewrite *w, const struct gitindex_entry *e, uint32_t version)
{
    w->kept++;
    if (!w->out)
        return;
    if (version == 4 && w->differs) {
        buf_add_str(w->out, e->head);
        add_short_name(w, e->name);
    } else {
        buf_add_str(w->out, e->all);
    }
    w->differs = false;
    if (version == 4) {
        buf_reset(&w->last);
        buf_add_str(&w->last, e->name);
    }
}

static void gitlink_drop_entry(struct gitlink_rewrite *w, const struct gitindex_entry *e)
{
    w->dropped++;
    w->differs = true;
    if (!w->lines)
        return;
    buf_add_z(w->lines, "160000 ");
    for (size_t i = 0; i < e->id.n; i++)
        buf_printf(w->lines, "%02x", (unsigned char)e->id.p[i]);
    if (e->stage)
        buf_printf(w->lines, " %u", e->stage);
    buf_add_byte(w->lines, '\t');
    gitname_add(w->lines, "", e->name);
    buf_add_byte(w->lines, '\n');
}

/* A capital first letter marks optional extensions. */
static bool keep_extension(
    struct gitlink_rewrite *w, const struct gitindex_extension *x, struct err *err)
{
    if (x->name.p[0] >= 'A' && x->name.p[0] <= 'Z')
        return true;
    if (str_is(x->name, "link"))
        return err_set(err, E_CONFLICT,
            "git's index is split, and cannot be changed; run 'git update-index "
            "--no-split-index' first");
    if (!str_is(x->name, "sdir"))
        return err_set(
            err, E_CONFLICT, "git's index has an unknown extension, and cannot be changed");
    if (w->out)
        buf_add_str(w->out, x->all);
    return true;
}

static int gitlink_compare_paths(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool gitlink_is_listed(const struct gitlink_paths *paths, const struct gitindex_entry *e)
{
    return (e->mode & GITINDEX_TYPE) == GITINDEX_GITLINK && paths->n &&
           bsearch(&e->name, paths->p, paths->n, sizeof(*paths->p), gitlink_compare_paths);
}

static bool rewrite_entries(struct gitlink_rewrite *w, struct gitindex_reader *r,
    const struct gitlink_paths *paths, struct err *err)
{
    struct gitindex_entry entry;
    bool nameless = false;
    while (r->left) {
        if (!gitindex_entry(r, &entry, err))
            return false;
        nameless |= entry.name.n == 0;
        if (gitlink_is_listed(paths, &entry))
            gitlink_drop_entry(w, &entry);
        else
            gitlink_keep_entry(w, &entry, r->version);
    }
    while (!gitindex_at_end(r)) {
        struct gitindex_extension extension;
        if (!gitindex_extension(r, &extension, err) || !keep_extension(w, &extension, err))
            return false;
    }
    if (r->in.n - r->at != r->hash)
        return gitindex_damaged(err, "its end is damaged");
    return !nameless || gitindex_damaged(err, "an entry has no name");
}

static void gitlink_finish_index(struct buf *out, size_t start, uint32_t n)
{
    unsigned char hash[SHA1_BYTES];
    if (!buf_ok(out))
        return;
    for (size_t i = 0; i < 4; i++)
        out->p[start + COUNT_AT + i] = (char)(n >> (24 - 8 * i));
    sha1_hash(str_skip(buf_str(out), start), hash);
    buf_add(out, hash, sizeof(hash));
}

static bool rewrite_with(size_t hash, struct gitlink_rewrite *w, struct str index,
    const struct gitlink_paths *paths, struct err *err)
{
    AUTO_GITINDEX struct gitindex_reader r = {0};
    size_t start = w->out ? w->out->n : 0;
    w->last = BUF_INIT(GITINDEX_NAME_MAX);
    if (!gitindex_start(index, hash, &r, err))
        return false;
    if (w->out)
        buf_add_str(w->out, str_head(index, HEAD));
    if (!rewrite_entries(w, &r, paths, err))
        return false;
    if (w->out)
        gitlink_finish_index(w->out, start, w->kept);
    if ((w->out && !buf_ok(w->out)) || (w->lines && !buf_ok(w->lines)))
        return err_set(err, E_IO, "git's index is too large to be changed");
    return true;
}

/* Tries both hash algorithms: an index that can be read both ways was crafted for that. */
static bool gitlink_inspect(
    struct str index, const struct gitlink_paths *paths, bool *ret_dropped, struct err *err)
{
    AUTO(gitlink_rewrite_done) struct gitlink_rewrite one = {0}, two = {0};
    AUTO_ERR struct err other = {0};
    bool short_fits = rewrite_with(GITINDEX_SHA1, &one, index, paths, err);
    bool long_fits = rewrite_with(GITINDEX_SHA256, &two, index, paths, &other);
    if (short_fits && long_fits && (one.kept || one.dropped))
        return err_set(
            err, E_CONFLICT, "git's index is ambiguous: it can be read with two hash sizes");
    if (!short_fits && !long_fits)
        return other.code == E_CONFLICT ? err_move(err, &other) : false;
    if (!short_fits)
        err_done(err);
    if (!short_fits && two.dropped)
        return err_set(err, E_CONFLICT,
            "git's index has a submodule and uses SHA-256, and cannot be changed; remove the "
            "submodule with 'git rm --cached'");
    *ret_dropped = one.dropped > 0;
    return true;
}

static bool remove_links(struct str index, const struct gitlink_paths *paths, struct buf *out,
    struct buf *lines, bool *ret_dropped, struct err *err)
{
    AUTO(gitlink_rewrite_done) struct gitlink_rewrite w = {.out = out, .lines = lines};
    bool dropped = false;
    if (!gitlink_inspect(index, paths, &dropped, err))
        return false;
    if (dropped && !rewrite_with(GITINDEX_SHA1, &w, index, paths, err))
        return false;
    *ret_dropped = dropped;
    return true;
}

bool gitlink_remove(struct str index, const struct gitlink_paths *paths, struct buf *out,
    bool *ret_dropped, struct err *err)
{
    return remove_links(index, paths, out, NULL, ret_dropped, err);
}

/* The files ---------------------------------------------------------------------------------------
 */

struct gitlink_job {
    int git_fd;
    const struct gitlink_paths *paths;
    struct stat st; /* of the index */
    struct buf in, out, lines;
};

static void gitlink_job_done(struct gitlink_job *d)
{
    buf_done(&d->in);
    buf_done(&d->out);
    buf_done(&d->lines);
}

static int open_beneath(int dir_fd, const char *name, int flags)
{
    return beneath_open(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK, 0600, BENEATH_NO_SYMLINKS);
}

/* Reads the index and computes the new one. */
static bool gitlink_prepare(struct gitlink_job *d, bool *ret_dropped, struct err *err)
{
    bool dropped = false;
    buf_reset(&d->in);
    buf_reset(&d->out);
    buf_reset(&d->lines);
    AUTO_FD int fd = open_beneath(d->git_fd, "index", O_RDONLY);
    if (fd < 0 && errno == ENOENT) {
        *ret_dropped = false;
        return true;
    }
    if (fd < 0 || fstat(fd, &d->st) != 0)
        return err_errno(err, E_IO, errno, "cannot read git's index");
    if (!S_ISREG(d->st.st_mode))
        return err_set(err, E_IO, "git's index is not a regular file");
    if (d->st.st_size > GITLINK_INDEX_MAX)
        return err_set(err, E_IO, "git's index is larger than %d bytes", GITLINK_INDEX_MAX);
    if (!file_read(fd, GITLINK_INDEX_MAX, "index", &d->in, err) ||
        !remove_links(buf_str(&d->in), d->paths, &d->out, &d->lines, &dropped, err))
        return false;
    *ret_dropped = dropped;
    return true;
}

/* A file with a second hard link may be a file of the user's elsewhere. */
static int gitlink_open_list(int dir_fd)
{
    struct stat st;
    AUTO_FD int fd = open_beneath(dir_fd, HELD_NAME, O_WRONLY | O_APPEND | O_CREAT);
    bool plain = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
    return plain ? TAKE_FD(fd) : -1;
}

/* Anything else in the place of the list is renamed. */
static int gitlink_open_held(int git_fd, struct err *err)
{
    AUTO_BUF struct buf ignored = BUF_INIT(NAME_MAX + 1);
    AUTO_FD int dir_fd = quarantine_open(git_fd);
    int fd = dir_fd >= 0 ? gitlink_open_list(dir_fd) : -1;
    if (fd < 0 && dir_fd >= 0 && quarantine_beside(dir_fd, HELD_NAME, &ignored) == 0)
        fd = gitlink_open_list(dir_fd);
    if (fd < 0)
        err_errno(
            err, E_IO, errno, "cannot write '" HELD_DIR "/" HELD_NAME "' in the git directory");
    return fd;
}

static bool gitlink_save_lines(const struct gitlink_job *d, struct err *err)
{
    AUTO_FD int fd = gitlink_open_held(d->git_fd, err);
    if (fd < 0 || !file_write(fd, buf_str(&d->lines), HELD_DIR "/" HELD_NAME, err))
        return false;
    return fsync(fd) == 0 ||
           err_errno(err, E_IO, errno, "cannot write '" HELD_DIR "/" HELD_NAME "'");
}

/* Copies owner, group and mode of the old index; as a normal user, the owner is the same or can't
 * be changed. */
static bool fill_lock(const struct gitlink_job *d, int fd, struct err *err)
{
    bool same = fchown(fd, d->st.st_uid, d->st.st_gid) == 0;
    mode_t mode = d->st.st_mode & (same ? 0777 : 0707);
    if (!file_write(fd, buf_str(&d->out), LOCK_NAME, err))
        return false;
    return (fchmod(fd, mode) == 0 && fsync(fd) == 0) ||
           err_errno(err, E_IO, errno, "cannot write git's '" LOCK_NAME "'");
}

static bool lock_is_ours(int git_fd, int fd)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && fstatat(git_fd, LOCK_NAME, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Called with the lock held. */
static bool gitlink_replace_index(
    struct gitlink_job *d, int lock_fd, bool *ret_dropped, struct err *err)
{
    bool dropped = false;
    if (!gitlink_prepare(d, &dropped, err))
        return false;
    if (dropped) {
        if (!fill_lock(d, lock_fd, err) || !gitlink_save_lines(d, err))
            return false;
        if (!lock_is_ours(d->git_fd, lock_fd))
            return err_set(err, E_CONFLICT, "git's '" LOCK_NAME "' was replaced in the meantime");
        if (renameat(d->git_fd, LOCK_NAME, d->git_fd, "index") != 0)
            return err_errno(err, E_IO, errno, "cannot replace git's index");
    }
    *ret_dropped = dropped;
    return true;
}

bool gitlink_drop(int git_fd, const struct gitlink_paths *paths, bool *ret_dropped, struct err *err)
{
    AUTO(gitlink_job_done)
    struct gitlink_job d = {.git_fd = git_fd,
        .paths = paths,
        .in = BUF_INIT((size_t)GITLINK_INDEX_MAX + 1),
        .out = BUF_INIT((size_t)GITLINK_INDEX_MAX + 1),
        .lines = BUF_INIT(LINES_MAX)};
    bool dropped = false;
    if (!gitlink_prepare(&d, &dropped, err))
        return false;
    if (!dropped) {
        *ret_dropped = false;
        return true;
    }
    AUTO_FD int lock_fd = open_beneath(git_fd, LOCK_NAME, O_WRONLY | O_CREAT | O_EXCL);
    if (lock_fd < 0 && (errno == EEXIST || errno == ELOOP))
        return err_set(err, E_CONFLICT,
            "the index is locked: another git process is running, or left '" LOCK_NAME "' behind");
    if (lock_fd < 0)
        return err_errno(err, E_IO, errno, "cannot create git's '" LOCK_NAME "'");
    bool ok = gitlink_replace_index(&d, lock_fd, ret_dropped, err);
    /* After the rename, the name is unused or belongs to another process. */
    if (lock_is_ours(git_fd, lock_fd))
        unlinkat(git_fd, LOCK_NAME, 0);
    return ok;
}
