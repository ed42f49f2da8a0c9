/* Changes of a box checked against the project, and written. */
#include "box/apply.h"

#include "box/compare.h"
#include "box/selfrun.h"
#include "path/beneath.h"
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
    *a = APPLY_INIT;
}

/* One path in one tree --------------------------------------------------------------------------
 */

struct seen {
    int fd; /* -1: nothing there */
    struct stat st;
    bool blocked; /* something that is no file or link, or the way there is none */
};

static void seen_done(struct seen *s)
{
    auto_fd(&s->fd);
}

#define AUTO_SEEN AUTO(seen_done)

static bool look(int root_fd, struct str path, struct seen *ret_seen, struct err *err)
{
    struct seen s = {.fd = delta_open(root_fd, path, &s.st)};
    bool blocked = s.fd < 0 && (errno == ENOTDIR || errno == ELOOP);
    if (s.fd < 0 && errno != ENOENT && !blocked)
        return err_errno(err, E_IO, errno, "cannot read '%s'", path.p);
    s.blocked = blocked || (s.fd >= 0 && !S_ISREG(s.st.st_mode) && !S_ISLNK(s.st.st_mode));
    *ret_seen = s;
    return true;
}

/* Type, content and mode; two that are not there are the same. */
static bool same_state(
    const struct seen *a, const struct seen *b, uint64_t *left, bool *ret_same, struct err *err)
{
    if (a->blocked || b->blocked || a->fd < 0 || b->fd < 0) {
        *ret_same = !a->blocked && !b->blocked && a->fd < 0 && b->fd < 0;
        return true;
    }
    if (a->st.st_mode != b->st.st_mode) {
        *ret_same = false;
        return true;
    }
    return compare_content(a->fd, &a->st, b->fd, &b->st, left, ret_same, err);
}

/* The check --------------------------------------------------------------------------------------
 */

static const char *what_project_did(const struct delta_item *item, const struct seen *now)
{
    if (now->blocked)
        return now->fd >= 0 ? "has a directory or something else there"
                            : "has a file or link where a directory has to be";
    if (now->fd < 0)
        return "has none";
    return item->old.ino ? "has another one" : "has one, too,";
}

/* Has the project what the box started from? */
static bool is_as_before(const struct apply_trees *t, const struct delta_item *item,
    const struct seen *now, uint64_t *left, bool *ret_same, struct err *err)
{
    AUTO_SEEN struct seen before = {.fd = -1};
    if (t->baseline_fd < 0) {
        if (now->blocked) {
            *ret_same = false;
            return true;
        }
        return manifest_check(t->manifest, t->project_fd, item->path, ret_same, err);
    }
    return look(t->baseline_fd, item->path, &before, err) &&
           same_state(&before, now, left, ret_same, err);
}

static bool is_as_in_box(const struct apply_trees *t, const struct delta_item *item,
    const struct seen *now, uint64_t *left, bool *ret_same, struct err *err)
{
    AUTO_SEEN struct seen box = {.fd = -1};
    if (item->new.ino && !look(t->upper_fd, item->path, &box, err))
        return false;
    return same_state(&box, now, left, ret_same, err);
}

static bool is_forbidden(const struct delta_item *item)
{
    return delta_is_git(item->path) || (S_ISREG(item->new.mode) && (item->new.mode &SET_ID));
}

static bool check_row(
    const struct apply_trees *t, struct apply_row *row, uint64_t *left, struct err *err)
{
    AUTO_SEEN struct seen now = {.fd = -1};
    bool before, done;
    row->runs = selfrun_reason(row->item->path);
    if (is_forbidden(row->item)) {
        row->state = APPLY_FORBIDDEN;
        row->project = "";
        return true;
    }
    if (!look(t->project_fd, row->item->path, &now, err) ||
        !is_as_before(t, row->item, &now, left, &before, err) ||
        !is_as_in_box(t, row->item, &now, left, &done, err))
        return false;
    row->state = done ? APPLY_DONE : before ? APPLY_FITS : APPLY_CONFLICT;
    row->project = row->state == APPLY_CONFLICT ? what_project_did(row->item, &now) : "";
    row->now = now.fd >= 0 ? stamp_of(&now.st) : (struct stamp){0};
    return true;
}

