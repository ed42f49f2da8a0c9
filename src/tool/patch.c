/* The files a patch touches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/patch.h"

#include "base/fnv.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "io/file.h"
#include "path/exact.h"
#include "path/lexical.h"
#include "tool/limit.h"
#include "tool/tool_plan.h"

#include <errno.h>
#include <fcntl.h>

enum {
    ARENA_MAX = 512 << 20,
    WORDS_MAX = 4096,
    MODE_X = 0111,
};

bool patch_init(struct patch *p, struct toolbox *box, const struct patch_options *options,
    struct tool_result *result, struct err *err)
{
    struct resolved here;
    *p = (struct patch){.box = box,
        .result = result,
        .options = *options,
        .arena = ARENA_INIT(ARENA_MAX),
        .compares = options->plan || plan_is_wanted(box),
        .notes = BUF_INIT(TOOL_CONTENT_MAX)};
    if (!toolbox_resolve(box, STR("."), false, &p->arena, &here, err)) {
        patch_done(p);
        return false;
    }
    p->base = here.path;
    return true;
}

void patch_done(struct patch *p)
{
    for (size_t i = 0; i < p->n; i++)
        buf_done(&p->files[i]->old);
    for (size_t i = 0; i < p->n_texts; i++)
        free(p->texts[i]);
    free(p->texts);
    buf_done(&p->notes);
    free(p->files);
    free(p->table);
    arena_done(&p->arena);
    *p = (struct patch){0};
}

/* Files by path ---------------------------------------------------------------------------------
 */

static void rehash(struct patch *p)
{
    p->n_buckets = p->n_buckets ? 4 * p->n_buckets : 64;
    p->table = base_realloc(p->table, p->n_buckets * sizeof(*p->table));
    memset(p->table, 0, p->n_buckets * sizeof(*p->table));
    for (size_t i = 0; i < p->n; i++) {
        struct patch_file **bucket =
            &p->table[fnv_add(FNV_START, p->files[i]->where.path) % p->n_buckets];
        p->files[i]->next = *bucket;
        *bucket = p->files[i];
    }
}

static struct patch_file *patch_find_file(const struct patch *p, struct str path)
{
    if (!p->n_buckets)
        return NULL;
    struct patch_file *f = p->table[fnv_add(FNV_START, path) % p->n_buckets];
    while (f && !str_eq(f->where.path, path))
        f = f->next;
    return f;
}

static struct patch_file *patch_add_file(struct patch *p, const struct patch_file *new)
{
    struct patch_file *f = ARENA_NEW(&p->arena, struct patch_file, 1);
    *f = *new;
    GROW(p->files, p->n, p->cap, GROW_MAX);
    p->files[p->n++] = f;
    if (p->n >= p->n_buckets) {
        rehash(p);
    } else {
        struct patch_file **bucket = &p->table[fnv_add(FNV_START, f->where.path) % p->n_buckets];
        f->next = *bucket;
        *bucket = f;
    }
    return f;
}

static bool is_link(struct str name, const struct resolved *where, struct err *err)
{
    err_set(err, E_FS_VIOLATION,
        "'" STR_FMT "' is a symbolic link to '" STR_FMT
        "': a patch changes files, not links; name the file itself",
        STR_ARG(name), STR_ARG(where->path));
    return err_ctx(err, "path", STR_FMT, STR_ARG(name));
}

/* Symlinks inside the boundary are followed, but a patch must name the files it changes: the last
 * component must not be a symlink. */
static bool check_links(struct patch *p, struct str name, const struct resolved *where,
    bool *ret_beyond, struct err *err)
{
    struct resolved parent;
    struct str plain = lexical_absolute(&p->arena, p->base, name);
    *ret_beyond = !str_eq(plain, where->path);
    if (!*ret_beyond)
        return true;
    struct str leaf = lexical_name(name);
    struct str dir = str_head(name, name.n - leaf.n);
    if (!toolbox_resolve(p->box, dir.n ? dir : STR("."), false, &p->arena, &parent, err))
        return false;
    struct str there = lexical_absolute(&p->arena, parent.path, leaf);
    return str_eq(there, where->path) || is_link(name, where, err);
}

static bool check_kind(struct str name, const struct resolved *where, struct err *err)
{
    if (!where->exists || S_ISREG(where->st.st_mode))
        return true;
    err_set(err, E_PATCH_APPLY, "'" STR_FMT "' is %s, not a file", STR_ARG(name),
        S_ISDIR(where->st.st_mode) ? "a directory" : "a device, pipe or socket");
    return err_ctx(err, "path", STR_FMT, STR_ARG(name));
}

