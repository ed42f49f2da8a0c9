/* Turns a verdict into steps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan.h"

#include "path/exact.h"
#include "path/lexical.h"

enum {
    TMP_PARTS = 2,    /* /dev/shm and others get half of the size of /tmp */
    TMP_LEAST = 4096, /* 0 would mean no limit */
};

/* A path of the host that is shown. */
struct plan_shown {
    struct str path;
    struct str source; /* on the host; no value: the path */
    dev_t dev;
    ino_t ino;
    bool is_dir;
    bool as_found;               /* in all entries */
    bool kept;                   /* can't be changed inside */
    bool read, write, exec, map; /* according to its own entry */
    unsigned access;             /* effective access, all entries considered */
    const struct plan_overlay *overlay;
};

struct plan_builder {
    const struct plan_input *input;
    struct arena *arena;
    struct plan_shown *shown;
    size_t n_shown;
    struct plan_step *steps;
    size_t n_steps, cap;
    struct plan_hidden *hidden;
    size_t n_hidden;
    bool developer;
};

/* Order ------------------------------------------------------------------------------------- */

int plan_path_order(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n);
    for (size_t i = 0; i < n; i++) {
        unsigned x = a.p[i] == '/' ? 0 : (unsigned char)a.p[i];
        unsigned y = b.p[i] == '/' ? 0 : (unsigned char)b.p[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static int shown_order(const void *a, const void *b)
{
    return plan_path_order(
        ((const struct plan_shown *)a)->path, ((const struct plan_shown *)b)->path);
}

static int step_order(const void *a, const void *b)
{
    const struct plan_step *x = a, *y = b;
    int order = plan_path_order(x->at, y->at);
    return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Shown paths ------------------------------------------------------------------------------- */

static void plan_show(struct plan_builder *m, const struct plan_shown *s)
{
    m->shown[m->n_shown++] = *s;
}

static void show_paths(
    struct plan_builder *m, const struct verdict_paths *paths, struct plan_shown like)
{
    for (size_t i = 0; i < paths->n; i++) {
        const struct verdict_path *p = &paths->p[i];
        like.path = p->resolved;
        like.dev = p->dev;
        like.ino = p->ino;
        like.is_dir = p->is_dir;
        like.as_found = p->as_found;
        plan_show(m, &like);
    }
}

/* Merges entries for the same path. */
static void plan_merge_shown(struct plan_builder *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_shown; i++) {
        const struct plan_shown *s = &m->shown[i];
        if (n && str_eq(m->shown[n - 1].path, s->path)) {
            struct plan_shown *same = &m->shown[n - 1];
            same->as_found &= s->as_found;
            same->kept |= s->kept;
            same->read |= s->read;
            same->write |= s->write;
            same->exec |= s->exec;
            same->map |= s->map;
        } else {
            m->shown[n++] = *s;
        }
    }
    m->n_shown = n;
}

/* Overlays ---------------------------------------------------------------------------------- */

static const struct plan_overlay *overlay_over(const struct plan_builder *m, struct str path)
{
    for (size_t i = 0; i < m->input->n_overlays; i++)
        if (lexical_is_below(m->input->overlays[i].at, path))
            return &m->input->overlays[i];
    return NULL;
}

static bool is_in_bind(const struct plan_builder *m, struct str path)
{
    for (size_t i = 0; i < m->input->n_binds; i++)
        if (lexical_is_below(m->input->binds[i].at, path))
            return true;
    return false;
}

/* Drops entries that would show a file of the host in an overlay, where a change to it would be
 * real, or beside a bind. */
static void drop_in_places(struct plan_builder *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_shown; i++)
        if (!overlay_over(m, m->shown[i].path) && !is_in_bind(m, m->shown[i].path))
            m->shown[n++] = m->shown[i];
    m->n_shown = n;
}

static void show_binds(struct plan_builder *m)
{
    for (size_t i = 0; i < m->input->n_binds; i++) {
        const struct plan_bind *b = &m->input->binds[i];
        plan_show(m, &(struct plan_shown){.path = b->at,
                         .source = b->source.path,
                         .dev = b->source.dev,
                         .ino = b->source.ino,
                         .is_dir = b->is_dir,
                         .read = !b->write,
                         .write = b->write,
                         .exec = b->exec});
    }
}

static void show_overlays(struct plan_builder *m)
{
    for (size_t i = 0; i < m->input->n_overlays; i++) {
        const struct plan_overlay *o = &m->input->overlays[i];
        plan_show(m, &(struct plan_shown){.path = o->at,
                         .is_dir = true,
                         .read = true,
                         .write = true,
                         .exec = o->exec,
                         .overlay = o});
    }
}

/* Skips the places of binds and overlays, which callers choose: a path there is not the host's
 * file. */
static void show_kept(struct plan_builder *m)
{
    for (size_t i = 0; i < m->input->n_kept; i++) {
        const struct plan_kept *k = &m->input->kept[i];
        if (!overlay_over(m, k->source.path) && !is_in_bind(m, k->source.path))
            plan_show(m, &(struct plan_shown){.path = k->source.path,
                             .dev = k->source.dev,
                             .ino = k->source.ino,
                             .is_dir = k->is_dir,
                             .kept = true});
    }
}

static void plan_hide(struct plan_builder *m, struct str path, bool is_dir)
{
    m->hidden[m->n_hidden++] = (struct plan_hidden){path, is_dir};
}

/* A layer that is visible elsewhere could be changed without the overlay, or changes there could be
 * taken for the overlay's. */
static void collect_hidden(struct plan_builder *m)
{
    enum {
        LAYERS = 3
    };
    const struct plan_input *in = m->input;
    m->hidden = ARENA_NEW(m->arena, struct plan_hidden, in->n_hidden + LAYERS * in->n_overlays + 1);
    for (size_t i = 0; i < in->n_hidden; i++)
        plan_hide(m, in->hidden[i].path, in->hidden[i].is_dir);
    for (size_t i = 0; i < in->n_overlays; i++) {
        const struct plan_overlay *o = &in->overlays[i];
        plan_hide(m, o->upper.path, true);
        plan_hide(m, o->work.path, true);
        if (!str_eq(o->lower.path, o->at))
            plan_hide(m, o->lower.path, true);
    }
}

/* In sorted order, the entries that contain an entry are a chain: kept as a stack of indexes. */
struct plan_chain {
    size_t *p;
    size_t n;
};

static void plan_chain_pop(struct plan_chain *c, const struct plan_builder *m, struct str path)
{
    while (c->n && !lexical_is_below(m->shown[c->p[c->n - 1]].path, path))
        c->n--;
}

/* The more specific of reading and writing decides; executing and mapping add up. A program that is
 * allowed by its own path can't be changed from the directory around it, unless files there may be
 * executed anyway. */
static unsigned plan_access_of(const struct plan_shown *s, unsigned outer)
{
    if (s->exec && !s->is_dir && !s->write && !(outer & PLAN_EXEC))
        outer &= ~(unsigned)PLAN_WRITE;
    unsigned access = PLAN_READ | (outer & (PLAN_EXEC | PLAN_MAP));
    if (s->write || (!s->read && (outer & PLAN_WRITE)))
        access |= PLAN_WRITE;
    if (s->exec)
        access |= PLAN_EXEC;
    if (s->map)
        access |= PLAN_MAP;
    return s->kept ? access & ~(unsigned)PLAN_WRITE : access;
}

/* Whether an entry only keeps its path read-only, wherever it may be shown. */
static bool only_kept(const struct plan_shown *s)
{
    return s->kept && !s->read && !s->write && !s->exec && !s->map;
}

static void plan_add_step(struct plan_builder *m, const struct plan_step *step)
{
    if (m->n_steps == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct plan_step *more = ARENA_NEW(m->arena, struct plan_step, cap);
        if (m->n_steps)
            memcpy(more, m->steps, m->n_steps * sizeof(*more));
        m->steps = more;
        m->cap = cap;
    }
    m->steps[m->n_steps++] = *step;
}

static void add_binds(struct plan_builder *m)
{
    struct plan_chain chain = {.p = ARENA_NEW(m->arena, size_t, m->n_shown)};
    qsort(m->shown, m->n_shown, sizeof(*m->shown), shown_order);
    plan_merge_shown(m);
    for (size_t i = 0; i < m->n_shown; i++) {
        struct plan_shown *s = &m->shown[i];
        plan_chain_pop(&chain, m, s->path);
        bool inside = chain.n > 0;
        unsigned outer = inside ? m->shown[chain.p[chain.n - 1]].access : 0;
        if (only_kept(s) && !(outer & PLAN_WRITE))
            continue;
        s->access = plan_access_of(s, outer);
        chain.p[chain.n++] = i;
        if (inside && s->access == outer && !s->overlay && !s->source.p)
            continue;
        plan_add_step(m, &(struct plan_step){
                             .kind = s->overlay ? PLAN_OVERLAY : PLAN_BIND,
                             .at = s->path,
                             .text = s->source.p ? s->source : s->path,
                             .dev = s->dev,
                             .ino = s->ino,
                             .access = s->access | (s->is_dir ? PLAN_IS_DIR : 0u),
                             .may_vanish = s->as_found,
                             .kept = s->kept,
                             .overlay = s->overlay,
                         });
    }
}

/* The nearest bound directory that contains a path, or NULL. */
static const struct plan_step *plan_find_bound(const struct plan_builder *m, struct str path)
{
    const struct plan_step *best = NULL;
    for (size_t i = 0; i < m->n_steps; i++) {
        const struct plan_step *s = &m->steps[i];
        if ((s->kind == PLAN_BIND || s->kind == PLAN_OVERLAY) && (!best || s->at.n > best->at.n) &&
            lexical_is_below(s->at, path))
            best = s;
    }
    return best;
}

/* Other steps --------------------------------------------------------------------------------- */

/* Follows a symlink of the baseline in the path: /bin/sh is /usr/bin/sh. */
static struct str past_links(const struct plan_builder *m, struct str path)
{
    const struct baseline *base = m->input->baseline;
    for (size_t i = 0; i < base->n_links; i++) {
        const struct baseline_link *link = &base->links[i];
        struct str dir = str_head(link->path, (size_t)str_find_last(link->path, '/') + 1);
        if (lexical_is_below(link->path, path))
            return lexical_absolute(m->arena, lexical_absolute(m->arena, dir, link->target),
                lexical_rest(link->path, path));
    }
    return path;
}

/* A path in the policy that is a symlink to another path: it is a symlink inside as well. Only the
 * whole path can be one; symlinks on the way are those of the baseline. */
static void add_alias(struct plan_builder *m, const struct verdict_path *path)
{
    if (!path->given.p || lexical_has_dots(path->given))
        return;
    struct str given = past_links(m, lexical_absolute(m->arena, STR("/"), path->given));
    if (str_eq(given, path->resolved) || plan_find_bound(m, given))
        return;
    for (size_t i = 0; i < m->n_steps; i++)
        if (str_eq(m->steps[i].at, given))
            return;
    plan_add_step(m, &(struct plan_step){.kind = PLAN_LINK, .at = given, .text = path->resolved});
}

static void add_aliases(struct plan_builder *m)
{
    const struct verdict *v = m->input->verdict;
    const struct verdict_paths *const lists[] = {&v->read, &v->write, &v->exec};
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            add_alias(m, &lists[k]->p[i]);
    add_alias(m, &v->command);
    add_alias(m, &v->cwd);
}

static void add_system(struct plan_builder *m)
{
    const struct baseline *base = m->input->baseline;
    for (size_t i = 0; i < base->n_links; i++)
        if (!plan_find_bound(m, base->links[i].path))
            plan_add_step(m,
                &(struct plan_step){
                    .kind = PLAN_LINK, .at = base->links[i].path, .text = base->links[i].target});
    plan_add_step(m, &(struct plan_step){.kind = PLAN_DIR, .at = STR("/"), .access = PLAN_LIST});
    plan_add_step(m, &(struct plan_step){.kind = PLAN_DIR, .at = STR("/etc"), .access = PLAN_READ});
    for (size_t i = 0; i < base->n_files; i++)
        if (!plan_find_bound(m, base->files[i].path))
            plan_add_step(m, &(struct plan_step){.kind = PLAN_FILE,
                                 .at = base->files[i].path,
                                 .text = base->files[i].bytes,
                                 .mode = 0644});
    for (size_t i = 0; i < base->n_loaders; i++) {
        const struct baseline_loader *loader = &base->loaders[i];
        const struct plan_step *holder = plan_find_bound(m, loader->path);
        if (!holder || !(holder->access & PLAN_EXEC))
            plan_add_step(m, &(struct plan_step){.kind = PLAN_LOADER,
                                 .at = loader->path,
                                 .text = loader->path,
                                 .dev = loader->dev,
                                 .ino = loader->ino,
                                 .patch = &loader->patch,
                                 .access = PLAN_READ | PLAN_EXEC,
                                 .mode = 0755});
    }
}

/* How one of the first n steps uses a place. */
enum plan_use {
    PLAN_UNUSED,
    PLAN_SHOWN,   /* there, or by a directory around it */
    PLAN_ENTERED, /* below it */
};

static enum plan_use use_of(const struct plan_builder *m, struct str at, size_t n)
{
    enum plan_use use = PLAN_UNUSED;
    for (size_t i = 0; i < n; i++) {
        const struct plan_step *s = &m->steps[i];
        if (s->kind != PLAN_BIND && s->kind != PLAN_OVERLAY) {
            if (s->kind != PLAN_DIR && str_eq(s->at, at))
                return PLAN_SHOWN;
            continue;
        }
        if (lexical_is_below(s->at, at))
            return PLAN_SHOWN;
        if (lexical_is_below(at, s->at))
            use = PLAN_ENTERED;
    }
    return use;
}

/* A hidden directory with something in it that the policy shows can't be omitted: then there is no
 * layered directory. */
static bool can_layer(const struct plan_builder *m)
{
    for (size_t i = 0; i < m->input->n_system; i++)
        if (m->input->system[i].kind == PLAN_OMIT &&
            use_of(m, m->input->system[i].at, m->n_steps) == PLAN_ENTERED)
            return false;
    return true;
}

static void add_more(struct plan_builder *m)
{
    const size_t n = m->n_steps;
    const bool layers = can_layer(m);
    for (size_t i = 0; i < m->input->n_system; i++) {
        const struct plan_step *step = &m->input->system[i];
        bool is_layer = step->kind == PLAN_LAYERED || step->kind == PLAN_OMIT;
        if (use_of(m, step->at, n) != PLAN_SHOWN && (layers || !is_layer))
            plan_add_step(m, step);
    }
}

static void add_devices(struct plan_builder *m)
{
    static const char *const devices[] = {
        "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"};
    static const struct {
        const char *at, *target;
    } links[] = {
        {"/dev/fd", "/proc/self/fd"},
        {"/dev/ptmx", "pts/ptmx"},
        {"/dev/stderr", "/proc/self/fd/2"},
        {"/dev/stdin", "/proc/self/fd/0"},
        {"/dev/stdout", "/proc/self/fd/1"},
    };
    plan_add_step(
        m, &(struct plan_step){
               .kind = PLAN_DIR, .at = STR("/dev"), .access = PLAN_READ | PLAN_WRITE | PLAN_IOCTL});
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        plan_add_step(
            m, &(struct plan_step){
                   .kind = PLAN_DEVICE, .at = str_z(devices[i]), .text = str_z(devices[i])});
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        plan_add_step(
            m, &(struct plan_step){
                   .kind = PLAN_LINK, .at = str_z(links[i].at), .text = str_z(links[i].target)});
    plan_add_step(m, &(struct plan_step){.kind = PLAN_DEVPTS, .at = STR("/dev/pts")});
}

/* Pins the directories between a writable root and a mount in it: if one were moved away, another
 * could be in its place the next time the policy is used. */
static void add_pins(struct plan_builder *m)
{
    size_t n = m->n_steps;
    for (size_t i = 0; i < n; i++) {
        struct str at = m->steps[i].at;
        enum plan_kind kind = m->steps[i].kind;
        if (kind != PLAN_BIND && kind != PLAN_OVERLAY && kind != PLAN_COVER)
            continue;
        for (;;) {
            at = str_head(at, (size_t)str_find_last(at, '/'));
            const struct plan_step *holder = at.n ? plan_find_bound(m, at) : NULL;
            if (!holder || !(holder->access & PLAN_WRITE) || str_eq(holder->at, at))
                break;
            plan_add_step(m, &(struct plan_step){.kind = PLAN_PIN,
                                 .at = arena_str(m->arena, at),
                                 .may_vanish = holder->overlay != NULL});
        }
    }
}

/* In sorted order, pins for the same place are adjacent: one of them is enough. */
static void drop_same_pins(struct plan_builder *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_steps; i++) {
        const struct plan_step *s = &m->steps[i];
        bool again = n && s->kind == PLAN_PIN && m->steps[n - 1].kind == PLAN_PIN &&
                     str_eq(m->steps[n - 1].at, s->at);
        if (!again)
            m->steps[n++] = *s;
    }
    m->n_steps = n;
}