static bool is_below(struct str path, struct str dir)
{
    return path.n > dir.n && path.p[dir.n] == '/' && str_starts_with(path, dir);
}

/* A file that goes and one that comes below it, or the other way round, in one change: sorted
 * by bytes, others can stand between the two. */
static void check_shapes(struct apply *a, const struct delta *delta)
{
    for (size_t i = 0; i < a->n; i++) {
        struct str path = a->rows[i].item->path;
        for (size_t n = 1; n < path.n; n++) {
            const struct delta_item *above =
                path.p[n] == '/' ? delta_find(delta, str_head(path, n)) : NULL;
            if (!above || !is_below(path, above->path))
                continue;
            struct apply_row *row = &a->rows[above - delta->items];
            if (row->state != APPLY_FITS && a->rows[i].state != APPLY_FITS)
                continue;
            row->state = APPLY_CONFLICT;
            row->project = "needs a directory replaced by a file, or a file by a directory, "
                           "which has to be done by hand";
        }
    }
}

static void count(struct apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct apply_row *row = &a->rows[i];
        a->n_conflicts += row->state == APPLY_CONFLICT;
        a->n_forbidden += row->state == APPLY_FORBIDDEN;
        a->n_done += row->state == APPLY_DONE;
        a->n_executed += row->state == APPLY_FITS && row->runs;
    }
}

static const struct apply_row *first_in(const struct apply *a, enum apply_state state)
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
        [DELTA_MODE] = "was given another mode",
        [DELTA_TYPE] = "became another type of file",
    };
    const struct apply_row *row = first_in(a, APPLY_CONFLICT);
    err_set(err, E_CONFLICT, "'%s' %s in the box, and the project %s by now; nothing was applied",
        row->item->path.p, done[row->item->kind], row->project);
    err_ctx(err, "path", "%s", row->item->path.p);
    return err_ctx_int(err, "conflicts", (int64_t)a->n_conflicts);
}

static bool refuse_forbidden(const struct apply *a, const struct delta *delta, struct err *err)
{
    const struct apply_row *row = first_in(a, APPLY_FORBIDDEN);
    if (row && delta_is_git(row->item->path))
        err_set(err, E_FS_VIOLATION, "'%s' belongs to git", row->item->path.p);
    else if (row)
        err_set(err, E_FS_VIOLATION, "'%s' would run as its owner (set-user-id or set-group-id)",
            row->item->path.p);
    else
        err_set(err, E_FS_VIOLATION, "'%s' %s", delta->refused[0].path.p, delta->refused[0].why);
    return err_wrap(err, "this is never applied");
}

static bool refuse_executed(const struct apply *a, struct err *err)
{
    const struct apply_row *row = a->rows;
    while (row->state != APPLY_FITS || !row->runs)
        row++;
    err_set(err, E_APPROVAL_REQUIRED,
        "'%s': %s; look at it, and allow it with --allow-executed-config", row->item->path.p,
        row->runs);
    err_ctx(err, "path", "%s", row->item->path.p);
    return err_ctx_int(err, "executed", (int64_t)a->n_executed);
}

bool apply_check(struct apply *a, const struct apply_trees *trees, const struct delta *delta,
    const struct apply_options *options, struct err *err)
{
    uint64_t left = COMPARE_MAX;
    BUG_ON(a->rows);
    a->trees = *trees;
    a->rows = base_alloc((delta->n + 1) * sizeof(*a->rows));
    for (size_t i = 0; i < delta->n; i++) {
        a->rows[i].item = &delta->items[i];
        if (!check_row(trees, &a->rows[i], &left, err))
            return false;
        a->n = i + 1;
    }
    check_shapes(a, delta);
    count(a);
    if (a->n_conflicts)
        return refuse_conflicts(a, err);
    if (a->n_forbidden || delta->n_refused)
        return refuse_forbidden(a, delta, err);
    return a->n_executed == 0 || options->allow_executed || refuse_executed(a, err);
}

/* The commit -------------------------------------------------------------------------------------
 */

