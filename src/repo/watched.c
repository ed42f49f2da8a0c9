/* Parts that no mount protects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/watched.h"

#include "base/grow.h"
#include "base/utf8.h"
#include "io/dir.h"
#include "io/file.h"
#include "path/lexical.h"
#include "repo/force.h"
#include "repo/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    DEPTH_MAX = 8,
    ARENA_MAX = 128 << 20,
    NAME_ARENA = 1 << 20,
    NAMES_MAX = 20 * 1000,  /* new ones in one directory */
    LISTED_MAX = 50 * 1000, /* names in one directory, including those that nothing runs */
    LINE_MAX_BYTES = 8 * PATH_MAX,
    PARTIAL_MAX = 5, /* directories that are listed */
    REPORTED_MAX = 50,
    REPORTED_BYTES = WATCH_LINES_MAX / 2,
};

void watch_reset(struct protect *p)
{
    watch_free(p);
    p->watch = calloc(1, sizeof(*p->watch));
    BUG_ON(!p->watch);
    p->watch->arena = ARENA_INIT(ARENA_MAX);
    p->watch->lines = BUF_INIT(REPORTED_BYTES);
    p->watch->limit = WATCH_MAX;
    p->watch->bytes_limit = WATCH_BYTES_MAX;
}

void watch_free(struct protect *p)
{
    if (!p->watch)
        return;
    arena_done(&p->watch->arena);
    buf_done(&p->watch->lines);
    free(p->watch->p);
    free(p->watch);
    p->watch = NULL;
}

bool watch_restore_entry(struct protect *p, const struct watched *w)
{
    if (!p->watch)
        watch_reset(p);
    struct watch_list *all = p->watch;
    size_t room = w->path.n + w->then.text.n + NAME_MAX; /* plus rounding of two texts */
    if (all->n >= all->limit || arena_left(&all->arena) < room)
        return false;
    GROW(all->p, all->n, all->cap, WATCH_MAX);
    /* Both texts in one allocation, for which there is room. */
    char *texts = arena_alloc(&all->arena, w->path.n + w->then.text.n + 2);
    struct watched *to = &all->p[all->n++];
    *to = *w;
    to->path = str_n(memcpy(texts, w->path.n ? w->path.p : "", w->path.n), w->path.n);
    to->then.text =
        str_n(memcpy(texts + w->path.n + 1, w->then.text.n ? w->then.text.p : "", w->then.text.n),
            w->then.text.n);
    all->bytes += w->then.text.n;
    return true;
}

struct watched *watch_last(struct protect *p)
{
    return p->watch && p->watch->n ? &p->watch->p[p->watch->n - 1] : NULL;
}

bool watch_has_whole(const struct protect *p, const struct protect_root *r, struct str path)
{
    for (size_t i = 0; p->watch && i < p->watch->n; i++) {
        const struct watched *w = &p->watch->p[i];
        if (&p->roots[w->root] == r && str_eq(w->path, path))
            return w->whole && !w->gone;
    }
    return false;
}

/* Names that git does not run, and files set aside beside them. */
static bool is_inert(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           str_ends_with(str_z(name), STR(".sample")) || strstr(name, "." PARTS_HELD);
}

static struct str watch_parent_path(struct str path, struct arena *a)
{
    return arena_str(a, known_above(path));
}

static struct str watch_join_path(struct arena *a, struct str dir, const char *name)
{
    return str_z(arena_printf(a, STR_FMT "%s%s", STR_ARG(dir), dir.n ? "/" : "", name));
}

/* Reads a name in an open directory; returns false if it does not exist. */
static bool watch_read_entry(int dir, const char *name, struct watched *w, struct buf *bytes)
{
    char target[PATH_MAX];
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    w->mode = st.st_mode;
    w->uid = st.st_uid;
    w->gid = st.st_gid;
    w->then = (struct known_text){.ino = st.st_ino, .size = st.st_size, .changed = st.st_ctim};
    w->whole = true;
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlinkat(dir, name, target, sizeof(target));
        buf_add(bytes, target, n > 0 ? (size_t)n : 0);
    } else if (S_ISREG(st.st_mode)) {
        w->whole = quarantine_read(dir, name, bytes);
    }
    w->then.text = w->whole ? buf_str(bytes) : STR("");
    return true;
}

