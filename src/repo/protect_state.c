/* The state of a session's repositories as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/protect_state.h"

#include "path/lexical.h"
#include "repo/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>

enum {
    FIELDS_MAX = 8,
    FLAG_INFO_LINK = 1,
    FLAG_DORMANT = 2,
    FLAG_SETTINGS = 1, /* of a name */
    FLAG_WORD = 2,
    TEXT_STEPS = KNOWN_TEXTS, /* index of the first of these T records */
};

static const struct str heading = {"cordon repositories 2", 21};

/* The letters, and the number of fields that follow. */
static const struct record_kind {
    char letter;
    size_t fields;
    bool sized; /* the last field is preceded by its length, and may have any bytes */
} kinds[] = {
    {'R', 4, false}, /* root: path, inode, birth time in s and ns */
    {'M', 1, false}, /* mount in it: path */
    {'K', 7, false}, /* place: kind, path, on the root's device, inode, type and target of a link,
                        flags */
    {'G', 4, false}, /* git and common directory of that place: each on the root's device, inode */
    {'P', 3, false}, /* part of the previous place: index, type, target */
    {'T', 6, true}, /* text of the previous place: index, inode, size, time of change in s and ns */
    {'N', 3, false}, /* named by settings: path, type, flags */
    {'L', 2, false}, /* index entry: repository, path */
    {'W', 3, false}, /* symlink on the path: path, type, target */
    {'V', 2, false}, /* work tree: git directory, path */
    {'C', 8, true},  /* part that no mount keeps: path, mode, all bytes are here, inode, size, time
                        of change in s and ns */
    {'O', 3, false}, /* owner of the previous part: user, group; not all names are remembered */
};

/* Directories ------------------------------------------------------------------------------------
 */

/* On overlayfs the birth time changes when a directory is copied up. */
static struct protect_state_id protect_state_read_id(int fd)
{
    struct statx st = {0};
    struct statfs fs;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0)
        return (struct protect_state_id){0};
    bool born =
        (st.stx_mask & STATX_BTIME) && fstatfs(fd, &fs) == 0 && fs.f_type != OVERLAYFS_SUPER_MAGIC;
    return (struct protect_state_id){
        st.stx_ino, born ? st.stx_btime.tv_sec : 0, born ? st.stx_btime.tv_nsec : 0};
}

bool protect_state_id_matches(int fd, const struct protect_state_id *id, bool moved)
{
    struct protect_state_id now = protect_state_read_id(fd);
    bool born = now.born_s && id->born_s;
    return now.ino == id->ino && (born || !moved) &&
           (!born || (now.born_s == id->born_s && now.born_ns == id->born_ns));
}

/* Writing ---------------------------------------------------------------------------------------
 */

static void protect_state_put_field(struct buf *b, struct str field)
{
    buf_add_str(b, field);
    buf_add_byte(b, '\0');
}

static void protect_state_put_letter(struct buf *b, char letter)
{
    buf_add_byte(b, letter);
    buf_add_byte(b, '\0');
}

static void protect_state_put_number(struct buf *b, uint64_t number)
{
    buf_printf(b, "%llu", (unsigned long long)number);
    buf_add_byte(b, '\0');
}

static void protect_state_put_bytes(struct buf *b, const struct known_text *t)
{
    protect_state_put_number(b, t->ino);
    protect_state_put_number(b, (uint64_t)t->size);
    protect_state_put_number(b, (uint64_t)t->changed.tv_sec);
    protect_state_put_number(b, (uint64_t)t->changed.tv_nsec);
    protect_state_put_number(b, t->text.n);
    protect_state_put_field(b, t->text);
}

static void protect_state_put_text(struct buf *b, size_t index, const struct known_text *t)
{
    if (!t->ino)
        return;
    protect_state_put_letter(b, 'T');
    protect_state_put_number(b, index);
    protect_state_put_bytes(b, t);
}

