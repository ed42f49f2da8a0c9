/* Changes several files below one root, all or nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/writer.h"

#include "base/arena.h"
#include "base/fnv.h"
#include "base/grow.h"
#include "base/log.h"
#include "path/beneath.h"
#include "path/fstype.h"
#include "path/journal.h"
#include "path/split.h"
#include "path/writer_stage.h"

#include <errno.h>
#include <fcntl.h>

_Static_assert((int)WRITER_MAX_MANY == (int)CHANGE_MAX_FILES, "one limit");

enum {
    ARENA_MAX = 256 << 20, /* enough for the paths of the maximum number of files and directories */
};

struct writer_op {
    struct change_op op;
    struct stage_spec spec;
    uint64_t hash; /* of the path */
};

struct writer {
    struct arena arena;
    const char *journal_dir;
    struct writer_op *ops;
    size_t n, cap, most;
    uint32_t *slots; /* hash table of paths: index of the operation, plus 1 */
    size_t n_slots;
    uint64_t bytes, copied;
    struct change change;
    struct writer_file *files;
    struct str dir; /* directory whose descriptor is cached between checks */
    int dir_fd;
    bool used;
    writer_staged_fn ask;
    void *ask_context;
};

static const char *const action_names[] = {
    [WRITER_CREATED] = "created",
    [WRITER_UPDATED] = "updated",
    [WRITER_DELETED] = "deleted",
};

const char *writer_action_name(enum writer_action action)
{
    BUG_ON(action >= ARRAY_LEN(action_names));
    return action_names[action];
}

bool writer_new(int root_fd, const char *journal_dir, struct writer **ret_writer, struct err *err)
{
    struct rootid id;
    if (!rootid_look(root_fd, &id, err))
        return false;
    struct writer *w = base_alloc(sizeof(*w));
    *w = (struct writer){.arena = ARENA_INIT(ARENA_MAX), .most = WRITER_MAX_FILES, .dir_fd = -1};
    AUTO_FREE char *root = beneath_name(root_fd);
    w->journal_dir = arena_strdup(&w->arena, str_z(journal_dir));
    w->change.root = arena_str(&w->arena, str_z(root ? root : "?"));
    w->change.root_fd = root_fd;
    w->change.root_id = id;
    *ret_writer = w;
    return true;
}

void writer_allow_many(struct writer *w)
{
    w->most = WRITER_MAX_MANY;
}

static void forget_dir(struct writer *w)
{
    if (w->dir_fd >= 0)
        close(w->dir_fd);
    w->dir_fd = -1;
}

void writer_free(struct writer *w)
{
    if (!w)
        return;
    change_release(&w->change);
    forget_dir(w);
    free(w->ops);
    free(w->slots);
    arena_done(&w->arena);
    free(w);
}

void writer_free_at(struct writer **w)
{
    writer_free(*w);
}

/* Operations by path. */

/* The slot of the path, or a free one for it. */
static uint32_t *writer_slot(const struct writer *w, struct str rel, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        uint32_t *slot = &w->slots[i & (w->n_slots - 1)];
        if (!*slot || (w->ops[*slot - 1].hash == hash && str_eq(w->ops[*slot - 1].op.rel, rel)))
            return slot;
    }
}

static void grow_slots(struct writer *w)
{
    if (w->n_slots > 2 * w->n)
        return;
    free(w->slots);
    w->n_slots = MAX(4 * w->n_slots, (size_t)64);
    w->slots = base_alloc(w->n_slots * sizeof(*w->slots));
    for (size_t i = 0; i < w->n; i++)
        *writer_slot(w, w->ops[i].op.rel, w->ops[i].hash) = (uint32_t)i + 1;
}

static const struct writer_op *find_op(const struct writer *w, struct str rel)
{
    uint32_t at = w->n_slots ? *writer_slot(w, rel, fnv_add(FNV_START, rel)) : 0;
    return at ? &w->ops[at - 1] : NULL;
}

