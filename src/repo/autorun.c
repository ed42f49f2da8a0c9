/* Files that take effect without being started. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/autorun.h"

#include "base/utf8.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "path/selfrun.h"
#include "repo/force.h"

#include <fcntl.h>
#include <limits.h>

enum {
    AUTORUN_DEPTH = 3, /* components of a name in the table, at most */
    AUTORUN_ARENA = 64 << 20,
};

/* A search of all roots. */
struct autorun_search {
    struct protect *p;
    struct autorun_file *files; /* AUTORUN_FILES_MAX */
    size_t n;
    bool cut;
    struct arena *arena;
};

static bool is_writable(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->options.n_writable; i++)
        if (lexical_is_below(p->options.writable[i], path))
            return true;
    return false;
}

static bool in_roots(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (lexical_is_below(p->roots[i].path, path) && !str_eq(p->roots[i].path, path))
            return true;
    return false;
}

/* The path to protect. A symlink can't be protected itself, and its target only if it is a file:
 * a directory may hold anything else as well. */
static struct str path_to_keep(
    struct autorun_search *s, int dir, const char *name, struct str path, mode_t type)
{
    struct stat st;
    if (fstatat(dir, name, &st, 0) != 0)
        return (struct str){0};
    if (S_ISREG(type) || S_ISDIR(type)) /* a mount does not protect other names of a file */
        return S_ISDIR(type) || st.st_nlink < 2 ? path : (struct str){0};
    if (!S_ISLNK(type) || !S_ISREG(st.st_mode) || st.st_nlink > 1)
        return (struct str){0};
    AUTO_FREE char *resolved = beneath_resolve(path.p);
    return resolved && in_roots(s->p, str_z(resolved)) ? arena_str(s->arena, str_z(resolved))
                                                       : (struct str){0};
}

static void autorun_add(struct autorun_search *s, int dir, const char *name, struct str path)
{
    if (is_writable(s->p, path))
        return;
    for (size_t i = 0; i < s->n; i++) /* tops may be the same directory */
        if (str_eq(s->files[i].path, path))
            return;
    if (s->n == AUTORUN_FILES_MAX || arena_left(s->arena) < 4 * (size_t)PATH_MAX) {
        s->cut = true;
        return;
    }
    struct autorun_file f = {.path = arena_str(s->arena, path)};
    f.then = known_read_name(dir, name, s->arena);
    if (!f.then.type)
        return;
    f.kept = path_to_keep(s, dir, name, f.path, f.then.type);
    s->files[s->n++] = f;
}

/* Lists a directory by its path relative to a top; every directory of the roots is listed anyway by
 * the search for repositories. */
static void search_dir(
    struct autorun_search *s, int at, const char *name, struct str top, struct str rest, int depth)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool listed = dir_take(&d, force_open(at, name, false));
    while (listed && dir_next(&d)) {
        AUTO_BUF struct buf inner = BUF_INIT(PATH_MAX), path = BUF_INIT(2 * PATH_MAX);
        buf_printf(&inner, STR_FMT "%s%s", STR_ARG(rest), rest.n ? "/" : "", d.name);
        buf_printf(&path, STR_FMT "/" STR_FMT, STR_ARG(top), STR_ARG(buf_str(&inner)));
        if (!buf_ok(&inner) || !buf_ok(&path))
            continue;
        struct str inside = buf_str(&inner), whole = str_n(buf_z(&path), path.n);
        const bool leads = selfrun_leads(inside).class == SELFRUN_RUNS;
        if (selfrun_guards(inside).class == SELFRUN_RUNS || (leads && d.type == DT_LNK))
            autorun_add(s, d.fd, d.name, whole);
        else if (leads && depth + 1 < AUTORUN_DEPTH)
            search_dir(s, d.fd, d.name, top, inside, depth + 1);
    }
}

/* The directory that a repository belongs to. */
static bool is_top(const struct known_place *k)
{
    return k->kind != SCAN_CORDON && lexical_name(k->path).n && lexical_name(k->path).p[0] == '.' &&
           !str_is(lexical_name(k->path), ".cordon");
}

static void search_root(struct autorun_search *s, const struct protect_root *r)
{
    struct str last = STR("");
    search_dir(s, r->fd, ".", r->path, STR(""), 0);
    for (size_t i = 0; i < r->n_known; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct str top = known_above(r->known[i].path);
        if (!is_top(&r->known[i]) || str_eq(top, last))
            continue;
        last = top;
        AUTO_FD int dir = known_open(r, arena_str(&a, top));
        if (dir >= 0)
            search_dir(s, dir, ".", known_absolute(r, top, &a), STR(""), 0);
    }
}

