/* Undoing changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/undo_state.h"
#include "io/file.h"
#include "path/caret.h"
#include "path/change.h"
#include "path/journal.h"
#include "path/writer.h"

#include <errno.h>
#include <fcntl.h>

#define LIST_ARENA ((size_t)1 << 30)

void undo_list_done(struct undo_list *l)
{
    arena_done(&l->arena);
}

static struct str undo_back_decode(struct arena *a, struct str encoded)
{
    AUTO_BUF struct buf b = BUF_INIT(encoded.n + 4);
    AUTO_ERR struct err ignored = {0};
    (void)!caret_decode(encoded, CARET_PATH, &b, &ignored);
    return arena_str(a, buf_str(&b));
}

const char *undo_prefix(struct str root)
{
    return str_is(root, "/") ? "/" : "";
}

/* Settling interrupted changes ---------------------------------------------------------------- */

/* Removes directories that the turn made and that are empty now, deepest first. */
static void remove_dirs(const struct undo_entry *e, int root_fd)
{
    for (size_t k = e->n_dirs; k-- > 0;) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct str path = undo_back_decode(&a, e->dirs[k].name);
        const char *name;
        struct stat st;
        AUTO_FD int parent = change_rel_ok(path) ? change_parent_open(root_fd, path, &name) : -1;
        if (parent >= 0 && fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode) && (int64_t)st.st_ino == e->dirs[k].ino)
            unlinkat(parent, name, AT_REMOVEDIR);
    }
}

/* Finishes an undo once the files are restored. */
static bool finish_back(struct undo *u, struct undo_entry *back, int root_fd, struct err *err)
{
    for (size_t i = u->n; root_fd >= 0 && i-- > 0;)
        if (u->entries[i]->kind == UNDO_CHANGE && u->entries[i]->turn == back->turn &&
            u->entries[i]->state == UNDO_MADE)
            remove_dirs(u->entries[i], root_fd);
    if (!undo_mark(u, back, true, err))
        return false;
    for (size_t i = 0; i < u->n; i++)
        if (u->entries[i]->kind == UNDO_CHANGE && u->entries[i]->turn == back->turn)
            undo_drop_blobs(u, u->entries[i]);
    return true;
}

/* After journal_recover(), a change whose files all have their old stamps was not made; otherwise,
 * or if the root is gone, it was. */
static bool undo_settle_entry(struct undo *u, struct undo_entry *e, struct err *err)
{
    AUTO_ERR struct err gone = {0};
    AUTO_FD int root = undo_root(e, &gone);
    struct journal_report report;
    bool made = root < 0;
    if (root >= 0 && !journal_recover(u->journal_dir, root, &report, err))
        return false;
    for (size_t i = 0; i < e->n_files && !made; i++) {
        struct undo_stamp now;
        if (!undo_look(root, e->files[i].path, &now, err))
            return false;
        made = !undo_stamp_same(&now, &e->files[i].old) &&
               !(S_ISDIR(now.mode) && S_ISDIR(e->files[i].old.mode));
    }
    return made && e->kind == UNDO_BACK ? finish_back(u, e, root, err) : undo_mark(u, e, made, err);
}

/* Listing changes ----------------------------------------------------------------------------- */

/* Settles entries that a crash or a failure left open. */
static bool settle_all(struct undo *u, struct err *err)
{
    for (size_t i = 0; i < u->n; i++)
        if (u->entries[i]->state == UNDO_OPEN && !undo_settle_entry(u, u->entries[i], err))
            return false;
    return true;
}

/* Whether the i-th entry is a change that was made and not undone later. */
static bool undo_is_effective(const struct undo *u, size_t i)
{
    const struct undo_entry *e = u->entries[i];
    if (e->kind != UNDO_CHANGE || e->state != UNDO_MADE)
        return false;
    for (i++; i < u->n; i++)
        if (u->entries[i]->kind == UNDO_BACK && u->entries[i]->state == UNDO_MADE &&
            u->entries[i]->turn == e->turn)
            return false;
    return true;
}

/* The last turn with a change that was not undone; 0: none. */
static uint64_t last_turn(const struct undo *u)
{
    for (size_t i = u->n; i-- > 0;)
        if (undo_is_effective(u, i))
            return u->entries[i]->turn;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct undo_item *)a)->path, ((const struct undo_item *)b)->path);
}

