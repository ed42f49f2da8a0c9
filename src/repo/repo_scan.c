/* Finds repositories in a tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/repo_scan.h"

#include "base/buf.h"
#include "base/fnv.h"
#include "base/grow.h"
#include "io/dir.h"
#include "repo/force.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U /* Linux 6.8: not reused by later mounts */
#endif

enum {
    SLOTS_FIRST = 1024,
    GONE_MAX = 1000,
    /* A directory may change within one clock tick of the file system after it was listed. */
    RACY_MS = 100,
    MS = 1000,
    NS_PER_MS = 1000 * 1000,
};

/* Names that were seen in a directory. */
enum {
    SEEN_GIT_DIR = 1 << 0,
    SEEN_GIT_FILE = 1 << 1,
    SEEN_GIT_LINK = 1 << 2,
    SEEN_CORDON = 1 << 3,
    SEEN_CORDON_LINK = 1 << 4,
    SEEN_HEAD = 1 << 5,
    SEEN_OBJECTS = 1 << 6,
    SEEN_REFS = 1 << 7,
    SEEN_COMMONDIR = 1 << 8,
    SEEN_HG = 1 << 9,
    SEEN_SAPLING = 1 << 10,
    SEEN_JJ = 1 << 11,
    SEEN_BZR = 1 << 12,
    SEEN_DARCS = 1 << 13,
    SEEN_PIJUL = 1 << 14,
    SEEN_LINK = 1 << 15, /* with any name */
};

struct scan_dir {
    struct str path;
    dev_t dev;
    ino_t ino;
    uint64_t mount;
    struct timespec changed;
    unsigned seen;
    bool there;
    bool racy;
};

/* Mounts -------------------------------------------------------------------------------------- */

static bool scan_statx(int dir, const char *path, int flags, struct statx *ret_st)
{
    const unsigned mask = STATX_BASIC_STATS | STATX_MNT_ID | STATX_MNT_ID_UNIQUE;
    return statx(dir, path, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, ret_st) == 0;
}

static dev_t device_of(const struct statx *st)
{
    return makedev(st->stx_dev_major, st->stx_dev_minor);
}

/* Before Linux 5.8 a mount has no ID: the device is used instead. */
static uint64_t mount_id(const struct statx *st)
{
    bool has = st->stx_mask & (STATX_MNT_ID | STATX_MNT_ID_UNIQUE);
    return has ? st->stx_mnt_id : device_of(st);
}

