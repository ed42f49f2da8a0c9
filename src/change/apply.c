/* Checks the changes of a box against the project, and writes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/apply.h"

#include "change/compare.h"
#include "path/beneath.h"
#include "path/walk.h"
#include "path/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    SET_ID = S_ISUID | S_ISGID,
};
#define COMPARE_MAX ((uint64_t)16 << 30)

void apply_done(struct apply *a)
{
    free(a->rows);
    saved_done(&a->saved);
    risks_done(&a->risks);
    *a = APPLY_INIT;
}

/* One path in one tree ------------------------------------------------------------------------ */

struct apply_seen {
    int fd; /* -1: no file or symlink there */
    struct stat st;
    bool dir;     /* a directory, which git does not track */
    bool barred;  /* a parent of the path is a file or symlink */
    bool strange; /* neither file nor symlink nor directory */
};

static void seen_done(struct apply_seen *s)
{
    auto_fd(&s->fd);
}

#define AUTO_SEEN AUTO(seen_done)

static bool apply_inspect(
    int root_fd, struct str path, struct apply_seen *ret_seen, struct err *err)
{
    struct apply_seen s = {.fd = -1};
    AUTO_FD int fd = delta_open(root_fd, path, &s.st);
    s.barred = fd < 0 && (errno == ENOTDIR || errno == ELOOP);
    if (fd < 0 && errno != ENOENT && !s.barred)
        return err_errno(err, E_IO, errno, "cannot read '%s'", path.p);
    s.dir = fd >= 0 && S_ISDIR(s.st.st_mode);
    s.strange = fd >= 0 && !s.dir && !S_ISREG(s.st.st_mode) && !S_ISLNK(s.st.st_mode);
    if (fd >= 0 && !s.dir)
        s.fd = TAKE_FD(fd);
    *ret_seen = s;
    return true;
}

/* Only the type and the execute bit of a mode count. */
static bool same_mode(mode_t a, mode_t b)
{
    return (a & S_IFMT) == (b & S_IFMT) && (!S_ISREG(a) || ((a ^ b) & S_IXUSR) == 0);
}

/* Compares type, content and mode; two missing files are equal. */
static bool same_state(const struct apply_seen *a, const struct apply_seen *b, uint64_t *left,
    bool *ret_same, struct err *err)
{
    if (a->strange || b->strange || a->fd < 0 || b->fd < 0) {
        *ret_same = !a->strange && !b->strange && a->fd < 0 && b->fd < 0;
        return true;
    }
    if (!same_mode(a->st.st_mode, b->st.st_mode)) {
        *ret_same = false;
        return true;
    }
    return compare_content(a->fd, &a->st, b->fd, &b->st, left, ret_same, err);
}

/* Check --------------------------------------------------------------------------------------- */

static const char *what_project_did(const struct delta_item *item, const struct apply_seen *now)
{
    if (now->strange)
        return "has a special file there";
    if (now->barred)
        return "has a file or link where a directory is needed";
    if (now->fd < 0)
        return "no longer has it";
    return item->old.ino ? "has a different version" : "already has a different one";
}

/* A read-only file is refused until the user makes it writable: that alone does not count as a
 * change. */
static bool became_writable(const struct manifest_entry *e, const struct stat *st)
{
    struct manifest_entry now = *e;
    now.mode = st->st_mode;
    now.ctime_ns = MANIFEST_ANY_CTIME;
    return (e->mode & 0222) == 0 && (st->st_mode & 0222) && !((e->mode ^ st->st_mode) & ~0222u) &&
           manifest_same(&now, st);
}

/* The file differs from the manifest, which has no contents. */
static bool is_same_again(
    const struct apply_trees *t, struct str path, const struct apply_seen *now)
{
    const struct manifest_entry *e = manifest_find(t->manifest, path);
    if (!e || now->fd < 0)
        return false;
    return became_writable(e, &now->st) ||
           (t->former && former_is(t->former, e, path, now->fd, &now->st));
}

/* Checks whether the project still has the version the box started from. */
static bool apply_is_as_before(const struct apply_trees *t, const struct delta_item *item,
    const struct apply_seen *now, uint64_t *left, bool *ret_same, struct err *err)
{
    AUTO_SEEN struct apply_seen before = {.fd = -1};
    if (t->baseline_fd < 0) {
        if (now->strange) {
            *ret_same = false;
            return true;
        }
        if (!manifest_check(t->manifest, t->project_fd, item->path, ret_same, err))
            return false;
        *ret_same = *ret_same || is_same_again(t, item->path, now);
        return true;
    }
    return apply_inspect(t->baseline_fd, item->path, &before, err) &&
           same_state(&before, now, left, ret_same, err);
}