/* Parts of /proc that show the whole machine: names of keys to all users, and to root, even without
 * capabilities, files that only root may read. */
static void add_masks(struct plan_builder *m)
{
    static const struct {
        const char *path;
        bool root, is_dir;
    } masks[] = {
        {"/proc/key-users", false, false},
        {"/proc/keys", false, false},
        {"/proc/kcore", true, false},
        {"/proc/kmsg", true, false},
        {"/proc/kpagecgroup", true, false},
        {"/proc/kpagecount", true, false},
        {"/proc/kpageflags", true, false},
        {"/proc/pagetypeinfo", true, false},
        {"/proc/slabinfo", true, false},
        {"/proc/sys/kernel/apparmor_display_secid_mode", true, false},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_io_uring", true, false},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined", true, false},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns_complain", true, false},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns_force", true, false},
        {"/proc/sys/kernel/cad_pid", true, false},
        {"/proc/sys/kernel/unprivileged_userns_apparmor_policy", true, false},
        {"/proc/sys/kernel/usermodehelper", true, true},
        {"/proc/sys/net/core/bpf_jit_harden", true, false},
        {"/proc/sys/net/core/bpf_jit_kallsyms", true, false},
        {"/proc/sys/net/core/bpf_jit_limit", true, false},
        {"/proc/sys/net/ipv4/tcp_fastopen_key", true, false},
        {"/proc/sys/net/ipv6/conf", true, true}, /* stable_secret of each interface */
        {"/proc/sys/vm/mmap_rnd_bits", true, false},
        {"/proc/sys/vm/mmap_rnd_compat_bits", true, false},
        {"/proc/sys/vm/stat_refresh", true, false},
        {"/proc/sysrq-trigger", true, false},
        {"/proc/timer_list", true, false},
        {"/proc/vmallocinfo", true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(masks); i++)
        if (m->input->root || !masks[i].root)
            plan_add_step(m, &(struct plan_step){.kind = PLAN_MASK,
                                 .at = str_z(masks[i].path),
                                 .access = masks[i].is_dir ? PLAN_IS_DIR : 0u});
}

