/* Manifests: creation, storage, comparison. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/manifest.h"

#include "base/fnv.h"
#include "base/grow.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "path/change.h"
#include "path/split.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>

struct manifest_header {
    char magic[8];
    uint64_t n;
    uint64_t bytes;
    uint64_t checksum;
};

static const char magic[8] = "cordonM1";

void manifest_done(struct manifest *m)
{
    buf_done(&m->bytes);
    free(m->at);
    *m = MANIFEST_INIT;
}

static void note_place(struct manifest *m, size_t at)
{
    GROW(m->at, m->n, m->cap, GROW_MAX);
    m->at[m->n++] = at;
}

static size_t manifest_padded_size(size_t path_n)
{
    return (path_n + 8) & ~(size_t)7;
}

void manifest_keep(struct manifest *m, const struct manifest_entry *e, struct str path)
{
    note_place(m, m->bytes.n);
    buf_add(&m->bytes, e, sizeof(*e));
    buf_add_str(&m->bytes, path);
    buf_add(&m->bytes, "\0\0\0\0\0\0\0", manifest_padded_size(path.n) - path.n);
}

static struct manifest_entry manifest_entry_of(struct str path, const struct stat *st)
{
    return (struct manifest_entry){
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
        .ctime_s = st->st_ctim.tv_sec,
        .ctime_ns = (uint32_t)st->st_ctim.tv_nsec,
        .mode = st->st_mode,
        .path_n = (uint32_t)path.n,
    };
}

void manifest_add(struct manifest *m, struct str path, const struct stat *st)
{
    struct manifest_entry e = manifest_entry_of(path, st);
    manifest_keep(m, &e, path);
}

/* Walking the files of a tree ----------------------------------------------------------------- */

struct manifest_files {
    struct walk *w;
    struct walk_problems problems;
};

static void files_done(struct manifest_files *f)
{
    walk_close(f->w);
    walk_problems_done(&f->problems);
}

static bool files_open(struct manifest_files *f, int root_fd, struct err *err)
{
    struct walk_options options = {
        .all_names = true, .entries_max = MANIFEST_ENTRIES_MAX, .problems = &f->problems};
    return walk_open(root_fd, &options, &f->w, err);
}

/* NULL at the end. */
static bool files_name(
    struct manifest_files *f, const struct walk_entry **ret_entry, struct err *err)
{
    const struct walk_entry *e;
    for (;;) {
        if (!walk_next(f->w, &e, err))
            return false;
        if (!e && f->problems.n)
            return err_set(err, E_IO, "cannot read '%s': %s", f->problems.kept[0].path,
                walk_problem_text(&f->problems.kept[0]));
        if (e && delta_is_git(e->name)) {
            walk_skip(f->w);
            continue;
        }
        if (e && e->type != DT_REG && e->type != DT_LNK)
            continue;
        *ret_entry = e;
        return true;
    }
}

