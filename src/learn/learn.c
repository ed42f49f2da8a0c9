/* Derives a policy from the resources that a command used. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/learn.h"

#include "base/fnv.h"
#include "base/utf8.h"
#include "path/lexical.h"
#include "path/warn.h"
#include "policy/policy.h"
#include "sandbox/baseline.h"

enum {
    SLOTS = 1 << 18, /* more than twice the paths */
    FILES_TOGETHER = 4,
    DIRS_TOGETHER = 8,
    ROOT_PARTS_MAX = 3, /* writable paths in the root before the root itself is granted */
    DEPTH_OF_FILES = 2, /* minimum depth of a directory that replaces its files */
    DEPTH_OF_DIRS = 3,  /* ... its subdirectories */
    LEVELS_MAX = 64,    /* maximum number of rounds of merging directories */
    ENTRIES_MAX = POLICY_LIST_MAX / 2,
};
_Static_assert(SLOTS > 2 * LEARN_PATHS_MAX, "the table must have free slots");

/* Devices that every sandbox lets read and write, in addition to its read-only baseline. */
static const char *const devices[] = {
    "/dev/fd",
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/shm",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
};

static bool is_given_to_all(struct str path, unsigned use)
{
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (lexical_is_below(str_z(devices[i]), path))
            return true;
    return use == LEARN_READ && (baseline_shows(path) || lexical_is_below(STR("/proc"), path));
}

/* Returns "" for "/". */
static struct str learn_parent_dir(struct str path)
{
    ptrdiff_t slash = str_find_last(path, '/');
    return str_head(path, slash > 0 ? (size_t)slash : path.n > 1);
}

/* Observed paths ------------------------------------------------------------------------------ */

void learn_init(struct learn *l, struct arena *a)
{
    *l = (struct learn){.arena = a, .slots = ARENA_NEW(a, uint32_t, SLOTS)};
}

/* Returns the slot of a path, or the free one for it. */
static uint32_t *learn_slot(const struct learn *l, struct str path)
{
    size_t i = (size_t)(fnv_add(FNV_START, path) % SLOTS);
    while (l->slots[i] && !str_eq(l->paths[l->slots[i] - 1].path, path))
        i = (i + 1) % SLOTS;
    return &l->slots[i];
}

static void learn_add_path(
    struct learn *l, struct str path, struct str target, unsigned use, bool made)
{
    if (is_given_to_all(path, use))
        return;
    uint32_t *slot = learn_slot(l, path);
    if (*slot) {
        l->paths[*slot - 1].uses |= use;
        return;
    }
    l->bytes += path.n + target.n;
    if (l->n >= LEARN_PATHS_MAX || l->bytes > LEARN_BYTES_MAX) {
        l->full = true;
        return;
    }
    ARENA_GROW(l->arena, l->paths, l->n, l->cap);
    l->paths[l->n] = (struct learn_path){
        .path = arena_str(l->arena, path),
        .target = target.p ? arena_str(l->arena, target) : target,
        .uses = use,
        .made = made,
    };
    *slot = (uint32_t)++l->n;
}

static void add_peer(struct learn *l, const struct trace_event *event)
{
    l->loopback |= event->loopback;
    l->network |= !event->loopback;
    for (size_t i = 0; i < l->n_peers; i++)
        if (str_eq(l->peers[i], event->path))
            return;
    if (!event->loopback && l->n_peers < LEARN_PEERS_MAX)
        l->peers[l->n_peers++] = arena_str(l->arena, event->path);
}

void learn_add(void *arg, const struct trace_event *event)
{
    static const unsigned uses[] = {
        [TRACE_READ] = LEARN_READ,
        [TRACE_WRITE] = LEARN_WRITE,
        [TRACE_ENTRY] = LEARN_ENTRY,
        [TRACE_EXEC] = LEARN_EXEC,
        [TRACE_SOCKET] = LEARN_SOCKET,
    };
    struct learn *l = arg;
    if (event->kind == TRACE_NETWORK) {
        add_peer(l, event);
        return;
    }
    learn_add_path(l, event->path, (struct str){0}, uses[event->kind], event->made);
    if (event->given.p)
        learn_add_path(l, event->given, event->path, uses[event->kind], event->made);
}

