/* Files of lines: locking, reading in pieces, appending. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/line_file.h"

#include "agent/store.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
    CHUNK = 256 * 1024, /* small enough to stay in the CPU cache while it is parsed */
    LOCK_TRIES = 20,
};

/* Lock holder --------------------------------------------------------------------------------- */

/* The process that holds the lock, from /proc/locks: "1: FLOCK ADVISORY WRITE PID MA:MI:INODE 0
 * EOF". 0: unknown. */
static long line_file_lock_holder(const struct stat *st)
{
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    long found = 0;
    FILE *f = fopen("/proc/locks", "re");
    while (f && found == 0 && getline(&line, &cap, f) > 0) {
        long pid;
        unsigned ma, mi;
        unsigned long inode;
        if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%lu", &pid, &ma, &mi, &inode) == 4 &&
            inode == st->st_ino && ma == major(st->st_dev) && mi == minor(st->st_dev))
            found = pid;
    }
    if (f)
        fclose(f);
    /* The process may have passed the descriptor on and exited. */
    bool alive = found > 0 && (kill((pid_t)found, 0) == 0 || errno == EPERM);
    return alive ? found : 0;
}

static bool in_use(const char *path, const struct stat *st, struct err *err)
{
    long pid = line_file_lock_holder(st);
    if (pid) {
        err_set(err, E_CONFLICT,
            "the session '%s' is in use by process %ld: wait until it ends, or fork the "
            "session",
            path, pid);
        return err_ctx_int(err, "pid", pid);
    }
    return err_set(err, E_CONFLICT,
        "the session '%s' is in use by another process: wait until it ends, or fork the "
        "session",
        path);
}

/* Opening ------------------------------------------------------------------------------------- */