/* The same with stat(). */
static bool files_next(struct manifest_files *f, const struct walk_entry **ret_entry,
    struct stat *ret_st, struct err *err)
{
    while (files_name(f, ret_entry, err)) {
        const struct walk_entry *e = *ret_entry;
        if (!e || fstatat(e->dir_fd, e->name.p, ret_st, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* Collects the names, then calls stat() in up to two threads, as that takes most of the time. */
struct manifest_stats {
    int root_fd;
    struct manifest *m;
    size_t *runs; /* index of the first file of each directory; then the end */
    size_t n;
};

static struct str manifest_dir_of(const struct manifest *m, size_t i)
{
    struct str path;
    manifest_get(m, i, &path);
    return str_head(path, (size_t)MAX(str_find_last(path, '/'), (ptrdiff_t)0));
}

static void find_runs(struct manifest_stats *l)
{
    l->runs = base_alloc((l->m->n + 1) * sizeof(*l->runs));
    for (size_t i = 0; i < l->m->n; i++)
        if (i == 0 || !str_eq(manifest_dir_of(l->m, i - 1), manifest_dir_of(l->m, i)))
            l->runs[l->n++] = i;
    l->runs[l->n] = l->m->n;
}

/* A deleted file keeps inode 0. */
static bool manifest_stat_run(void *looks, size_t run, struct err *err)
{
    const struct manifest_stats *l = looks;
    char dir[PATH_MAX] = ".";
    struct str parent = manifest_dir_of(l->m, l->runs[run]);
    (void)err;
    if (parent.n >= sizeof(dir))
        return true;
    if (parent.n)
        memcpy(dir, parent.p, parent.n);
    dir[MAX(parent.n, (size_t)1)] = '\0';
    AUTO_FD int fd = beneath_open(l->root_fd, dir, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    for (size_t i = l->runs[run]; fd >= 0 && i < l->runs[run + 1]; i++) {
        struct str path;
        struct stat st;
        struct manifest_entry *e = (void *)(l->m->bytes.p + l->m->at[i]);
        manifest_get(l->m, i, &path);
        const char *name = path.p + (parent.n ? parent.n + 1 : 0);
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
            *e = manifest_entry_of(path, &st);
    }
    return true;
}

static void drop_gone(struct manifest *m)
{
    struct manifest kept = MANIFEST_INIT;
    bool all = true;
    struct str path;
    for (size_t i = 0; i < m->n && all; i++)
        all = manifest_get(m, i, &path)->ino != 0;
    if (all)
        return;
    for (size_t i = 0; i < m->n; i++) {
        const struct manifest_entry *e = manifest_get(m, i, &path);
        if (e->ino)
            manifest_keep(&kept, e, path);
    }
    manifest_done(m);
    *m = kept;
}

bool manifest_take(int root_fd, struct manifest *m, struct err *err)
{
    AUTO(files_done) struct manifest_files f = {0};
    const struct walk_entry *e;
    struct manifest_stats looks = {.root_fd = root_fd, .m = m};
    BUG_ON(m->n);
    if (!files_open(&f, root_fd, err))
        return false;
    do {
        if (!files_name(&f, &e, err))
            return false;
        if (e)
            manifest_keep(m, &(struct manifest_entry){.path_n = (uint32_t)e->path.n}, e->path);
    } while (e);
    if (!buf_ok(&m->bytes))
        return err_set(err, E_IO, "the project has too many files for a manifest");
    find_runs(&looks);
    bool ok = split_run(looks.n, manifest_stat_run, &looks, err);
    free(looks.runs);
    drop_gone(m);
    return ok;
}

/* On disk ------------------------------------------------------------------------------------- */

static void manifest_next_name(char next[NAME_MAX + 1], const char *name)
{
    snprintf(next, NAME_MAX + 1, "%s.next", name);
}

static bool manifest_write_file(
    const struct manifest *m, int dir_fd, const char *name, struct err *err)
{
    char temp[NAME_MAX + 1];
    struct manifest_header h = {
        .n = m->n, .bytes = m->bytes.n, .checksum = fnv_add(FNV_START, buf_str(&m->bytes))};
    memcpy(h.magic, magic, sizeof(magic));
    snprintf(temp, sizeof(temp), "%s.new", name);
    const struct replace_options o = {
        .dir = dir_fd, .name = name, .temp = temp, .mode = 0600, .flags = REPLACE_SYNC};
    AUTO_REPLACE struct replace r = REPLACE_NONE;
    bool ok = replace_open(&r, &o) && replace_write(&r, str_n((const char *)&h, sizeof(h))) &&
              replace_write(&r, buf_str(&m->bytes)) && replace_commit(&r);
    return ok || err_errno(err, E_IO, errno, "cannot write '%s'", name);
}

bool manifest_end_next(int dir_fd, const char *name, struct err *err)
{
    char next[NAME_MAX + 1];
    manifest_next_name(next, name);
    if (unlinkat(dir_fd, next, 0) != 0 && errno != ENOENT)
        return err_errno(err, E_IO, errno, "cannot remove '%s'", next);
    return true;
}

bool manifest_write(const struct manifest *m, int dir_fd, const char *name, struct err *err)
{
    return manifest_write_file(m, dir_fd, name, err) && manifest_end_next(dir_fd, name, err);
}

bool manifest_settle(const struct manifest *m, int dir_fd, const char *name, struct err *err)
{
    char next[NAME_MAX + 1];
    manifest_next_name(next, name);
    return faccessat(dir_fd, next, F_OK, AT_SYMLINK_NOFOLLOW) != 0 ||
           manifest_write(m, dir_fd, name, err);
}

bool manifest_write_next(const struct manifest *m, int dir_fd, const char *name, struct err *err)
{
    char next[NAME_MAX + 1];
    manifest_next_name(next, name);
    if (!manifest_write_file(m, dir_fd, next, err))
        return false;
    AUTO_FD int dir = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || (fsync(dir) != 0 && errno != EINVAL))
        return err_errno(err, E_IO, errno, "cannot write '%s'", next);
    return true;
}

static bool manifest_damaged_error(struct err *err, const char *name)
{
    return err_set(err, E_CONFIG, "the manifest '%s' is damaged", name);
}

/* Indexes the entries. Each path must be valid and sort after its predecessor; in a `.next` equal
 * paths are allowed. */
static bool index_entries(struct manifest *m, enum manifest_kind kind, uint64_t n)
{
    const int most = kind == MANIFEST_TO_COME ? 0 : -1;
    struct str before = {0};
    for (size_t at = 0; at < m->bytes.n;) {
        struct manifest_entry e;
        if (m->bytes.n - at < sizeof(e))
            return false;
        memcpy(&e, m->bytes.p + at, sizeof(e));
        struct str path = str_n(m->bytes.p + at + sizeof(e), e.path_n);
        size_t left = m->bytes.n - at - sizeof(e);
        if (e.path_n >= left || manifest_padded_size(e.path_n) > left || path.p[path.n] != '\0' ||
            !change_rel_ok(path) || (before.p && str_cmp(before, path) > most))
            return false;
        note_place(m, at);
        before = path;
        at += sizeof(e) + manifest_padded_size(path.n);
    }
    return m->n == n;
}

bool manifest_parse(struct str bytes, enum manifest_kind kind, struct manifest *m)
{
    struct manifest_header h;
    if (bytes.n < sizeof(h))
        return false;
    memcpy(&h, bytes.p, sizeof(h));
    bytes = str_skip(bytes, sizeof(h));
    if (memcmp(h.magic, magic, sizeof(magic)) != 0 || h.bytes >= MANIFEST_BYTES_MAX ||
        h.bytes != bytes.n || fnv_add(FNV_START, bytes) != h.checksum)
        return false;
    buf_add_str(&m->bytes, bytes);
    return index_entries(m, kind, h.n);
}

static bool read_kind(
    int dir_fd, const char *name, enum manifest_kind kind, struct manifest *m, struct err *err)
{
    AUTO_BUF struct buf bytes =
        BUF_INIT((size_t)MANIFEST_BYTES_MAX + sizeof(struct manifest_header));
    BUG_ON(m->n);
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read the manifest '%s'", name);
    if (!file_read(fd, bytes.max - 1, name, &bytes, err))
        return false;
    return manifest_parse(buf_str(&bytes), kind, m) || manifest_damaged_error(err, name);
}

bool manifest_read(int dir_fd, const char *name, struct manifest *m, struct err *err)
{
    return read_kind(dir_fd, name, MANIFEST_OF_TREE, m, err);
}

static bool manifest_find_file(int root_fd, struct str path, struct stat *ret_st)
{
    AUTO_FD int fd = beneath_open(root_fd, path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    return fd >= 0 && fstat(fd, ret_st) == 0 &&
           (S_ISREG(ret_st->st_mode) || S_ISLNK(ret_st->st_mode));
}

bool manifest_is_so(int root_fd, struct str path, const struct manifest_entry *e)
{
    struct stat st;
    bool is_file = manifest_find_file(root_fd, path, &st);
    return e && e->ino ? is_file && manifest_same(e, &st) : !is_file;
}

static bool same_entry(const struct manifest_entry *a, const struct manifest_entry *b)
{
    return a && b && memcmp(a, b, sizeof(*a)) == 0;
}

/* A file that was put in place or put back was renamed, so its change time differs: take the
 * current one. */
static struct manifest_entry manifest_renamed_entry(
    int root_fd, struct str path, const struct manifest_entry *e)
{
    struct manifest_entry any = *e;
    struct stat st;
    any.ctime_ns = MANIFEST_ANY_CTIME;
    return manifest_find_file(root_fd, path, &st) && manifest_same(&any, &st)
               ? manifest_entry_of(path, &st)
               : *e;
}

/* An apply is all or nothing: if none of the pending files is in place, missing files were deleted
 * by something else. */
static bool manifest_is_in_place(const struct manifest *next, int root_fd)
{
    bool any = false;
    for (size_t i = 0; i < next->n; i++) {
        struct str path;
        const struct manifest_entry *e = manifest_get(next, i, &path);
        if (!e->ino || e->ctime_ns != MANIFEST_ANY_CTIME)
            continue;
        if (manifest_is_so(root_fd, path, e))
            return true;
        any = true;
    }
    return !any;
}

/* Keeps the old entry, unless the project has the pending state. */
static void manifest_merge_entry(struct manifest *merged, int root_fd, struct str path,
    const struct manifest_entry *was, const struct manifest_entry *will, bool come)
{
    bool moves = !same_entry(was, will);
    bool moved = moves && (will || come) && manifest_is_so(root_fd, path, will);
    const struct manifest_entry *e = moved ? will : was;
    struct manifest_entry now;
    if (e && moves) {
        now = manifest_renamed_entry(root_fd, path, e);
        e = &now;
    }
    if (e)
        manifest_keep(merged, e, path);
}

/* Merges both manifests in path order. */
static void manifest_merge(
    const struct manifest *old, const struct manifest *next, int root_fd, struct manifest *merged)
{
    size_t i = 0, j = 0;
    bool come = manifest_is_in_place(next, root_fd);
    while (i < old->n || j < next->n) {
        struct str a, b;
        const struct manifest_entry *was = i < old->n ? manifest_get(old, i, &a) : NULL;
        const struct manifest_entry *will = j < next->n ? manifest_get(next, j, &b) : NULL;
        int order = !was ? 1 : !will ? -1 : str_cmp(a, b);
        was = order <= 0 ? was : NULL;
        will = order >= 0 ? will : NULL;
        struct str path = was ? a : b;
        i += was != NULL;
        j += will != NULL;
        manifest_merge_entry(merged, root_fd, path, was, will, come);
    }
}

bool manifest_load(int dir_fd, const char *name, int root_fd, struct manifest *m, struct err *err)
{
    char next_file[NAME_MAX + 1];
    AUTO_MANIFEST struct manifest old = MANIFEST_INIT, next = MANIFEST_INIT;
    AUTO_ERR struct err none = {0};
    manifest_next_name(next_file, name);
    if (faccessat(dir_fd, next_file, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return manifest_read(dir_fd, name, m, err);
    if (!manifest_read(dir_fd, name, &old, err))
        return false;
    /* An incomplete `.next` was never acted upon. */
    if (!manifest_read(dir_fd, next_file, &next, &none)) {
        *m = old;
        old = MANIFEST_INIT;
        return true;
    }
    manifest_merge(&old, &next, root_fd, m);
    return buf_ok(&m->bytes) || err_set(err, E_IO, "the manifest is too large");
}

bool manifest_read_next(
    int dir_fd, const char *name, int root_fd, struct manifest *m, struct err *err)
{
    char next_file[NAME_MAX + 1];
    AUTO_MANIFEST struct manifest next = MANIFEST_INIT;
    manifest_next_name(next_file, name);
    if (faccessat(dir_fd, next_file, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (!read_kind(dir_fd, next_file, MANIFEST_TO_COME, &next, err))
        return false;
    bool come = manifest_is_in_place(&next, root_fd);
    for (size_t i = 0; i < next.n; i++) {
        struct str path;
        const struct manifest_entry *e = manifest_get(&next, i, &path);
        if (e->ino || come)
            manifest_keep(m, e, path);
    }
    return true;
}

/* Queries ------------------------------------------------------------------------------------- */

const struct manifest_entry *manifest_get(const struct manifest *m, size_t i, struct str *ret_path)
{
    const struct manifest_entry *e = (const void *)(m->bytes.p + m->at[i]);
    *ret_path = str_n((const char *)(e + 1), e->path_n);
    return e;
}

/* Index of the first entry that is not less than a path. */
static size_t manifest_lower_bound(const struct manifest *m, struct str path)
{
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        struct str here;
        manifest_get(m, mid, &here);
        if (str_cmp(here, path) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static const struct manifest_entry *manifest_entry_at(
    const struct manifest *m, size_t i, struct str path)
{
    struct str here;
    const struct manifest_entry *e = i < m->n ? manifest_get(m, i, &here) : NULL;
    return e && str_eq(here, path) ? e : NULL;
}

const struct manifest_entry *manifest_find(const struct manifest *m, struct str path)
{
    return manifest_entry_at(m, manifest_lower_bound(m, path), path);
}

bool manifest_notes(const struct manifest *m, struct str path, const struct stat *st)
{
    const struct manifest_entry *e;
    for (size_t i = manifest_lower_bound(m, path); (e = manifest_entry_at(m, i, path)); i++)
        if (st ? e->ino && manifest_same(e, st) : !e->ino)
            return true;
    return false;
}

bool manifest_same(const struct manifest_entry *e, const struct stat *st)
{
    return e->ino == st->st_ino && e->size == (uint64_t)st->st_size && e->mode == st->st_mode &&
           e->mtime_s == st->st_mtim.tv_sec && e->mtime_ns == st->st_mtim.tv_nsec &&
           (e->ctime_ns == MANIFEST_ANY_CTIME ||
               (e->ctime_s == st->st_ctim.tv_sec && e->ctime_ns == st->st_ctim.tv_nsec));
}

static struct stat manifest_stat_of(const struct manifest_entry *e)
{
    return (struct stat){
        .st_ino = e->ino,
        .st_size = (off_t)e->size,
        .st_mode = e->mode,
        .st_mtim = {.tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns},
    };
}

static bool add_difference(struct delta *delta, struct str path, const struct manifest_entry *e,
    const struct stat *now, struct err *err)
{
    struct stat old = manifest_stat_of(e);
    enum delta_kind kind =
        (old.st_mode & S_IFMT) != (now->st_mode & S_IFMT) ? DELTA_TYPE : DELTA_MODIFIED;
    return delta_add(delta, path, kind, &old, now, err);
}

static bool add_gone(const struct manifest *m, size_t i, struct delta *delta, struct err *err)
{
    struct str path;
    struct stat old = manifest_stat_of(manifest_get(m, i, &path));
    return delta_add(delta, path, DELTA_DELETED, &old, NULL, err);
}

/* Both are in the same order, so one pass is enough. */
bool manifest_drift(const struct manifest *m, int root_fd, struct delta *delta, struct err *err)
{
    AUTO(files_done) struct manifest_files f = {0};
    const struct walk_entry *e;
    struct str path;
    struct stat st;
    size_t i = 0;
    if (!files_open(&f, root_fd, err))
        return false;
    while (files_next(&f, &e, &st, err)) {
        for (; i < m->n; i++) {
            manifest_get(m, i, &path);
            if (e && str_cmp(path, e->path) >= 0)
                break;
            if (!add_gone(m, i, delta, err))
                return false;
        }
        if (!e)
            return true;
        bool known = i < m->n && str_eq(path, e->path);
        const struct manifest_entry *was = known ? manifest_get(m, i++, &path) : NULL;
        if (!was && !delta_add(delta, e->path, DELTA_ADDED, NULL, &st, err))
            return false;
        if (was && !manifest_same(was, &st) && !add_difference(delta, e->path, was, &st, err))
            return false;
    }
    return false;
}

bool manifest_check(
    const struct manifest *m, int root_fd, struct str path, bool *ret_same, struct err *err)
{
    const struct manifest_entry *e = manifest_find(m, path);
    struct stat st;
    AUTO_FD int fd = beneath_open(root_fd, path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    bool gone = fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (!gone && (fd < 0 || fstat(fd, &st) != 0))
        return err_errno(err, E_IO, errno, "cannot stat '%s'", path.p);
    bool is_file = !gone && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode));
    *ret_same = e ? is_file && manifest_same(e, &st) : !is_file;
    return true;
}
