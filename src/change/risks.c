/* Finds changes that take effect automatically, with symlinks followed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/risks.h"

#include "base/grow.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    FOLLOWED_MAX = 40, /* symlinks in one path, the kernel's limit */
    NESTED_MAX = 8,    /* depth of nested views */
};

struct risks_links {
    struct str *p; /* sorted */
    size_t n, cap;
};

/* A path under which files take effect, and the real path it refers to. */
struct risks_view {
    struct str as, real;
    unsigned depth;
};

struct risks_search {
    struct risks *a;
    const struct risks_input *in;
    struct risks_links links; /* in the project with the changes */
    struct risks_view *views;
    size_t n_views, cap_views;
    size_t steps;
    bool full; /* a limit was exceeded */
};

void risks_done(struct risks *a)
{
    free(a->rows);
    arena_done(&a->arena);
    *a = RISKS_INIT;
}

static bool risks_has_room(struct risks_search *f, size_t bytes)
{
    if (arena_left(&f->a->arena) > bytes + 64)
        return true;
    f->full = true;
    return false;
}

/* Symlinks ------------------------------------------------------------------------------------ */

static void risks_add_link(struct risks_search *f, struct str path)
{
    struct risks_links *l = &f->links;
    if (l->n == RISKS_LINKS_MAX || !risks_has_room(f, path.n)) {
        f->full = true;
        return;
    }
    GROW(l->p, l->n, l->cap, RISKS_LINKS_MAX);
    l->p[l->n++] = arena_str(&f->a->arena, path);
}

/* Collects the project's symlinks that the changes do not touch. */
static bool read_links(struct risks_search *f, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    struct walk_options options = {.all_names = true, .problems = &problems};
    const struct walk_entry *e;
    if (f->in->project_fd < 0)
        return true;
    if (!walk_open(f->in->project_fd, &options, &w, err))
        return false;
    for (;;) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            return true;
        if (e->type == DT_DIR && delta_is_git(e->name))
            walk_skip(w);
        if (e->type == DT_LNK && !delta_find(f->in->delta, e->path))
            risks_add_link(f, e->path);
    }
}