/* Whether a file above the path is removed by this change. */
static bool gives_way(const struct writer *w, struct str rel)
{
    for (size_t i = 1; i < rel.n; i++) {
        const struct writer_op *above = rel.p[i] == '/' ? find_op(w, str_head(rel, i)) : NULL;
        if (above && above->op.kind == CHANGE_DELETE)
            return true;
    }
    return false;
}

/* Checks before anything is written. */

static bool writer_check_type(struct str rel, const struct stat *st, struct err *err)
{
    static const struct {
        mode_t type;
        enum err_code code;
        const char *what;
    } refused[] = {
        {S_IFBLK, E_IO, "a device"},
        {S_IFCHR, E_IO, "a device"},
        {S_IFDIR, E_IO, "a directory"},
        {S_IFIFO, E_IO, "a named pipe"},
        {S_IFLNK, E_FS_VIOLATION, "a symbolic link"},
        {S_IFSOCK, E_IO, "a socket"},
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if ((st->st_mode & S_IFMT) == refused[i].type)
            return err_set(err, refused[i].code, "'%s' is %s: only regular files can be changed",
                rel.p, refused[i].what);
    return S_ISREG(st->st_mode) || err_set(err, E_IO, "'%s' is not a regular file", rel.p);
}

/* Checks the directory in which a new file, or its first missing parent, would be created. */
static bool check_parent(const struct writer *w, struct str rel, struct err *err)
{
    char path[PATH_MAX];
    const char *name;
    int fd = -1;
    memcpy(path, rel.p, rel.n + 1);
    for (struct str left = str_n(path, rel.n); fd < 0; left.n = strlen(path)) {
        fd = change_parent_open(w->change.root_fd, left, &name);
        char *slash = strrchr(path, '/');
        if (fd < 0 && (errno != ENOENT || !slash))
            return change_open_error(err, errno, rel);
        if (fd < 0)
            *slash = '\0';
    }
    AUTO_FD int parent = fd;
    if (faccessat(parent, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return err_errno(err, E_IO, errno, "cannot create '%s'", rel.p);
    return true;
}

/* The parent directory of a path; borrowed. These checks are for an early error: the commit opens
 * its directories itself. */
static int writer_open_parent(struct writer *w, struct str rel, const char **ret_name)
{
    ptrdiff_t slash = str_find_last(rel, '/');
    struct str dir = str_head(rel, slash > 0 ? (size_t)slash : 0);
    *ret_name = rel.p + slash + 1;
    if (w->dir_fd >= 0 && str_eq(dir, w->dir))
        return w->dir_fd;
    forget_dir(w);
    w->dir = dir;
    return w->dir_fd = change_parent_open(w->change.root_fd, rel, ret_name);
}

/* The state of the file at a path; *ret_old has inode 0 if it does not exist. */
static bool writer_inspect(struct writer *w, struct str rel, const struct stamp *expect,
    struct stamp *ret_old, struct err *err)
{
    struct stat st;
    const char *name;
    int fd = writer_open_parent(w, rel, &name);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP) && gives_way(w, rel)) {
        *ret_old = (struct stamp){0};
        return true;
    }
    if (fd < 0 && errno != ENOENT)
        return change_open_error(err, errno, rel);
    bool there = fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && errno != ENOENT)
        return err_errno(err, E_IO, errno, "cannot stat '%s'", rel.p);
    if (fd >= 0 && fstype_is_kernel(fd))
        return err_set(err, E_IO,
            "'%s' is in a file system of the kernel, where files cannot be created or "
            "replaced",
            rel.p);
    bool is_known = there && expect && (st.st_mode & S_IFMT) == (expect->mode & S_IFMT) &&
                    (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode));
    if (there && !is_known &&
        (!writer_check_type(rel, &st, err) || !stage_writable(&w->change, fd, name, rel, &st, err)))
        return false;
    if (!there && !check_parent(w, rel, err))
        return false;
    *ret_old = there ? stamp_of(&st) : (struct stamp){0};
    return true;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    if (S_ISDIR(a->mode))
        return S_ISDIR(b->mode) && a->dev == b->dev && a->ino == b->ino;
    return a->dev == b->dev && a->ino == b->ino && a->mtime_s == b->mtime_s &&
           a->mtime_ns == b->mtime_ns && a->size == b->size && a->mode == b->mode &&
           a->uid == b->uid && a->gid == b->gid;
}

