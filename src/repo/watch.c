/* Parts that no mount keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/watch.h"

#include "path/file.h"
#include "path/lexical.h"
#include "repo/force.h"
#include "repo/hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    DEPTH_MAX = 8,
    ARENA_MAX = 128 << 20,
    NAMES_MAX = 20 * 1000, /* in one directory */
};

void watch_reset(struct protect *p)
{
    watch_free(p);
    p->watch = calloc(1, sizeof(*p->watch));
    BUG_ON(!p->watch);
    p->watch->arena = ARENA_INIT(ARENA_MAX);
}

void watch_free(struct protect *p)
{
    if (!p->watch)
        return;
    arena_done(&p->watch->arena);
    free(p->watch->p);
    free(p->watch);
    p->watch = NULL;
}

void watch_put(struct protect *p, const struct watched *w)
{
    if (!p->watch)
        watch_reset(p);
    struct watch *all = p->watch;
    if (all->n == WATCH_MAX) {
        p->cut = true;
        return;
    }
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 64;
        all->p = reallocarray(all->p, all->cap, sizeof(*all->p));
        BUG_ON(!all->p);
    }
    struct watched *to = &all->p[all->n++];
    *to = *w;
    to->path = arena_str(&all->arena, w->path);
    to->then.text = arena_str(&all->arena, w->then.text);
    all->bytes += w->then.text.n;
}

/* Names that git does not run, and what was set aside beside them. */
static bool is_inert(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           str_ends_with(str_z(name), STR(".sample")) || strstr(name, "." PARTS_HELD);
}

static struct str parent_of(struct str path, struct arena *a)
{
    ptrdiff_t slash = str_find_last(path, '/');
    return slash < 0 ? STR("") : arena_str(a, str_head(path, (size_t)slash));
}

/* Reads the name of a directory that is open; false: it is not there. */
static bool read_now(int dir, const char *name, struct watched *w, struct buf *bytes)
{
    char target[PATH_MAX];
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    w->mode = st.st_mode;
    w->then = (struct known_text){st.st_ino, st.st_size, st.st_ctim, {0}};
    w->whole = true;
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlinkat(dir, name, target, sizeof(target));
        buf_add(bytes, target, n > 0 ? (size_t)n : 0);
    } else if (S_ISREG(st.st_mode)) {
        w->whole = hold_read(dir, name, bytes);
    }
    w->then.text = w->whole ? buf_str(bytes) : STR("");
    return true;
}

static void add_one(struct protect *p, struct watched *w, unsigned depth);

static void add_names(struct protect *p, const struct watched *above, unsigned depth)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    AUTO_FD int fd = known_open(&p->roots[above->root], above->path);
    DIR *stream = fd >= 0 && depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    const struct dirent *d;
    p->cut |= !stream;
    if (!stream)
        return;
    fd = -1;
    size_t n = 0;
    while ((d = readdir(stream)) && n++ < NAMES_MAX) {
        if (is_inert(d->d_name))
            continue;
        struct watched w = {.root = above->root,
            .path = str_z(arena_printf(
                &a, STR_FMT "%s%s", STR_ARG(above->path), above->path.n ? "/" : "", d->d_name))};
        add_one(p, &w, depth + 1);
    }
    closedir(stream);
}

static void add_one(struct protect *p, struct watched *w, unsigned depth)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    AUTO_FD int dir = known_open(&p->roots[w->root], parent_of(w->path, &a));
    if (dir < 0 || !read_now(dir, lexical_name(w->path).p, w, &bytes))
        return;
    if (p->watch->bytes + w->then.text.n > WATCH_BYTES_MAX) {
        w->then.text = STR("");
        w->whole = false;
    }
    watch_put(p, w);
    if (S_ISDIR(w->mode))
        add_names(p, w, depth);
}

void watch_add(struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path)) {
            struct watched w = {.root = i, .path = lexical_rest(p->roots[i].path, path)};
            add_one(p, &w, 0);
            return;
        }
}

/* Afterwards ------------------------------------------------------------------------------------
 */

