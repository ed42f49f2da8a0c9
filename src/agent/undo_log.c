/* The record of a session's changes: its lines and its directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/line.h"
#include "agent/undo_state.h"
#include "base/clock.h"
#include "base/grow.h"
#include "io/dir.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "path/caret.h"
#include "path/change.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

enum {
    ENTRIES_MAX = 100 * 1000,
    DAY_S = 24 * 60 * 60,
    HOMES_MAX = 1000, /* per pass; the others follow in later ones */
};
#define ARENA_MAX ((size_t)1 << 30)

/* Lines --------------------------------------------------------------------------------------- */

static const struct field stamp_fields[] = {
    FIELD_I64("ino", struct undo_stamp, ino, "inode", .flags = FIELD_OMIT_EMPTY),
    FIELD_I64("s", struct undo_stamp, mtime_s, "time of change", .flags = FIELD_OMIT_EMPTY),
    FIELD_I64("ns", struct undo_stamp, mtime_ns, "its nanoseconds", .flags = FIELD_OMIT_EMPTY),
    FIELD_I64("size", struct undo_stamp, size, "bytes", .flags = FIELD_OMIT_EMPTY),
    FIELD_U32("mode", struct undo_stamp, mode, "type and mode", .flags = FIELD_OMIT_EMPTY),
    FIELD_U32("uid", struct undo_stamp, uid, "owner", .flags = FIELD_OMIT_EMPTY),
    FIELD_U32("gid", struct undo_stamp, gid, "group", .flags = FIELD_OMIT_EMPTY),
};
static const struct shape stamp_shape =
    SHAPE("undo_stamp", struct undo_stamp, stamp_fields, "state of a file");

static const struct field file_fields[] = {
    FIELD_STR("path", struct undo_file, name, "caret-encoded", .flags = FIELD_REQUIRED),
    FIELD_OBJECT("old", struct undo_file, old, &stamp_shape, "before; {}: nothing"),
    FIELD_OBJECT("new", struct undo_file, new, &stamp_shape, "after"),
    FIELD_OBJECT("as", struct undo_file, as, &stamp_shape, "file that the new one is identical to",
        .flags = FIELD_OMIT_EMPTY),
    FIELD_STR("blob", struct undo_file, blob, "name of the saved old version",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, 64)),
    FIELD_STR("link", struct undo_file, link, "target of the old link", .flags = FIELD_OMIT_EMPTY),
};
static const struct shape file_shape =
    SHAPE("undo_file", struct undo_file, file_fields, "a changed file");

static const struct field dir_fields[] = {
    FIELD_STR("path", struct undo_dir, name, "caret-encoded", .flags = FIELD_REQUIRED),
    FIELD_I64("ino", struct undo_dir, ino, "inode"),
};
static const struct shape dir_shape =
    SHAPE("undo_dir", struct undo_dir, dir_fields, "a directory that was created");

static const char *const kind_names[UNDO_KINDS] = {
    [UNDO_CHANGE] = "change",
    [UNDO_BACK] = "undo",
    [UNDO_DONE] = "done",
    [UNDO_VOID] = "void",
    [UNDO_FORGET] = "forget",
};

static const struct field entry_fields[] = {
    FIELD_ENUM(
        "type", struct undo_entry, kind, kind_names, "kind of entry", .flags = FIELD_REQUIRED),
    FIELD_U64("n", struct undo_entry, n, "number of the change", .flags = FIELD_OMIT_EMPTY),
    FIELD_U64("turn", struct undo_entry, turn, "messages before it", .flags = FIELD_OMIT_EMPTY),
    FIELD_STR("root", struct undo_entry, root_name, "caret-encoded", .flags = FIELD_OMIT_EMPTY),
    FIELD_I64("root_ino", struct undo_entry, root_ino, "its inode", .flags = FIELD_OMIT_EMPTY),
    FIELD_OBJECTS("files", struct undo_entry, files, n_files, &file_shape, "changed files",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, CHANGE_MAX_FILES)),
    FIELD_OBJECTS("dirs", struct undo_entry, dirs, n_dirs, &dir_shape, "directories created for it",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, CHANGE_MAX_DIRS)),
};
static const struct shape entry_shape =
    SHAPE("undo_entry", struct undo_entry, entry_fields, "a line of the undo log");

