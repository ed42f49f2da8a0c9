/* Git's index: as much of it as tells which paths are tracked. */
#include "box/tracked.h"

#include "base/buf.h"
#include "path/change.h"
#include "path/file.h"

#include <errno.h>
#include <fcntl.h>

enum {
    HEAD = 12,
    MODE_AT = 24,     /* in an entry */
    BEFORE_HASH = 40, /* bytes of it */
    FLAGS = 2,        /* behind the hash, and before the name */
    EXTENDED = 0x4000,
    NAME_LENGTH = 0xfff, /* of the flags; longer names have this number, too */
    SHA1_BYTES = 20,
    SHA256_BYTES = 32,
    GITLINK = 0160000,
};

struct reader {
    struct str in;
    size_t at;
    uint32_t version;
    size_t hash;     /* bytes of one: nothing in the index says which kind it is */
    struct buf name; /* of the entry before, for version 4 */
};

static uint32_t number(const char *p, size_t bytes)
{
    uint32_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)p[i];
    return n;
}

static bool damaged(struct err *err, const char *what)
{
    return err_set(err, E_IO, "cannot read git's index: %s", what);
}

/* Version 4 gives how many bytes of the last name to drop, in git's own variable form. */
static bool drop_count(struct reader *r, size_t *ret_drop)
{
    size_t n = 0;
    for (int i = 0; i < 5 && r->at < r->in.n; i++) {
        unsigned char c = (unsigned char)r->in.p[r->at++];
        n = (i ? (n + 1) << 7 : 0) | (c & 0x7f);
        if (!(c & 0x80)) {
            *ret_drop = n;
            return true;
        }
    }
    return false;
}

static bool read_name(struct reader *r, size_t start)
{
    size_t drop = r->name.n;
    if (r->version == 4 && (!drop_count(r, &drop) || drop > r->name.n))
        return false;
    struct str rest = str_skip(r->in, r->at);
    ptrdiff_t n = str_find(rest, '\0');
    if (n < 0)
        return false;
    buf_truncate(&r->name, r->name.n - drop);
    buf_add(&r->name, rest.p, (size_t)n);
    r->at += (size_t)n + 1;
    /* Others fill up with NULs to a multiple of eight. */
    if (r->version != 4)
        r->at = start + ((r->at - start - 1 + 8) & ~(size_t)7);
    return buf_ok(&r->name) && r->at <= r->in.n;
}

static bool read_entry(struct reader *r, struct tracked *t, struct err *err)
{
    size_t start = r->at;
    size_t fixed = BEFORE_HASH + r->hash + FLAGS;
    if (r->in.n - r->at < fixed)
        return damaged(err, "it is cut off");
    uint32_t mode = number(r->in.p + start + MODE_AT, 4);
    uint32_t flags = number(r->in.p + start + fixed - FLAGS, FLAGS);
    r->at += fixed + (flags & EXTENDED ? (size_t)FLAGS : 0);
    if (r->at > r->in.n || !read_name(r, start))
        return damaged(err, "an entry is damaged");
    struct str name = buf_str(&r->name);
    /* This also tells the two kinds of hashes apart. */
    if ((flags & NAME_LENGTH) != MIN(name.n, (size_t)NAME_LENGTH))
        return damaged(err, "an entry is damaged");
    bool again = t->n && str_eq(t->paths[t->n - 1], name); /* the sides of a merge */
    if ((mode & 0170000) == GITLINK || again)
        return true;
    /* A directory of a sparse index ends in a slash. */
    if (!change_rel_ok(name))
        return damaged(err, "it has a name that is not a plain path");
    if (arena_left(&t->arena) < name.n + 64)
        return damaged(err, "it is too large");
    t->paths[t->n++] = arena_str(&t->arena, name);
    return true;
}

static bool read_entries(struct reader *r, uint32_t n, struct tracked *t, struct err *err)
{
    t->paths = ARENA_NEW(&t->arena, struct str, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (!read_entry(r, t, err))
            return false;
    bool split =
        r->in.n - r->at >= 4 + r->hash && str_starts_with(str_skip(r->in, r->at), STR("link"));
    return !split || damaged(err, "it is a split index (git update-index --no-split-index)");
}

static bool parse_with(struct str index, size_t hash, struct tracked *ret_tracked, struct err *err)
{
    struct reader r = {.in = index, .at = HEAD, .hash = hash, .name = BUF_INIT(64 * 1024)};
    struct tracked t = {.arena = ARENA_INIT((size_t)TRACKED_BYTES_MAX)};
    r.version = number(index.p + 4, 4);
    uint32_t n = number(index.p + 8, 4);
    if (r.version < 2 || r.version > 4)
        return damaged(err, "its version is unknown");
    if (n > TRACKED_MAX || n > index.n / BEFORE_HASH)
        return damaged(err, "it says that it has more entries than it can have");
    bool ok = read_entries(&r, n, &t, err);
    buf_done(&r.name);
    if (ok)
        *ret_tracked = t;
    else
        tracked_done(&t);
    return ok;
}

bool tracked_parse(struct str index, struct tracked *ret_tracked, struct err *err)
{
    AUTO_ERR struct err other = {0};
    if (index.n < HEAD || !str_starts_with(index, STR("DIRC")))
        return damaged(err, "it does not begin as one");
    if (parse_with(index, SHA1_BYTES, ret_tracked, err))
        return true;
    if (!parse_with(index, SHA256_BYTES, ret_tracked, &other))
        return false;
    err_done(err);
    return true;
}

bool tracked_read(int git_fd, struct tracked *ret_tracked, struct err *err)
{
    AUTO_BUF struct buf content = BUF_INIT((size_t)TRACKED_BYTES_MAX + 1);
    AUTO_FD int fd = openat(git_fd, "index", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *ret_tracked = (struct tracked){0};
        return true;
    }
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read git's index");
    return file_read(fd, TRACKED_BYTES_MAX, ".git/index", &content, err) &&
           tracked_parse(buf_str(&content), ret_tracked, err);
}

void tracked_done(struct tracked *t)
{
    arena_done(&t->arena);
    *t = (struct tracked){0};
}

/* The first path that is not before this one. */
static size_t lower_bound(const struct tracked *t, struct str path)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(t->paths[mid], path) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool tracked_has(const struct tracked *t, struct str path)
{
    size_t i = lower_bound(t, path);
    return i < t->n && str_eq(t->paths[i], path);
}

bool tracked_has_below(const struct tracked *t, struct str dir)
{
    AUTO_BUF struct buf start = BUF_INIT(64 * 1024);
    buf_add_str(&start, dir);
    buf_add_byte(&start, '/');
    size_t i = lower_bound(t, buf_str(&start));
    return i < t->n && str_starts_with(t->paths[i], buf_str(&start));
}
