/* Protected parts: found at the start and between commands, listed for each command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/protect.h"

#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/autorun.h"
#include "repo/gitdir_links.h"
#include "repo/gitdir_target.h"
#include "repo/gitname.h"
#include "repo/named_paths.h"
#include "repo/quarantine.h"
#include "repo/relearn.h"
#include "repo/tracked.h"
#include "repo/tree.h"
#include "repo/unfinished.h"
#include "repo/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    ARENA_MAX = 256 << 20,
    KEPT_MAX = 20 * 1000,
    HOOKS_SPARE = 16 << 20, /* bytes that hooks leave for other paths */
    TEXT_ROOM = 256,        /* minimum capacity for a settings file */
    ARENA_SPARE = 64 << 20, /* bytes for everything but settings files */
};

/* Names ---------------------------------------------------------------------------------------- */

struct known_name known_read_name(int dir, const char *name, struct arena *a)
{
    struct statx st;
    char target[PATH_MAX];
    AUTO_FD int fd = beneath_open(dir, name, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_BTIME, &st) != 0)
        return (struct known_name){0};
    struct known_name now = {.type = st.stx_mode & S_IFMT, .ino = st.stx_ino};
    if (st.stx_mask & STATX_BTIME)
        now.born_ns = st.stx_btime.tv_sec * INT64_C(1000000000) + st.stx_btime.tv_nsec;
    if (!S_ISLNK(st.stx_mode))
        return now;
    ssize_t n = readlinkat(fd, "", target, sizeof(target));
    now.target = arena_str(a, str_n(target, n > 0 ? (size_t)n : 0));
    return now;
}

bool known_name_equal(const struct known_name *a, const struct known_name *b)
{
    return a->type == b->type && str_eq(a->target, b->target);
}

bool known_name_replaced(const struct known_name *then, const struct known_name *now)
{
    return then->type && then->ino &&
           (then->type != now->type || then->ino != now->ino || then->born_ns != now->born_ns);
}

int known_open(const struct protect_root *r, struct str path)
{
    return scan_open(&r->scan, path, false);
}

struct str known_absolute(const struct protect_root *r, struct str path, struct arena *a)
{
    return path.n ? str_z(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(r->path), STR_ARG(path)))
                  : r->path;
}

const struct known_place *known_find(const struct protect_root *r, const struct scan_place *place)
{
    for (size_t i = 0; i < r->n_known; i++) {
        const struct known_place *k = &r->known[i];
        if (str_eq(k->path, place->path) && k->kind == place->kind && k->ino == place->ino &&
            (k->dev == place->dev || k->dev == KNOWN_ANY_DEVICE))
            return k;
    }
    return NULL;
}

/* The initial state -----------------------------------------------------------------------------
 */

static bool is_same_file(const struct known_text *text, const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_ino == text->ino && st->st_size == text->size &&
           st->st_ctim.tv_sec == text->changed.tv_sec &&
           st->st_ctim.tv_nsec == text->changed.tv_nsec;
}

bool known_text_unchanged(int dir, const char *name, const struct known_text *text)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(text, &st);
}

/* Returns false if it does not fit. */
static bool replace_text(struct known_text *t, struct str text, struct arena *a)
{
    if (text.n > t->room || !t->room) {
        size_t room = MAX(2 * text.n, (size_t)TEXT_ROOM);
        if (arena_left(a) < room + ARENA_SPARE)
            return false;
        t->text = str_n(arena_alloc(a, room + 1), 0);
        t->room = room;
    }
    char *to = (char *)t->text.p;
    if (text.n)
        memcpy(to, text.p, text.n);
    to[text.n] = '\0';
    t->text.n = text.n;
    return true;
}

bool known_update_text(int dir, const char *name, struct known_text *text, struct arena *a)
{
    struct stat st;
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
        is_same_file(text, &st))
        return false;
    bool fits = !a || !quarantine_read(dir, name, &bytes) || replace_text(text, buf_str(&bytes), a);
    text->ino = fits ? st.st_ino : 0;
    text->size = st.st_size;
    text->changed = st.st_ctim;
    return true;
}