static struct autorun_search search_all(struct protect *p, struct arena *a)
{
    struct autorun_search s = {.p = p, .arena = a};
    s.files = ARENA_NEW(a, struct autorun_file, AUTORUN_FILES_MAX);
    for (size_t i = 0; i < p->n_roots; i++)
        search_root(&s, &p->roots[i]);
    return s;
}

/* Files that commands made ------------------------------------------------------------------- */

static bool autorun_is_made(const struct autorun *u, struct str path)
{
    for (size_t i = 0; i < u->n_made; i++)
        if (lexical_is_below(path, u->made[i].path))
            return true;
    return false;
}

static void add_made(struct protect *p, struct str path, bool expected)
{
    struct autorun *u = p->autorun;
    if (u->n_made < AUTORUN_MADE_MAX && !autorun_is_made(u, path))
        u->made[u->n_made++] = (struct autorun_made){arena_str(&p->arena, path), expected};
}

static void forget_made(struct autorun *u)
{
    struct stat st;
    size_t n = 0;
    for (size_t i = 0; i < u->n_made; i++)
        if (!u->made[i].expected && lstat(u->made[i].path.p, &st) == 0)
            u->made[n++] = u->made[i];
    u->n_made = n;
}

void protect_expect(struct protect *p, struct str path)
{
    if (p->autorun)
        add_made(p, path, true);
}

/* Before and after a command ------------------------------------------------------------------ */

/* While commands run, new files are not taken for the user's. */
void autorun_learn(struct protect *p)
{
    if (!p->options.autorun || (p->autorun && p->autorun->learned && p->busy))
        return;
    if (!p->autorun)
        p->autorun = base_alloc(sizeof(*p->autorun));
    struct autorun *u = p->autorun;
    arena_done(&u->arena);
    u->arena = ARENA_INIT(AUTORUN_ARENA);
    forget_made(u);
    struct autorun_search s = search_all(p, &u->arena);
    for (size_t i = 0; i < s.n; i++)
        if (autorun_is_made(u, s.files[i].path))
            s.files[i].kept = (struct str){0};
    u->files = s.files;
    u->n = s.n;
    u->learned = true;
    if (s.cut && !u->cut)
        known_warn(p,
            "there are more than %d files that take effect without being started: commands can "
            "change the others",
            AUTORUN_FILES_MAX);
    u->cut |= s.cut;
}

static bool autorun_was_there(const struct autorun *u, const struct autorun_file *now)
{
    for (size_t i = 0; i < u->n; i++)
        if (str_eq(u->files[i].path, now->path))
            return known_name_equal(&u->files[i].then, &now->then);
    return false;
}

static const char *reason_of(const struct protect *p, struct str path)
{
    for (size_t i = 0; i < p->n_roots; i++) {
        struct str root = p->roots[i].path;
        if (!lexical_is_below(root, path))
            continue;
        const char *reason = selfrun_guards(lexical_rest(root, path)).reason;
        return reason ? reason : "a directory with such files is expected there";
    }
    return "";
}

static void report_made(struct protect *p, struct str path)
{
    struct buf *b = &p->autorun->lines;
    utf8_add_printable(b, path);
    buf_printf(b,
        " was made by a command, and takes effect without being started (%s): review it; to allow "
        "it without this warning: --write ",
        reason_of(p, path));
    utf8_add_printable(b, path);
    buf_add_byte(b, '\n');
}

void autorun_check(struct protect *p)
{
    struct autorun *u = p->autorun;
    if (!u || !u->learned)
        return;
    AUTO_ARENA struct arena a = ARENA_INIT(AUTORUN_ARENA);
    struct autorun_search now = search_all(p, &a);
    buf_done(&u->lines);
    u->lines = BUF_INIT(AUTORUN_LINES_MAX);
    for (size_t i = 0; i < now.n && !u->cut; i++) {
        struct str path = now.files[i].path;
        if (autorun_was_there(u, &now.files[i]) || autorun_is_made(u, path))
            continue;
        if (u->lines.n < AUTORUN_LINES_MAX / 2)
            report_made(p, path);
        add_made(p, path, false);
    }
}

void autorun_print(const struct protect *p, struct buf *text)
{
    if (p->autorun)
        buf_add_str(text, buf_str(&p->autorun->lines));
}

void autorun_free(struct protect *p)
{
    if (!p->autorun)
        return;
    buf_done(&p->autorun->lines);
    arena_done(&p->autorun->arena);
    free(p->autorun);
    p->autorun = NULL;
}