static bool writer_conflict(struct err *err, struct str rel, const char *what)
{
    err_set(err, E_CONFLICT, "'%s' %s", rel.p, what);
    return err_ctx(err, "path", "%s", rel.p);
}

static bool check_expected(
    struct str rel, const struct stamp *old, const struct writer_options *options, struct err *err)
{
    if (!old->ino && (options->must_exist || options->expect))
        return writer_conflict(err, rel, "does not exist, or no longer exists");
    if (old->ino && options->must_not_exist)
        return writer_conflict(err, rel, "already exists");
    if (options->expect && !same_stamp(old, options->expect))
        return writer_conflict(
            err, rel, "was changed in the meantime: read it again and repeat the change");
    return true;
}

static bool check_rel(const struct writer *w, struct str rel, struct err *err)
{
    BUG_ON(w->used);
    if (!change_rel_ok(rel))
        return err_set(err, E_FS_VIOLATION, "'" STR_FMT "' is not a plain path below the root",
            STR_ARG(str_head(rel, PATH_MAX)));
    if (w->n == w->most)
        return err_set(err, E_IO, "a change cannot have more than %zu files", w->most);
    if (arena_left(&w->arena) < ARENA_MAX / 2)
        return err_set(err, E_IO, "the paths of this change are too long in total");
    return true;
}

static bool add_op(struct writer *w, const struct writer_op *new, struct err *err)
{
    uint64_t hash = fnv_add(FNV_START, new->op.rel);
    grow_slots(w);
    uint32_t *slot = writer_slot(w, new->op.rel, hash);
    if (*slot)
        return writer_conflict(err, new->op.rel, "is already in this change");
    GROW(w->ops, w->n, w->cap, GROW_MAX);
    w->ops[w->n] = *new;
    w->ops[w->n++].hash = hash;
    *slot = (uint32_t)w->n;
    return true;
}

static bool writer_put_file(struct writer *w, struct str rel, const struct stage_spec *spec,
    const struct writer_options *options, struct err *err)
{
    struct writer_op new = {.spec = *spec};
    if (!check_rel(w, rel, err))
        return false;
    const struct stage_source *source = &spec->source;
    uint64_t copied = source->path.p ? (uint64_t)source->stamp.size : source->size;
    if (spec->content.n > WRITER_MAX_BYTES - w->bytes || copied > WRITER_MAX_COPY_BYTES - w->copied)
        return err_set(err, E_IO, "a change cannot have more than %llu bytes",
            (unsigned long long)(copied ? WRITER_MAX_COPY_BYTES : WRITER_MAX_BYTES));
    if (options->link &&
        (spec->content.n == 0 || spec->content.n >= PATH_MAX || str_find(spec->content, '\0') >= 0))
        return err_set(err, E_IO, "invalid target for the link '%s'", rel.p);
    if (options->set_mode && options->mode > 07777)
        return err_set(err, E_IO, "'%o' is not a file mode", (unsigned)options->mode);
    new.op.rel = arena_str(&w->arena, rel);
    if (!writer_inspect(w, new.op.rel, options->expect, &new.op.old, err) ||
        !check_expected(new.op.rel, &new.op.old, options, err))
        return false;
    new.op.kind = new.op.old.ino ? CHANGE_UPDATE : CHANGE_CREATE;
    new.spec.set_mode = options->set_mode;
    new.spec.mode = options->mode;
    new.spec.exec = options->exec;
    new.spec.keep_eol = options->keep_eol;
    new.spec.link = options->link;
    new.spec.like_source = options->like_source;
    if (!add_op(w, &new, err))
        return false;
    w->bytes += spec->content.n;
    w->copied += copied;
    return true;
}