/* A list of rebase steps that is too large to read is the user's own as long as it does not
 * change. */
static void note_rebase(struct protect *p, int gitdir, struct known_place *k)
{
    for (enum rebase_file i = 0; i < REBASE_FILES; i++) {
        struct known_text now = {0};
        if (i != REBASE_RERERE && k->steps[i].ino &&
            known_text_unchanged(gitdir, rebase_files[i].name, &k->steps[i]))
            continue; /* the index decides about conflicts */
        if (known_update_text(gitdir, rebase_files[i].name, &now, NULL))
            now.text = arena_left(&p->facts) < 2 * KNOWN_ARENA_SPARE
                           ? STR("")
                           : rebase_programs(gitdir, i, &p->facts);
        k->steps[i] = now;
    }
}

static void know_place(struct protect *p, struct protect_root *r, const struct scan_place *place)
{
    struct known_place *k = &r->known[r->n_known++];
    *k = (struct known_place){.kind = place->kind,
        .path = arena_str(&p->facts, place->path),
        .dev = place->dev,
        .ino = place->ino};
    k->lead = gitdir_target_of(r, k->kind, k->path);
    if (place->kind == SCAN_LINK)
        k->self = known_read_name(r->fd, k->path.p, &p->facts);
    const char *const *parts = parts_for_kind(place->kind);
    AUTO_FD int dir = *parts ? known_open(r, k->path) : -1;
    for (size_t i = 0; dir >= 0 && parts[i]; i++) {
        k->parts[i] = known_read_name(dir, parts[i], &p->facts);
        if (parts_is_free(place->kind, parts[i], k->parts[i].type))
            k->parts[i] = (struct known_name){0};
    }
    if (dir >= 0 && place->kind == SCAN_GITDIR) {
        note_rebase(p, dir, k);
        k->dormant = !known_has_head(dir);
    }
    k->info_link = dir >= 0 && S_ISLNK(known_read_name(dir, "info", &p->facts).type);
}

static void add_gitlink(
    struct protect *p, struct protect_root *r, const struct known_place *k, struct str path)
{
    if (r->n_links == KNOWN_LINKS_MAX || arena_left(&p->facts) < path.n + 2 * KNOWN_ARENA_SPARE) {
        p->cut = true;
        return;
    }
    r->links[r->n_links++] = (struct known_gitlink){k->path, arena_str(&p->facts, path)};
}

/* Keeps the entries of an index that has not changed since it was last read. */
static bool keep_gitlinks(struct protect *p, struct protect_root *r, struct known_place *k)
{
    const struct protect_root *before = r->before;
    const struct scan_place place = {k->kind, k->path, k->dev, k->ino};
    const struct known_place *old = before ? known_find(before, &place) : NULL;
    AUTO_FD int dir = old && old->index.ino ? known_open(r, k->path) : -1;
    if (dir < 0 || !known_text_unchanged(dir, "index", &old->index))
        return false;
    k->index = old->index;
    k->open_links = old->open_links;
    for (size_t i = 0; i < before->n_links; i++)
        if (str_eq(before->links[i].repository, k->path))
            add_gitlink(p, r, k, before->links[i].path);
    return true;
}

static void know_gitlinks(
    struct protect *p, struct protect_root *r, const struct known_place *k, int dir)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_TRACKED struct tracked t = {0};
    p->cut |= k->index.size > PROTECT_INDEX_MAX;
    if (k->index.size > PROTECT_INDEX_MAX || !tracked_read(dir, &t, &ignored))
        return;
    for (size_t i = 0; i < t.n_links; i++)
        add_gitlink(p, r, k, t.links[i]);
}

/* Of other git directories than `.git`, gitlink_check_check() ignores the entries for repositories.
 */
static void know_index(struct protect *p, struct protect_root *r, struct known_place *k)
{
    bool usual = str_is(lexical_name(k->path), ".git");
    if (k->kind != SCAN_GITDIR || k->dormant || (usual && keep_gitlinks(p, r, k)))
        return;
    AUTO_FD int dir = known_open(r, k->path);
    if (dir >= 0 && known_update_text(dir, "index", &k->index, NULL) && usual)
        know_gitlinks(p, r, k, dir);
}