/* Before a command -------------------------------------------------------------------------------
 */

static bool watch_add_entry(struct protect *p, struct watched *w, unsigned depth);

/* Adds the names below a directory, which was put at this index. */
static void watch_add_names(struct protect *p, size_t above, unsigned depth)
{
    const size_t root = p->watch->p[above].root;
    const struct str path = p->watch->p[above].path;
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool whole = depth < DEPTH_MAX && dir_take(&d, known_open(&p->roots[root], path));
    while (whole && dir_next(&d)) {
        AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
        if (is_inert(d.name))
            continue;
        struct watched w = {.root = root, .path = watch_join_path(&a, path, d.name)};
        whole = watch_add_entry(p, &w, depth + 1);
    }
    p->watch->p[above].partial = !whole || !dir_complete(&d);
}

/* Returns false if it exists but was not remembered. */
static bool watch_add_entry(struct protect *p, struct watched *w, unsigned depth)
{
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    AUTO_FD int dir = known_open(&p->roots[w->root], watch_parent_path(w->path, &a));
    if (dir < 0 || !watch_read_entry(dir, lexical_name(w->path).p, w, &bytes))
        return errno == ENOENT;
    if (p->watch->bytes + w->then.text.n > p->watch->bytes_limit) {
        w->then.text = STR("");
        w->whole = false;
    }
    if (!watch_restore_entry(p, w))
        return false;
    if (S_ISDIR(w->mode))
        watch_add_names(p, p->watch->n - 1, depth);
    return true;
}

/* One part may use at most half of the remaining room, so that some is left for the others. */
static void watch_add_part(struct protect *p, struct watched *w)
{
    struct watch_list *all = p->watch;
    all->limit = all->n + (WATCH_MAX - all->n + 1) / 2;
    all->bytes_limit = all->bytes + (WATCH_BYTES_MAX - all->bytes + 1) / 2;
    all->since = all->since ? all->since : time(NULL);
    if (!watch_add_entry(p, w, 0) && !all->lost.p && arena_left(&all->arena) > PATH_MAX)
        all->lost = arena_str(&all->arena, w->path);
}

void watch_add(struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path)) {
            struct watched w = {.root = i, .path = lexical_rest(p->roots[i].path, path)};
            watch_add_part(p, &w);
            return;
        }
}

/* Reporting -------------------------------------------------------------------------------------
 */

static void watch_print_path(struct buf *text, const struct protect_root *r, struct str path)
{
    utf8_add_printable(text, r->path);
    buf_add_byte(text, '/');
    utf8_add_printable(text, path);
}

/* Returns true if there is room for one more line. */
static bool watch_reserve_line(struct watch_list *all)
{
    bool fits = all->n_lines < REPORTED_MAX && all->lines.n < REPORTED_BYTES - LINE_MAX_BYTES;
    all->n_lines += fits;
    all->n_omitted += !fits;
    return fits;
}

static void watch_report(
    struct protect *p, const struct watched *w, const char *what, const char *more)
{
    struct buf *lines = &p->watch->lines;
    if (!watch_reserve_line(p->watch))
        return;
    watch_print_path(lines, &p->roots[w->root], w->path);
    buf_printf(lines, " %s%s\n", what, more);
}

/* Reports the topmost directory that is gone with it, once. */
static void watch_report_removed(struct protect *p, const struct watched *w)
{
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    const struct protect_root *r = &p->roots[w->root];
    struct str lines = buf_str(&p->watch->lines), path = w->path;
    struct stat st;
    for (size_t n = 1; n < path.n; n++)
        if (w->path.p[n] == '/' &&
            fstatat(r->fd, arena_str(&a, str_head(path, n)).p, &st, AT_SYMLINK_NOFOLLOW) != 0)
            path = str_head(path, n);
    buf_add_z(&line, "removed: ");
    watch_print_path(&line, r, path);
    buf_add_byte(&line, '\n');
    if (lines.n && memmem(lines.p, lines.n, line.p, line.n))
        return;
    if (watch_reserve_line(p->watch))
        buf_add_str(&p->watch->lines, buf_str(&line));
}