static bool is_same(const struct watched *a, const struct watched *b)
{
    if (S_ISDIR(a->mode) && S_ISDIR(b->mode))
        return true;
    if (a->mode != b->mode)
        return false;
    if (a->then.ino == b->then.ino && a->then.size == b->then.size &&
        a->then.changed.tv_sec == b->then.changed.tv_sec &&
        a->then.changed.tv_nsec == b->then.changed.tv_nsec)
        return true;
    return a->whole && b->whole && str_eq(a->then.text, b->then.text);
}

static bool make_again(int dir, const char *name, const struct watched *w)
{
    if (S_ISDIR(w->mode))
        return mkdirat(dir, name, w->mode & 0777) == 0;
    if (S_ISLNK(w->mode))
        return symlinkat(w->then.text.p, dir, name) == 0;
    errno = EFBIG;
    if (!S_ISREG(w->mode) || !w->whole)
        return false;
    AUTO_FD int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 && file_write_all(fd, w->then.text) && fchmod(fd, w->mode & 0777) == 0;
}

/* A link or file in the place of a directory above a part goes aside, and the directory is made
 * again. */
static void clear_way(struct protect *p, struct protect_root *r, struct str parent)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    bool moved = false;
    for (size_t n = 1; n <= parent.n; n++) {
        if (n < parent.n && parent.p[n] != '/')
            continue;
        struct str path = arena_str(&a, str_head(parent, n));
        AUTO_FD int dir = known_open(r, parent_of(path, &a));
        if (dir < 0)
            return;
        const char *name = lexical_name(path).p;
        struct known_name now = known_look(dir, name, &a);
        if (now.type && !S_ISDIR(now.type)) {
            check_set_aside(p, r, path, STR("replaces a directory"));
            moved = true;
        }
        if (moved && mkdirat(dir, name, 0755) != 0 && errno != EEXIST)
            return;
    }
}

static void check_one(struct protect *p, const struct watched *w)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct protect_root *r = &p->roots[w->root];
    struct str parent = parent_of(w->path, &a);
    struct watched now = {0};
    const char *name = lexical_name(w->path).p;
    clear_way(p, r, parent);
    AUTO_FD int dir = known_open(r, parent);
    if (dir < 0) /* gone with its directory */
        return;
    bool there = read_now(dir, name, &now, &bytes);
    if (there && (is_same(w, &now) || (S_ISREG(now.mode) && check_accepts(p, r, w->path))))
        return;
    /* A work tree or submodule that was removed has no file .git any more. */
    if (!there && (S_ISDIR(w->mode) || strcmp(name, ".git") == 0))
        return;
    if (there)
        check_set_aside(p, r, w->path, STR("was changed, and must stay as it is"));
    if (!make_again(dir, name, w))
        known_warn(p, STR_FMT "/" STR_FMT " was changed or removed, and can't be made again: %s",
            STR_ARG(r->path), STR_ARG(w->path), strerror(errno));
}

/* Those below a directory follow it. */
static bool is_known_name(const struct watch *all, size_t dir, const char *name)
{
    const struct watched *above = &all->p[dir];
    for (size_t i = dir + 1; i < all->n && all->p[i].root == above->root &&
                             str_starts_with(all->p[i].path, above->path) &&
                             all->p[i].path.p[above->path.n] == '/';
         i++)
        if (strcmp(all->p[i].path.p + above->path.n + 1, name) == 0)
            return true;
    return false;
}

static void check_names(struct protect *p, size_t which)
{
    const struct watched *w = &p->watch->p[which];
    struct protect_root *r = &p->roots[w->root];
    AUTO_FD int fd = scan_open(&r->scan, w->path, true);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    if (!stream)
        return;
    fd = -1;
    size_t n = 0;
    while ((d = readdir(stream)) && n++ < NAMES_MAX) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        if (is_inert(d->d_name) || is_known_name(p->watch, which, d->d_name))
            continue;
        struct str path = str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(w->path), d->d_name));
        if (!check_accepts(p, r, path))
            check_set_aside(p, r, path, STR("is new where git or cordon looks"));
    }
    closedir(stream);
    p->cut |= n >= NAMES_MAX;
}

void watch_check(struct protect *p)
{
    size_t n = p->watch ? p->watch->n : 0;
    for (size_t i = 0; i < n; i++)
        check_one(p, &p->watch->p[i]);
    for (size_t i = 0; i < n; i++)
        if (S_ISDIR(p->watch->p[i].mode))
            check_names(p, i);
}
