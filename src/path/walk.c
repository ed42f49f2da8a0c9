/* The walk: a stack of open directories, each read completely and sorted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/walk.h"

#include "base/buf.h"
#include "base/grow.h"
#include "path/ignore.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct walk_item {
    size_t at; /* offset of the name in the level's names */
    uint16_t n;
    unsigned char type;
};

/* Levels keep their memory for the next directory at the same depth. */
struct walk_level {
    int fd;
    struct buf names; /* each NUL-terminated */
    struct walk_item *items;
    size_t n, cap;
    size_t next;
    size_t path_n; /* length of the directory's path, with its '/' */
    int ignore_files;
};

struct walk {
    struct walk_options options;
    struct ignore *ignore;
    struct walk_level levels[WALK_DEPTH_MAX];
    size_t depth;    /* open levels */
    size_t prepared; /* levels that were ever used */
    size_t entries;
    struct buf path;
    struct walk_entry entry;
    bool descend; /* into the entry, before the next one */
    int root_fd;
    /* One buffer for getdents64: io/dir would allocate one for each directory that is open. */
    char *raw;
};

enum {
    RAW_SIZE = 64 * 1024,
    NAMES_MAX = 1 << 30,
    PATH_LONGEST = WALK_DEPTH_MAX * 2048,
};

/* Layout of getdents64 entries. */
struct raw_entry {
    uint64_t ino;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

static const struct {
    const char *name;
    bool any_type;
} closed_names[] = {
    {".cordon", false},
    {".git", true},
    {"node_modules", false},
};

bool walk_closed_name(struct str name, unsigned char type)
{
    for (size_t i = 0; i < ARRAY_LEN(closed_names); i++)
        if (str_is(name, closed_names[i].name))
            return type == DT_DIR || closed_names[i].any_type;
    return false;
}

void walk_problems_done(struct walk_problems *problems)
{
    for (size_t i = 0; i < MIN(problems->n, (size_t)WALK_PROBLEMS_KEPT); i++)
        free(problems->kept[i].path);
    *problems = (struct walk_problems){0};
}

void walk_problems_add(struct walk_problems *problems, struct str path, int errnum)
{
    if (!problems)
        return;
    size_t i = problems->n++;
    if (i >= WALK_PROBLEMS_KEPT)
        return;
    problems->kept[i].path = strndup(path.p, path.n);
    BUG_ON(!problems->kept[i].path);
    problems->kept[i].errnum = errnum;
}

const char *walk_problem_text(const struct walk_problem *problem)
{
    return problem->errnum == ELOOP ? "nested too deeply" : strerror(problem->errnum);
}

static void walk_add_problem(struct walk *w, int errnum)
{
    walk_problems_add(w->options.problems, buf_str(&w->path), errnum);
}

void walk_close(struct walk *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->prepared; i++) {
        auto_fd(&w->levels[i].fd);
        buf_done(&w->levels[i].names);
        free(w->levels[i].items);
    }
    ignore_close(w->ignore);
    buf_done(&w->path);
    free(w->raw);
    auto_fd(&w->root_fd);
    free(w);
}

/* Files compare by name, directories as if followed by '/': then whole paths are in order. */
static int item_cmp(const void *left, const void *right, void *names)
{
    const struct walk_item *a = left, *b = right;
    const unsigned char *p = (const unsigned char *)names + a->at;
    const unsigned char *q = (const unsigned char *)names + b->at;
    size_t n = MIN(a->n, b->n);
    int order = memcmp(p, q, n);
    if (order)
        return order;
    int x = a->n > n ? p[n] : a->type == DT_DIR ? '/' : 0;
    int y = b->n > n ? q[n] : b->type == DT_DIR ? '/' : 0;
    return x - y;
}

/* Some file systems don't report the type of an entry. Returns false if it is gone. */
static bool find_type(int dir_fd, const char *name, unsigned char *type)
{
    struct stat st;
    if (*type != DT_UNKNOWN)
        return true;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    *type = (unsigned char)IFTODT(st.st_mode);
    return true;
}

static bool walk_add_item(struct walk *w, struct walk_level *level, const struct raw_entry *raw)
{
    struct str name = str_z(raw->name);
    unsigned char type = raw->type;
    if (str_eq(name, STR(".")) || str_eq(name, STR("..")) || !find_type(level->fd, name.p, &type))
        return true;
    if (++w->entries > w->options.entries_max)
        return false;
    GROW(level->items, level->n, level->cap, GROW_MAX);
    level->items[level->n++] = (struct walk_item){level->names.n, (uint16_t)name.n, type};
    buf_add(&level->names, name.p, name.n + 1);
    level->ignore_files |= ignore_file(name);
    return buf_ok(&level->names);
}