static bool is_above(struct str dir, struct str path)
{
    return str_starts_with(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

/* Returns the mount at this directory or above it; NULL: the root's. */
static struct scan_mount *mount_over(const struct repo_scan *s, struct str path)
{
    struct scan_mount *best = NULL;
    for (size_t i = 0; i < s->n_mounts; i++) {
        struct scan_mount *m = &s->mounts[i];
        if (is_above(m->path, path) && (!best || m->path.n > best->path.n))
            best = m;
    }
    return best;
}

/* Returns true if a directory is in the mount that belongs there, or in an enclosing one: mounts
 * may also go away. */
static bool is_in_place(const struct repo_scan *s, struct str path, uint64_t mount)
{
    const struct scan_mount *m = mount_over(s, path);
    if (mount == s->mount || (m && m->id == 0))
        return true;
    for (size_t i = 0; i < s->n_mounts; i++)
        if (s->mounts[i].id == mount && is_above(s->mounts[i].path, path))
            return true;
    return false;
}

static bool add_mount(struct repo_scan *s, struct str path, uint64_t id)
{
    if (s->n_mounts == SCAN_MOUNTS_MAX)
        return false;
    s->mounts = reallocarray(s->mounts, s->n_mounts + 1, sizeof(*s->mounts));
    BUG_ON(!s->mounts);
    s->mounts[s->n_mounts++] = (struct scan_mount){arena_str(&s->ways, path), id};
    return true;
}

void scan_add_mount(struct repo_scan *s, struct str path)
{
    s->cut |= !add_mount(s, path, 0);
}

void scan_freeze_mounts(struct repo_scan *s)
{
    s->fixed = true;
}

int scan_open(const struct repo_scan *s, struct str path, bool force)
{
    struct statx st;
    AUTO_FD int fd = force_open(s->root, path.n ? path.p : ".", force);
    if (fd < 0 || !s->fixed)
        return TAKE_FD(fd);
    errno = EXDEV;
    return scan_statx(fd, "", AT_EMPTY_PATH, &st) && is_in_place(s, path, mount_id(&st))
               ? TAKE_FD(fd)
               : -1;
}

/* Returns true if an opened directory is to be entered: the first search learns which mounts there
 * are. */
static bool scan_enter(struct repo_scan *s, struct str path, uint64_t mount)
{
    struct scan_mount *m = mount_over(s, path);
    if (m && m->id == 0 && str_eq(m->path, path))
        m->id = mount;
    return is_in_place(s, path, mount) || (!s->fixed && add_mount(s, path, mount));
}

void scan_init(struct repo_scan *s, int root_fd)
{
    *s = (struct repo_scan){
        .root = root_fd, .arena = ARENA_INIT(SCAN_ARENA), .names = ARENA_INIT(SCAN_ARENA)};
    s->ways = ARENA_INIT(SCAN_ARENA);
    if (getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK) != sizeof(s->seed))
        s->seed = FNV_START;
    struct statx st;
    if (scan_statx(root_fd, "", AT_EMPTY_PATH, &st))
        s->mount = mount_id(&st);
}

void scan_done(struct repo_scan *s)
{
    free(s->dirs);
    free(s->slots);
    free(s->places);
    free(s->mounts);
    arena_done(&s->ways);
    arena_done(&s->arena);
    arena_done(&s->names);
    *s = (struct repo_scan){.root = -1};
}

/* Directories by path ------------------------------------------------------------------------- */

static size_t scan_find_slot(const struct repo_scan *s, struct str path)
{
    size_t i = (size_t)fnv_add(s->seed, path) & (s->n_slots - 1);
    while (s->slots[i] && !str_eq(s->dirs[s->slots[i] - 1].path, path))
        i = (i + 1) & (s->n_slots - 1);
    return i;
}

static void scan_grow_slots(struct repo_scan *s)
{
    size_t n = s->n_slots ? s->n_slots * 2 : SLOTS_FIRST;
    free(s->slots);
    s->slots = calloc(n, sizeof(*s->slots));
    BUG_ON(!s->slots);
    s->n_slots = n;
    for (size_t i = 0; i < s->n_dirs; i++)
        s->slots[scan_find_slot(s, s->dirs[i].path)] = (uint32_t)i + 1;
}

/* Adds a directory that is not known yet; known ones are searched anyway. */
static void scan_add_dir(struct repo_scan *s, struct str path)
{
    if (2 * (s->n_dirs + 1) > s->n_slots)
        scan_grow_slots(s);
    size_t slot = scan_find_slot(s, path);
    if (s->slots[slot])
        return;
    if (s->n_dirs == SCAN_DIRS_MAX || path.n >= PATH_MAX ||
        s->path_bytes + path.n > SCAN_PATHS_MAX) {
        s->cut = true;
        return;
    }
    s->path_bytes += path.n;
    GROW(s->dirs, s->n_dirs, s->cap_dirs, SCAN_DIRS_MAX);
    s->dirs[s->n_dirs++] = (struct scan_dir){.path = arena_str(&s->arena, path)};
    s->slots[slot] = (uint32_t)s->n_dirs;
}

/* Listing ------------------------------------------------------------------------------------- */

static unsigned char scan_entry_type(const struct dir *d)
{
    struct stat st;
    if (d->type != DT_UNKNOWN)
        return d->type;
    return fstatat(d->fd, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? IFTODT(st.st_mode) : DT_UNKNOWN;
}

static unsigned scan_seen_bits(const char *name, unsigned char type)
{
    static const struct {
        const char *name;
        unsigned char type; /* 0: any type not in other rows */
        unsigned seen;
    } rows[] = {
        {".git", DT_DIR, SEEN_GIT_DIR},
        {".git", DT_LNK, SEEN_GIT_LINK},
        {".git", 0, SEEN_GIT_FILE},
        {".cordon", DT_LNK, SEEN_CORDON_LINK},
        {".cordon", 0, SEEN_CORDON},
        {"HEAD", 0, SEEN_HEAD},
        {"objects", 0, SEEN_OBJECTS},
        {"refs", 0, SEEN_REFS},
        {"commondir", 0, SEEN_COMMONDIR},
        {".hg", DT_DIR, SEEN_HG},
        {".sl", DT_DIR, SEEN_SAPLING},
        {".jj", DT_DIR, SEEN_JJ},
        {".bzr", DT_DIR, SEEN_BZR},
        {"_darcs", DT_DIR, SEEN_DARCS},
        {".pijul", DT_DIR, SEEN_PIJUL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].name, name) == 0 && (rows[i].type == type || rows[i].type == 0))
            return rows[i].seen;
    return 0;
}

static const char *const seen_names[] = {".git", ".cordon", "HEAD", "objects", "refs", "commondir",
    ".hg", ".sl", ".jj", ".bzr", "_darcs", ".pijul"};

/* Returns true if a file system that does not compare names by bytes may take this name for one of
 * those: different case, or characters that are equivalent. */
static bool scan_is_odd_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c >= 0x80)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(seen_names); i++)
        if (strcasecmp(name, seen_names[i]) == 0)
            return strcmp(name, seen_names[i]) != 0;
    return false;
}