bool writer_put(struct writer *w, struct str rel, struct str content,
    const struct writer_options *options, struct err *err)
{
    static const struct writer_options defaults;
    struct stage_spec spec = {.content = content};
    return writer_put_file(w, rel, &spec, options ? options : &defaults, err);
}

bool writer_put_from(struct writer *w, struct str rel, const struct writer_source *source,
    const struct writer_options *options, struct err *err)
{
    static const struct writer_options defaults;
    struct stage_spec spec = {.source = {source->root_fd, source->path, source->stamp, source->part,
                                  source->at, source->size}};
    BUG_ON(options && (options->link || options->keep_eol));
    return writer_put_file(w, rel, &spec, options ? options : &defaults, err);
}

void writer_tidy(struct writer *w)
{
    w->change.tidy = true;
}

void writer_any_mode(struct writer *w)
{
    w->change.any_mode = true;
}

void writer_own_as_dirs(struct writer *w)
{
    w->change.dirs_owner = geteuid() == 0;
}

void writer_when_staged(struct writer *w, writer_staged_fn ask, void *context)
{
    w->ask = ask;
    w->ask_context = context;
}

bool writer_remove(struct writer *w, struct str rel, const struct stamp *expect, struct err *err)
{
    struct writer_options options = {.must_exist = true, .expect = expect};
    struct writer_op new = {.op.kind = CHANGE_DELETE};
    if (!check_rel(w, rel, err))
        return false;
    if (expect && S_ISDIR(expect->mode))
        return err_set(
            err, E_IO, "'%s' is a directory: only the files in it can be removed", rel.p);
    new.op.rel = arena_str(&w->arena, rel);
    return writer_inspect(w, new.op.rel, expect, &new.op.old, err) &&
           check_expected(new.op.rel, &new.op.old, &options, err) && add_op(w, &new, err);
}

bool writer_move(struct writer *w, struct str from, struct str to, struct str content,
    const struct writer_options *options, struct err *err)
{
    struct writer_options target = options ? *options : (struct writer_options){0};
    if (!writer_remove(w, from, target.expect, err))
        return false;
    const struct change_op *old = &w->ops[w->n - 1].op;
    struct stage_spec spec = {.content = content, .like = old->rel, .like_stamp = old->old};
    target.expect = NULL;
    target.must_exist = false;
    target.must_not_exist = true;
    if (writer_put_file(w, to, &spec, &target, err))
        return true;
    /* It was inserted last, so no probe sequence passes through its slot. */
    *writer_slot(w, old->rel, w->ops[w->n - 1].hash) = 0;
    w->n--;
    return false;
}

/* The plan. */

static int compare_ops(const void *a, const void *b)
{
    return change_order(
        ((const struct writer_op *)a)->op.rel, ((const struct writer_op *)b)->op.rel);
}

static bool writer_is_missing(struct writer *w, struct str dir, bool *ret_missing, struct err *err)
{
    char path[PATH_MAX];
    memcpy(path, dir.p, dir.n);
    path[dir.n] = '\0';
    AUTO_FD int fd =
        beneath_open(w->change.root_fd, path, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 && errno != ENOENT)
        return change_open_error(err, errno, str_n(path, dir.n));
    *ret_missing = fd < 0;
    return true;
}

/* In the order of the plan, a directory that is already planned is the last one or an ancestor of
 * it. */
static bool is_planned(const struct change *c, struct str dir)
{
    struct str last = c->n_dirs ? c->dirs[c->n_dirs - 1].rel : STR("");
    return c->n_dirs && (str_eq(last, dir) || change_is_below(last, dir));
}

static size_t most_dirs(const struct writer *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; w->ops[i].op.kind == CHANGE_CREATE && k < w->ops[i].op.rel.n; k++)
            n += w->ops[i].op.rel.p[k] == '/';
    return MIN(n, (size_t)CHANGE_MAX_DIRS);
}

static bool plan_dir(struct writer *w, struct str dir, struct err *err)
{
    struct change *c = &w->change;
    if (c->n_dirs == CHANGE_MAX_DIRS)
        return err_set(
            err, E_IO, "a change cannot create more than %d directories", CHANGE_MAX_DIRS);
    if (!c->dirs)
        c->dirs = ARENA_NEW(&w->arena, struct change_dir, most_dirs(w));
    c->dirs[c->n_dirs++].rel = arena_str(&w->arena, dir);
    return true;
}