bool patch_file(struct patch *p, struct str name, struct patch_file **ret_file, struct err *err)
{
    struct patch_file new = {.old = BUF_INIT(PATCH_RESULT_MAX)};
    if (name.n == 0 || name.p[name.n - 1] == '/' || lexical_name(name).p[0] == '\0')
        return err_set(err, E_PATCH_PARSE, "'" STR_FMT "' does not name a file", STR_ARG(name));
    if (arena_left(&p->arena) < (size_t)64 << 10)
        return err_set(err, E_PATCH_APPLY, "the patch has too many files");
    if (!toolbox_resolve(p->box, name, true, &p->arena, &new.where, err) ||
        !check_links(p, name, &new.where, &new.beyond_link, err))
        return false;
    struct patch_file *known = patch_find_file(p, new.where.path);
    if (!known && !check_kind(name, &new.where, err))
        return false;
    if (!known) {
        new.existed = new.exists = new.where.exists;
        new.name = toolbox_name(p->box, &new.where);
        if (new.existed)
            new.stamp = stamp_of(&new.where.st);
        known = patch_add_file(p, &new);
    }
    *ret_file = known;
    return true;
}

bool patch_load(struct patch *p, struct patch_file *f, struct err *err)
{
    struct stat st;
    if (f->loaded)
        return true;
    (void)p;
    AUTO_FD int fd = toolbox_open_file(&f->where, f->name, &st, err);
    if (fd < 0)
        return false;
    if (st.st_size > 0 && st.st_size < TOOLBOX_FILE_MAX)
        (void)buf_reserve(&f->old, (size_t)st.st_size + 1);
    if (!file_read(fd, TOOLBOX_FILE_MAX, f->where.path.p, &f->old, err))
        return false;
    f->stamp = stamp_of(&st);
    f->loaded = true;
    return true;
}

bool patch_content(struct patch *p, struct patch_file *f, struct str *ret_content, struct err *err)
{
    BUG_ON(!f->exists);
    if (f->touched) {
        *ret_content = f->content;
        return true;
    }
    if (!patch_load(p, f, err))
        return false;
    *ret_content = buf_str(&f->old);
    return true;
}

void patch_put(struct patch_file *f, struct str content)
{
    f->touched = f->exists = true;
    f->content = content;
}

void patch_remove(struct patch_file *f)
{
    f->touched = true;
    f->exists = false;
    f->content = (struct str){0};
    f->like = NULL;
    f->exec = PATCH_EXEC_KEEP;
}

bool patch_keep(struct patch *p, struct buf *text, struct str *ret_text, struct err *err)
{
    if (!buf_ok(text))
        return err_set(
            err, E_PATCH_APPLY, "a file would become larger than %d bytes", PATCH_RESULT_MAX);
    size_t n = text->n;
    char *bytes = buf_take(text);
    GROW(p->texts, p->n_texts, p->cap_texts, GROW_MAX);
    p->texts[p->n_texts++] = bytes;
    *ret_text = str_n(bytes ? bytes : "", n);
    return true;
}

/* Results ---------------------------------------------------------------------------------------
 */

void patch_tell_hunk(struct patch *p, const struct patch_file *f, size_t line, const char *how)
{
    if (p->n_hunks++ >= PATCH_HUNKS_TOLD)
        return;
    if (!json_object_get(p->result->details, "hunks"))
        tool_detail(p->result, "hunks", json_array());
    json_t *hunk = json_object();
    exact_put(hunk, "path", f->name);
    json_put(hunk, "line", json_integer((json_int_t)line));
    json_put(hunk, "matched", json_string(how));
    json_push(json_object_get(p->result->details, "hunks"), hunk);
}

void patch_tell_near(struct patch *p, const struct near *near, struct err *err)
{
    AUTO_BUF struct buf words = BUF_INIT(WORDS_MAX);
    buf_add_z(&words, err->message);
    near_add_sentence(near, &words);
    free(err->message);
    err->message = buf_take(&words);
    json_t *json = near_json(near);
    if (json)
        tool_detail(p->result, "nearest", json);
    buf_printf(&p->result->content, "error: %s\n", err->message);
    near_add_block(near, &p->result->content);
}

/* Commit ----------------------------------------------------------------------------------------
 */