static int risks_compare_paths(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool find_links(struct risks_search *f, struct err *err)
{
    const struct delta *d = f->in->delta;
    if (!read_links(f, err))
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (S_ISLNK(d->items[i].new.mode))
            risks_add_link(f, d->items[i].path);
    if (f->links.n)
        qsort(f->links.p, f->links.n, sizeof(*f->links.p), risks_compare_paths);
    return true;
}

static size_t first_item(const struct delta *d, struct str path)
{
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(d->items[mid].path, path) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Path resolution ----------------------------------------------------------------------------- */

struct risks_way {
    struct buf done;              /* resolved, relative to the top */
    struct buf left;              /* still to be resolved */
    struct buf spare;             /* buffer for the next `left` */
    bool out;                     /* leaves the project */
    size_t changed[FOLLOWED_MAX]; /* indices of the changed symlinks on the way */
    size_t n_changed;
};

static void risks_way_done(struct risks_way *w)
{
    buf_done(&w->done);
    buf_done(&w->left);
    buf_done(&w->spare);
}

#define AUTO_WAY AUTO(risks_way_done)
#define WAY_MAX  ((size_t)8 * PATH_MAX)
#define WAY_INIT         \
    ((struct risks_way){ \
        .done = BUF_INIT(WAY_MAX), .left = BUF_INIT(WAY_MAX), .spare = BUF_INIT(WAY_MAX)})

/* Reads the target of a symlink; false if that path is not a symlink. */
static bool read_target(struct risks_search *f, struct risks_way *w, char target[DELTA_LINK_MAX],
    struct str *ret_target)
{
    struct str path = buf_str(&w->done);
    const struct delta_item *item = delta_find(f->in->delta, path);
    size_t at = item ? (size_t)(item - f->in->delta->items) : 0;
    if (item) {
        if (!S_ISLNK(item->new.mode))
            return false;
        if (w->n_changed < FOLLOWED_MAX)
            w->changed[w->n_changed++] = at;
        *ret_target = f->in->targets[at];
        return true;
    }
    at = str_lower_bound(f->links.p, f->links.n, path);
    if (at == f->links.n || !str_eq(f->links.p[at], path))
        return false;
    AUTO_FD int fd = beneath_open(
        f->in->project_fd, f->links.p[at].p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", target, DELTA_LINK_MAX);
    *ret_target = str_n(target, (size_t)MAX(n, (ssize_t)0));
    return n > 0;
}

/* An absolute target within the project is resolved from the top. */
static bool risks_enter_target(struct risks_search *f, struct risks_way *w, struct str *target)
{
    struct str top = f->in->top;
    if (!target->n || target->p[0] != '/') {
        ptrdiff_t slash = str_find_last(buf_str(&w->done), '/');
        buf_truncate(&w->done, slash < 0 ? 0 : (size_t)slash);
        return true;
    }
    if (!top.n || !delta_is_at_or_below(*target, str_trim_end(top, '/')))
        return false;
    *target = str_skip(*target, str_trim_end(top, '/').n);
    buf_reset(&w->done);
    return true;
}

static bool risks_step(
    struct risks_search *f, struct risks_way *w, struct str name, unsigned *followed)
{
    char text[DELTA_LINK_MAX];
    struct str target;
    if (str_is(name, "..")) {
        ptrdiff_t slash = str_find_last(buf_str(&w->done), '/');
        if (w->done.n == 0)
            return false;
        buf_truncate(&w->done, slash < 0 ? 0 : (size_t)slash);
        return true;
    }
    if (w->done.n)
        buf_add_byte(&w->done, '/');
    buf_add_str(&w->done, name);
    if (!read_target(f, w, text, &target))
        return true;
    if (++*followed > FOLLOWED_MAX) { /* a loop resolves to nothing */
        buf_reset(&w->left);
        return true;
    }
    if (!risks_enter_target(f, w, &target))
        return false;
    buf_reset(&w->spare);
    buf_add_str(&w->spare, target);
    buf_add_byte(&w->spare, '/');
    buf_add_str(&w->spare, buf_str(&w->left));
    struct buf swap = w->left;
    w->left = w->spare;
    w->spare = swap;
    return true;
}

/* Resolves a path as the kernel would, in the project with the changes. A path that is too long
 * counts as leading out. */
static void risks_follow(struct risks_search *f, struct risks_way *w, struct str path)
{
    unsigned followed = 0;
    buf_add_str(&w->left, path);
    while (!w->out) {
        struct str name, rest = buf_str(&w->left);
        if (!lexical_next(&rest, &name))
            break;
        char one[NAME_MAX + 1];
        if (name.n > NAME_MAX) {
            w->out = true;
            break;
        }
        memcpy(one, name.p, name.n);
        struct str step = str_n(one, name.n);
        memmove(w->left.p, rest.p, rest.n);
        buf_truncate(&w->left, rest.n);
        w->out = (!str_is(step, ".") && !risks_step(f, w, step, &followed)) || !buf_ok(&w->done) ||
                 !buf_ok(&w->left);
    }
}

/* Rows ---------------------------------------------------------------------------------------- */

static void risks_raise_class(struct risks_search *f, size_t i, struct selfrun found, struct str as)
{
    struct risks_row *row = &f->a->rows[i];
    if (found.class <= row->class)
        return;
    if (str_eq(as, f->in->delta->items[i].path))
        as = (struct str){0};
    row->class = found.class;
    row->reason = found.reason;
    row->as = as.p && risks_has_room(f, as.n) ? arena_str(&f->a->arena, as) : (struct str){0};
}

static struct selfrun risks_classify(struct str path)
{
    struct selfrun whole = selfrun_look(path), leads = selfrun_leads(path);
    return leads.class > whole.class ? leads : whole;
}

/* Repositories without a work tree: git obeys the config of the repository it is started in. */

static bool will_have(const struct risks_search *f, int dir_fd, struct str dir, const char *name)
{
    char path[PATH_MAX + 16];
    struct stat st;
    const struct delta *d = f->in->delta;
    if (dir_fd >= 0 && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    size_t n =
        (size_t)snprintf(path, sizeof(path), STR_FMT "%s%s/", STR_ARG(dir), dir.n ? "/" : "", name);
    size_t at = first_item(d, str_n(path, n));
    return delta_find(d, str_n(path, n - 1)) ||
           (at < d->n && str_starts_with(d->items[at].path, str_n(path, n)));
}

static bool is_repository(const struct risks_search *f, struct str dir)
{
    char path[PATH_MAX];
    if (dir.n >= sizeof(path))
        return false;
    memcpy(path, dir.p, dir.n);
    path[dir.n] = '\0';
    AUTO_FD int fd = f->in->project_fd < 0 ? -1
                                           : beneath_open(f->in->project_fd, dir.n ? path : ".",
                                                 O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    return will_have(f, fd, dir, "HEAD") &&
           (will_have(f, fd, dir, "commondir") ||
               (will_have(f, fd, dir, "objects") && will_have(f, fd, dir, "refs")));
}

static struct str risks_parent(struct str path)
{
    ptrdiff_t slash = str_find_last(path, '/');
    return str_head(path, slash < 0 ? 0 : (size_t)slash);
}

static bool risks_is_in_repository(const struct risks_search *f, struct str path)
{
    struct str dir = risks_parent(path);
    while (!is_repository(f, dir)) {
        if (dir.n == 0)
            return false;
        dir = risks_parent(dir);
    }
    return true;
}

/* As the list is sorted, most changes are in the same directory as their predecessor. */
static void risks_check_repositories(struct risks_search *f)
{
    static const struct selfrun found = {
        SELFRUN_RUNS, "belongs to a repository, and git runs programs that it names"};
    const struct delta *d = f->in->delta;
    bool in = false;
    for (size_t i = 0; i < d->n; i++) {
        struct str path = d->items[i].path;
        if (i == 0 || !str_eq(risks_parent(path), risks_parent(d->items[i - 1].path)))
            in = risks_is_in_repository(f, path);
        if (in)
            risks_raise_class(f, i, found, (struct str){0});
    }
}

/* Checks a changed symlink itself: in place of a directory, to such a file, or out of the
 * project. */
static void risks_check_link(struct risks_search *f, size_t i)
{
    AUTO_WAY struct risks_way w = WAY_INIT;
    struct str path = f->in->delta->items[i].path;
    risks_raise_class(f, i, selfrun_leads(path), (struct str){0});
    risks_follow(f, &w, path);
    struct str target = f->in->targets[i];
    f->a->rows[i].leads_out = w.out;
    if (w.out && risks_has_room(f, target.n))
        f->a->rows[i].target = arena_str(&f->a->arena, target);
    if (!w.out)
        risks_raise_class(f, i, risks_classify(buf_str(&w.done)), buf_str(&w.done));
}

static void risks_check_paths(struct risks_search *f)
{
    const struct delta *d = f->in->delta;
    for (size_t i = 0; i < d->n; i++) {
        risks_raise_class(f, i, selfrun_look(d->items[i].path), (struct str){0});
        if (S_ISLNK(d->items[i].new.mode))
            risks_check_link(f, i);
    }
}

/* Views --------------------------------------------------------------------------------------- */

static void add_view(struct risks_search *f, struct str as, struct str real, unsigned depth)
{
    if (f->n_views == RISKS_VIEWS_MAX || !risks_has_room(f, as.n + real.n + 64)) {
        f->full = true;
        return;
    }
    GROW(f->views, f->n_views, f->cap_views, RISKS_VIEWS_MAX);
    f->views[f->n_views++] =
        (struct risks_view){arena_str(&f->a->arena, as), arena_str(&f->a->arena, real), depth};
}

/* Follows a symlink that is visible as `as`. */
static void risks_check_symlink(
    struct risks_search *f, struct str link, struct str as, unsigned depth)
{
    struct selfrun found = risks_classify(as);
    if (found.class == SELFRUN_NONE || depth > NESTED_MAX || as.n >= PATH_MAX)
        return;
    AUTO_WAY struct risks_way w = WAY_INIT;
    risks_follow(f, &w, link);
    for (size_t i = 0; i < w.n_changed; i++)
        risks_raise_class(f, w.changed[i], found, as);
    if (!w.out)
        add_view(f, as, buf_str(&w.done), depth);
}

/* Translates a path at or below `real` to its name in the view. */
static bool name_in_view(
    struct risks_search *f, const struct risks_view *v, struct str path, struct buf *name)
{
    buf_reset(name);
    f->full = f->full || ++f->steps > RISKS_STEPS_MAX;
    if (!delta_is_at_or_below(path, v->real))
        return false;
    buf_add_str(name, v->as);
    if (path.n > v->real.n) {
        buf_add_byte(name, '/');
        buf_add_str(name, str_skip(path, v->real.n ? v->real.n + 1 : 0));
    }
    return buf_ok(name);
}

/* Other paths may sort between a directory and its contents: "a-b" is before "a/b". */
static bool risks_is_past(struct str path, struct str dir)
{
    return !str_starts_with(path, dir);
}

static void risks_check_view(struct risks_search *f, struct risks_view v)
{
    AUTO_BUF struct buf name = BUF_INIT((size_t)2 * PATH_MAX);
    const struct delta *d = f->in->delta;
    size_t first = first_item(d, v.real);
    for (size_t i = first; !f->full && i < d->n && !risks_is_past(d->items[i].path, v.real); i++)
        if (name_in_view(f, &v, d->items[i].path, &name))
            risks_raise_class(f, i, selfrun_look(buf_str(&name)), buf_str(&name));
    first = str_lower_bound(f->links.p, f->links.n, v.real);
    for (size_t i = first; !f->full && i < f->links.n && !risks_is_past(f->links.p[i], v.real); i++)
        if (!str_eq(f->links.p[i], v.real) && name_in_view(f, &v, f->links.p[i], &name))
            risks_check_symlink(f, f->links.p[i], buf_str(&name), v.depth + 1);
}

static void risks_find_all(struct risks_search *f)
{
    risks_check_paths(f);
    risks_check_repositories(f);
    for (size_t i = 0; i < f->links.n; i++)
        risks_check_symlink(f, f->links.p[i], f->links.p[i], 1);
    for (size_t i = 0; !f->full && i < f->n_views; i++)
        risks_check_view(f, f->views[i]);
}

bool risks_find(struct risks *a, const struct risks_input *in, struct err *err)
{
    struct risks_search f = {.a = a, .in = in};
    BUG_ON(a->rows);
    a->rows = base_alloc((in->delta->n + 1) * sizeof(*a->rows));
    a->n = in->delta->n;
    bool ok = find_links(&f, err);
    if (ok)
        risks_find_all(&f);
    free(f.links.p);
    free(f.views);
    if (ok && f.full)
        return err_set(err, E_IO,
            "too many links to determine which changed files are executed automatically: "
            "apply some paths at a time");
    return ok;
}