static void protect_state_put_watched(struct buf *b, const struct protect *p, size_t root)
{
    for (size_t i = 0; p->watch && i < p->watch->n; i++) {
        const struct watched *w = &p->watch->p[i];
        if (w->root != root)
            continue;
        protect_state_put_letter(b, 'C');
        protect_state_put_field(b, w->path);
        protect_state_put_number(b, w->mode);
        protect_state_put_number(b, w->whole);
        protect_state_put_bytes(b, &w->then);
        protect_state_put_letter(b, 'O');
        protect_state_put_number(b, w->uid);
        protect_state_put_number(b, w->gid);
        protect_state_put_number(b, w->partial);
    }
}

static void protect_state_put_place(struct buf *b, const struct known_place *k, dev_t device)
{
    protect_state_put_letter(b, 'K');
    protect_state_put_number(b, k->kind);
    protect_state_put_field(b, k->path);
    protect_state_put_number(b, k->dev == device);
    protect_state_put_number(b, k->ino);
    protect_state_put_number(b, k->self.type);
    protect_state_put_field(b, k->self.target);
    protect_state_put_number(
        b, (k->info_link ? FLAG_INFO_LINK : 0) | (k->dormant ? FLAG_DORMANT : 0));
    if (k->lead.known) {
        protect_state_put_letter(b, 'G');
        protect_state_put_number(b, k->lead.dev == device);
        protect_state_put_number(b, k->lead.ino);
        protect_state_put_number(b, k->lead.common_dev == device);
        protect_state_put_number(b, k->lead.common_ino);
    }
    for (size_t i = 0; i < PARTS_MAX; i++) {
        if (!k->parts[i].type)
            continue;
        protect_state_put_letter(b, 'P');
        protect_state_put_number(b, i);
        protect_state_put_number(b, k->parts[i].type);
        protect_state_put_field(b, k->parts[i].target);
    }
    for (size_t i = 0; i < KNOWN_TEXTS; i++)
        protect_state_put_text(b, i, &k->texts[i]);
    for (size_t i = 0; i < REBASE_FILES; i++)
        protect_state_put_text(b, TEXT_STEPS + i, &k->steps[i]);
}

static void protect_state_put_others(struct buf *b, const struct protect_root *r)
{
    for (size_t i = 0; i < r->n_named; i++) {
        protect_state_put_letter(b, 'N');
        protect_state_put_field(b, r->named[i].path);
        protect_state_put_number(b, r->named[i].type);
        protect_state_put_number(
            b, (r->named[i].settings ? FLAG_SETTINGS : 0) | (r->named[i].word ? FLAG_WORD : 0));
    }
    for (size_t i = 0; i < r->n_links; i++) {
        protect_state_put_letter(b, 'L');
        protect_state_put_field(b, r->links[i].repository);
        protect_state_put_field(b, r->links[i].path);
    }
    for (size_t i = 0; i < r->n_ways; i++) {
        protect_state_put_letter(b, 'W');
        protect_state_put_field(b, r->ways[i].path);
        protect_state_put_number(b, r->ways[i].then.type);
        protect_state_put_field(b, r->ways[i].then.target);
    }
    for (size_t i = 0; i < r->n_trees; i++) {
        protect_state_put_letter(b, 'V');
        protect_state_put_field(b, r->trees[i].git);
        protect_state_put_field(b, r->trees[i].path);
    }
}

static bool protect_state_put_root(struct buf *b, const struct protect_root *r)
{
    struct stat st;
    struct protect_state_id id = protect_state_read_id(r->fd);
    if (fstat(r->fd, &st) != 0)
        return false;
    protect_state_put_letter(b, 'R');
    protect_state_put_field(b, r->path);
    protect_state_put_number(b, id.ino);
    protect_state_put_number(b, (uint64_t)id.born_s);
    protect_state_put_number(b, id.born_ns);
    for (size_t i = 0; i < r->scan.n_mounts; i++) {
        protect_state_put_letter(b, 'M');
        protect_state_put_field(b, r->scan.mounts[i].path);
    }
    for (size_t i = 0; i < r->n_known; i++)
        protect_state_put_place(b, &r->known[i], st.st_dev);
    protect_state_put_others(b, r);
    return true;
}

