/* Relearns the known state, following the user's changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/relearn.h"

#include "base/fnv.h"
#include "repo/named_paths.h"

#include <fcntl.h>

/* Stamps --------------------------------------------------------------------------------------- */

/* Returns a number that differs after every change of a name; 0: it is absent. */
static uint64_t stamp_of(int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    const uint64_t numbers[] = {st.st_dev, st.st_ino, st.st_mode, (uint64_t)st.st_size,
        (uint64_t)st.st_ctim.tv_sec, (uint64_t)st.st_ctim.tv_nsec};
    return fnv_add(FNV_START, str_n((const char *)numbers, sizeof(numbers))) | 1;
}

/* A directory itself changes with every commit, so only its parts count. */
static struct known_stamp take_stamp(const struct protect_root *r, const struct scan_place *place)
{
    struct known_stamp s = {.place = *place};
    const char *const *parts = parts_for_kind(place->kind);
    AUTO_FD int dir = *parts ? known_open(r, place->path) : -1;
    if (!*parts)
        s.self = stamp_of(r->fd, place->path.p);
    for (size_t i = 0; dir >= 0 && parts[i]; i++)
        s.parts[i] = stamp_of(dir, parts[i]);
    return s;
}

/* A place that was set aside has a new path, which the search must find first. */
void relearn_stamp(struct protect *p)
{
    arena_done(&p->stamps);
    p->stamps = ARENA_INIT(AGAIN_ARENA);
    for (size_t i = 0; i < p->n_roots; i++) {
        struct protect_root *r = &p->roots[i];
        if (p->n_new)
            scan_refresh(&r->scan);
        r->stamps = ARENA_NEW(&p->stamps, struct known_stamp, r->scan.n_places + 1);
        r->n_stamps = 0;
        for (size_t k = 0; k < r->scan.n_places; k++) {
            struct known_stamp *s = &r->stamps[r->n_stamps++];
            *s = take_stamp(r, &r->scan.places[k]);
            s->place.path = arena_str(&p->stamps, s->place.path);
        }
    }
    p->checked = true;
}

static const struct known_stamp *find_stamp(
    const struct protect_root *r, const struct scan_place *place)
{
    for (size_t i = 0; i < r->n_stamps; i++) {
        const struct scan_place *at = &r->stamps[i].place;
        if (at->kind == place->kind && at->ino == place->ino && at->dev == place->dev &&
            str_eq(at->path, place->path))
            return &r->stamps[i];
    }
    return NULL;
}

/* Renewal -------------------------------------------------------------------------------------- */

static bool is_untouched(const struct known_stamp *a, const struct known_stamp *b)
{
    return a->self == b->self && memcmp(a->parts, b->parts, sizeof(a->parts)) == 0;
}

void relearn_filter(struct protect *p, struct protect_root *r)
{
    const struct protect_root *before = r->before;
    size_t n = 0;
    for (size_t i = 0; i < r->n_known; i++) {
        struct known_place *k = &r->known[i];
        const struct scan_place place = {k->kind, k->path, k->dev, k->ino};
        const struct known_place *old = known_find(before, &place);
        const struct known_stamp *then = find_stamp(before, &place);
        const struct known_stamp now = take_stamp(r, &place);
        if (!old && then && (is_untouched(then, &now) || check_would_pass(p, r, &place)))
            continue;
        for (size_t part = 0; old && then && part < PARTS_MAX; part++)
            if (!old->parts[part].type && now.parts[part] == then->parts[part])
                k->parts[part] = (struct known_name){0};
        r->known[n++] = *k;
    }
    r->n_known = n;
}

static void relearn_refresh(struct protect *p)
{
    struct arena old = p->facts;
    p->facts = ARENA_INIT(AGAIN_ARENA);
    struct protect_root *before = ARENA_NEW(&p->facts, struct protect_root, p->n_roots + 1);
    for (size_t i = 0; i < p->n_roots; i++) {
        struct protect_root *r = &p->roots[i];
        before[i] = *r;
        r->n_known = r->n_named = r->n_links = r->n_ways = r->n_trees = 0;
        r->before = &before[i];
        scan_learn(&r->scan);
        known_learn_root(p, r);
    }
    named_paths_learn(p);
    for (size_t i = 0; i < p->n_roots; i++)
        p->roots[i].before = NULL;
    arena_done(&old);
}

/* Forgetting is always safe ---------------------------------------------------------------------
 */

/* Returns true if a place still exists; forgets those of its parts that do not. */
static bool forget_parts(const struct protect_root *r, struct known_place *k, struct arena *a)
{
    struct stat st;
    const char *const *parts = parts_for_kind(k->kind);
    if (!*parts)
        return known_read_name(r->fd, k->path.p, a).type != 0;
    AUTO_FD int dir = known_open(r, k->path);
    if (dir < 0 || fstat(dir, &st) != 0 || (k->ino && st.st_ino != k->ino))
        return false;
    for (size_t i = 0; parts[i]; i++)
        if (!known_read_name(dir, parts[i], a).type)
            k->parts[i] = (struct known_name){0};
    return true;
}

static void forget_gone(struct protect_root *r)
{
    AUTO_ARENA struct arena a = ARENA_INIT(AGAIN_ARENA);
    struct stat st;
    size_t n = 0;
    for (size_t i = 0; i < r->n_known; i++)
        if (forget_parts(r, &r->known[i], &a))
            r->known[n++] = r->known[i];
    r->n_known = n;
    for (size_t i = 0; i < r->n_named; i++)
        if (lstat(r->named[i].path.p, &st) != 0)
            r->named[i].type = 0;
}

/* Returns true if the last check covered everything. */
static bool relearn_check_was_complete(const struct protect *p)
{
    for (size_t i = 0; i < p->n_roots; i++)
        if (p->roots[i].scan.cut || (p->no_mounts && p->roots[i].scan.n_foreign))
            return false;
    return !p->stuck;
}

void relearn_update(struct protect *p)
{
    if (!p->checked || p->busy)
        return;
    p->checked = false;
    if (relearn_check_was_complete(p)) {
        relearn_refresh(p);
        return;
    }
    for (size_t i = 0; i < p->n_roots; i++)
        forget_gone(&p->roots[i]);
}