void watch_print(const struct protect *p, struct buf *text)
{
    const struct watch_list *all = p->watch;
    size_t n = 0;
    for (size_t i = 0; all && i < all->n; i++) {
        if (!all->p[i].partial || n++ >= PARTIAL_MAX)
            continue;
        watch_print_path(text, &p->roots[all->p[i].root], all->p[i].path);
        buf_add_z(text,
            " is too large to compare completely: files that a command adds there are not set "
            "aside\n");
    }
    if (n > PARTIAL_MAX)
        buf_printf(text, "%zu more directories are also too large to compare completely\n",
            n - PARTIAL_MAX);
    if (all && all->lost.p) {
        utf8_add_printable(text, all->lost);
        buf_add_z(text, " is not compared, and possibly others are not: a command can change it\n");
    }
    if (all)
        buf_add_str(text, buf_str(&all->lines));
    if (all && all->n_omitted)
        buf_printf(
            text, "%zu more parts were removed, or changed and not restored\n", all->n_omitted);
}

/* After a command -------------------------------------------------------------------------------
 */

static bool watch_is_same(const struct watched *a, const struct watched *b)
{
    if (S_ISDIR(a->mode) && S_ISDIR(b->mode))
        return true;
    if (a->mode != b->mode)
        return false;
    if (a->whole && b->whole)
        return str_eq(a->then.text, b->then.text);
    return a->then.ino == b->then.ino && a->then.size == b->then.size &&
           a->then.changed.tv_sec == b->then.changed.tv_sec &&
           a->then.changed.tv_nsec == b->then.changed.tv_nsec;
}

/* Restores the owner, if we are allowed to; then the mode, because a change of owner may clear mode
 * bits. */
static bool watch_restore_mode(int fd, const struct watched *w, mode_t bits)
{
    if (geteuid() == 0 && fchown(fd, w->uid, w->gid) != 0)
        return false;
    return fchmod(fd, w->mode & bits) == 0;
}

static bool watch_recreate_dir(int dir, const char *name, const struct watched *w)
{
    if (mkdirat(dir, name, 0700) != 0)
        return false;
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && watch_restore_mode(fd, w, 07777);
}

static bool watch_recreate(int dir, const char *name, const struct watched *w)
{
    if (S_ISDIR(w->mode))
        return watch_recreate_dir(dir, name, w);
    if (S_ISLNK(w->mode))
        return symlinkat(w->then.text.p, dir, name) == 0 &&
               (geteuid() != 0 || fchownat(dir, name, w->uid, w->gid, AT_SYMLINK_NOFOLLOW) == 0);
    errno = EFBIG;
    if (!S_ISREG(w->mode) || !w->whole)
        return false;
    AUTO_FD int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 && file_write_all(fd, w->then.text) && watch_restore_mode(fd, w, 0777);
}

/* Sets aside a symlink or file in the place of a directory above a part, and recreates the
 * directory. */
static void watch_clear_parents(struct protect *p, struct protect_root *r, struct str parent)
{
    bool moved = false;
    for (size_t n = 1; n <= parent.n; n++) {
        AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
        struct stat st;
        if (n < parent.n && parent.p[n] != '/')
            continue;
        struct str path = arena_str(&a, str_head(parent, n));
        AUTO_FD int dir = known_open(r, watch_parent_path(path, &a));
        if (dir < 0 || fstat(dir, &st) != 0)
            return;
        const char *name = lexical_name(path).p;
        struct known_name now = known_read_name(dir, name, &a);
        if (now.type && !S_ISDIR(now.type)) {
            check_set_aside(p, r, path, STR("replaces a directory"));
            moved = true;
        }
        const struct watched above = {.mode = 0755, .uid = st.st_uid, .gid = st.st_gid};
        if (moved && !watch_recreate_dir(dir, name, &above) && errno != EEXIST)
            return;
    }
}

/* Returns true if this check moved it, or a directory above it. */
static bool was_held(const struct protect *p, size_t before, const struct watched *w)
{
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    struct str path = known_absolute(&p->roots[w->root], w->path, &a);
    for (size_t i = before; i < p->n_held; i++)
        if (p->held[i].where.p && lexical_is_below(p->held[i].path, path))
            return true;
    return false;
}