static struct undo_item item_of(struct undo_list *l, const struct undo_file *f, bool forgotten)
{
    struct undo_item item = {.path = f->path,
        .old = undo_stamp_to(&f->old),
        .new = undo_stamp_to(&f->new),
        .blob = forgotten ? (struct str){0} : f->blob,
        .kept = !f->old.ino || f->link.n || (f->blob.n && !forgotten)};
    if (f->link.n)
        item.link = undo_back_decode(&l->arena, f->link);
    if (S_ISDIR(item.old.mode)) { /* the files in it have their own entries */
        item.old = (struct stamp){0};
        item.kept = true;
    }
    return item;
}

/* For each path keeps the oldest version before and the newest after; entries come in order. */
static void undo_merge_entry(
    const struct undo *u, struct undo_list *l, size_t known, const struct undo_entry *e)
{
    size_t n = l->n;
    for (size_t i = 0; i < e->n_files; i++) {
        struct undo_item item = item_of(l, &e->files[i], e->turn <= u->forgot);
        struct undo_item *before = bsearch(&item, l->items, known, sizeof(item), by_path);
        if (before)
            before->new = item.new;
        else
            l->items[n++] = item;
    }
    l->n = n;
}

/* Merges the changes of one turn (0: of all) below one root. */
static void undo_merge_changes(const struct undo *u, uint64_t turn, struct undo_list *l)
{
    size_t most = 0;
    const struct undo_entry *last = NULL;
    for (size_t i = 0; i < u->n; i++)
        most += u->entries[i]->n_files;
    l->items = ARENA_NEW(&l->arena, struct undo_item, MAX(most, (size_t)1));
    for (size_t i = u->n; i-- > 0 && !last;)
        if (undo_is_effective(u, i) && (!turn || u->entries[i]->turn == turn))
            last = u->entries[i];
    for (size_t i = 0; i < u->n && last; i++) {
        const struct undo_entry *e = u->entries[i];
        if (!undo_is_effective(u, i) || (turn && e->turn != turn) || !str_eq(e->root, last->root))
            continue;
        undo_merge_entry(u, l, l->n, e);
        qsort(l->items, l->n, sizeof(*l->items), by_path);
    }
    l->turn = last ? (size_t)last->turn - 1 : 0;
    l->root = last ? last->root : STR("");
}

bool undo_changes(struct undo *u, struct undo_list *ret_list, struct err *err)
{
    struct undo_list l = {.arena = ARENA_INIT(LIST_ARENA)};
    if (!undo_load(u, err) || !settle_all(u, err))
        return false;
    undo_merge_changes(u, 0, &l);
    *ret_list = l;
    return true;
}