/* Searches from the deepest directory up to one that exists or is planned; those below it are to be
 * created. Inside a new directory nothing exists. */
static bool plan_parents(struct writer *w, struct str rel, bool in_new, struct err *err)
{
    size_t n = (size_t)MAX(str_find_last(rel, '/'), (ptrdiff_t)0), parent_n = n;
    while (n > 0 && !is_planned(&w->change, str_head(rel, n))) {
        bool missing = true;
        if (!in_new && !writer_is_missing(w, str_head(rel, n), &missing, err))
            return false;
        if (!missing)
            break;
        n = (size_t)MAX(str_find_last(str_head(rel, n), '/'), (ptrdiff_t)0);
    }
    for (size_t i = n + 1; i <= parent_n; i++)
        if (rel.p[i] == '/' && !plan_dir(w, str_head(rel, i), err))
            return false;
    return true;
}

/* The i-th operation and those below it: an exchange of file and directory, or a contradiction. */
static bool plan_shape(struct writer *w, size_t i, size_t end, struct err *err)
{
    struct change_op *op = &w->change.ops[i];
    bool was_dir = S_ISDIR(op->old.mode);
    bool ok = op->kind == (was_dir ? CHANGE_UPDATE : CHANGE_DELETE);
    for (size_t k = i + 1; k < end; k++)
        ok = ok && w->ops[k].op.kind == (was_dir ? CHANGE_DELETE : CHANGE_CREATE);
    if (!ok)
        return writer_conflict(err, op->rel, "cannot be both a file and a directory in one change");
    op->kind = was_dir ? CHANGE_TO_FILE : CHANGE_TO_DIR;
    return was_dir || plan_dir(w, op->rel, err);
}

static bool writer_make_plan(struct writer *w, struct err *err)
{
    struct change *c = &w->change;
    size_t inside = 0; /* operations before this index are below one that changes its type */
    qsort(w->ops, w->n, sizeof(*w->ops), compare_ops);
    c->ops = ARENA_NEW(&w->arena, struct change_op, w->n);
    w->files = ARENA_NEW(&w->arena, struct writer_file, w->n);
    c->n_ops = w->n;
    for (size_t i = 0; i < w->n; i++) {
        c->ops[i] = w->ops[i].op;
        if (c->ops[i].kind == CHANGE_CREATE && !plan_parents(w, c->ops[i].rel, i < inside, err))
            return false;
        size_t end = i + 1;
        while (i >= inside && end < w->n && change_is_below(w->ops[end].op.rel, c->ops[i].rel))
            end++;
        if (i < inside || (end == i + 1 && !S_ISDIR(c->ops[i].old.mode)))
            continue;
        if (!plan_shape(w, i, end, err))
            return false;
        inside = end;
    }
    BUG_ON(!change_bind(c));
    return true;
}

/* The commit. */

static bool stage_dirs(struct change *c, struct journal *j, struct err *err)
{
    return change_make_dirs(c, err) && journal_made(j, c, err) && change_show_dirs(c, err) &&
           change_hold(c, err);
}

static const enum writer_action actions[] = {
    [CHANGE_CREATE] = WRITER_CREATED,
    [CHANGE_UPDATE] = WRITER_UPDATED,
    [CHANGE_DELETE] = WRITER_DELETED,
    [CHANGE_TO_DIR] = WRITER_DELETED, /* the files in it are reported separately as created */
    [CHANGE_TO_FILE] = WRITER_UPDATED,
};

static bool stage_one(void *writer, size_t i, struct err *err)
{
    struct writer *w = writer;
    struct change *c = &w->change;
    struct writer_file *file = &w->files[i];
    *file = (struct writer_file){.path = c->ops[i].rel, .action = actions[c->ops[i].kind]};
    if (c->ops[i].kind == CHANGE_DELETE)
        return stage_delete(c, i, err);
    if (c->ops[i].kind == CHANGE_TO_DIR)
        return stage_dir(c, i, err);
    return stage_file(c, i, &w->ops[i].spec, &file->bytes_written, err);
}