struct undo_stamp undo_stamp_of(const struct stamp *s)
{
    return (struct undo_stamp){
        (int64_t)s->ino, s->mtime_s, s->mtime_ns, s->size, s->mode, s->uid, s->gid};
}

struct stamp undo_stamp_to(const struct undo_stamp *s)
{
    return (struct stamp){.ino = (ino_t)s->ino,
        .mtime_s = s->mtime_s,
        .mtime_ns = s->mtime_ns,
        .size = s->size,
        .mode = s->mode,
        .uid = s->uid,
        .gid = s->gid};
}

bool undo_stamp_same(const struct undo_stamp *a, const struct undo_stamp *b)
{
    if (!a->ino || !b->ino)
        return !a->ino && !b->ino;
    return a->ino == b->ino && a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns &&
           a->size == b->size && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid;
}

struct str undo_encode(struct arena *a, struct str bytes)
{
    AUTO_BUF struct buf b = BUF_INIT(CARET_GROWTH * (size_t)PATH_MAX * 2);
    caret_encode(bytes, &b);
    return arena_str(a, buf_str(&b));
}

static bool undo_decode(struct arena *a, struct str encoded, struct str *ret_bytes, struct err *err)
{
    AUTO_BUF struct buf b = BUF_INIT(encoded.n + 4);
    AUTO_ERR struct err wrong = {0};
    if (!caret_decode(encoded, CARET_PATH, &b, &wrong))
        return err_set(err, E_CONFIG, "%s", wrong.message);
    *ret_bytes = arena_str(a, buf_str(&b));
    return true;
}

/* Files --------------------------------------------------------------------------------------- */