static struct str scan_join_path(struct buf *path, struct str dir, const char *name)
{
    buf_reset(path);
    buf_add_str(path, dir);
    if (dir.n)
        buf_add_byte(path, '/');
    buf_add_z(path, name);
    return buf_str(path);
}

/* Returns true if git accepts a directory with these names as a repository: its parts may be
 * elsewhere. */
static bool is_gitdir(const struct scan_dir *d)
{
    bool own = (d->seen & SEEN_OBJECTS) && (d->seen & SEEN_REFS);
    return str_is(d->path, ".git") || str_ends_with(d->path, STR("/.git")) ||
           ((d->seen & SEEN_HEAD) && (own || (d->seen & SEEN_COMMONDIR)));
}

/* Looks up the names themselves, which exist if the file system treats other names as equal to
 * them. */
static void scan_probe_names(struct repo_scan *s, size_t which, int dir)
{
    AUTO_BUF struct buf path = BUF_INIT(PATH_MAX + NAME_MAX + 2);
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(seen_names); i++) {
        if (fstatat(dir, seen_names[i], &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        s->dirs[which].seen |= scan_seen_bits(seen_names[i], IFTODT(st.st_mode));
        if (S_ISDIR(st.st_mode))
            scan_add_dir(s, scan_join_path(&path, s->dirs[which].path, seen_names[i]));
    }
}

/* Records what was seen in an opened directory and adds its subdirectories, including those of
 * git's own objects: a submodule can have any name. */
static void scan_list_dir(struct repo_scan *s, size_t which, struct dir *d)
{
    AUTO_BUF struct buf path = BUF_INIT(PATH_MAX + NAME_MAX + 2);
    struct str dir = s->dirs[which].path;
    bool odd = false;
    s->dirs[which].seen = 0;
    while (dir_next(d)) {
        unsigned char type = scan_entry_type(d);
        odd |= scan_is_odd_name(d->name);
        s->dirs[which].seen |= type == DT_LNK ? SEEN_LINK : 0;
        s->dirs[which].seen |= scan_seen_bits(d->name, type);
        if (type == DT_DIR)
            scan_add_dir(s, scan_join_path(&path, dir, d->name));
    }
    s->cut |= !dir_complete(d);
    if (odd)
        scan_probe_names(s, which, d->fd);
}

static bool is_recent(const struct timespec *when)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t ms = (int64_t)(now.tv_sec - when->tv_sec) * MS +
                 (int64_t)(now.tv_nsec - when->tv_nsec) / NS_PER_MS;
    return ms < RACY_MS;
}

