/* list_dir: lists a directory and the levels below it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "base/utf8.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "tool/limit.h"
#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>

enum {
    DEPTH_MAX = 32,
    ENTRIES_MAX = 200 * 1000, /* maximum number of entries read */
    LINE_MAX_BYTES = 1 << 20, /* for a path with unprintable bytes escaped */
    LISTING_ARENA = 256 << 20,
};

struct list_dir_args {
    struct str path;
    uint32_t depth, offset, limit;
};

static const struct field fields[] = {
    FIELD_STR(
        "path", struct list_dir_args, path, "the directory", .alias = "file_path", .def = "\".\""),
    FIELD_U32("depth", struct list_dir_args, depth, "number of levels", .def = "2",
        FIELD_RANGE(1, DEPTH_MAX)),
    FIELD_U32("offset", struct list_dir_args, offset, "number of entries to skip", .def = "0",
        FIELD_RANGE(0, INT32_MAX)),
    FIELD_U32("limit", struct list_dir_args, limit, "maximum number of entries", .def = "200",
        FIELD_RANGE(1, 10000)),
};

static const struct shape shape =
    SHAPE("list_dir", struct list_dir_args, fields, "arguments of list_dir");

struct list_dir_entry {
    struct str path; /* relative to the listed directory */
    char mark;       /* '/', '*', '@' or 0 */
};

struct list_dir_listing {
    struct arena arena;
    struct list_dir_entry *entries;
    size_t n, cap;
    size_t closed; /* directories that could not be opened */
    bool full;     /* ENTRIES_MAX or the arena limit was reached */
};

static char mark_of(int dir_fd, const char *name, unsigned char type)
{
    struct stat st;
    if (type == DT_DIR)
        return '/';
    if (type == DT_LNK)
        return '@';
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return '/';
    if (S_ISLNK(st.st_mode))
        return '@';
    return S_ISREG(st.st_mode) && (st.st_mode & 0111) ? '*' : 0;
}

static void list_dir_add_entry(
    struct list_dir_listing *l, struct str dir, const char *name, char mark)
{
    GROW(l->entries, l->n, l->cap, ENTRIES_MAX);
    const char *path = dir.n ? arena_printf(&l->arena, STR_FMT "/%s", STR_ARG(dir), name)
                             : arena_printf(&l->arena, "%s", name);
    l->entries[l->n++] = (struct list_dir_entry){str_z(path), mark};
}

/* Adds the names in one directory, unsorted. Takes over the file descriptor. */
static bool add_directory(struct list_dir_listing *l, int fd, struct str dir)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_take(&d, fd))
        return false;
    while (!l->full && dir_next(&d)) {
        l->full = l->n == ENTRIES_MAX || arena_left(&l->arena) < dir.n + NAME_MAX + 3;
        if (!l->full)
            list_dir_add_entry(l, dir, d.name, mark_of(d.fd, d.name, d.type));
    }
    errno = d.errnum;
    return !d.errnum;
}

static int list_dir_compare(const void *a, const void *b)
{
    return str_cmp(
        ((const struct list_dir_entry *)a)->path, ((const struct list_dir_entry *)b)->path);
}

/* Lists level by level: the directories of one level give the next. */
static bool list_dir_walk(
    struct toolbox *box, struct list_dir_listing *l, int root, unsigned depth, struct err *err)
{
    int fd = beneath_open(root, ".", O_RDONLY | O_DIRECTORY, 0, 0);
    if (fd < 0 || !add_directory(l, fd, str_n("", 0)))
        return err_errno(err, E_IO, errno, "cannot list the directory");
    size_t begin = 0;
    for (unsigned level = 1; begin < l->n; level++) {
        size_t end = l->n;
        qsort(l->entries + begin, end - begin, sizeof(*l->entries), list_dir_compare);
        for (size_t i = begin; i < end && level < depth && !l->full; i++) {
            struct str dir = l->entries[i].path;
            if (l->entries[i].mark != '/')
                continue;
            if (toolbox_called_off(box))
                return err_set(err, E_CANCELED, "interrupted");
            int sub = beneath_open(root, dir.p, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
            if (sub < 0 || !add_directory(l, sub, dir))
                l->closed++;
        }
        begin = end;
    }
    return true;
}

/* Shows as many whole lines as fit. */
static size_t list_dir_print(
    const struct list_dir_listing *l, const struct list_dir_args *args, struct tool_result *result)
{
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    size_t shown = 0, most = MIN((size_t)args->limit, (size_t)LIMIT_LINES);
    for (size_t i = args->offset; i < l->n && shown < most; i++, shown++) {
        buf_reset(&line);
        utf8_add_printable(&line, l->entries[i].path);
        if (l->entries[i].mark)
            buf_add_byte(&line, l->entries[i].mark);
        if (!limit_add_line(&result->content, buf_str(&line), &result->truncated))
            break;
    }
    return shown;
}

static void list_dir_report(const struct list_dir_listing *l, const struct list_dir_args *args,
    size_t shown, struct tool_result *result)
{
    size_t from = MIN((size_t)args->offset, l->n), next = from + shown;
    tool_detail(result, "entries", json_integer((json_int_t)l->n));
    tool_detail(result, "offset", json_integer((json_int_t)from));
    tool_detail(result, "shown", json_integer((json_int_t)shown));
    if (next < l->n) {
        result->truncated = true;
        tool_detail(result, "next_offset", json_integer((json_int_t)next));
        buf_printf(&result->content,
            "[truncated] %zu of %zu entries left out; continue with offset %zu\n", l->n - next,
            l->n, next);
    }
    result->truncated |= l->full;
    if (l->full)
        buf_printf(&result->content,
            "[truncated] there are more than %zu entries: these are some of them, not the "
            "first ones; reduce depth, or use glob_files\n",
            l->n);
    if (l->closed)
        tool_warns(result, "%zu directories cannot be opened", l->closed);
    if (l->n == 0)
        buf_add_z(&result->content, "(empty)\n");
    tool_says(result, "%zu of %zu entries", shown, l->n);
}

static bool list_dir_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct list_dir_args *args = arguments;
    struct resolved where;
    AUTO_FD int fd =
        toolbox_open_dir(box, args->path, O_PATH, ": use read_file", &result->arena, &where, err);
    if (fd < 0)
        return false;
    struct list_dir_listing l = {.arena = ARENA_INIT(LISTING_ARENA)};
    bool ok = list_dir_walk(box, &l, fd, args->depth, err);
    if (ok)
        list_dir_report(&l, args, list_dir_print(&l, args, result), result);
    free(l.entries);
    arena_done(&l.arena);
    return ok;
}

const struct tool tool_list_dir = {
    .name = "list_dir",
    .about = "Lists a directory, level by level, sorted. A name ends in / for a directory, * for "
             "an executable, @ for a link. Paths are relative to the directory.",
    .args = &shape,
    .example = "{\"path\": \"src\", \"depth\": 1}",
    .run = list_dir_run,
};