/* For a copy: checks whether the project has a file written by an interrupted apply. */
static bool is_as_noted(
    const struct apply_trees *t, const struct delta_item *item, const struct apply_seen *now)
{
    if (t->baseline_fd < 0 || !t->manifest || now->strange || now->dir)
        return false;
    return manifest_notes(t->manifest, item->path, now->fd >= 0 ? &now->st : NULL);
}

static bool is_as_in_box(const struct apply *a, const struct delta_item *item,
    const struct apply_seen *now, uint64_t *left, bool *ret_same, struct err *err)
{
    bool there = now->fd >= 0 && !now->strange;
    if (there && item->new.ino &&same_mode(item->new.mode, now->st.st_mode))
        return saved_same(&a->saved, item, now->fd, &now->st, left, ret_same, err);
    *ret_same = !item->new.ino && !there && !now->strange;
    return true;
}

static bool is_forbidden(const struct delta_item *item)
{
    return delta_is_git(item->path) || (S_ISREG(item->new.mode) && (item->new.mode &SET_ID));
}

static bool check_row(const struct apply *a, struct apply_row *row, uint64_t *left, struct err *err)
{
    const struct apply_trees *t = &a->trees;
    AUTO_SEEN struct apply_seen now = {.fd = -1};
    bool before, done;
    if (is_forbidden(row->item)) {
        row->state = APPLY_FORBIDDEN;
        row->project = "";
        return true;
    }
    if (!apply_inspect(t->project_fd, row->item->path, &now, err) ||
        !apply_is_as_before(t, row->item, &now, left, &before, err) ||
        !is_as_in_box(a, row->item, &now, left, &done, err))
        return false;
    before = before || is_as_noted(t, row->item, &now);
    row->state = done ? APPLY_DONE : before ? APPLY_FITS : APPLY_CONFLICT;
    row->project = row->state == APPLY_CONFLICT ? what_project_did(row->item, &now) : "";
    row->now = now.fd >= 0 || now.dir ? stamp_of(&now.st) : (struct stamp){0};
    row->barred = now.barred;
    return true;
}

/* Files and directories that replace each other ----------------------------------------------- */

static bool is_deleted(const struct apply *a, const struct delta *delta, struct str path)
{
    const struct delta_item *item = delta_find(delta, path);
    return item && !item->new.ino && a->rows[item - delta->items].state == APPLY_FITS;
}

/* The file or symlink in the way is deleted by the box. */
static bool way_opens(const struct apply *a, const struct delta *delta, struct str path)
{
    for (size_t n = 1; n < path.n; n++)
        if (path.p[n] == '/' && is_deleted(a, delta, str_head(path, n)))
            return true;
    return false;
}

/* All files in the project's directory are deleted by the box. */
static bool dir_empties(const struct apply *a, const struct delta *delta, struct str dir,
    bool *ret_empties, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    AUTO_BUF struct buf path = BUF_INIT(1 << 20);
    struct walk_options options = {.all_names = true, .problems = &problems};
    const struct walk_entry *e;
    bool empties = true;
    AUTO_FD int fd =
        beneath_open(a->trees.project_fd, dir.p, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", dir.p);
    if (!walk_open(fd, &options, &w, err))
        return false;
    while (empties) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            break;
        buf_reset(&path);
        buf_printf(&path, "%s/%s", dir.p, e->path.p);
        empties = e->type == DT_DIR || is_deleted(a, delta, buf_str(&path));
    }
    *ret_empties = empties && problems.n == 0;
    return true;
}

static bool check_shapes(struct apply *a, const struct delta *delta, struct err *err)
{
    for (size_t i = 0; i < a->n; i++) {
        struct apply_row *row = &a->rows[i];
        bool fits = true, comes = row->state == APPLY_FITS && row->item->new.ino;
        if (comes && row->barred)
            fits = way_opens(a, delta, row->item->path);
        else if (comes && S_ISDIR(row->now.mode) &&
                 !dir_empties(a, delta, row->item->path, &fits, err))
            return false;
        if (fits)
            continue;
        row->state = APPLY_CONFLICT;
        row->project = row->barred ? "has a file or link where a directory is needed"
                                   : "has a directory with other files there";
    }
    return true;
}

