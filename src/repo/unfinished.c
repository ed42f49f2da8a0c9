/* Sessions that were cut off: the file is a list of records. A record is a letter and its fields,
 * each of them ended by NUL, as paths are bytes of any kind but that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/unfinished.h"

#include "base/id.h"
#include "path/file.h"
#include "path/lexical.h"
#include "path/private.h"
#include "repo/known.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>

enum {
    FIELDS_MAX = 8,
    TEMP_SECONDS = 60,
    TRIES = 5,
};

static const struct str heading = {"cordon repositories 1", 21};

/* The letters, and how many fields follow. */
static const struct record_kind {
    char letter;
    size_t fields;
} kinds[] = {
    {'R', 3}, /* root: path, device, inode */
    {'K', 7}, /* place: kind, path, device, inode, type and target of a link, `info` is a link */
    {'P', 3}, /* part of the place before: index, type, target */
    {'N', 3}, /* named by settings: path, type, settings of the user */
    {'L', 2}, /* entry of an index: repository, path */
    {'W', 3}, /* link on the way: path, type, target */
};

/* Writing ---------------------------------------------------------------------------------------
 */

static void put(struct buf *b, struct str field)
{
    buf_add_str(b, field);
    buf_add_byte(b, '\0');
}

static void put_letter(struct buf *b, char letter)
{
    buf_add_byte(b, letter);
    buf_add_byte(b, '\0');
}

static void put_number(struct buf *b, uint64_t number)
{
    buf_printf(b, "%llu", (unsigned long long)number);
    buf_add_byte(b, '\0');
}

static void put_place(struct buf *b, const struct known *k)
{
    put_letter(b, 'K');
    put_number(b, k->kind);
    put(b, k->path);
    put_number(b, k->dev);
    put_number(b, k->ino);
    put_number(b, k->self.type);
    put(b, k->self.target);
    put_number(b, k->info_link);
    for (size_t i = 0; i < PARTS_MAX; i++) {
        if (!k->parts[i].type)
            continue;
        put_letter(b, 'P');
        put_number(b, i);
        put_number(b, k->parts[i].type);
        put(b, k->parts[i].target);
    }
}

static bool put_root(struct buf *b, const struct protect_root *r)
{
    struct stat st;
    if (fstat(r->fd, &st) != 0)
        return false;
    put_letter(b, 'R');
    put(b, r->path);
    put_number(b, st.st_dev);
    put_number(b, st.st_ino);
    for (size_t i = 0; i < r->n_known; i++)
        put_place(b, &r->known[i]);
    for (size_t i = 0; i < r->n_named; i++) {
        put_letter(b, 'N');
        put(b, r->named[i].path);
        put_number(b, r->named[i].type);
        put_number(b, r->named[i].settings);
    }
    for (size_t i = 0; i < r->n_links; i++) {
        put_letter(b, 'L');
        put(b, r->links[i].repository);
        put(b, r->links[i].path);
    }
    for (size_t i = 0; i < r->n_ways; i++) {
        put_letter(b, 'W');
        put(b, r->ways[i].path);
        put_number(b, r->ways[i].then.type);
        put(b, r->ways[i].then.target);
    }
    return true;
}