/* The step that shows a path of the host; a bind at another place does not show it. */
static const struct plan_step *plan_find_shower(const struct plan_builder *m, struct str path)
{
    const struct plan_step *holder = plan_find_bound(m, path);
    bool elsewhere = holder && holder->kind == PLAN_BIND && !str_eq(holder->at, holder->text);
    return elsewhere ? NULL : holder;
}

/* Whether another cover already hides it: no other can be mounted below that. */
static bool is_covered(const struct plan_builder *m, size_t which)
{
    const struct plan_hidden *all = m->hidden;
    for (size_t i = 0; i < m->n_hidden; i++) {
        bool same = str_eq(all[i].path, all[which].path);
        if (same ? i < which
                 : lexical_is_below(all[i].path, all[which].path) &&
                       plan_find_shower(m, all[i].path))
            return true;
    }
    return false;
}

static void add_covers(struct plan_builder *m)
{
    for (size_t i = 0; i < m->n_hidden; i++) {
        const struct plan_hidden *hidden = &m->hidden[i];
        const struct plan_step *holder = plan_find_shower(m, hidden->path);
        if (holder && !is_covered(m, i))
            plan_add_step(m, &(struct plan_step){.kind = PLAN_COVER,
                                 .at = hidden->path,
                                 .access = hidden->is_dir ? PLAN_IS_DIR : 0u,
                                 .may_vanish = holder->overlay != NULL});
    }
}