bool apply_is_executed(const struct apply_row *row)
{
    return row->state == APPLY_FITS && (row->acts->class == SELFRUN_RUNS || row->acts->leads_out);
}

static void apply_count(struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct apply_row *row = &a->rows[i];
        a->n_conflicts += row->state == APPLY_CONFLICT;
        a->n_forbidden += row->state == APPLY_FORBIDDEN;
        a->n_done += row->state == APPLY_DONE;
        a->n_executed += apply_is_executed(row);
    }
}

static const struct apply_row *apply_first_in_state(const struct apply *a, enum apply_state state)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->rows[i].state == state)
            return &a->rows[i];
    return NULL;
}

static bool refuse_conflicts(const struct apply *a, struct err *err)
{
    static const char *const done[] = {
        [DELTA_ADDED] = "was added",
        [DELTA_DELETED] = "was deleted",
        [DELTA_MODIFIED] = "was changed",
        [DELTA_MODE] = "changed its mode",
        [DELTA_TYPE] = "changed its type",
    };
    const struct apply_row *row = apply_first_in_state(a, APPLY_CONFLICT);
    err_set(err, E_CONFLICT, "'%s' %s in the box, but the project %s; nothing was applied",
        row->item->path.p, done[row->item->kind], row->project);
    err_ctx(err, "path", "%s", row->item->path.p);
    return err_ctx_int(err, "conflicts", (int64_t)a->n_conflicts);
}

static bool refuse_forbidden(const struct apply *a, const struct delta *delta, struct err *err)
{
    const struct apply_row *row = apply_first_in_state(a, APPLY_FORBIDDEN);
    if (row && delta_is_git(row->item->path))
        err_set(err, E_FS_VIOLATION, "'%s' belongs to git", row->item->path.p);
    else if (row)
        err_set(err, E_FS_VIOLATION, "'%s' would run as its owner (set-user-id or set-group-id)",
            row->item->path.p);
    else
        err_set(err, E_FS_VIOLATION, "'%s' %s", delta->refused[0].path.p, delta->refused[0].why);
    return err_wrap(err, "never applied");
}

static bool refuse_executed(const struct apply *a, struct err *err)
{
    const struct apply_row *row = a->rows;
    while (!apply_is_executed(row))
        row++;
    const char *why =
        row->acts->class == SELFRUN_RUNS ? row->acts->reason : "points outside the project";
    err_set(err, E_APPROVAL_REQUIRED,
        "'%s': %s; review it, and allow it with --allow-executed-config", row->item->path.p, why);
    err_ctx(err, "path", "%s", row->item->path.p);
    return err_ctx_int(err, "executed", (int64_t)a->n_executed);
}

static bool find_risks(struct apply *a, const struct delta *delta, struct err *err)
{
    AUTO_FREE struct str *targets = base_alloc((delta->n + 1) * sizeof(*targets));
    const struct risks_input in = {
        .project_fd = a->trees.project_fd,
        .top = a->trees.top,
        .delta = delta,
        .targets = targets,
    };
    for (size_t i = 0; i < delta->n; i++)
        if (S_ISLNK(delta->items[i].new.mode))
            targets[i] = saved_text(&a->saved, &delta->items[i]);
    return risks_find(&a->risks, &in, err);
}

static bool apply_snapshot(struct apply *a, struct delta *delta, struct err *err)
{
    const struct apply_trees *t = &a->trees;
    const struct saved_trees trees = {
        .old_fd = t->baseline_fd < 0 ? t->project_fd : t->baseline_fd,
        .upper_fd = t->upper_fd,
        .dir_fd = t->stage_dir,
    };
    return saved_make(&a->saved, &trees, delta, err) && find_risks(a, delta, err);
}

bool apply_check(struct apply *a, const struct apply_trees *trees, struct delta *delta,
    const struct apply_options *options, struct err *err)
{
    uint64_t left = COMPARE_MAX;
    BUG_ON(a->rows);
    a->trees = *trees;
    a->rows = base_alloc((delta->n + 1) * sizeof(*a->rows));
    if (!apply_snapshot(a, delta, err))
        return false;
    for (size_t i = 0; i < delta->n; i++) {
        a->rows[i].item = &delta->items[i];
        a->rows[i].acts = &a->risks.rows[i];
        if (!check_row(a, &a->rows[i], &left, err))
            return false;
        a->n = i + 1;
    }
    if (!check_shapes(a, delta, err))
        return false;
    apply_count(a);
    if (a->n_conflicts)
        return refuse_conflicts(a, err);
    if (a->n_forbidden || delta->n_refused)
        return refuse_forbidden(a, delta, err);
    return a->n_executed == 0 || options->allow_executed || refuse_executed(a, err);
}