static bool put_row(struct writer *w, const struct delta_item *item, const struct stamp *now,
    struct str content, struct err *err)
{
    bool is_link = S_ISLNK(item->new.mode);
    struct writer_options options = {
        .expect = now->ino ? now : NULL,
        .must_not_exist = !now->ino,
        .link = is_link,
        .set_mode = !is_link,
        .mode = is_link ? 0 : item->new.mode & 0777,
    };
    if (!item->new.ino)
        return writer_remove(w, item->path, now, err);
    return writer_put(w, item->path, content, &options, err);
}

/* Directories that the deletions left empty, from the deepest up. */
static void remove_empty(int root_fd, const struct apply *a)
{
    for (size_t i = a->n; i-- > 0;) {
        char dir[PATH_MAX];
        struct str path = a->rows[i].item->path;
        if (a->rows[i].item->new.ino || path.n >= sizeof(dir))
            continue;
        memcpy(dir, path.p, path.n + 1);
        for (char *slash; (slash = strrchr(dir, '/'));) {
            *slash = '\0';
            char *name = strrchr(dir, '/');
            if (name)
                *name = '\0';
            AUTO_FD int parent = beneath_open(
                root_fd, name ? dir : ".", O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
            bool gone = parent >= 0 && unlinkat(parent, name ? name + 1 : dir, AT_REMOVEDIR) == 0;
            if (name)
                *name = '/';
            if (!gone)
                break;
        }
    }
}

/* The contents live until the writer has written them. */
struct contents {
    struct buf *bufs;
    size_t n;
};

static void contents_done(struct contents *c)
{
    for (size_t i = 0; i < c->n; i++)
        buf_done(&c->bufs[i]);
    free(c->bufs);
}

static bool read_contents(const struct apply *a, struct contents *c, struct err *err)
{
    uint64_t total = 0;
    c->bufs = base_alloc((a->n + 1) * sizeof(*c->bufs));
    c->n = a->n;
    for (size_t i = 0; i < a->n; i++) {
        c->bufs[i] = BUF_INIT((size_t)DELTA_FILE_MAX + 1);
        if (!delta_read(a->trees.upper_fd, a->rows[i].item, DELTA_NEW, &c->bufs[i], err))
            return false;
        total += c->bufs[i].n;
        if (total > WRITER_MAX_BYTES)
            return err_set(err, E_IO, "the changes have more than %llu bytes: apply some at a time",
                (unsigned long long)WRITER_MAX_BYTES);
    }
    return true;
}

static bool write_project(
    const struct apply *a, const struct contents *c, const char *journal_dir, struct err *err)
{
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    if (!writer_new(a->trees.project_fd, journal_dir, &w, err))
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct apply_row *row = &a->rows[i];
        if (row->state == APPLY_FITS &&
            !put_row(w, row->item, &row->now, buf_str(&c->bufs[i]), err))
            return false;
    }
    if (!writer_commit(w, &result, err))
        return false;
    remove_empty(a->trees.project_fd, a);
    return true;
}

static bool write_baseline(
    const struct apply *a, const struct contents *c, const char *journal_dir, struct err *err)
{
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    if (!writer_new(a->trees.baseline_fd, journal_dir, &w, err))
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct delta_item *item = a->rows[i].item;
        if (!put_row(w, item, &item->old, buf_str(&c->bufs[i]), err))
            return false;
    }
    if (!writer_commit(w, &result, err))
        return false;
    remove_empty(a->trees.baseline_fd, a);
    return true;
}

bool apply_commit(struct apply *a, const char *journal_dir, struct err *err)
{
    AUTO(contents_done) struct contents c = {0};
    if (!read_contents(a, &c, err) || !write_project(a, &c, journal_dir, err))
        return false;
    if (a->trees.baseline_fd < 0 || write_baseline(a, &c, journal_dir, err))
        return true;
    return err_wrap(err, "the project has the changes, but the baseline could not be moved; the "
                         "next apply tries again");
}

/* Manifests --------------------------------------------------------------------------------------
 */

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

bool apply_move_manifest(
    const struct apply *a, const struct manifest *old, struct manifest *moved, struct err *err)
{
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
        AUTO_SEEN struct seen now = {.fd = -1};
        if (!look(a->trees.project_fd, row->item->path, &now, err))
            return false;
        if (now.fd >= 0 && !now.blocked)
            manifest_add(moved, row->item->path, &now.st);
    }
    return true;
}