bool protect_state_write(const struct protect *p, struct buf *text)
{
    bool ok = true;
    protect_state_put_field(text, heading);
    for (size_t i = 0; ok && i < p->n_roots; i++) {
        ok = protect_state_put_root(text, &p->roots[i]);
        protect_state_put_watched(text, p, i);
    }
    return ok && !text->overflow;
}

/* Reading ---------------------------------------------------------------------------------------
 */

struct protect_state_reader {
    struct protect *old;       /* the interrupted session */
    const struct protect *now; /* the session that checks it */
    struct protect_root *root;
    struct str was; /* the root's path at that time */
    dev_t device;   /* the root's device now */
    struct str rest;
    bool bad;
};

static struct str protect_state_next_bytes(struct protect_state_reader *x, size_t n)
{
    x->bad |= n >= x->rest.n || x->rest.p[n] != '\0';
    if (x->bad)
        return STR("");
    struct str field = str_head(x->rest, n);
    x->rest = str_skip(x->rest, n + 1);
    return field;
}

static struct str protect_state_next_field(struct protect_state_reader *x)
{
    const char *end = x->rest.n ? memchr(x->rest.p, '\0', x->rest.n) : NULL;
    x->bad |= !end;
    return end ? protect_state_next_bytes(x, (size_t)(end - x->rest.p)) : STR("");
}

static uint64_t protect_state_parse_number(struct protect_state_reader *x, struct str field)
{
    uint64_t value = 0;
    for (size_t i = 0; i < field.n; i++) {
        x->bad |= field.p[i] < '0' || field.p[i] > '9' || value > UINT64_MAX / 10 - 10;
        value = value * 10 + (uint64_t)(field.p[i] - '0');
    }
    x->bad |= field.n == 0;
    return x->bad ? 0 : value;
}

/* Reads the next record; NULL: none is complete. */
static const struct record_kind *protect_state_next_record(
    struct protect_state_reader *x, struct str fields[FIELDS_MAX])
{
    struct str letter = protect_state_next_field(x);
    const struct record_kind *kind = NULL;
    for (size_t i = 0; letter.n == 1 && i < ARRAY_LEN(kinds); i++)
        if (kinds[i].letter == letter.p[0])
            kind = &kinds[i];
    x->bad |= !kind;
    for (size_t i = 0; kind && i < kind->fields; i++)
        fields[i] = kind->sized && i + 1 == kind->fields
                        ? protect_state_next_bytes(
                              x, (size_t)protect_state_parse_number(x, protect_state_next_field(x)))
                        : protect_state_next_field(x);
    return x->bad ? NULL : kind;
}

static struct known_name protect_state_parse_name(
    struct protect_state_reader *x, struct str type, struct str target)
{
    return (struct known_name){
        (mode_t)protect_state_parse_number(x, type) & S_IFMT, arena_str(&x->old->arena, target)};
}