/* Lists --------------------------------------------------------------------------------------- */

/* A path that the policy may grant. */
struct learn_place {
    struct str path;
    struct str target;
    const char *note;
    bool is_dir;
};

struct learn_place_list {
    struct learn_place *p;
    size_t n, cap;
};

struct learn_summary {
    const struct learn *l;
    const struct learn_host *host;
    struct arena *arena;
    struct learn_place_list read, write, exec, made, refused;
    struct learned out;
};

static void places_add(
    struct learn_summary *s, struct learn_place_list *list, struct learn_place place)
{
    ARENA_GROW(s->arena, list->p, list->n, list->cap);
    list->p[list->n++] = place;
}

/* Compares bytes, with '/' before all others, so that a directory's contents directly follow it. */
static int learn_compare_paths(struct str a, struct str b)
{
    for (size_t i = 0; i < MIN(a.n, b.n); i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];
        if (x != y)
            return (x == '/' ? 0 : x) < (y == '/' ? 0 : y) ? -1 : 1;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

static int compare_places(const void *a, const void *b)
{
    const struct learn_place *x = a, *y = b;
    int order = learn_compare_paths(x->path, y->path);
    return order ? order : (int)y->is_dir - (int)x->is_dir;
}

/* Sorts the list and removes duplicates and paths below a listed directory. */
static void places_tidy(struct learn_place_list *list)
{
    size_t n = 0;
    const struct learn_place *dir = NULL;
    if (list->n)
        qsort(list->p, list->n, sizeof(*list->p), compare_places);
    for (size_t i = 0; i < list->n; i++) {
        struct learn_place place = list->p[i];
        if ((dir && lexical_is_below(dir->path, place.path)) ||
            (n && str_eq(list->p[n - 1].path, place.path)))
            continue;
        list->p[n] = place;
        if (place.is_dir)
            dir = &list->p[n];
        n++;
    }
    list->n = n;
}

static size_t learn_path_depth(struct str path)
{
    struct str component;
    size_t n = 0;
    while (lexical_next(&path, &component))
        n++;
    return n;
}

/* Any user's home directory is too wide. */
static bool is_home(struct str dir)
{
    return lexical_is_below(STR("/home"), dir) && learn_path_depth(dir) <= 2;
}

struct learn_merge_rule {
    enum blocked_use use;
    bool dirs;    /* merge directories instead of files */
    size_t least; /* minimum number in one directory */
    size_t depth; /* minimum depth of that directory */
};

/* The directory must be NUL-terminated. */
static bool may_widen(
    const struct learn_summary *s, struct str dir, const struct learn_merge_rule *how)
{
    if (learn_path_depth(dir) < how->depth || is_home(dir))
        return false;
    struct learn_look look = s->host->look(s->host->arg, dir, how->use);
    return look.type == LEARN_DIR && !look.why_not;
}

/* Replaces many entries of a directory by the directory, unless one of them is sensitive. Returns
 * whether anything was replaced. */
static bool learn_merge_into_dir(
    struct learn_summary *s, struct learn_place_list *list, const struct learn_merge_rule *how)
{
    struct learn_place_list parents = {0};
    bool any = false;
    for (size_t i = 0; i < list->n; i++) {
        struct learn_place *p = &list->p[i];
        if (p->is_dir == how->dirs)
            places_add(s, &parents,
                (struct learn_place){.path = learn_parent_dir(p->path), .note = p->note});
    }
    if (parents.n)
        qsort(parents.p, parents.n, sizeof(*parents.p), compare_places);
    for (size_t i = 0, end; i < parents.n; i = end) {
        struct str dir = parents.p[i].path;
        bool secrets = parents.p[i].note;
        for (end = i + 1; end < parents.n && str_eq(parents.p[end].path, dir); end++)
            secrets |= parents.p[end].note != NULL;
        if (end - i < how->least || secrets)
            continue;
        dir = arena_str(s->arena, dir);
        if (!may_widen(s, dir, how))
            continue;
        places_add(s, list, (struct learn_place){.path = dir, .is_dir = true});
        any = true;
    }
    places_tidy(list);
    return any;
}

static void learn_collapse(
    struct learn_summary *s, struct learn_place_list *list, enum blocked_use use)
{
    const struct learn_merge_rule files = {use, false, FILES_TOGETHER, DEPTH_OF_FILES};
    const struct learn_merge_rule dirs = {use, true, DIRS_TOGETHER, DEPTH_OF_DIRS};
    places_tidy(list);
    learn_merge_into_dir(s, list, &files);
    for (int i = 0; i < LEVELS_MAX && learn_merge_into_dir(s, list, &dirs); i++)
        ;
}

static int compare_key(const void *key, const void *place)
{
    return learn_compare_paths(*(const struct str *)key, ((const struct learn_place *)place)->path);
}

static bool learn_has_place(const struct learn_place_list *list, struct str path)
{
    return list->n && bsearch(&path, list->p, list->n, sizeof(*list->p), compare_key);
}

/* Removes paths that a sorted list grants anyway, as the target of another spelling. */
static void drop_targets(struct learn_summary *s, struct learn_place_list *list)
{
    struct learn_place_list targets = {0};
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->p[i].target.p)
            places_add(s, &targets, (struct learn_place){.path = list->p[i].target});
    places_tidy(&targets);
    for (size_t i = 0; i < list->n; i++)
        if (list->p[i].target.p || !learn_has_place(&targets, list->p[i].path))
            list->p[n++] = list->p[i];
    list->n = n;
}