static bool writer_confirm_staged(struct writer *w, struct err *err)
{
    const struct change *c = &w->change;
    if (!w->ask)
        return true;
    AUTO_FREE struct writer_staged *files = base_alloc((c->n_ops + 1) * sizeof(*files));
    AUTO_FREE struct writer_dir *dirs = base_alloc((c->n_dirs + 1) * sizeof(*dirs));
    for (size_t i = 0; i < c->n_ops; i++) {
        files[i].path = c->ops[i].rel;
        files[i].old = c->ops[i].old;
        if (c->ops[i].kind != CHANGE_TO_DIR)
            files[i].new = c->ops[i].new;
    }
    for (size_t i = 0; i < c->n_dirs; i++)
        dirs[i] = (struct writer_dir){c->dirs[i].rel, c->dirs[i].ino};
    const struct writer_plan plan = {c->root_fd, c->root, files, c->n_ops, dirs, c->n_dirs};
    return w->ask(w->ask_context, &plan, err);
}

static bool stage_all(struct writer *w, struct journal *j, struct err *err)
{
    return stage_dirs(&w->change, j, err) && split_run(w->change.n_ops, stage_one, w, err) &&
           writer_confirm_staged(w, err);
}

static bool rename_all(struct writer *w, struct journal *j, struct err *err)
{
    struct change *c = &w->change;
    /* A single file that is missing from its temporary name after a power failure was not replaced
     * either. */
    if ((!change_is_single(c) && (!shape_sync(c, err) || !change_sync(c, err))) ||
        !journal_commit(j, c, err))
        return false;
    change_next_pass(c);
    for (size_t i = 0; i < c->n_ops; i++)
        if (!change_forward(c, i, err))
            return false;
    return journal_done(j, c, err);
}

/* Returns the failure, and adds what it left behind. */
static bool writer_undo_error(const struct writer *w, const struct journal *j,
    const struct err *later, struct err *failure, struct err *err)
{
    const struct change *c = &w->change;
    if (later->code != ERR_NONE)
        err_wrap(failure, "the change could not be undone yet (%s); the next command here %s",
            later->message, journal_goes_back(j) ? "retries" : "completes or undoes it");
    if (c->n_kept) {
        err_wrap(failure, "the previous version was saved as '%s'", c->kept);
        err_ctx(failure, "kept", "%s", c->kept);
    }
    if (c->n_lost) {
        err_wrap(failure,
            "'%s' could not be restored: its directory or its previous version no longer "
            "exists (details are in '%s/%s')",
            c->lost, w->journal_dir, j->name);
        err_ctx(failure, "lost", "%s", c->lost);
    }
    return err_move(err, failure);
}

bool writer_commit(struct writer *w, struct writer_result *ret_result, struct err *err)
{
    AUTO(journal_close) struct journal j = {.dir_fd = -1, .fd = -1};
    AUTO_ERR struct err failure = {0}, later = {0};
    BUG_ON(w->used);
    w->used = true;
    if (w->n == 0) {
        *ret_result = (struct writer_result){0};
        return true;
    }
    if (!writer_make_plan(w, err) || !journal_open(w->journal_dir, &w->change, &j, err))
        return false;
    bool staged = stage_all(w, &j, &failure);
    if (!staged || !rename_all(w, &j, &failure)) {
        bool clean =
            staged ? journal_undo(&j, &w->change, &later) : journal_drop(&j, &w->change, &later);
        BUG_ON(clean != (later.code == ERR_NONE));
        return writer_undo_error(w, &j, &later, &failure, err);
    }
    /* All new, and recorded as such: the remaining cleanup can wait for the next command. */
    if (!journal_finish(&j, &w->change, &later))
        LOG_WARN("%s", later.message);
    *ret_result = (struct writer_result){.files = w->files, .n = w->n};
    return true;
}