/* Opens the same directory, at its path or where one of the new roots is now; -1: it is gone. */
static int protect_state_open_root(
    const struct protect *now, const struct protect_state_root *root, struct str *ret_path)
{
    AUTO_FD int fd = open(root->path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *ret_path = root->path;
    if (fd >= 0 && protect_state_id_matches(fd, &root->id, false))
        return TAKE_FD(fd);
    for (size_t i = 0; i < now->n_roots; i++) {
        *ret_path = now->roots[i].path;
        if (protect_state_id_matches(now->roots[i].fd, &root->id, true))
            return openat(now->roots[i].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return -1;
}

static struct protect_state_root protect_state_parse_root(
    struct protect_state_reader *x, const struct str *f)
{
    return (struct protect_state_root){
        f[0], {protect_state_parse_number(x, f[1]), (int64_t)protect_state_parse_number(x, f[2]),
                  protect_state_parse_number(x, f[3])}};
}

static void protect_state_read_root(struct protect_state_reader *x, const struct str *f)
{
    struct stat st;
    struct str path;
    struct protect_state_root root = protect_state_parse_root(x, f);
    x->root = NULL;
    if (x->bad || x->old->n_roots == PROTECT_ROOTS_MAX)
        return;
    AUTO_FD int fd = protect_state_open_root(x->now, &root, &path);
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    x->was = root.path;
    x->device = st.st_dev;
    x->root = &x->old->roots[x->old->n_roots++];
    known_open_root(x->old, x->root, TAKE_FD(fd), path);
    known_make_room(x->old, x->root, SCAN_PLACES_MAX);
    scan_freeze_mounts(&x->root->scan);
}

static void protect_state_read_place(struct protect_state_reader *x, const struct str *f)
{
    struct protect_root *r = x->root;
    uint64_t kind = protect_state_parse_number(x, f[0]),
             flags = protect_state_parse_number(x, f[6]);
    x->bad |= kind > SCAN_PIJUL || r->n_known == SCAN_PLACES_MAX;
    if (x->bad)
        return;
    r->known[r->n_known++] = (struct known_place){.kind = (enum scan_kind)kind,
        .path = arena_str(&x->old->arena, f[1]),
        .dev = protect_state_parse_number(x, f[2]) ? x->device : KNOWN_ANY_DEVICE,
        .ino = protect_state_parse_number(x, f[3]),
        .self = protect_state_parse_name(x, f[4], f[5]),
        .info_link = flags & FLAG_INFO_LINK,
        .dormant = flags & FLAG_DORMANT};
}

static void protect_state_read_lead(struct protect_state_reader *x, const struct str *f)
{
    x->bad |= x->root->n_known == 0;
    if (!x->bad)
        x->root->known[x->root->n_known - 1].lead = (struct known_lead){.known = true,
            .dev = protect_state_parse_number(x, f[0]) ? x->device : KNOWN_ANY_DEVICE,
            .ino = protect_state_parse_number(x, f[1]),
            .common_dev = protect_state_parse_number(x, f[2]) ? x->device : KNOWN_ANY_DEVICE,
            .common_ino = protect_state_parse_number(x, f[3])};
}

static void protect_state_read_part(struct protect_state_reader *x, const struct str *f)
{
    uint64_t at = protect_state_parse_number(x, f[0]);
    x->bad |= at >= PARTS_MAX || x->root->n_known == 0;
    if (!x->bad)
        x->root->known[x->root->n_known - 1].parts[at] = protect_state_parse_name(x, f[1], f[2]);
}

static struct known_text protect_state_parse_text(
    struct protect_state_reader *x, const struct str *f)
{
    return (struct known_text){
        .ino = protect_state_parse_number(x, f[0]),
        .size = (off_t)protect_state_parse_number(x, f[1]),
        .changed = {(time_t)protect_state_parse_number(x, f[2]),
            (long)protect_state_parse_number(x, f[3])},
        .text = arena_str(&x->old->arena, f[4]),
    };
}

static void protect_state_read_watched(struct protect_state_reader *x, const struct str *f)
{
    const struct watched w = {
        .root = x->old->n_roots - 1,
        .path = arena_str(&x->old->arena, f[0]),
        .mode = (mode_t)protect_state_parse_number(x, f[1]),
        .uid = geteuid(),
        .gid = getegid(),
        .whole = protect_state_parse_number(x, f[2]) != 0,
        .then = protect_state_parse_text(x, f + 3),
    };
    x->bad = x->bad || !watch_restore_entry(x->old, &w);
}

static void protect_state_read_owner(struct protect_state_reader *x, const struct str *f)
{
    struct watched *w = watch_last(x->old);
    x->bad |= !w;
    if (!w)
        return;
    w->uid = (uid_t)protect_state_parse_number(x, f[0]);
    w->gid = (gid_t)protect_state_parse_number(x, f[1]);
    w->partial = protect_state_parse_number(x, f[2]) != 0;
}

static void protect_state_read_known_text(struct protect_state_reader *x, const struct str *f)
{
    uint64_t at = protect_state_parse_number(x, f[0]);
    const struct known_text text = protect_state_parse_text(x, f + 1);
    x->bad |= at >= TEXT_STEPS + REBASE_FILES || x->root->n_known == 0;
    if (x->bad)
        return;
    struct known_place *k = &x->root->known[x->root->n_known - 1];
    if (at >= TEXT_STEPS)
        k->steps[at - TEXT_STEPS] = text;
    else
        k->texts[at] = text;
}

/* Translates a path below the root to the root's present path. */
static struct str protect_state_moved_path(struct protect_state_reader *x, struct str path)
{
    struct arena *a = &x->old->arena;
    if (lexical_is_below(x->was, path))
        return lexical_absolute(a, x->root->path, lexical_rest(x->was, arena_str(a, path)));
    return arena_str(a, path);
}

static void protect_state_read_other(
    struct protect_state_reader *x, char letter, const struct str *f)
{
    struct protect_root *r = x->root;
    struct arena *a = &x->old->arena;
    if (letter == 'M')
        scan_add_mount(&r->scan, f[0]);
    else if (letter == 'N' && r->n_named < KNOWN_NAMED_MAX)
        r->named[r->n_named++] = (struct known_named){.path = protect_state_moved_path(x, f[0]),
            .type = (mode_t)protect_state_parse_number(x, f[1]),
            .settings = protect_state_parse_number(x, f[2]) & FLAG_SETTINGS,
            .word = protect_state_parse_number(x, f[2]) & FLAG_WORD};
    else if (letter == 'L' && r->n_links < KNOWN_LINKS_MAX)
        r->links[r->n_links++] = (struct known_gitlink){arena_str(a, f[0]), arena_str(a, f[1])};
    else if (letter == 'W' && r->n_ways < KNOWN_WAYS_MAX)
        r->ways[r->n_ways++] =
            (struct known_way){arena_str(a, f[0]), protect_state_parse_name(x, f[1], f[2])};
    else if (letter == 'V' && r->n_trees < KNOWN_TREES_MAX)
        r->trees[r->n_trees++] =
            (struct known_tree){arena_str(a, f[0]), protect_state_moved_path(x, f[1])};
}

static void protect_state_read_record(struct protect_state_reader *x)
{
    struct str fields[FIELDS_MAX];
    const struct record_kind *kind = protect_state_next_record(x, fields);
    if (!kind)
        return;
    if (kind->letter == 'R')
        protect_state_read_root(x, fields);
    else if (!x->root)
        return; /* of a root that is gone */
    else if (kind->letter == 'K')
        protect_state_read_place(x, fields);
    else if (kind->letter == 'G')
        protect_state_read_lead(x, fields);
    else if (kind->letter == 'P')
        protect_state_read_part(x, fields);
    else if (kind->letter == 'T')
        protect_state_read_known_text(x, fields);
    else if (kind->letter == 'C')
        protect_state_read_watched(x, fields);
    else if (kind->letter == 'O')
        protect_state_read_owner(x, fields);
    else
        protect_state_read_other(x, kind->letter, fields);
}

bool protect_state_read(struct protect *old, const struct protect *now, struct str text)
{
    struct protect_state_reader x = {.old = old, .now = now, .rest = text};
    if (!str_eq(protect_state_next_field(&x), heading))
        return false;
    while (x.rest.n && !x.bad)
        protect_state_read_record(&x);
    return !x.bad;
}

bool protect_state_roots(struct str text, struct protect_state_roots *ret_roots)
{
    struct protect_state_reader x = {.rest = text};
    struct str fields[FIELDS_MAX];
    ret_roots->n = 0;
    if (!str_eq(protect_state_next_field(&x), heading))
        return false;
    while (x.rest.n && !x.bad) {
        const struct record_kind *kind = protect_state_next_record(&x, fields);
        if (!kind || kind->letter != 'R')
            continue;
        x.bad |= ret_roots->n == PROTECT_ROOTS_MAX;
        if (!x.bad)
            ret_roots->p[ret_roots->n++] = protect_state_parse_root(&x, fields);
    }
    return !x.bad && ret_roots->n > 0;
}