/* Removes paths that are in another list: an executable is also readable. */
static void drop_listed(struct learn_place_list *list, const struct learn_place_list *other)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!learn_has_place(other, list->p[i].path))
            list->p[n++] = list->p[i];
    list->n = n;
}

/* Judging ------------------------------------------------------------------------------------- */

static bool is_made(const struct learn *l, struct str path)
{
    uint32_t slot = *learn_slot(l, path);
    return slot && l->paths[slot - 1].made;
}

/* Whether the path or a directory above it was created. */
static bool was_made(const struct learn *l, struct str path)
{
    for (; path.n > 1; path = learn_parent_dir(path))
        if (is_made(l, path))
            return true;
    return false;
}

/* Returns the nearest directory that existed before. */
static struct str old_parent(const struct learn *l, struct str path)
{
    struct str dir = learn_parent_dir(path);
    while (dir.n > 1 && was_made(l, dir))
        dir = learn_parent_dir(dir);
    return dir;
}

/* The sandbox has a private /tmp: files that the command creates there need no grant. */
static bool is_private(const struct learn *l, struct str path)
{
    return str_is(path, "/tmp") || (was_made(l, path) && str_is(old_parent(l, path), "/tmp"));
}

static void learn_refuse(
    struct learn_summary *s, const struct learn_path *path, struct str what, const char *why)
{
    /* The target of a spelling is reported separately. */
    if (!path->target.p)
        places_add(s, &s->refused, (struct learn_place){.path = what, .note = why});
}

static const char *note_about(struct str path)
{
    if (str_is(path, "/etc/shadow") || str_is(path, "/etc/gshadow"))
        return "every user's password, hashed";
    return warn_about(path);
}

/* Adds the path to the list, or to the refused ones. */
static void learn_classify(struct learn_summary *s, const struct learn_path *path, struct str what,
    enum blocked_use use, struct learn_place_list *list)
{
    struct learn_look look = s->host->look(s->host->arg, what, use);
    bool whole = what.n == path->path.n;
    if (look.type == LEARN_GONE)
        return;
    if (!utf8_valid(what))
        learn_refuse(s, path, what, "its name is not UTF-8");
    else if (look.why_not)
        learn_refuse(s, path, what, look.why_not);
    else
        places_add(s, list,
            (struct learn_place){
                .path = what,
                .target = whole ? path->target : (struct str){0},
                .note = whole ? note_about(what) : NULL,
                .is_dir = look.type == LEARN_DIR,
            });
}