/* The directory of the files; -1: there is none that only the user can write. */
static int open_dir(const struct protect *p, bool make)
{
    struct stat st;
    if (!p->options.sessions || (make && !private_make(p->options.sessions)))
        return -1;
    AUTO_FD int dir = open(p->options.sessions, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir >= 0 && fstat(dir, &st) == 0 && private_is(&st) ? TAKE_FD(dir) : -1;
}

/* The file has its lock before it has its name, and all of its text. */
static bool write_file(struct protect *p, int dir, struct str text)
{
    char id[ID_SIZE], temp[ID_SIZE + 8];
    id_new(id);
    snprintf(temp, sizeof(temp), ".%s", id);
    AUTO_FD int fd = openat(dir, temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !file_write_all(fd, text) ||
        renameat(dir, temp, dir, id) != 0) {
        unlinkat(dir, temp, 0);
        return false;
    }
    p->session = arena_strdup(&p->arena, str_z(id));
    p->session_fd = TAKE_FD(fd);
    return true;
}

static const char *home_of(const struct protect *p, struct arena *a)
{
    struct str path = str_z(p->options.sessions);
    return arena_strdup(a, str_head(path, (size_t)MAX(str_find_last(path, '/'), (ptrdiff_t)0)));
}

static bool home_is_there(struct protect *p)
{
    struct stat st;
    return lstat(home_of(p, &p->arena), &st) == 0;
}

/* Directories that hold nothing are not left behind. */
static void remove_dirs(struct protect *p)
{
    if (rmdir(p->options.sessions) == 0 && p->made_home)
        rmdir(home_of(p, &p->arena));
}

void unfinished_note(struct protect *p)
{
    AUTO_BUF struct buf text = BUF_INIT(UNFINISHED_BYTES_MAX);
    if (!p->options.sessions || p->n_roots == 0)
        return;
    put(&text, heading);
    bool ok = true;
    for (size_t i = 0; ok && i < p->n_roots; i++)
        ok = put_root(&text, &p->roots[i]);
    p->made_home = ok && !home_is_there(p);
    bool written = false;
    for (int i = 0; ok && !text.overflow && !written && i < TRIES; i++) {
        AUTO_FD int dir =
            open_dir(p, true); /* another session may remove it until we have a file */
        written = dir >= 0 && write_file(p, dir, buf_str(&text));
    }
    p->cut |= !written;
}

void unfinished_end(struct protect *p)
{
    AUTO_FD int dir = p->session && !p->unchecked ? open_dir(p, false) : -1;
    if (dir >= 0 && unlinkat(dir, p->session, 0) == 0)
        remove_dirs(p);
    if (p->session)
        close(TAKE_FD(p->session_fd));
    p->session = NULL;
}

/* Reading ---------------------------------------------------------------------------------------
 */

struct reading {
    struct protect *old; /* the session that was cut off */
    struct protect_root *root;
    struct str rest;
    bool bad;
};

static struct str take(struct reading *x)
{
    struct str field = {0};
    const char *end = x->rest.n ? memchr(x->rest.p, '\0', x->rest.n) : NULL;
    x->bad |= !end;
    if (!end)
        return STR("");
    field = str_n(x->rest.p, (size_t)(end - x->rest.p));
    x->rest = str_skip(x->rest, field.n + 1);
    return field;
}

/* The next record; NULL: there is none that is whole. */
static const struct record_kind *take_record(struct reading *x, struct str fields[FIELDS_MAX])
{
    struct str letter = take(x);
    const struct record_kind *kind = NULL;
    for (size_t i = 0; letter.n == 1 && i < ARRAY_LEN(kinds); i++)
        if (kinds[i].letter == letter.p[0])
            kind = &kinds[i];
    x->bad |= !kind;
    for (size_t i = 0; kind && i < kind->fields; i++)
        fields[i] = take(x);
    return x->bad ? NULL : kind;
}

static uint64_t number_of(struct reading *x, struct str field)
{
    uint64_t value = 0;
    for (size_t i = 0; i < field.n; i++) {
        x->bad |= field.p[i] < '0' || field.p[i] > '9' || value > UINT64_MAX / 10 - 10;
        value = value * 10 + (uint64_t)(field.p[i] - '0');
    }
    x->bad |= field.n == 0;
    return x->bad ? 0 : value;
}

static struct known_name name_of(struct reading *x, struct str type, struct str target)
{
    return (struct known_name){
        (mode_t)number_of(x, type) & S_IFMT, arena_str(&x->old->arena, target)};
}

static void read_root(struct reading *x, const struct str *f)
{
    struct stat st;
    struct str path = arena_str(&x->old->arena, f[0]);
    x->root = NULL;
    if (x->old->n_roots == PROTECT_ROOTS_MAX)
        return;
    AUTO_FD int fd = open(path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_dev != number_of(x, f[1]) ||
        st.st_ino != number_of(x, f[2]))
        return;
    x->root = &x->old->roots[x->old->n_roots++];
    known_open_root(x->old, x->root, TAKE_FD(fd), path);
    known_make_room(x->old, x->root, SCAN_PLACES_MAX);
}

static void read_place(struct reading *x, const struct str *f)
{
    struct protect_root *r = x->root;
    uint64_t kind = number_of(x, f[0]);
    x->bad |= kind > SCAN_DARCS || r->n_known == SCAN_PLACES_MAX;
    if (x->bad)
        return;
    r->known[r->n_known++] = (struct known){.kind = (enum scan_kind)kind,
        .path = arena_str(&x->old->arena, f[1]),
        .dev = number_of(x, f[2]),
        .ino = number_of(x, f[3]),
        .self = name_of(x, f[4], f[5]),
        .info_link = number_of(x, f[6]) != 0};
}

static void read_part(struct reading *x, const struct str *f)
{
    uint64_t at = number_of(x, f[0]);
    x->bad |= at >= PARTS_MAX || x->root->n_known == 0;
    if (!x->bad)
        x->root->known[x->root->n_known - 1].parts[at] = name_of(x, f[1], f[2]);
}

static void read_other(struct reading *x, char letter, const struct str *f)
{
    struct protect_root *r = x->root;
    struct arena *a = &x->old->arena;
    if (letter == 'N' && r->n_named < KNOWN_NAMED_MAX)
        r->named[r->n_named++] = (struct known_named){
            arena_str(a, f[0]), (mode_t)number_of(x, f[1]), number_of(x, f[2]) != 0};
    else if (letter == 'L' && r->n_links < KNOWN_LINKS_MAX)
        r->links[r->n_links++] = (struct known_gitlink){arena_str(a, f[0]), arena_str(a, f[1])};
    else if (letter == 'W' && r->n_ways < KNOWN_WAYS_MAX)
        r->ways[r->n_ways++] = (struct known_way){arena_str(a, f[0]), name_of(x, f[1], f[2])};
}

static void read_record(struct reading *x)
{
    struct str fields[FIELDS_MAX];
    const struct record_kind *kind = take_record(x, fields);
    if (!kind)
        return;
    if (kind->letter == 'R')
        read_root(x, fields);
    else if (!x->root)
        return; /* of a root that is gone */
    else if (kind->letter == 'K')
        read_place(x, fields);
    else if (kind->letter == 'P')
        read_part(x, fields);
    else
        read_other(x, kind->letter, fields);
}

static bool read_all(struct protect *old, struct str text)
{
    struct reading x = {.old = old, .rest = text};
    if (!str_eq(take(&x), heading))
        return false;
    while (x.rest.n && !x.bad)
        read_record(&x);
    return !x.bad;
}

/* Checking --------------------------------------------------------------------------------------
 */

/* What a session's file means for these roots. */
enum concern {
    CONCERN_NONE,
    CONCERN_OURS,
    CONCERN_GONE, /* none of its roots is there any more */
};

static enum concern concern_of(const struct protect *p, struct str text)
{
    struct reading x = {.rest = text};
    struct str fields[FIELDS_MAX];
    bool gone = true;
    struct stat st;
    (void)take(&x);
    while (x.rest.n && !x.bad) {
        const struct record_kind *kind = take_record(&x, fields);
        if (!kind || kind->letter != 'R')
            continue;
        for (size_t i = 0; i < p->n_roots; i++)
            if (lexical_is_below(p->roots[i].path, fields[0]) ||
                lexical_is_below(fields[0], p->roots[i].path))
                return CONCERN_OURS;
        gone &= lstat(fields[0].p, &st) != 0 && errno == ENOENT;
    }
    return gone ? CONCERN_GONE : CONCERN_NONE;
}

static void check_session(struct protect *p, struct str text)
{
    const struct protect_options options = p->options;
    struct protect *old = known_new(&options);
    if (read_all(old, text)) {
        protect_check(old);
        p->cut |= old->cut;
        for (size_t i = 0; i < old->n_held; i++)
            known_report(p, &old->held[i]);
    } else {
        p->cut = true; /* a file of a later version, or not ours */
    }
    protect_free(old);
}

/* A file that was not written to its end: no command had started. A new one may get its lock soon.
 */
static bool is_left_over(const char *name, const struct stat *st)
{
    return name[0] == '.' && time(NULL) - st->st_mtim.tv_sec > TEMP_SECONDS;
}

/* A file whose lock is free belongs to a session that was cut off. With the lock, no other session
 * checks it at the same time. */
static void check_file(struct protect *p, int dir, const char *name)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)UNFINISHED_BYTES_MAX);
    struct stat st;
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !private_is(&st) ||
        flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &st) != 0 || st.st_nlink == 0)
        return;
    bool whole = name[0] != '.' && file_read(fd, UNFINISHED_BYTES_MAX, name, &text, &ignored);
    enum concern concern = whole ? concern_of(p, buf_str(&text)) : CONCERN_NONE;
    if (concern == CONCERN_OURS)
        check_session(p, buf_str(&text));
    if (concern != CONCERN_NONE || is_left_over(name, &st))
        unlinkat(dir, name, 0);
}

void unfinished_check(struct protect *p)
{
    AUTO_FD int fd = open_dir(p, false);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *d;
    if (!stream)
        return;
    fd = -1;
    size_t n = 0;
    while (n++ < UNFINISHED_FILES_MAX && (d = readdir(stream)))
        if (id_valid(str_z(d->d_name + (d->d_name[0] == '.'))))
            check_file(p, dirfd(stream), d->d_name);
    p->cut |= n > UNFINISHED_FILES_MAX;
    closedir(stream);
}