bool known_is_way(const struct protect_root *r, struct str path)
{
    for (size_t i = 0; i < r->n_ways; i++)
        if (str_eq(r->ways[i].path, path))
            return true;
    return false;
}

bool known_add_way(struct protect *p, struct protect_root *r, struct str path)
{
    if (known_is_way(r, path))
        return true;
    if (r->n_ways == KNOWN_WAYS_MAX ||
        arena_left(&p->facts) < path.n + PATH_MAX + 2 * (size_t)KNOWN_ARENA_SPARE)
        return false;
    path = arena_str(&p->facts, path);
    r->ways[r->n_ways++] = (struct known_way){path, known_read_name(r->fd, path.p, &p->facts)};
    return true;
}

void known_make_room(struct protect *p, struct protect_root *r, size_t places)
{
    r->known = ARENA_NEW(&p->facts, struct known_place, places + 1);
    r->named = ARENA_NEW(&p->facts, struct known_named, KNOWN_NAMED_MAX);
    r->links = ARENA_NEW(&p->facts, struct known_gitlink, KNOWN_LINKS_MAX);
    r->ways = ARENA_NEW(&p->facts, struct known_way, KNOWN_WAYS_MAX);
    r->trees = ARENA_NEW(&p->facts, struct known_tree, KNOWN_TREES_MAX);
}

void known_learn_root(struct protect *p, struct protect_root *r)
{
    p->cut |= r->scan.cut;
    known_make_room(p, r, r->scan.n_places);
    for (size_t i = 0; i < r->scan.n_places; i++)
        know_place(p, r, &r->scan.places[i]);
    if (r->before)
        relearn_filter(p, r);
    gitdir_links_know(p, r);
    tree_know(p, r);
    for (size_t i = 0; i < r->n_known; i++)
        know_index(p, r, &r->known[i]);
}

struct protect *known_new(const struct protect_options *options)
{
    struct protect *p = calloc(1, sizeof(*p));
    BUG_ON(!p);
    p->arena = ARENA_INIT(ARENA_MAX);
    p->facts = ARENA_INIT(AGAIN_ARENA);
    p->options = *options;
    p->roots = ARENA_NEW(&p->arena, struct protect_root, PROTECT_ROOTS_MAX);
    return p;
}

void known_open_root(struct protect *p, struct protect_root *r, int fd, struct str path)
{
    *r = (struct protect_root){.fd = fd, .path = arena_str(&p->arena, path)};
    scan_init(&r->scan, fd);
}

static struct protect *open_roots(const struct protect_options *options)
{
    struct protect *p = known_new(options);
    for (size_t i = 0; i < options->n_roots; i++) {
        struct str path = arena_str(&p->arena, options->roots[i]);
        int fd = open(path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && p->n_roots < PROTECT_ROOTS_MAX) {
            known_open_root(p, &p->roots[p->n_roots++], fd, path);
        } else if (fd >= 0) {
            p->cut = true;
            close(fd);
        }
    }
    return p;
}

struct protect *protect_new(const struct protect_options *options)
{
    struct protect *p = open_roots(options);
    unfinished_check(p);
    for (size_t i = 0; i < p->n_roots; i++) {
        scan_refresh(&p->roots[i].scan);
        scan_freeze_mounts(&p->roots[i].scan);
        known_learn_root(p, &p->roots[i]);
    }
    named_paths_learn(p);
    return p;
}

void protect_free(struct protect *p)
{
    if (!p)
        return;
    unfinished_remove(p);
    watch_free(p);
    autorun_free(p);
    for (size_t i = 0; i < p->n_roots; i++) {
        scan_done(&p->roots[i].scan);
        close(p->roots[i].fd);
    }
    arena_done(&p->stamps);
    arena_done(&p->facts);
    arena_done(&p->arena);
    free(p);
}