static bool line_file_check_file(const struct line_file *t, struct stat *ret_st, struct err *err)
{
    if (fstat(t->fd, ret_st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat '%s'", t->name);
    if (!S_ISREG(ret_st->st_mode))
        return err_set(err, E_CONFIG, "'%s' is not a regular file", t->name);
    if ((uint64_t)ret_st->st_size > STORE_BYTES_MAX)
        return err_set(
            err, E_CONFIG, "'%s' is larger than %d MiB", t->name, (int)(STORE_BYTES_MAX >> 20));
    return true;
}

/* One attempt. *ret_again: the file was removed or replaced between open and lock. */
static bool open_once(
    const char *path, bool for_writing, struct line_file *t, bool *ret_again, struct err *err)
{
    struct stat st, now;
    int flags = for_writing ? O_RDWR | O_APPEND : O_RDONLY;
    t->fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (t->fd < 0)
        return err_errno(err, errno == ENOENT || errno == ENOTDIR ? E_NOT_FOUND : E_IO, errno,
            "cannot open the session '%s'", path);
    if (!line_file_check_file(t, &st, err))
        return false;
    t->size = (uint64_t)st.st_size;
    if (!for_writing)
        return true;
    if (flock(t->fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? in_use(path, &st, err)
                                    : err_errno(err, E_IO, errno, "cannot lock '%s'", path);
    *ret_again = stat(path, &now) != 0 || now.st_ino != st.st_ino || now.st_dev != st.st_dev;
    return line_file_check_file(t, &st, err);
}

bool line_file_open(const char *path, bool for_writing, struct line_file *ret_file, struct err *err)
{
    struct line_file t = LINE_FILE_NONE;
    for (int i = 0; i < LOCK_TRIES; i++) {
        bool again = false;
        t = (struct line_file){.fd = -1, .name = strdup(path), .writable = for_writing};
        BUG_ON(!t.name);
        if (!open_once(path, for_writing, &t, &again, err)) {
            line_file_close(&t);
            return false;
        }
        if (!again) {
            *ret_file = t;
            return true;
        }
        line_file_close(&t);
    }
    return err_set(
        err, E_CONFLICT, "the session '%s' is being replaced repeatedly: try again", path);
}

bool line_file_from_fd(int owned_fd, const char *name, struct line_file *ret_file, struct err *err)
{
    struct line_file t = {.fd = owned_fd, .name = strdup(name)};
    struct stat st;
    BUG_ON(!t.name);
    if (!line_file_check_file(&t, &st, err)) {
        line_file_close(&t);
        return false;
    }
    t.size = (uint64_t)st.st_size;
    *ret_file = t;
    return true;
}

void line_file_close(struct line_file *t)
{
    if (t->fd >= 0)
        close(t->fd);
    free(t->name);
    *t = LINE_FILE_NONE;
}

/* Reading ------------------------------------------------------------------------------------- */

struct line_file_reader {
    struct line_file *file;
    struct buf buf;
    uint64_t at;   /* file offset of the next read */
    uint64_t end;  /* size of the file when reading began */
    size_t start;  /* of the line in buf */
    size_t looked; /* no newline before this */
    size_t number;
};

/* Reads more bytes, after dropping the lines already returned. */
static bool line_file_fill_buffer(struct line_file_reader *r, struct err *err)
{
    size_t keep = r->buf.n - r->start;
    if (keep)
        memmove(r->buf.p, r->buf.p + r->start, keep);
    buf_truncate(&r->buf, keep);
    r->looked -= r->start;
    r->start = 0;
    size_t want = (size_t)MIN((uint64_t)MAX((size_t)CHUNK, keep), r->end - r->at);
    char *room = buf_reserve(&r->buf, want);
    if (!room)
        return err_set(err, E_CONFIG, "%s:%zu: the line is longer than %d MiB", r->file->name,
            r->number + 1, STORE_LINE_MAX >> 20);
    ssize_t n = pread(r->file->fd, room, want, (off_t)r->at);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", r->file->name);
    if (n == 0)
        r->end = r->at; /* the file was truncated */
    buf_grown(&r->buf, (size_t)n);
    r->at += (size_t)n;
    return true;
}

/* Returns the next line, reading more of the file as needed. */
static bool line_file_next_line(
    struct line_file_reader *r, struct line_file_line *ret_line, bool *ret_ended, struct err *err)
{
    for (;;) {
        size_t new = r->buf.n - r->looked;
        const char *end = new ? memchr(r->buf.p + r->looked, '\n', new) : NULL;
        r->looked = end ? (size_t)(end - r->buf.p) : r->buf.n;
        if (!end && r->at < r->end) {
            if (!line_file_fill_buffer(r, err))
                return false;
            continue;
        }
        size_t after = r->looked + (end ? 1 : 0);
        ret_line->text = str_n(buf_z(&r->buf) + r->start, r->looked - r->start);
        ret_line->last = after == r->buf.n && r->at >= r->end;
        ret_line->number = ++r->number;
        *ret_ended = end != NULL;
        r->start = r->looked = after;
        return true;
    }
}

static bool line_file_read_lines(
    struct line_file_reader *r, line_file_sink *sink, void *context, struct err *err)
{
    while (r->start < r->buf.n || r->at < r->end) {
        struct line_file_line line;
        bool ended = false, torn = false;
        if (!line_file_next_line(r, &line, &ended, err))
            return false;
        if (line.text.n == 0 && line.last && !ended)
            return true;
        line.open = line.last && !ended;
        if (!sink(context, &line, &torn, err))
            return false;
        BUG_ON(torn && !line.last);
        if (line.last)
            r->file->size = torn ? r->at - (line.text.n + ended) : r->at;
        r->file->open_end = line.last && !torn && !ended;
    }
    return true;
}

bool line_file_read(struct line_file *t, line_file_sink *sink, void *context, struct err *err)
{
    struct stat st;
    if (!line_file_check_file(t, &st, err))
        return false;
    t->size = (uint64_t)st.st_size;
    struct line_file_reader r = {
        .file = t, .buf = BUF_INIT((size_t)STORE_LINE_MAX + CHUNK), .end = t->size};
    bool ok = line_file_read_lines(&r, sink, context, err);
    buf_done(&r.buf);
    return ok;
}

bool line_file_first(const struct line_file *t, struct buf *line, bool *ret_more)
{
    off_t at = 0;
    for (;;) {
        char *room = buf_reserve(line, CHUNK);
        ssize_t n = room ? pread(t->fd, room, CHUNK, at) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        const char *end = memchr(room, '\n', (size_t)n);
        at += n;
        buf_grown(line, end ? (size_t)(end - room) : (size_t)n);
        if (!end)
            continue;
        *ret_more = end + 1 < room + n || (uint64_t)at < t->size;
        return true;
    }
}

/* Writing ------------------------------------------------------------------------------------- */

/* Truncates the remains of a torn line before the next append. */
static bool clear_tail(struct line_file *t, struct err *err)
{
    struct stat st;
    if (fstat(t->fd, &st) == 0 && (uint64_t)st.st_size == t->size)
        return true;
    return ftruncate(t->fd, (off_t)t->size) == 0 ||
           err_errno(err, E_IO, errno, "cannot truncate the incomplete last line of '%s'", t->name);
}

static bool write_once(struct line_file *t, struct str bytes, struct err *err)
{
    errno = 0;
    ssize_t n = write(t->fd, bytes.p, bytes.n);
    bool ok = n == (ssize_t)bytes.n || (n > 0 && file_write_all(t->fd, str_skip(bytes, (size_t)n)));
    if (ok && fdatasync(t->fd) == 0)
        return true;
    err_errno(err, E_IO, errno ? errno : ENOSPC, "cannot write the session '%s'", t->name);
    t->broken = ftruncate(t->fd, (off_t)t->size) != 0;
    return false;
}

bool line_file_append(struct line_file *t, struct str line, struct err *err)
{
    BUG_ON(!t->writable || str_find(line, '\n') >= 0);
    if (t->broken)
        return err_set(err, E_IO, "an earlier write to the session '%s' failed", t->name);
    if (line.n > STORE_LINE_MAX || t->size + line.n + 2 > STORE_BYTES_MAX)
        return err_set(err, E_IO, "the session '%s' would grow too large", t->name);
    AUTO_BUF struct buf bytes = BUF_INIT((size_t)STORE_LINE_MAX + 4);
    if (t->open_end)
        buf_add_byte(&bytes, '\n');
    buf_add_str(&bytes, line);
    buf_add_byte(&bytes, '\n');
    if (!clear_tail(t, err) || !write_once(t, buf_str(&bytes), err))
        return false;
    t->size += bytes.n;
    t->open_end = false;
    return true;
}

/* Creates the directory and its missing parents; each new directory is synced into its parent. */
static bool line_file_make_parents(char *dir)
{
    if (mkdirat(AT_FDCWD, dir, 0700) == 0 || errno == EEXIST)
        return true;
    char *slash = strrchr(dir, '/');
    if (errno != ENOENT || !slash || slash == dir)
        return false;
    *slash = '\0';
    bool ok = line_file_make_parents(dir);
    AUTO_FD int parent = ok ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    *slash = '/';
    return ok && (mkdirat(AT_FDCWD, dir, 0700) == 0 || errno == EEXIST) && parent >= 0 &&
           (fsync(parent) == 0 || errno == EINVAL);
}

bool line_file_make_dir(const char *dir, struct err *err)
{
    AUTO_FREE char *path = strdup(dir);
    BUG_ON(!path);
    return line_file_make_parents(path) ||
           err_errno(err, E_IO, errno, "cannot create the directory '%s'", dir);
}