/* Commit -------------------------------------------------------------------------------------- */

/* `now`: the current file, symlink, directory or nothing at that path. */
static bool apply_put_row(struct writer *w, const struct apply *a, const struct apply_row *row,
    const struct stamp *now, struct err *err)
{
    const struct delta_item *item = row->item;
    bool is_link = S_ISLNK(item->new.mode), runs = item->new.mode &S_IXUSR;
    struct writer_options options = {
        .expect = now->ino ? now : NULL,
        .must_not_exist = !now->ino,
        .link = is_link,
        .exec = is_link ? WRITER_EXEC_KEEP
                : runs  ? WRITER_EXEC_ON
                        : WRITER_EXEC_OFF,
    };
    if (!item->new.ino)
        return writer_remove(w, item->path, now, err);
    struct str text = saved_text(&a->saved, item);
    if (text.p)
        return writer_put(w, item->path, text, &options, err);
    const struct writer_source source = {
        .root_fd = a->saved.fd,
        .part = true,
        .at = saved_at(&a->saved, item),
        .size = (uint64_t)item->new.size,
    };
    return writer_put_from(w, item->path, &source, &options, err);
}

static bool put_project(struct writer *w, const struct apply *a, struct err *err)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct apply_row *row = &a->rows[i];
        if (row->state == APPLY_FITS && !apply_put_row(w, a, row, &row->now, err))
            return false;
    }
    return true;
}

/* All changes, even those already in the project: the baseline does not have them. */
static bool put_baseline(struct writer *w, const struct apply *a, struct err *err)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct delta_item *item = a->rows[i].item;
        AUTO_SEEN struct apply_seen before = {.fd = -1};
        struct stamp old = item->old;
        if (!old.ino && !apply_inspect(a->trees.baseline_fd, item->path, &before, err))
            return false;
        if (before.dir)
            old = stamp_of(&before.st);
        if (!apply_put_row(w, a, &a->rows[i], &old, err))
            return false;
    }
    return true;
}

typedef bool (*put_fn)(struct writer *w, const struct apply *a, struct err *err);

static int compare_staged(const void *a, const void *b)
{
    return str_cmp(
        ((const struct writer_staged *)a)->path, ((const struct writer_staged *)b)->path);
}

static void add_staged(struct manifest *m, const struct writer_staged *file, bool also_gone)
{
    struct manifest_entry e = {
        .ino = file->new.ino,
        .size = (uint64_t)file->new.size,
        .mtime_s = file->new.mtime_s,
        .mtime_ns = (uint32_t)file->new.mtime_ns,
        .ctime_ns = MANIFEST_ANY_CTIME,
        .mode = file->new.mode,
        .path_n = (uint32_t)file->path.n,
    };
    if (e.ino || also_gone)
        manifest_keep(m, &e, file->path);
}

/* Records the future manifest before the project is changed; for a copy only the staged files and
 * those written by an interrupted apply. */
static bool note_next(void *apply, const struct writer_plan *plan, struct err *err)
{
    size_t n = plan->n;
    const struct apply_trees *t = &((const struct apply *)apply)->trees;
    AUTO_MANIFEST struct manifest next = MANIFEST_INIT;
    AUTO_FREE struct writer_staged *sorted = base_alloc((n + 1) * sizeof(*sorted));
    memcpy(sorted, plan->files, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_staged);
    size_t known = t->manifest ? t->manifest->n : 0;
    bool copy = t->baseline_fd >= 0;
    if (!copy && !manifest_settle(t->manifest, t->manifest_dir, t->manifest_name, err))
        return false;
    for (size_t i = 0, j = 0; i < known || j < n;) {
        struct str path = {0};
        const struct manifest_entry *e = i < known ? manifest_get(t->manifest, i, &path) : NULL;
        int order = !e ? 1 : j == n ? -1 : str_cmp(path, sorted[j].path);
        if (order <= 0 && (copy ? manifest_is_so(t->project_fd, path, e) : order < 0))
            manifest_keep(&next, e, path);
        if (order >= 0)
            add_staged(&next, &sorted[j], copy);
        i += order <= 0;
        j += order >= 0;
    }
    return manifest_write_next(&next, t->manifest_dir, t->manifest_name, err);
}