/* Reads the umask from /proc: umask() cannot read it without changing it for other threads. */
static mode_t current_umask(void)
{
    unsigned mask = 022;
    FILE *status = fopen("/proc/thread-self/status", "re");
    char line[256];
    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "Umask: %o", &mask) == 1)
            break;
    if (status)
        fclose(status);
    return mask & 0777;
}

/* Adds execute permission wherever there is read permission, or removes all of it. */
static mode_t patch_with_exec(mode_t mode, enum patch_exec exec)
{
    mode &= 07777;
    if (exec == PATCH_EXEC_ON)
        return mode | ((mode & 0444) >> 2);
    return exec == PATCH_EXEC_OFF ? mode & ~(mode_t)MODE_X : mode;
}

static bool exec_changes(const struct patch_file *f)
{
    const struct patch_file *from = f->like ? f->like : f;
    bool executable = from->existed && (from->stamp.mode & S_IXUSR);
    return f->exec != PATCH_EXEC_KEEP && executable != (f->exec == PATCH_EXEC_ON);
}

static void choose_mode(const struct patch_file *f, struct writer_options *o)
{
    const struct patch_file *from = f->like ? f->like : f;
    bool differs = exec_changes(f);
    if (from->existed) {
        o->set_mode = differs || f->like;
        o->mode = patch_with_exec(from->stamp.mode, differs ? f->exec : PATCH_EXEC_KEEP);
        o->mode &= f->like ? 0777 : 07777;
    } else if (f->exec == PATCH_EXEC_ON) {
        o->set_mode = true;
        o->mode = 0777 & ~current_umask();
    }
}

static bool put_one(struct writer *w, struct patch_file *f, struct err *err)
{
    struct writer_options o = {.must_not_exist = !f->existed};
    struct patch_file *from = (struct patch_file *)f->like;
    choose_mode(f, &o);
    if (!f->existed && from && from->existed && !from->exists && !from->moved) {
        o.expect = &from->stamp;
        o.set_mode = f->exec != PATCH_EXEC_KEEP;
        from->moved = true;
        return writer_move(w, from->where.rel, f->where.rel, f->content, &o, err);
    }
    o.expect = f->existed ? &f->stamp : NULL;
    return writer_put(w, f->where.rel, f->content, &o, err);
}

static bool fill_writer(struct patch *p, struct writer *w, struct err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        struct patch_file *f = p->files[i];
        if (f->touched && f->exists && !put_one(w, f, err))
            return false;
    }
    for (size_t i = 0; i < p->n; i++) {
        struct patch_file *f = p->files[i];
        if (f->touched && !f->exists && f->existed && !f->moved &&
            !writer_remove(w, f->where.rel, &f->stamp, err))
            return false;
    }
    return true;
}

static bool look_twice(struct patch *p, struct err *err)
{
    const struct boundary_root *root = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const struct patch_file *f = p->files[i];
        if (!f->touched)
            continue;
        if (root && root != f->where.root)
            return err_set(err, E_PATCH_APPLY, "the files of one patch are in several roots");
        root = f->where.root;
        if (!tool_looks_twice(p->box, p->options.tool, &f->where, p->result, err))
            return false;
    }
    return true;
}

static void summarize_one(const struct patch_file *f, struct buf *text)
{
    char letter = f->existed ? (f->exists ? 'M' : 'D') : 'A';
    if (f->like && !f->existed)
        letter = f->like->exists ? 'C' : 'R';
    buf_printf(text, "%c ", letter);
    if (f->like) {
        utf8_add_printable(text, f->like->name);
        buf_add_z(text, " -> ");
    }
    utf8_add_printable(text, f->name);
    buf_add_z(text, " (");
    if (f->added || (!f->removed && letter != 'D'))
        buf_printf(text, "+%zu", f->added);
    if (f->removed)
        buf_printf(text, "%s-%zu", f->added ? " " : "", f->removed);
    else if (letter == 'D')
        buf_add_z(text, "-0");
    buf_add_byte(text, ')');
    if (exec_changes(f) && f->exists)
        buf_add_z(text, f->exec == PATCH_EXEC_ON ? ", executable" : ", not executable");
    buf_printf(text, "%s%s\n", f->note ? ", " : "", f->note ? f->note : "");
}

/* A file that was created and removed again is not a change. */
static bool patch_is_changed(const struct patch_file *f)
{
    bool renamed_away = f->moved && !f->exists;
    return f->touched && (f->existed || f->exists) && !renamed_away;
}