/* Resolves a path as far as it exists. */
static struct str resolve_there(struct str path, struct arena *a)
{
    for (size_t n = path.n; n > 0; n--) {
        if (n < path.n && path.p[n] != '/')
            continue;
        AUTO_FREE char *resolved = beneath_resolve(arena_str(a, str_head(path, n)).p);
        if (resolved)
            return str_z(arena_printf(a, "%s" STR_FMT, resolved, STR_ARG(str_skip(path, n))));
    }
    return path;
}

static bool allow_own(
    const struct protect *p, struct str path, const char *what, const char *remedy, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    if (!protect_in_roots(p, path) && !protect_in_roots(p, resolve_there(path, &a)))
        return true;
    return err_set(err, E_SANDBOX_UNAVAILABLE,
        "'" STR_FMT "' %s is in a directory that the command can write, and the landlock sandbox "
        "cannot protect it: %s, or use --sandbox native",
        STR_ARG(path), what, remedy);
}

bool protect_allows(const struct protect *p, struct err *err)
{
    const struct protect_options *o = &p->options;
    struct stat st;
    if (!p->no_mounts)
        return true;
    for (size_t i = 0; i < o->n_settings; i++) /* one that a command creates is set aside */
        if (lstat(o->settings[i].p, &st) == 0 &&
            !allow_own(p, o->settings[i], "(settings of the user)",
                "let the command write another directory", err))
            return false;
    struct str sessions = str_z(o->sessions ? o->sessions : "/");
    struct str home = str_head(sessions, (size_t)MAX(str_find_last(sessions, '/'), (ptrdiff_t)0));
    return !home.n ||
           allow_own(p, home, "(cordon's own files)", "set CORDON_HOME to another directory", err);
}

/* Protected paths -------------------------------------------------------------------------------
 */

struct protect_keeping {
    struct protect *p;
    struct arena *a;
    struct str *paths;
    size_t n;
    bool watches;
};

/* Adds a directory whose changes have no effect, or a file that is watched later. */
static void keep_unwatched(struct protect_keeping *k, struct str path)
{
    if (k->n < KEPT_MAX)
        k->paths[k->n++] = path;
    else
        k->p->cut = true;
}

static void protect_keep(struct protect_keeping *k, struct str path)
{
    keep_unwatched(k, path);
    if (k->watches)
        watch_add(k->p, path);
}

/* A symlink does not protect the file that it points to. */
static void keep_target(struct protect_keeping *k, struct str link)
{
    AUTO_FREE char *resolved = beneath_resolve(link.p);
    if (resolved && protect_in_roots(k->p, str_z(resolved)))
        protect_keep(k, arena_str(k->a, str_z(resolved)));
}

/* Hooks are protected by their directory; files with further hard links also individually. The
 * targets of symlinks among them are protected as names (repo/named_paths.h). */
static void keep_hooks(struct protect_keeping *k, struct str hooks)
{
    struct stat st;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool listed = dir_open_path(&d, hooks.p);
    while (listed && dir_next(&d)) {
        if (str_ends_with(str_z(d.name), STR(".sample")) ||
            fstatat(d.fd, d.name, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(st.st_mode))
            continue;
        if (S_ISLNK(st.st_mode) || st.st_nlink < 2)
            continue;
        if (k->n == KEPT_MAX || arena_left(k->a) < HOOKS_SPARE)
            k->p->cut = true;
        else
            protect_keep(k, str_z(arena_printf(k->a, STR_FMT "/%s", STR_ARG(hooks), d.name)));
    }
}

static void keep_parts(
    struct protect_keeping *k, const struct protect_root *r, const struct known_place *known)
{
    const char *const *parts = parts_for_kind(known->kind);
    for (size_t i = 0; parts[i]; i++) {
        struct str dir = known_absolute(r, known->path, k->a);
        struct str path = str_z(arena_printf(k->a, STR_FMT "/%s", STR_ARG(dir), parts[i]));
        bool later = known->kind == SCAN_GITDIR && i < KNOWN_TEXTS;
        if (known->parts[i].type == S_IFLNK)
            keep_target(k, path);
        else if (known->parts[i].type && (later || strcmp(parts[i], PARTS_HELD) == 0))
            keep_unwatched(k, path);
        else if (known->parts[i].type)
            protect_keep(k, path);
        if (known->kind == SCAN_GITDIR && strcmp(parts[i], "hooks") == 0)
            keep_hooks(k, path);
    }
}

/* Settings come last: of all parts, a command can create these itself, in its own repositories, and
 * they must not use up the room of the others. */
static void watch_settings(struct protect *p)
{
    const char *const *parts = parts_for_kind(SCAN_GITDIR);
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t n = 0; n < p->roots[i].n_known; n++) {
            const struct known_place *k = &p->roots[i].known[n];
            AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
            struct str dir = known_absolute(&p->roots[i], k->path, &a);
            for (size_t part = 0; k->kind == SCAN_GITDIR && part < KNOWN_TEXTS; part++)
                if (S_ISREG(k->parts[part].type))
                    watch_add(p, str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(dir), parts[part])));
        }
}