static void learn_classify_read(struct learn_summary *s, const struct learn_path *path)
{
    bool in_root = s->host->root.p && lexical_is_below(s->host->root, path->path);
    if (!in_root && !is_private(s->l, path->path) && !was_made(s->l, path->path))
        learn_classify(s, path, path->path, BLOCKED_READ, &s->read);
}

static void learn_classify_entry(struct learn_summary *s, const struct learn_path *path)
{
    struct str dir = arena_str(s->arena, learn_parent_dir(path->path));
    if (is_private(s->l, dir))
        s->out.tmp = true;
    else
        learn_classify(s, path, dir, BLOCKED_WRITE, &s->write);
}

static void learn_classify_exec(struct learn_summary *s, const struct learn_path *path)
{
    if (str_starts_with(path->path, STR("/memfd:")))
        learn_refuse(s, path, path->path, "it was a program in memory");
    else if (!was_made(s->l, path->path))
        learn_classify(s, path, path->path, BLOCKED_READ, &s->exec);
    else if (is_private(s->l, path->path))
        learn_refuse(s, path, path->path, "it was created in /tmp, where nothing can be run");
    else
        learn_classify(
            s, path, arena_str(s->arena, old_parent(s->l, path->path)), BLOCKED_READ, &s->made);
}

static void learn_classify_path(struct learn_summary *s, const struct learn_path *path)
{
    if (path->uses & LEARN_READ)
        learn_classify_read(s, path);
    if ((path->uses & LEARN_WRITE) && !was_made(s->l, path->path))
        learn_classify(s, path, path->path, BLOCKED_WRITE, &s->write);
    if (path->uses & LEARN_ENTRY)
        learn_classify_entry(s, path);
    if (path->uses & LEARN_EXEC)
        learn_classify_exec(s, path);
    if (path->uses & LEARN_SOCKET) {
        s->out.unix_sockets = true;
        if (!was_made(s->l, path->path))
            learn_refuse(s, path, path->path, "it is a socket that existed before");
    }
}

/* Grants the whole root if many paths in it are written. */
static void write_root(struct learn_summary *s)
{
    struct str root = s->host->root;
    size_t n = 0;
    for (size_t i = 0; root.p && i < s->write.n; i++)
        n += lexical_is_below(root, s->write.p[i].path);
    if (n > ROOT_PARTS_MAX)
        places_add(s, &s->write, (struct learn_place){.path = root, .is_dir = true});
    places_tidy(&s->write);
}

static struct starter_paths learn_export_paths(
    struct learn_summary *s, struct learn_place_list *list)
{
    struct starter_paths paths = {.n = MIN(list->n, (size_t)ENTRIES_MAX)};
    paths.p = ARENA_NEW(s->arena, struct starter_path, paths.n);
    for (size_t i = 0; i < paths.n; i++)
        paths.p[i] = (struct starter_path){list->p[i].path, list->p[i].target, list->p[i].note};
    return paths;
}

void learn_sum(const struct learn *l, const struct learn_host *host, struct learned *ret_learned)
{
    struct learn_summary s = {.l = l, .host = host, .arena = l->arena};
    for (size_t i = 0; i < l->n; i++)
        learn_classify_path(&s, &l->paths[i]);
    places_tidy(&s.exec);
    places_tidy(&s.read);
    drop_listed(&s.read, &s.exec);
    learn_collapse(&s, &s.read, BLOCKED_READ);
    learn_collapse(&s, &s.write, BLOCKED_WRITE);
    write_root(&s);
    drop_targets(&s, &s.read);
    drop_targets(&s, &s.write);
    drop_targets(&s, &s.exec);
    places_tidy(&s.made);
    places_tidy(&s.refused);
    s.out.read = learn_export_paths(&s, &s.read);
    s.out.write = learn_export_paths(&s, &s.write);
    s.out.exec = learn_export_paths(&s, &s.exec);
    s.out.made = learn_export_paths(&s, &s.made);
    s.out.refused = learn_export_paths(&s, &s.refused);
    *ret_learned = s.out;
}