static bool runs_what_it_writes(const struct plan_builder *m)
{
    for (size_t i = 0; i < m->n_steps; i++)
        if ((m->steps[i].access & PLAN_IS_DIR) && (m->steps[i].access & PLAN_WRITE) &&
            (m->steps[i].access & PLAN_EXEC))
            return true;
    return false;
}

/* A private directory with half of the size of /tmp. */
static void plan_add_part(struct plan_builder *m, const char *at, unsigned access, mode_t mode)
{
    uint64_t size = m->input->verdict->policy->limits.tmp_bytes;
    plan_add_step(m, &(struct plan_step){.kind = PLAN_TMPFS,
                         .at = str_z(at),
                         .access = access,
                         .size = MAX(size / TMP_PARTS, (uint64_t)TMP_LEAST),
                         .mode = mode});
}

static bool writes_only_own(const struct plan_builder *m)
{
    for (size_t i = 0; i < m->n_steps; i++) {
        const struct plan_step *s = &m->steps[i];
        if (s->kind == PLAN_BIND && (s->access & PLAN_WRITE) && str_eq(s->at, s->text))
            return false;
    }
    return true;
}

static void add_private(struct plan_builder *m)
{
    uint64_t size = m->input->verdict->policy->limits.tmp_bytes;
    unsigned access = PLAN_READ | PLAN_WRITE | (m->developer ? PLAN_EXEC : 0u);
    if (!plan_find_bound(m, STR("/tmp")))
        plan_add_step(m, &(struct plan_step){.kind = PLAN_TMPFS,
                             .at = STR("/tmp"),
                             .access = access,
                             .size = size,
                             .mode = 01777});
    if (m->input->home.n && !plan_find_bound(m, m->input->home))
        plan_add_step(m, &(struct plan_step){.kind = PLAN_TMPFS,
                             .at = m->input->home,
                             .access = access,
                             .size = size,
                             .mode = 0700});
    if (m->input->developer && !plan_find_bound(m, STR("/var/tmp")))
        plan_add_part(m, "/var/tmp", access, 01777);
    if (m->input->runtime.n && !plan_find_bound(m, m->input->runtime))
        plan_add_part(m, m->input->runtime.p, PLAN_READ | PLAN_WRITE, 0700);
    plan_add_part(m, "/dev/shm", access, 01777);
    plan_add_step(
        m, &(struct plan_step){.kind = PLAN_PROC, .at = STR("/proc"), .access = PLAN_READ});
}