static struct timespec scan_change_time(const struct statx *st)
{
    return (struct timespec){st->stx_ctime.tv_sec, st->stx_ctime.tv_nsec};
}

/* A mount below a listed one counts as part of it. */
static void add_foreign(struct repo_scan *s, struct str path)
{
    for (size_t i = 0; i < s->n_foreign; i++)
        if (is_above(s->foreign[i], path))
            return;
    if (s->n_foreign < SCAN_FOREIGN_MAX)
        s->foreign[s->n_foreign++] = path;
}

static void scan_read_dir(struct repo_scan *s, size_t which)
{
    struct statx st;
    struct scan_dir *d = &s->dirs[which];
    AUTO_FD int fd = force_open(s->root, d->path.n ? d->path.p : ".", s->forces);
    d->there = fd >= 0 && scan_statx(fd, "", AT_EMPTY_PATH, &st);
    if (d->there && !scan_enter(s, d->path, mount_id(&st))) {
        d->there = false;
        s->cut |= !s->fixed; /* too many mounts */
        if (s->fixed)
            add_foreign(s, d->path);
        return;
    }
    AUTO_DIR struct dir entries = DIR_INIT(DIR_UNLIMITED);
    if (!d->there || !dir_take(&entries, TAKE_FD(fd))) {
        d->there = false;
        s->cut |= errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
        return;
    }
    d->dev = device_of(&st);
    d->ino = st.stx_ino;
    d->mount = mount_id(&st);
    d->changed = scan_change_time(&st);
    d->racy = is_recent(&d->changed);
    scan_list_dir(s, which, &entries);
}

/* The change time (ctime) cannot be set back. */
static bool is_unchanged(const struct repo_scan *s, const struct scan_dir *d)
{
    struct statx st;
    return d->there && !d->racy && scan_statx(s->root, d->path.n ? d->path.p : ".", 0, &st) &&
           device_of(&st) == d->dev && st.stx_ino == d->ino && S_ISDIR(st.stx_mode) &&
           mount_id(&st) == d->mount && st.stx_ctime.tv_sec == d->changed.tv_sec &&
           st.stx_ctime.tv_nsec == d->changed.tv_nsec;
}

/* Places -------------------------------------------------------------------------------------- */

static void scan_add_place(struct repo_scan *s, const struct scan_place *place)
{
    if (s->n_places == SCAN_PLACES_MAX || s->name_bytes + place->path.n > SCAN_NAMES_MAX) {
        s->cut = true;
        return;
    }
    s->name_bytes += place->path.n;
    GROW(s->places, s->n_places, s->cap_places, SCAN_PLACES_MAX);
    s->places[s->n_places++] = *place;
}