static size_t count_changed(const struct patch *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += patch_is_changed(p->files[i]);
    return n;
}

static void patch_summarize(struct patch *p)
{
    struct tool_result *r = p->result;
    AUTO_BUF struct buf text = BUF_INIT(64 << 20);
    for (size_t i = 0; i < p->n; i++)
        if (patch_is_changed(p->files[i]))
            summarize_one(p->files[i], &text);
    buf_add_str(&text, buf_str(&p->notes));
    r->truncated |=
        limit_head(&LIMIT_DEFAULT, buf_str(&text), "all files are in changes.files", &r->content);
    if (p->n_hunks > PATCH_HUNKS_TOLD)
        tool_detail(r, "hunks_left_out", json_integer((json_int_t)(p->n_hunks - PATCH_HUNKS_TOLD)));
}

static void tell_changes(struct patch *p, const struct writer_result *written)
{
    struct tool_result *r = p->result;
    tool_changed(r, written);
    /* The writer's paths are relative to its root, the result's to the toolbox's. */
    for (size_t i = 0; i < r->n_changes; i++) {
        struct str path =
            lexical_absolute(&r->arena, p->files[0]->where.root->path, r->changes[i].path);
        const struct patch_file *f = patch_find_file(p, path);
        if (f)
            r->changes[i].path = arena_str(&r->arena, f->name);
    }
}

static const char *note_of(const struct patch_file *f)
{
    if (!f->exists || !exec_changes(f))
        return NULL;
    return f->exec == PATCH_EXEC_ON ? "now executable" : "no longer executable";
}

/* A file that was moved is reported under its new name. */
static bool went_elsewhere(const struct patch *p, const struct patch_file *f)
{
    for (size_t i = 0; i < p->n && !f->exists; i++)
        if (p->files[i]->like == f && p->files[i]->touched && p->files[i]->exists)
            return true;
    return false;
}

static bool patch_make_plan(struct patch *p, struct buf *diff, struct err *err)
{
    int64_t budget = PLAN_BUDGET;
    for (size_t i = 0; i < p->n; i++) {
        struct patch_file *f = p->files[i], *from = (struct patch_file *)f->like;
        if (!patch_is_changed(f) || went_elsewhere(p, f))
            continue;
        if ((f->existed && !patch_load(p, f, err)) ||
            (from && from->existed && !patch_load(p, from, err)))
            return false;
        plan_add(diff, &budget,
            &(struct plan_file){.name = f->name,
                .from = from ? from->name : (struct str){0},
                .copied = from && from->exists,
                .existed = f->existed,
                .exists = f->exists,
                .old = from ? buf_str(&from->old) : buf_str(&f->old),
                .new = f->content,
                .note = note_of(f)});
    }
    return true;
}

static bool plan_or_check(struct patch *p, struct buf *diff, struct err *err)
{
    if (p->options.plan)
        return patch_make_plan(p, p->options.plan, err);
    if (p->options.dry_run || !p->compares)
        return true;
    return patch_make_plan(p, diff, err) && plan_check(p->box, diff, err);
}

bool patch_commit(struct patch *p, struct err *err)
{
    struct writer_result written = {0};
    AUTO_WRITER struct writer *w = NULL;
    AUTO_BUF struct buf diff = BUF_INIT(PLAN_MAX);
    const struct patch_file *any = NULL;
    for (size_t i = 0; i < p->n && !any; i++)
        any = p->files[i]->touched ? p->files[i] : NULL;
    if (!any)
        return err_set(err, E_PATCH_APPLY, "the patch changes nothing");
    if (!look_twice(p, err) || !plan_or_check(p, &diff, err) ||
        !toolbox_writer(p->box, &any->where, &w, err) || !fill_writer(p, w, err))
        return false;
    if (p->options.plan)
        return true;
    size_t changed = count_changed(p);
    if (!p->options.dry_run && changed && !toolbox_commit(p->box, w, &written, err))
        return false;
    patch_summarize(p);
    if (!p->options.dry_run) {
        tell_changes(p, &written);
        plan_tell(p->box, &diff);
    }
    tool_says(p->result, "%s%zu file%s %s", p->options.dry_run ? "dry run: " : "", changed,
        changed == 1 ? "" : "s", p->options.dry_run ? "would change" : "changed");
    if (p->options.dry_run)
        tool_detail(p->result, "dry_run", json_true());
    return true;
}