/* Reads all entries of a level, sorted. An error in the middle of a directory is a problem, and the
 * entries read so far are kept. */
static bool read_level(struct walk *w, struct walk_level *level, struct err *err)
{
    for (;;) {
        if (w->options.called_off && w->options.called_off(w->options.context))
            return err_set(err, E_CANCELED, "interrupted");
        long n = syscall(SYS_getdents64, level->fd, w->raw, RAW_SIZE);
        if (n < 0 && errno != ENOENT)
            walk_add_problem(w, errno);
        if (n <= 0)
            break;
        for (long at = 0; at < n;) {
            const struct raw_entry *raw = (const void *)(w->raw + at);
            if (!walk_add_item(w, level, raw))
                return err_set(err, E_IO, "more than %zu entries", w->options.entries_max);
            at += raw->size;
        }
    }
    if (level->n > 1)
        qsort_r(level->items, level->n, sizeof(level->items[0]), item_cmp, level->names.p);
    return true;
}

static struct walk_level *walk_push_level(struct walk *w)
{
    struct walk_level *level = &w->levels[w->depth];
    if (w->depth == w->prepared) {
        level->names = BUF_INIT(NAMES_MAX);
        level->fd = -1;
        w->prepared++;
    }
    auto_fd(&level->fd); /* left open by a failure */
    level->fd = -1;
    level->n = 0;
    level->next = 0;
    level->ignore_files = 0;
    buf_reset(&level->names);
    return level;
}

static void leave_level(struct walk *w)
{
    struct walk_level *level = &w->levels[--w->depth];
    auto_fd(&level->fd);
    level->fd = -1;
    if (w->ignore)
        ignore_pop(w->ignore);
}

/* Opens the directory whose path is in w->path, and whose name in its parent is given. */
static bool walk_enter(struct walk *w, int parent_fd, const char *name, struct err *err)
{
    if (w->depth == WALK_DEPTH_MAX) {
        walk_add_problem(w, ELOOP);
        return true;
    }
    struct walk_level *level = walk_push_level(w);
    level->fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (level->fd < 0) {
        bool swapped = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        if (!swapped)
            walk_add_problem(w, errno);
        return true;
    }
    if (!read_level(w, level, err))
        return false;
    struct str dir = buf_str(&w->path);
    if (w->ignore && !ignore_push(w->ignore, level->fd, dir, level->ignore_files, err))
        return false;
    if (w->depth > 0)
        buf_add_byte(&w->path, '/');
    level->path_n = w->path.n;
    w->depth++;
    return true;
}

bool walk_open(
    int root_fd, const struct walk_options *options, struct walk **ret_walk, struct err *err)
{
    struct walk *w = base_alloc(sizeof(*w));
    w->options = *options;
    if (w->options.entries_max == 0)
        w->options.entries_max = WALK_ENTRIES_MAX;
    w->path = BUF_INIT(PATH_LONGEST);
    w->raw = base_realloc(NULL, RAW_SIZE);
    w->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = w->root_fd >= 0 || err_errno(err, E_IO, errno, "cannot read the root directory");
    ok = ok && (!options->ignore || ignore_open(root_fd, &w->ignore, err));
    ok = ok && walk_enter(w, w->root_fd, ".", err);
    if (!ok) {
        walk_close(w);
        return false;
    }
    *ret_walk = w;
    return true;
}

/* Makes the item the current entry; returns false if it is ignored. */
static bool give_item(struct walk *w, const struct walk_level *level, const struct walk_item *item)
{
    struct str name = str_n(level->names.p + item->at, item->n);
    buf_truncate(&w->path, level->path_n);
    buf_add_str(&w->path, name);
    BUG_ON(!buf_ok(&w->path));
    struct str path = buf_str(&w->path);
    if (w->ignore && ignore_match(w->ignore, path, item->type == DT_DIR))
        return false;
    w->entry = (struct walk_entry){
        .path = path,
        .name = name,
        .dir_fd = level->fd,
        .type = item->type,
        .closed = !w->options.all_names && walk_closed_name(name, item->type),
    };
    w->descend = item->type == DT_DIR && !w->entry.closed;
    return true;
}

bool walk_next(struct walk *w, const struct walk_entry **ret_entry, struct err *err)
{
    if (w->descend) {
        w->descend = false;
        if (!walk_enter(w, w->entry.dir_fd, w->entry.name.p, err))
            return false;
    }
    while (w->depth > 0) {
        struct walk_level *level = &w->levels[w->depth - 1];
        if (level->next == level->n) {
            leave_level(w);
        } else if (give_item(w, level, &level->items[level->next++])) {
            *ret_entry = &w->entry;
            return true;
        }
    }
    *ret_entry = NULL;
    return true;
}

void walk_skip(struct walk *w)
{
    w->descend = false;
}