/* Names of Unix sockets are files: one of the host could be in any shown directory. With the host's
 * network its abstract names are reachable as well. */
static struct plan_sockets sockets_of(const struct policy *p, bool developer)
{
    return (struct plan_sockets){
        .own = developer && !p->allow_unix_sockets,
        .inet = p->sandbox != POLICY_LANDLOCK || p->network == POLICY_NETWORK_ENABLED,
        .unix_domain = p->allow_unix_sockets,
    };
}

/* A copy, since process 1 wipes its arguments. */
static struct str name_of_command(const struct verdict_path *command, struct arena *arena)
{
    bool other = command->given.p && !str_eq(command->given, command->resolved);
    return other ? arena_str(arena, command->given) : (struct str){0};
}

void plan_make(const struct plan_input *input, struct arena *arena, struct plan *ret_plan)
{
    const struct verdict *v = input->verdict;
    const struct baseline *base = input->baseline;
    struct plan_builder m = {.input = input, .arena = arena};
    m.shown = ARENA_NEW(arena, struct plan_shown,
        base->n_dirs + v->read.n + v->write.n + v->exec.n + input->n_overlays + input->n_binds +
            input->n_kept + 1);
    for (size_t i = 0; i < base->n_dirs; i++)
        plan_show(&m, &(struct plan_shown){.path = base->dirs[i].path,
                          .dev = base->dirs[i].dev,
                          .ino = base->dirs[i].ino,
                          .is_dir = true,
                          .read = true,
                          .map = base->dirs[i].libraries});
    show_paths(&m, &v->read, (struct plan_shown){.read = true});
    show_paths(&m, &v->write, (struct plan_shown){.write = true});
    show_paths(&m, &v->exec, (struct plan_shown){.exec = true});
    if (v->command.given.p) /* possibly by another name than in the list */
        plan_show(&m, &(struct plan_shown){.path = v->command.resolved,
                          .dev = v->command.dev,
                          .ino = v->command.ino,
                          .exec = true});
    drop_in_places(&m);
    show_overlays(&m);
    show_binds(&m);
    show_kept(&m);
    collect_hidden(&m);
    add_binds(&m);
    m.developer = input->developer && runs_what_it_writes(&m);
    add_system(&m);
    add_aliases(&m);
    add_more(&m);
    add_devices(&m);
    add_private(&m);
    add_covers(&m);
    add_pins(&m);
    add_masks(&m);
    qsort(m.steps, m.n_steps, sizeof(*m.steps), step_order);
    drop_same_pins(&m);
    *ret_plan = (struct plan){
        .mode = v->policy->sandbox,
        .steps = m.steps,
        .n_steps = m.n_steps,
        .own_network = v->policy->network == POLICY_NETWORK_DISABLED,
        .hosts = v->policy->allowed_hosts,
        .own_tmp = !plan_find_bound(&m, STR("/tmp")),
        .developer = m.developer,
        .own_writes = writes_only_own(&m),
        .sockets = sockets_of(v->policy, input->developer),
        .limits = v->policy->limits,
        .limits_inexact = v->policy->limits_inexact_ack,
        .command = v->command.resolved,
        .command_name = name_of_command(&v->command, arena),
        .cwd = v->cwd.given.p ? v->cwd.resolved : STR("/tmp"),
    };
}