/* Returns true if a file whose name has this prefix has these bytes, and got its name since. */
static bool has_copy(int dir, struct str prefix, const struct watched *w, time_t since)
{
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    bool found = false, listed = dir_open(&d, dir, ".");
    while (listed && !found && dir_next(&d)) {
        AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
        struct stat st;
        found = str_starts_with(str_z(d.name), prefix) &&
                fstatat(d.fd, d.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                st.st_ctim.tv_sec >= since && st.st_size == w->then.size &&
                quarantine_read(d.fd, d.name, &bytes) && str_eq(buf_str(&bytes), w->then.text);
    }
    return found;
}

/* Returns true for a file that another session set aside while the command ran: that session's
 * command created it, and it existed when this session began. */
static bool is_held_elsewhere(const struct protect *p, const struct watched *w)
{
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    const struct protect_root *r = &p->roots[w->root];
    struct str parent = watch_parent_path(w->path, &a), name = lexical_name(w->path);
    const struct {
        struct str dir, prefix;
    } places[] = {
        {parent, str_z(arena_printf(&a, STR_FMT "." PARTS_HELD, STR_ARG(name)))},
        {watch_join_path(&a, parent, PARTS_HELD), name},
        {watch_join_path(&a, watch_join_path(&a, watch_parent_path(parent, &a), PARTS_HELD),
             lexical_name(parent).p),
            name},
    };
    if (!S_ISREG(w->mode) || !w->whole)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        AUTO_FD int dir = known_open(r, places[i].dir);
        if (dir >= 0 && has_copy(dir, places[i].prefix, w, p->watch->since))
            return true;
    }
    return false;
}

/* From now on it counts as missing: anything created at its path is new. */
static void watch_forget(struct protect *p, struct watched *w)
{
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    struct protect_root *r = &p->roots[w->root];
    w->gone = true;
    size_t n = 0;
    for (size_t i = 0; i < r->n_known; i++) {
        struct known_place *k = &r->known[i];
        const char *const *parts = parts_for_kind(k->kind);
        for (size_t part = 0;
             lexical_is_below(k->path.n ? k->path : w->path, w->path) && parts[part]; part++) {
            AUTO_ARENA struct arena names = ARENA_INIT(NAME_ARENA);
            if (!str_eq(watch_join_path(&names, k->path, parts[part]), w->path))
                continue;
            k->parts[part] = (struct known_name){0};
            if (k->kind == SCAN_GITDIR && part < KNOWN_TEXTS)
                k->texts[part].ino = k->texts[part].text.n = 0;
        }
        if (!str_eq(k->path, w->path))
            r->known[n++] = *k;
    }
    r->n_known = n;
    struct str path = known_absolute(r, w->path, &a);
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].n_named; k++)
            if (str_eq(p->roots[i].named[k].path, path))
                p->roots[i].named[k].type = 0;
}

/* Undoes a change: the present content is not the remembered one. */
static void watch_revert(struct protect *p, struct watched *w, int dir, bool there)
{
    struct protect_root *r = &p->roots[w->root];
    bool held_elsewhere = there && is_held_elsewhere(p, w);
    if (there)
        check_set_aside(p, r, w->path, STR("was changed, which is not allowed"));
    if (held_elsewhere) {
        watch_report(p, w, "is not restored: ", "its contents were set aside");
        watch_forget(p, w);
    } else if (!watch_recreate(dir, lexical_name(w->path).p, w)) {
        watch_report(p, w, "was changed, and cannot be restored: ", strerror(errno));
    }
}

/* Returns true if settings name it, or a directory above it. */
static bool watch_is_named(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t n = 0; n < p->roots[i].n_named; n++)
            if (lexical_is_below(p->roots[i].named[n].path, path))
                return true;
    return false;
}

static bool is_part_of(const struct known_place *k, struct str path)
{
    const char *const *parts = parts_for_kind(k->kind);
    if (k->path.n && !lexical_is_below(k->path, path))
        return false;
    struct str rest = k->path.n ? lexical_rest(k->path, path) : path;
    for (size_t i = 0; parts[i]; i++)
        if (lexical_is_below(str_z(parts[i]), rest))
            return true;
    return false;
}

/* Returns true if it is part of a directory that git accepts as a repository only since the
 * command: then the check has judged all of it as new, and nothing of it is the user's. */