/* A file that the user replaces while a command runs is no longer protected by its mount: its
 * earlier text is compared afterwards. Changes that could not be set aside do not become the
 * user's. */
static void note_texts(struct protect *p, const struct protect_root *r, struct known_place *known)
{
    const char *const *parts = parts_for_kind(SCAN_GITDIR);
    AUTO_FD int dir = known->kind == SCAN_GITDIR && !p->busy ? known_open(r, known->path) : -1;
    for (size_t i = 0; dir >= 0 && i < KNOWN_TEXTS; i++)
        if (S_ISREG(known->parts[i].type) && (!p->stuck || !known->texts[i].ino) &&
            known_update_text(dir, parts[i], &known->texts[i], &p->facts))
            p->cut |= !known->texts[i].ino;
    if (dir >= 0 && !p->stuck)
        note_rebase(p, dir, known);
}

/* A part that the user has replaced since the last check is the user's, and gets a mount. */
static void note_parts(struct protect *p, const struct protect_root *r, struct known_place *known)
{
    AUTO_ARENA struct arena a = ARENA_INIT(AGAIN_ARENA);
    const char *const *parts = parts_for_kind(known->kind);
    AUTO_FD int dir = *parts && !p->busy && !p->stuck ? known_open(r, known->path) : -1;
    for (size_t i = 0; dir >= 0 && parts[i]; i++) {
        struct known_name *then = &known->parts[i];
        if (!then->type || S_ISLNK(then->type))
            continue;
        const struct known_name now = known_read_name(dir, parts[i], &a);
        if (now.type == then->type)
            *then = now;
    }
}

static void protect_note_all(struct protect *p)
{
    for (size_t i = 0; i < p->n_roots; i++)
        for (size_t k = 0; k < p->roots[i].n_known; k++) {
            note_texts(p, &p->roots[i], &p->roots[i].known[k]);
            note_parts(p, &p->roots[i], &p->roots[i].known[k]);
        }
    p->unchecked = true;
}

static void keep_root(struct protect_keeping *k, const struct protect_root *r)
{
    for (size_t i = 0; i < r->n_known; i++) {
        const struct known_place *known = &r->known[i];
        struct str path = known_absolute(r, known->path, k->a);
        /* A repository behind a symlink is itself one of the places. */
        if (known->kind == SCAN_LINK && str_ends_with(path, STR(".cordon")))
            keep_target(k, path);
        else if (known->kind == SCAN_POINTER || known->kind == SCAN_CORDON)
            protect_keep(k, path);
        keep_parts(k, r, known);
    }
    for (size_t i = 0; i < r->n_named; i++)
        if (r->named[i].type) {
            /* Copied, because the known state is discarded before the next command. */
            struct str path = r->named[i].path;
            protect_keep(k, k->n < KEPT_MAX ? arena_str(k->a, path) : path);
            if (S_ISDIR(r->named[i].type))
                keep_hooks(k, r->named[i].path);
        }
}

/* A path that is already kept needs no second mount. */
static bool is_kept(const struct protect_keeping *k, struct str path)
{
    for (size_t i = 0; i < k->n; i++)
        if (lexical_is_below(k->paths[i], path))
            return true;
    return false;
}