/* As JSON ------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [PLAN_DIR] = "dir",
    [PLAN_LAYERED] = "layered",
    [PLAN_OMIT] = "omit",
    [PLAN_FILE] = "file",
    [PLAN_LINK] = "link",
    [PLAN_BIND] = "bind",
    [PLAN_OVERLAY] = "overlay",
    [PLAN_LOADER] = "loader",
    [PLAN_DEVICE] = "device",
    [PLAN_TMPFS] = "tmpfs",
    [PLAN_DEVPTS] = "devpts",
    [PLAN_PROC] = "proc",
    [PLAN_PIN] = "pin",
    [PLAN_MASK] = "mask",
    [PLAN_COVER] = "cover",
};

static json_t *access_json(unsigned access)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {PLAN_READ, "read"}, {PLAN_WRITE, "write"}, {PLAN_EXEC, "exec"}, {PLAN_MAP, "map"}};
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (access & names[i].bit)
            json_push(list, json_string(names[i].name));
    return list;
}

static json_t *step_json(const struct plan_step *s)
{
    json_t *object = json_object();
    json_put(object, "kind", json_string(kind_names[s->kind]));
    exact_put(object, "at", s->at);
    if (s->kind == PLAN_LINK)
        exact_put(object, "target", s->text);
    if (s->kind == PLAN_BIND || s->kind == PLAN_OVERLAY || s->kind == PLAN_TMPFS)
        json_put(object, "access", access_json(s->access));
    if (s->kind == PLAN_TMPFS)
        json_put(object, "bytes", json_integer((json_int_t)s->size));
    if (s->kind == PLAN_OVERLAY) {
        exact_put(object, "lower", s->overlay->lower.path);
        exact_put(object, "upper", s->overlay->upper.path);
    }
    return object;
}

json_t *plan_json(const struct plan *plan)
{
    json_t *object = json_object(), *steps = json_array();
    for (size_t i = 0; i < plan->n_steps; i++)
        json_push(steps, step_json(&plan->steps[i]));
    json_put(object, "mode", json_string(policy_sandbox_name(plan->mode)));
    json_put(object, "steps", steps);
    json_put(object, "own_network", json_boolean(plan->own_network));
    json_put(object, "unix_sockets", json_boolean(plan->sockets.unix_domain));
    json_put(object, "own_sockets", json_boolean(plan->sockets.own));
    exact_put(object, "command", plan->command);
    exact_put(object, "cwd", plan->cwd);
    return object;
}