static bool is_awake(const struct protect *p, const struct watched *w)
{
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    const struct protect_root *r = &p->roots[w->root];
    for (size_t i = 0; i < r->n_known; i++)
        if (r->known[i].awake && is_part_of(&r->known[i], w->path))
            return !watch_is_named(p, known_absolute(r, w->path, &a));
    return false;
}

static void watch_check_entry(struct protect *p, struct watched *w, size_t before)
{
    AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct protect_root *r = &p->roots[w->root];
    struct str parent = watch_parent_path(w->path, &a);
    struct watched now = {0};
    if (!w->gone && is_awake(p, w))
        watch_forget(p, w);
    if (w->gone)
        return;
    watch_clear_parents(p, r, parent);
    AUTO_FD int dir = scan_open(&r->scan, parent, true);
    if (dir < 0 && errno != ENOENT) {
        watch_report(p, w, "cannot be compared: ", strerror(errno));
        return;
    }
    bool there = dir >= 0 && watch_read_entry(dir, lexical_name(w->path).p, &now, &bytes);
    if (there && (watch_is_same(w, &now) || (S_ISREG(now.mode) && check_accepts(p, r, w->path))))
        return;
    if (dir < 0 || (!there && !was_held(p, before, w))) {
        watch_forget(p, w);
        watch_report_removed(p, w);
    } else if (S_ISREG(w->mode) && !w->whole) {
        watch_report(p, w, "was changed, and is not restored: ",
            "its old contents were not stored completely; check it");
    } else {
        watch_revert(p, w, dir, there);
    }
}

static bool watch_is_below(const struct watch_list *all, size_t dir, size_t i)
{
    const struct watched *above = &all->p[dir];
    return i < all->n && all->p[i].root == above->root &&
           str_starts_with(all->p[i].path, above->path) && all->p[i].path.p[above->path.n] == '/';
}

/* The names below a directory follow it in the list. */
static bool is_known_name(const struct watch_list *all, size_t dir, const char *name)
{
    for (size_t i = dir + 1; watch_is_below(all, dir, i); i++)
        if (strcmp(all->p[i].path.p + all->p[dir].path.n + 1, name) == 0)
            return !all->p[i].gone;
    return false;
}

/* Returns false if there are too many, or the list cannot be read. */
static bool check_listed(struct protect *p, size_t which, struct dir *d)
{
    const struct watched *w = &p->watch->p[which];
    struct protect_root *r = &p->roots[w->root];
    size_t n_new = 0;
    while (dir_next(d)) {
        AUTO_ARENA struct arena a = ARENA_INIT(NAME_ARENA);
        if (n_new == NAMES_MAX)
            return false;
        if (is_inert(d->name) || is_known_name(p->watch, which, d->name))
            continue;
        struct str path = watch_join_path(&a, w->path, d->name);
        n_new++;
        if (!check_accepts(p, r, path))
            check_set_aside(p, r, path, STR("is new in a directory that git or cordon reads"));
    }
    return dir_complete(d);
}

static void watch_check_names(struct protect *p, size_t which, size_t before)
{
    const struct watched *w = &p->watch->p[which];
    struct protect_root *r = &p->roots[w->root];
    AUTO_DIR struct dir d = DIR_INIT(LISTED_MAX);
    if (w->gone || w->partial || !dir_take(&d, scan_open(&r->scan, w->path, true)))
        return;
    if (check_listed(p, which, &d))
        return;
    check_set_aside(p, r, w->path, STR("holds too many names to check"));
    for (size_t i = which; i == which || watch_is_below(p->watch, which, i); i++)
        watch_check_entry(p, &p->watch->p[i], before);
}

void watch_check(struct protect *p, size_t before)
{
    size_t n = p->watch ? p->watch->n : 0;
    if (!p->watch)
        return;
    buf_reset(&p->watch->lines);
    p->watch->n_lines = p->watch->n_omitted = 0;
    for (size_t i = 0; i < n; i++)
        watch_check_entry(p, &p->watch->p[i], before);
    for (size_t i = 0; i < n; i++)
        if (S_ISDIR(p->watch->p[i].mode))
            watch_check_names(p, i, before);
}