bool undo_read(struct undo *u, const struct undo_item *item, struct buf *content, struct err *err)
{
    if (!item->kept || !item->blob.n) {
        buf_add_str(content, item->link.p ? item->link : STR(""));
        return true;
    }
    AUTO_FD int fd = openat(u->fd, item->blob.p, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_errno(
            err, E_IO, errno, "cannot open the old version of '" STR_FMT "'", STR_ARG(item->path));
    return file_read(fd, (size_t)UNDO_FILE_MAX, item->path.p, content, err);
}

/* Checking that files are unchanged ----------------------------------------------------------- */

struct undo_restore {
    struct undo *u;
    struct undo_list *list;
    struct undo_stamp *now;
    struct stamp *blobs; /* of the old versions */
    const struct undo_entry *first;
    struct undo_entry *entry;
    int root_fd;
    struct buf strangers; /* names of files changed by others */
    size_t n_strangers;
};

/* Maps the stamp of a file that an undo restored to that of the original. */
static struct undo_stamp undo_original_stamp(
    const struct undo *u, struct str path, struct undo_stamp now)
{
    for (size_t i = u->n; i-- > 0;) {
        const struct undo_entry *e = u->entries[i];
        for (size_t k = 0; e->kind == UNDO_BACK && e->state == UNDO_MADE && k < e->n_files; k++)
            if (str_eq(e->files[k].path, path) && undo_stamp_same(&e->files[k].new, &now))
                now = e->files[k].as;
    }
    return now;
}

/* Whether the directory now at a file's place holds files of the same turn. */
static bool gave_way(const struct undo_restore *b, const struct undo_item *item)
{
    for (size_t i = 0; i < b->list->n; i++)
        if (change_is_below(b->list->items[i].path, item->path))
            return true;
    return false;
}

static void add_stranger(struct undo_restore *b, struct str path)
{
    if (b->n_strangers++ < UNDO_NAMED)
        buf_printf(&b->strangers, "%s'%s" STR_FMT "'", b->n_strangers > 1 ? ", " : "",
            undo_prefix(b->list->root), STR_ARG(path));
}

static bool undo_check_unchanged(struct undo_restore *b, struct err *err)
{
    for (size_t i = 0; i < b->list->n; i++) {
        const struct undo_item *item = &b->list->items[i];
        struct undo_stamp *now = &b->now[i], left = undo_stamp_of(&item->new);
        if (!undo_look(b->root_fd, item->path, now, err))
            return false;
        struct undo_stamp was = undo_original_stamp(b->u, item->path, *now);
        bool dir = S_ISDIR(now->mode) && !item->new.ino && item->old.ino &&gave_way(b, item);
        if (!dir && !undo_stamp_same(&was, &left))
            add_stranger(b, item->path);
    }
    if (!b->n_strangers)
        return true;
    if (b->n_strangers > UNDO_NAMED)
        buf_printf(&b->strangers, " and %zu more", b->n_strangers - UNDO_NAMED);
    err_set(err, E_CONFLICT,
        "nothing was undone: you, an editor or a command changed %s after that turn",
        buf_z(&b->strangers));
    return err_ctx_int(err, "files", (int64_t)b->n_strangers);
}

static bool look_for_versions(struct undo_restore *b, struct err *err)
{
    for (size_t i = 0; i < b->list->n; i++) {
        const struct undo_item *item = &b->list->items[i];
        struct stat st;
        if (!item->kept)
            return err_set(err, E_CONFLICT,
                "nothing was undone: '" STR_FMT
                "' was too large to save its old version (%lld bytes, the limit is %llu)",
                STR_ARG(item->path), (long long)item->old.size, (unsigned long long)UNDO_FILE_MAX);
        if (!item->blob.n)
            continue;
        if (fstatat(b->u->fd, item->blob.p, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            st.st_size != item->old.size)
            return err_set(err, E_CONFLICT,
                "nothing was undone: the old version of '" STR_FMT "' is missing in '%s'",
                STR_ARG(item->path), b->u->home);
        b->blobs[i] = stamp_of(&st);
    }
    return true;
}

/* The undo ------------------------------------------------------------------------------------ */

static struct stamp stamp_now(const struct undo_restore *b, size_t i)
{
    struct stamp s = undo_stamp_to(&b->now[i]);
    struct stat st;
    if (fstat(b->root_fd, &st) == 0)
        s.dev = st.st_dev;
    return s;
}

static bool undo_restore_file(
    struct undo_restore *b, struct writer *w, size_t i, struct stamp *now, struct err *err)
{
    const struct undo_item *item = &b->list->items[i];
    bool link = S_ISLNK(item->old.mode);
    const struct writer_options o = {.expect = now->ino ? now : NULL,
        .must_not_exist = !now->ino,
        .link = link,
        .set_mode = !link,
        .like_source = !link && !now->ino,
        .mode = item->old.mode & 07777};
    const struct writer_source source = {b->u->fd, item->blob, b->blobs[i]};
    return link ? writer_put(w, item->path, item->link, &o, err)
                : writer_put_from(w, item->path, &source, &o, err);
}

/* Removals first, so that files and directories can change places. */
static bool ask_writer(struct undo_restore *b, struct writer *w, struct stamp *now, struct err *err)
{
    for (size_t i = 0; i < b->list->n; i++) {
        now[i] = stamp_now(b, i);
        if (!b->list->items[i].old.ino && now[i].ino && !S_ISDIR(now[i].mode) &&
            !writer_remove(w, b->list->items[i].path, &now[i], err))
            return false;
    }
    for (size_t i = 0; i < b->list->n; i++)
        if (b->list->items[i].old.ino && !undo_restore_file(b, w, i, &now[i], err))
            return false;
    return true;
}

/* Appends the entry of the undo before anything is replaced. */
static bool undo_log_restore(void *context, const struct writer_plan *plan, struct err *err)
{
    struct undo_restore *b = context;
    struct undo *u = b->u;
    struct undo_entry *e = undo_entry_new(u, UNDO_BACK, plan->n, 0);
    e->n = u->next;
    e->turn = b->first->turn;
    e->root = b->first->root;
    e->root_name = b->first->root_name;
    e->root_ino = b->first->root_ino;
    for (size_t i = 0; i < plan->n; i++) {
        struct undo_file *f = &e->files[i];
        const struct undo_item key = {.path = plan->files[i].path};
        const struct undo_item *item =
            bsearch(&key, b->list->items, b->list->n, sizeof(key), by_path);
        f->path = arena_str(&u->arena, plan->files[i].path);
        f->name = undo_encode(&u->arena, f->path);
        f->old = undo_stamp_of(&plan->files[i].old);
        f->new = undo_stamp_of(&plan->files[i].new);
        f->as = item ? undo_stamp_of(&item->old) : f->new;
    }
    b->entry = e;
    return undo_append(u, e, err);
}

static bool undo_commit_restore(struct undo_restore *b, struct err *err)
{
    AUTO_WRITER struct writer *w = NULL;
    AUTO_FREE struct stamp *now = base_alloc((b->list->n + 1) * sizeof(*now));
    struct writer_result result;
    if (!writer_new(b->root_fd, b->u->journal_dir, &w, err))
        return false;
    writer_allow_many(w);
    writer_when_staged(w, undo_log_restore, b);
    return ask_writer(b, w, now, err) && writer_commit(w, &result, err);
}

/* The turn counts as undone even if no file had to change: files that came and went. */
static bool undo_finish_restore(struct undo_restore *b, struct err *err)
{
    if (!b->entry && !undo_log_restore(b, &(struct writer_plan){.root_fd = b->root_fd}, err))
        return false;
    return finish_back(b->u, b->entry, b->root_fd, err);
}

static bool carry_out(struct undo_restore *b, struct err *err)
{
    struct journal_report report;
    b->root_fd = undo_root(b->first, err);
    if (b->root_fd < 0)
        return false;
    AUTO_FD int root UNUSED = b->root_fd;
    return journal_recover(b->u->journal_dir, b->root_fd, &report, err) &&
           undo_check_unchanged(b, err) && look_for_versions(b, err) &&
           undo_commit_restore(b, err) && undo_finish_restore(b, err);
}

static const struct undo_entry *undo_first_of(const struct undo *u, uint64_t turn)
{
    for (size_t i = 0; i < u->n; i++)
        if (undo_is_effective(u, i) && u->entries[i]->turn == turn)
            return u->entries[i];
    return NULL;
}

bool undo_back(struct undo *u, struct undo_list *ret_list, struct err *err)
{
    struct undo_list l = {.arena = ARENA_INIT(LIST_ARENA)};
    if (!undo_load(u, err) || !settle_all(u, err))
        return false;
    uint64_t turn = last_turn(u);
    if (!turn)
        return err_set(err, E_NOT_FOUND,
            "nothing to undo: no tool changed a file in this session, or all changes were "
            "undone");
    if (turn <= u->forgot)
        return err_set(err, E_CONFLICT,
            "nothing was undone: the old versions of that turn's files took too much space "
            "and were deleted");
    undo_merge_changes(u, turn, &l);
    struct undo_restore b = {.u = u,
        .list = &l,
        .now = base_alloc((l.n + 1) * sizeof(*b.now)),
        .blobs = base_alloc((l.n + 1) * sizeof(*b.blobs)),
        .first = undo_first_of(u, turn),
        .strangers = BUF_INIT(64 << 10)};
    bool ok = carry_out(&b, err);
    free(b.now);
    free(b.blobs);
    buf_done(&b.strangers);
    if (!ok) {
        undo_list_done(&l);
        return false;
    }
    *ret_list = l;
    return true;
}
