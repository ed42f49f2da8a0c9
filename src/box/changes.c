/* Changes made by a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/changes.h"

#include "change/upper.h"
#include "path/exact.h"
#include "path/lexical.h"

enum {
    DRIFT_ALL_MAX = 5000, /* largest project that is compared completely */
    STAT_ITEM_MAX = 1 << 30,
};

void changes_done(struct box_changes *c)
{
    box_close_trees(&c->trees);
    delta_done(&c->delta);
    manifest_done(&c->manifest);
    manifest_done(&c->same);
}

bool changes_open(const struct box *box, struct box_changes *c, struct err *err)
{
    c->host = box->host;
    return box_open_trees(box, &c->trees, err);
}

int changes_old_fd(const struct box_changes *c)
{
    return c->trees.baseline >= 0 ? c->trees.baseline : c->trees.project;
}

bool changes_read(struct box_changes *c, struct err *err)
{
    struct upper_options options = {.opaque_root = c->trees.opaque_root, .same = &c->same};
    box_load_same(&c->trees, c->host, &c->same);
    if (c->trees.baseline < 0 &&
        !manifest_load(c->host, CHANGES_MANIFEST, c->trees.project, &c->manifest, err))
        return false;
    if (c->trees.baseline >= 0 &&
        !manifest_read_next(c->host, CHANGES_MANIFEST, c->trees.project, &c->manifest, err))
        return false;
    return upper_read(changes_old_fd(c), c->trees.upper, &options, &c->delta, err);
}

/* Paths --------------------------------------------------------------------------------------- */

static bool has_change(const struct delta *d, struct str path)
{
    for (size_t i = 0; i < d->n; i++) {
        struct str at = d->items[i].path;
        if (str_eq(at, path) || path.n == 0 ||
            (at.n > path.n && at.p[path.n] == '/' && str_starts_with(at, path)))
            return true;
    }
    return false;
}

bool changes_check_paths(const char *const *paths, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!*paths[i])
            return err_set(err, E_CLI_INVALID_ARG,
                "path %zu is empty: name a file or a directory, or '.' for the whole project",
                i + 1);
    return true;
}

bool changes_only(const struct box *box, const char *const *paths, size_t n, struct arena *arena,
    struct box_changes *c, struct str_list *ret_missed, struct err *err)
{
    struct str top = box->meta.workdir.host_path;
    struct str *list = ARENA_NEW(arena, struct str, n + 1);
    struct str_list missed = {ARENA_NEW(arena, struct str, n + 1), 0};
    bool all = n == 0;
    for (size_t i = 0; i < n; i++) {
        struct str path = lexical_absolute(arena, top, str_z(paths[i]));
        if (!lexical_is_below(top, path)) {
            err_set(err, E_FS_VIOLATION, "'%s' is not in the project '" STR_FMT "'", paths[i],
                STR_ARG(top));
            return err_ctx(err, "path", "%s", paths[i]);
        }
        list[i] = lexical_rest(top, path);
        all = all || list[i].n == 0;
        if (!has_change(&c->delta, list[i]))
            missed.p[missed.n++] = str_z(paths[i]);
    }
    if (!all)
        delta_only(&c->delta, list, n);
    *ret_missed = missed;
    return true;
}

/* Drift --------------------------------------------------------------------------------------- */

bool changes_drift_all(const struct box_changes *c, struct delta *drift, struct err *err)
{
    return c->trees.baseline >= 0 || manifest_drift(&c->manifest, c->trees.project, drift, err);
}

bool changes_drift(const struct box_changes *c, struct delta *drift, bool *ret_all, struct err *err)
{
    *ret_all = c->trees.baseline >= 0 || c->manifest.n <= DRIFT_ALL_MAX;
    if (*ret_all)
        return changes_drift_all(c, drift, err);
    for (size_t i = 0; i < c->delta.n; i++) {
        struct str path = c->delta.items[i].path;
        bool same;
        if (!manifest_check(&c->manifest, c->trees.project, path, &same, err))
            return false;
        if (!same && !delta_add(drift, path, DELTA_MODIFIED, NULL, NULL, err))
            return false;
    }
    return true;
}

/* Risks and JSON --------------------------------------------------------------------------- */

static bool read_targets(
    const struct box_changes *c, struct arena *arena, struct str *targets, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(DELTA_LINK_MAX + 1);
    for (size_t i = 0; i < c->delta.n; i++) {
        const struct delta_item *item = &c->delta.items[i];
        if (!S_ISLNK(item->new.mode))
            continue;
        buf_reset(&text);
        if (!delta_read(c->trees.upper, item, DELTA_NEW, &text, err))
            return false;
        if (arena_left(arena) < text.n + 64)
            return err_set(err, E_IO, "too many symbolic links in the changes");
        targets[i] = arena_str(arena, buf_str(&text));
    }
    return true;
}

bool changes_risks(
    const struct box *box, const struct box_changes *c, struct risks *risks, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(256 << 20);
    AUTO_FREE struct str *targets = base_alloc((c->delta.n + 1) * sizeof(*targets));
    const struct risks_input in = {
        .project_fd = c->trees.project >= 0 ? c->trees.project : c->trees.baseline,
        .top = box->meta.workdir.host_path,
        .delta = &c->delta,
        .targets = targets,
    };
    return read_targets(c, &arena, targets, err) && risks_find(risks, &in, err);
}

void changes_put_acts(json_t *object, const struct risks_row *acts)
{
    static const char *const names[] = {[SELFRUN_STEERS] = "steers", [SELFRUN_RUNS] = "runs"};
    if (acts->class != SELFRUN_NONE) {
        json_put(object, "class", json_string(names[acts->class]));
        json_put(object, "reason", json_string(acts->reason));
    }
    if (acts->class == SELFRUN_RUNS)
        json_put(object, "runs_by_itself", json_string(acts->reason));
    if (acts->as.n)
        exact_put(object, "as", acts->as);
    if (acts->leads_out)
        exact_put(object, "leads_out", acts->target);
}

json_t *changes_item(const struct delta_item *item, const struct risks_row *acts)
{
    json_t *object = json_object();
    exact_put(object, "path", item->path);
    json_put(object, "change", json_string(delta_kind_name(item->kind)));
    if (acts)
        changes_put_acts(object, acts);
    return object;
}

static json_t *notes_json(const struct delta_refused *notes, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; notes && i < MIN(n, (size_t)DELTA_REFUSED_MAX); i++) {
        json_t *object = json_object();
        exact_put(object, "path", notes[i].path);
        json_put(object, "why", json_string(notes[i].why));
        json_push(list, object);
    }
    return list;
}

json_t *changes_refused(const struct delta *d)
{
    return notes_json(d->refused, d->n_refused);
}

json_t *changes_left_out(const struct delta *d)
{
    return notes_json(d->left_out, d->n_left_out);
}

bool changes_stat(const struct box_changes *c, const struct saved *saved, size_t columns,
    struct buf *text, struct err *err)
{
    struct gitpatch p = gitpatch_start(changes_old_fd(c), c->trees.upper);
    p.counts_only = true;
    p.saved = saved;
    AUTO_FREE struct gitpatch_count *counts = base_alloc((c->delta.n + 1) * sizeof(*counts));
    for (size_t i = 0; i < c->delta.n; i++) {
        AUTO_BUF struct buf patch = BUF_INIT(STAT_ITEM_MAX);
        if (!gitpatch_item(&p, &c->delta.items[i], &patch, &counts[i], err))
            return false;
    }
    gitpatch_stat(&c->delta, counts, columns, text);
    return buf_ok(text) || err_set(err, E_IO, "the output is too large to print");
}