static void scan_add_named(struct repo_scan *s, const struct scan_dir *d)
{
    static const struct {
        unsigned seen;
        enum scan_kind kind;
        const char *name;
    } rows[] = {
        {SEEN_GIT_FILE, SCAN_POINTER, ".git"},
        {SEEN_GIT_LINK, SCAN_LINK, ".git"},
        {SEEN_CORDON, SCAN_CORDON, ".cordon"},
        {SEEN_CORDON_LINK, SCAN_LINK, ".cordon"},
        {SEEN_HG, SCAN_HG, ".hg"},
        {SEEN_SAPLING, SCAN_SAPLING, ".sl"},
        {SEEN_JJ, SCAN_JJ, ".jj"},
        {SEEN_BZR, SCAN_BZR, ".bzr"},
        {SEEN_DARCS, SCAN_DARCS, "_darcs"},
        {SEEN_PIJUL, SCAN_PIJUL, ".pijul"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((d->seen & rows[i].seen) && s->n_places == SCAN_PLACES_MAX)
            s->cut = true;
        else if (d->seen & rows[i].seen)
            scan_add_place(s, &(struct scan_place){
                                  .kind = rows[i].kind,
                                  .path = str_z(arena_printf(&s->names, STR_FMT "%s%s",
                                      STR_ARG(d->path), d->path.n ? "/" : "", rows[i].name)),
                              });
}

static void find_places(struct repo_scan *s)
{
    s->n_places = s->n_gone = s->name_bytes = 0;
    arena_done(&s->names);
    s->names = ARENA_INIT(SCAN_ARENA);
    for (size_t i = 0; i < s->n_dirs; i++) {
        const struct scan_dir *d = &s->dirs[i];
        if (!d->there) {
            s->n_gone++;
            continue;
        }
        if (is_gitdir(d))
            scan_add_place(s, &(struct scan_place){SCAN_GITDIR, d->path, d->dev, d->ino});
        if (d->seen)
            scan_add_named(s, d);
    }
}

/* Occasionally forgets directories that no longer exist. */
static void scan_forget_gone(struct repo_scan *s)
{
    if (s->n_gone <= GONE_MAX || s->n_gone <= s->n_dirs / 2)
        return;
    struct repo_scan old = *s;
    scan_init(s, old.root);
    s->forces = old.forces;
    s->fixed = old.fixed;
    s->mount = old.mount;
    for (size_t i = 0; i < old.n_mounts; i++)
        (void)add_mount(s, old.mounts[i].path, old.mounts[i].id);
    scan_done(&old);
}

void scan_refresh(struct repo_scan *s)
{
    scan_forget_gone(s);
    s->cut = false;
    s->n_foreign = 0;
    scan_add_dir(s, STR(""));
    for (size_t i = 0; i < s->n_dirs; i++)
        if (!is_unchanged(s, &s->dirs[i]) ||
            (!s->fixed && !scan_enter(s, s->dirs[i].path, s->dirs[i].mount)))
            scan_read_dir(s, i);
    find_places(s);
}

void scan_learn(struct repo_scan *s)
{
    s->n_mounts = 0;
    arena_done(&s->ways);
    s->ways = ARENA_INIT(SCAN_ARENA);
    s->fixed = false;
    scan_refresh(s);
    s->fixed = true;
}

/* Looks up the names one by one: a directory may have very many others. */
static void scan_peek(struct repo_scan *s, struct str path)
{
    struct stat st;
    AUTO_FD int dir = scan_open(s, path, s->forces);
    if (dir < 0 || fstat(dir, &st) != 0)
        return;
    scan_add_dir(s, path);
    struct scan_dir *d = &s->dirs[s->n_dirs - 1];
    d->there = true;
    d->dev = st.st_dev;
    d->ino = st.st_ino;
    for (size_t i = 0; i < ARRAY_LEN(seen_names); i++)
        if (fstatat(dir, seen_names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            d->seen |= scan_seen_bits(seen_names[i], IFTODT(st.st_mode));
}

void scan_path(struct repo_scan *s, struct str path)
{
    AUTO_BUF struct buf git = BUF_INIT(PATH_MAX + NAME_MAX);
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    for (size_t n = 0; n <= path.n; n++) {
        if (n != path.n && n != 0 && path.p[n] != '/')
            continue;
        struct str dir = arena_str(&a, str_head(path, n));
        scan_peek(s, dir);
        scan_peek(s, arena_str(&a, scan_join_path(&git, dir, ".git")));
    }
    find_places(s);
}

bool scan_next_linked(const struct repo_scan *s, size_t *at, struct str *ret_path)
{
    for (; *at < s->n_dirs; (*at)++)
        if (s->dirs[*at].there && (s->dirs[*at].seen & SEEN_LINK)) {
            *ret_path = s->dirs[(*at)++].path;
            return true;
        }
    return false;
}

const struct scan_place *scan_find(const struct repo_scan *s, struct str path)
{
    for (size_t i = 0; i < s->n_places; i++)
        if (str_eq(s->places[i].path, path))
            return &s->places[i];
    return NULL;
}