static bool write_tree(
    int root_fd, put_fn put, const struct apply *a, const char *journal_dir, struct err *err)
{
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    if (!writer_new(root_fd, journal_dir, &w, err))
        return false;
    writer_allow_many(w);
    writer_tidy(w);
    writer_own_as_dirs(w);
    if (root_fd == a->trees.baseline_fd)
        writer_any_mode(w);
    if (root_fd == a->trees.project_fd && a->trees.manifest_name)
        writer_when_staged(w, note_next, (void *)a);
    return put(w, a, err) && writer_commit(w, &result, err);
}

static bool is_applied(const struct apply *a, struct str path)
{
    for (size_t low = 0, high = a->n; low < high;) {
        size_t mid = low + (high - low) / 2;
        int order = str_cmp(a->rows[mid].item->path, path);
        if (order == 0)
            return true;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* The baseline has not been updated at this path yet. */
static bool is_needed(const struct apply_trees *t, struct str path)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_SEEN struct apply_seen now = {.fd = -1}, before = {.fd = -1};
    uint64_t left = COMPARE_MAX;
    bool same = false;
    return !apply_inspect(t->project_fd, path, &now, &ignored) ||
           !apply_inspect(t->baseline_fd, path, &before, &ignored) ||
           !same_state(&before, &now, &left, &same, &ignored) || !same;
}

/* May fail: a leftover record does no harm. */
static void forget_noted(const struct apply *a)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_MANIFEST struct manifest rest = MANIFEST_INIT;
    const struct apply_trees *t = &a->trees;
    for (size_t i = 0; t->manifest && i < t->manifest->n; i++) {
        struct str path;
        const struct manifest_entry *e = manifest_get(t->manifest, i, &path);
        if (!is_applied(a, path) && is_needed(t, path))
            manifest_keep(&rest, e, path);
    }
    if (t->manifest_name && rest.n)
        (void)!manifest_write_next(&rest, t->manifest_dir, t->manifest_name, &ignored);
    else if (t->manifest_name)
        (void)!manifest_end_next(t->manifest_dir, t->manifest_name, &ignored);
}

bool apply_commit(struct apply *a, const char *journal_dir, struct err *err)
{
    if (a->n > WRITER_MAX_MANY)
        return err_set(err, E_IO,
            "%zu files were changed, and at most %d can be applied at once: "
            "apply some paths at a time",
            a->n, WRITER_MAX_MANY);
    if (a->n == 0 && a->trees.baseline_fd >= 0) {
        forget_noted(a);
        return true;
    }
    if (!write_tree(a->trees.project_fd, put_project, a, journal_dir, err))
        return false;
    if (a->trees.baseline_fd < 0)
        return true;
    if (write_tree(a->trees.baseline_fd, put_baseline, a, journal_dir, err)) {
        forget_noted(a);
        return true;
    }
    return err_wrap(err,
        "the changes were applied, but the baseline could not be updated; the next apply "
        "retries this");
}

/* Manifests ----------------------------------------------------------------------------------- */

/* Copies the old manifest, with the current state of the applied files in a tree. The box may have
 * changed its own tree since; there, only files that are still as applied are added. */
static bool apply_update_manifest(int root_fd, const struct apply *a, const struct manifest *old,
    struct manifest *moved, struct err *err)
{
    bool of_box = root_fd == a->trees.upper_fd;
    size_t i = 0, j = 0;
    while (i < old->n || j < a->n) {
        struct str path = {0};
        const struct manifest_entry *e = i < old->n ? manifest_get(old, i, &path) : NULL;
        if (e && (j == a->n || str_cmp(path, a->rows[j].item->path) < 0)) {
            manifest_keep(moved, e, path);
            i++;
            continue;
        }
        i += e && is_applied(a, path);
        const struct apply_row *row = &a->rows[j++];
        AUTO_SEEN struct apply_seen now = {.fd = -1};
        if (!apply_inspect(root_fd, row->item->path, &now, err))
            return false;
        if (now.fd >= 0 && !now.strange && (!of_box || saved_is(&a->saved, row->item, &now.st)))
            manifest_add(moved, row->item->path, &now.st);
    }
    return true;
}

bool apply_move_manifest(
    const struct apply *a, const struct manifest *old, struct manifest *moved, struct err *err)
{
    return apply_update_manifest(a->trees.project_fd, a, old, moved, err);
}

bool apply_same(
    const struct apply *a, const struct manifest *old, struct manifest *same, struct err *err)
{
    return apply_update_manifest(a->trees.upper_fd, a, old, same, err);
}