bool undo_look(int root_fd, struct str path, struct undo_stamp *ret_stamp, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = beneath_open(root_fd, path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    *ret_stamp = (struct undo_stamp){0};
    /* O_NOFOLLOW allows a symlink as the last component; one above it was made by another program,
     * and the file counts as gone. */
    if (fd < 0)
        return change_is_gone(errno) ||
               err_errno(err, E_IO, errno, "cannot stat '" STR_FMT "'", STR_ARG(path));
    if (fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat '" STR_FMT "'", STR_ARG(path));
    struct stamp s = stamp_of(&st);
    *ret_stamp = undo_stamp_of(&s);
    return true;
}

int undo_root(const struct undo_entry *e, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = open(e->root.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && (int64_t)st.st_ino == e->root_ino)
        return TAKE_FD(fd);
    err_set(err, E_CONFLICT, "the directory '" STR_FMT "' no longer exists, or was replaced",
        STR_ARG(e->root));
    return -1;
}

/* Entries ------------------------------------------------------------------------------------- */

struct undo_entry *undo_entry_new(struct undo *u, enum undo_kind kind, size_t files, size_t dirs)
{
    struct undo_entry *e = ARENA_NEW(&u->arena, struct undo_entry, 1);
    *e = (struct undo_entry){.kind = kind,
        .files = ARENA_NEW(&u->arena, struct undo_file, MAX(files, (size_t)1)),
        .dirs = ARENA_NEW(&u->arena, struct undo_dir, MAX(dirs, (size_t)1)),
        .n_files = files,
        .n_dirs = dirs};
    return e;
}

/* The old versions of these turns no longer count towards the limit. */
static void undo_release_turns(struct undo *u, uint64_t first, uint64_t last)
{
    for (size_t i = 0; i < u->n; i++) {
        struct undo_entry *e = u->entries[i];
        if (e->turn < first || e->turn > last)
            continue;
        u->bytes -= e->bytes;
        e->bytes = 0;
    }
}

static void undo_set_state(struct undo *u, struct undo_entry *e, bool made)
{
    e->state = made ? UNDO_MADE : UNDO_DROPPED;
    if (made && e->kind == UNDO_BACK)
        undo_release_turns(u, e->turn, e->turn);
}

static void undo_add_entry(struct undo *u, struct undo_entry *e)
{
    GROW(u->entries, u->n, u->cap, GROW_MAX);
    u->entries[u->n++] = e;
    u->next = MAX(u->next, e->n + 1);
    for (size_t i = 0; i < e->n_files; i++)
        if (e->files[i].blob.n)
            e->bytes += (uint64_t)e->files[i].old.size;
    u->bytes += e->bytes;
}

static void undo_replay_entry(struct undo *u, struct undo_entry *e)
{
    if (e->kind == UNDO_CHANGE || e->kind == UNDO_BACK)
        undo_add_entry(u, e);
    if (e->kind == UNDO_FORGET) {
        u->forgot = MAX(u->forgot, e->turn);
        undo_release_turns(u, 0, e->turn);
    }
    for (size_t i = 0; i < u->n; i++)
        if (u->entries[i]->n == e->n && (e->kind == UNDO_DONE || e->kind == UNDO_VOID))
            undo_set_state(u, u->entries[i], e->kind == UNDO_DONE);
}

static bool decode_all(struct undo *u, struct undo_entry *e, struct err *err)
{
    if (!undo_decode(&u->arena, e->root_name.p ? e->root_name : STR(""), &e->root, err))
        return false;
    for (size_t i = 0; i < e->n_files; i++) {
        struct undo_file *f = &e->files[i];
        if (!undo_decode(&u->arena, f->name, &f->path, err))
            return false;
        if (!change_rel_ok(f->path) || (f->blob.n && str_find(f->blob, '/') >= 0))
            return err_set(err, E_CONFIG, "files[%zu]: not a plain path", i);
    }
    return true;
}

static bool undo_on_line(
    void *context, const struct line_file_line *line, bool *ret_torn, struct err *err)
{
    struct undo *u = context;
    AUTO_JSON json_t *tree = NULL;
    if (!line_parse(line, u->file.name, &tree, err))
        return false;
    if (!tree) {
        *ret_torn = true;
        return true;
    }
    if (u->n == ENTRIES_MAX || arena_left(&u->arena) < ARENA_MAX / 4)
        return err_set(err, E_CONFIG, "%s: too long", u->file.name);
    struct undo_entry *e = ARENA_NEW(&u->arena, struct undo_entry, 1);
    if (!field_read(&entry_shape, tree, &u->arena, E_CONFIG, e, err) || !decode_all(u, e, err))
        return line_blame(err, u->file.name, line->number);
    undo_replay_entry(u, e);
    return true;
}

/* The directory ------------------------------------------------------------------------------- */

static bool open_home(struct undo *u, bool make, struct err *err)
{
    AUTO_BUF struct buf log = BUF_INIT(2 * PATH_MAX);
    buf_printf(&log, "%s/log", u->home);
    const char *path = buf_z(&log);
    if (make && !line_file_make_dir(u->home, err))
        return false;
    u->fd = open(u->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (u->fd < 0)
        return (errno == ENOENT && !make) ||
               err_errno(err, E_IO, errno, "cannot open '%s'", u->home);
    if (make && !replace_path(path, STR(""), REPLACE_NEW, err) && err->code != E_CONFLICT)
        return false;
    if (make)
        err_done(err);
    AUTO_ERR struct err why = {0};
    if (line_file_open(path, true, &u->file, &why))
        return true;
    close(u->fd);
    u->fd = -1;
    return (why.code == E_NOT_FOUND && !make) || err_move(err, &why);
}

/* Removes a session's directory unless its log is locked. */
static void remove_home(int dir_fd, const char *id)
{
    AUTO_FD int home = openat(dir_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    AUTO_FD int log = home < 0 ? -1 : openat(home, "log", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (home < 0 || (log >= 0 && flock(log, LOCK_EX | LOCK_NB) != 0))
        return;
    bool listed = dir_open(&d, home, ".");
    while (listed && dir_next(&d))
        unlinkat(home, d.name, 0);
    unlinkat(dir_fd, id, AT_REMOVEDIR);
}

void undo_remove(const char *dir, const char *id)
{
    AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        remove_home(fd, id);
}

struct undo_home {
    char name[NAME_MAX + 1];
    int64_t used_s;
    uint64_t bytes;
};

static bool look_home(int dir_fd, const char *name, struct undo_home *ret_home)
{
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct undo_home home = {0};
    struct stat st;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (fd < 0 || fstatat(fd, "log", &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    snprintf(home.name, sizeof(home.name), "%s", name);
    home.used_s = st.st_mtim.tv_sec;
    bool listed = dir_open(&d, fd, ".");
    while (listed && dir_next(&d))
        if (fstatat(fd, d.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            home.bytes += (uint64_t)st.st_size;
    *ret_home = home;
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct undo_home *x = a, *y = b;
    return (x->used_s < y->used_s) - (x->used_s > y->used_s);
}

/* Removes the records of sessions that were not used for UNDO_DAYS, and of the oldest if all
 * together exceed UNDO_ALL_MAX. */
static void undo_prune_homes(const char *dir)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    int64_t now_s = (int64_t)(clock_wall_ms() / 1000);
    uint64_t bytes = 0;
    size_t n = 0;
    if (!dir_open_path(&d, dir))
        return;
    AUTO_FREE struct undo_home *homes = base_alloc(HOMES_MAX * sizeof(*homes));
    while (n < HOMES_MAX && dir_next(&d))
        n += d.name[0] != '.' && look_home(d.fd, d.name, &homes[n]);
    qsort(homes, n, sizeof(*homes), newest_first);
    for (size_t i = 0; i < n; i++) {
        bytes += homes[i].bytes;
        if (homes[i].used_s + (int64_t)UNDO_DAYS * DAY_S < now_s || bytes > UNDO_ALL_MAX)
            remove_home(d.fd, homes[i].name);
    }
}

/* The record ---------------------------------------------------------------------------------- */

static bool undo_write_line(struct undo *u, const struct undo_entry *e, struct err *err)
{
    AUTO_JSON json_t *tree = field_write(&entry_shape, e);
    AUTO_BUF struct buf line = BUF_INIT(JSON_SIZE_MAX);
    json_add_compact(&line, tree);
    if (!buf_ok(&line))
        return err_set(err, E_IO, "the change has too many files to save their old versions");
    return line_file_append(&u->file, buf_str(&line), err);
}

bool undo_mark(struct undo *u, struct undo_entry *e, bool made, struct err *err)
{
    const struct undo_entry mark = {.kind = made ? UNDO_DONE : UNDO_VOID, .n = e->n};
    undo_set_state(u, e, made);
    if (!made)
        undo_drop_blobs(u, e);
    return undo_write_line(u, &mark, err);
}

bool undo_make(struct undo *u, struct err *err)
{
    if (u->fd >= 0)
        return true;
    undo_prune_homes(u->dir);
    return open_home(u, true, err);
}

bool undo_append(struct undo *u, struct undo_entry *e, struct err *err)
{
    if (u->n == ENTRIES_MAX)
        return err_set(
            err, E_IO, "the session has made %d changes, the maximum for /undo", ENTRIES_MAX);
    if (!undo_write_line(u, e, err))
        return false;
    undo_replay_entry(u, e);
    return true;
}

bool undo_load(struct undo *u, struct err *err)
{
    if (u->loaded)
        return true;
    if (u->fd < 0 && !open_home(u, false, err))
        return false;
    if (u->fd >= 0 && !line_file_read(&u->file, undo_on_line, u, err)) {
        u->n = 0;
        return false;
    }
    u->loaded = true;
    return true;
}