static void keep_autorun(struct protect_keeping *k)
{
    const struct autorun *u = k->p->autorun;
    for (size_t i = 0; u && i < u->n; i++)
        if (u->files[i].kept.p && !is_kept(k, u->files[i].kept) && k->n < KEPT_MAX)
            protect_keep(k, arena_str(k->a, u->files[i].kept));
}

size_t protect_kept(struct protect *p, struct arena *a, struct str **ret_paths)
{
    relearn_update(p);
    autorun_learn(p);
    struct protect_keeping k = {.p = p,
        .a = a,
        .paths = ARENA_NEW(a, struct str, KEPT_MAX),
        .watches = p->no_mounts && !p->busy && (!p->stuck || !p->watch)};
    if (k.watches || (!p->no_mounts && !p->busy))
        watch_free(p);
    if (k.watches)
        watch_reset(p);
    protect_note_all(p);
    for (size_t i = 0; i < p->n_roots; i++)
        keep_root(&k, &p->roots[i]);
    keep_autorun(&k);
    if (k.watches)
        watch_settings(p);
    unfinished_write(p);
    *ret_paths = k.paths;
    return k.n;
}

void protect_begin(struct protect *p)
{
    relearn_update(p);
    autorun_learn(p);
    protect_note_all(p);
    unfinished_write(p);
}

/* One file --------------------------------------------------------------------------------------
 */

static bool is_protected(struct protect *p, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct str *kept;
    size_t n = protect_kept(p, &a, &kept);
    for (size_t i = 0; i < n; i++)
        if (lexical_is_below(kept[i], path))
            return true;
    for (size_t k = 0; k < p->n_roots; k++) {
        const struct protect_root *r = &p->roots[k];
        for (size_t i = 0; i < r->n_named; i++)
            if (str_eq(r->named[i].path, path) ||
                (!r->named[i].word && lexical_is_below(r->named[i].path, path)))
                return true;
        for (size_t i = 0; i < r->n_known; i++) {
            struct str dir = known_absolute(r, r->known[i].path, &a);
            for (const char *const *part = parts_for_kind(r->known[i].kind); *part; part++)
                if (lexical_is_below(
                        str_z(arena_printf(&a, STR_FMT "/%s", STR_ARG(dir), *part)), path))
                    return true;
        }
    }
    return false;
}

bool protect_refuses(const struct protect_options *options, struct str path)
{
    struct str root = options->n_roots ? options->roots[0] : STR("/");
    struct str rest = lexical_rest(root, path);
    if (parts_is_refused(rest))
        return true;
    struct protect *p = open_roots(options);
    for (size_t i = 0; i < p->n_roots; i++) {
        scan_path(&p->roots[i].scan, rest);
        known_learn_root(p, &p->roots[i]);
    }
    named_paths_learn(p);
    bool refused = is_protected(p, path);
    protect_free(p);
    return refused;
}

/* The check ------------------------------------------------------------------------------------ */

/* Removes from the list the files that the user moved back or away. */
static void forget_moved(struct protect *p)
{
    size_t n = 0;
    struct stat st;
    for (size_t i = 0; i < p->n_held; i++)
        if (p->held[i].where.p && lstat(p->held[i].where.p, &st) == 0)
            p->held[n++] = p->held[i];
    p->n_held = n;
    p->n_unnamed = n ? p->n_unnamed : 0;
}

void protect_check(struct protect *p)
{
    forget_moved(p);
    size_t before = p->n_held, reported = p->n_reported;
    p->stuck = false;
    for (size_t i = 0; i < p->n_roots; i++)
        check_root(p, &p->roots[i]);
    watch_check(p, before);
    named_paths_check(p);
    autorun_check(p);
    p->n_new = p->n_reported - reported;
    p->news = p->n_new || (p->watch && p->watch->n_lines) || (p->autorun && p->autorun->lines.n);
    if (p->busy)
        return;
    p->unchecked = false;
    relearn_stamp(p);
    unfinished_remove(p);
}
