/* list_dir: what is in a directory, and below it. */
#include "base/utf8.h"
#include "path/beneath.h"
#include "tool/limit.h"
#include "tool/tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

enum {
    DEPTH_MAX = 32,
    ENTRIES_MAX = 200 * 1000, /* that are looked at */
    LISTING_MAX = 32 << 20,
    LISTING_ARENA = 256 << 20,
};

struct list_dir_args {
    struct str path;
    uint32_t depth, offset, limit;
};

static const struct field fields[] = {
    FIELD_STR(
        "path", struct list_dir_args, path, "the directory", .alias = "file_path", .def = "\".\""),
    FIELD_U32("depth", struct list_dir_args, depth, "how many levels", .def = "2",
        FIELD_RANGE(1, DEPTH_MAX)),
    FIELD_U32("offset", struct list_dir_args, offset, "how many entries to skip", .def = "0",
        FIELD_RANGE(0, INT32_MAX)),
    FIELD_U32("limit", struct list_dir_args, limit, "how many entries to show", .def = "200",
        FIELD_RANGE(1, 10000)),
};

static const struct shape shape =
    SHAPE("list_dir", struct list_dir_args, fields, "arguments of list_dir");

struct entry {
    struct str path; /* relative to the listed directory */
    char mark;       /* '/', '*', '@' or 0 */
};

struct listing {
    struct arena arena;
    struct entry *entries;
    size_t n, cap;
    size_t closed; /* directories that can't be opened */
    bool full;     /* there are more than are looked at */
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

static void add_entry(struct listing *l, struct str dir, const char *name, char mark)
{
    if (l->n == l->cap) {
        l->cap = MAX(l->cap * 2, (size_t)256);
        l->entries = reallocarray(l->entries, l->cap, sizeof(*l->entries));
        BUG_ON(!l->entries);
    }
    const char *path = dir.n ? arena_printf(&l->arena, STR_FMT "/%s", STR_ARG(dir), name)
                             : arena_printf(&l->arena, "%s", name);
    l->entries[l->n++] = (struct entry){str_z(path), mark};
}

/* The names in one directory, unsorted. Takes the descriptor over. */
static bool add_directory(struct listing *l, int fd, struct str dir)
{
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return false;
    }
    struct dirent *d;
    while ((d = readdir(stream))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (l->n == ENTRIES_MAX || arena_left(&l->arena) < dir.n + sizeof(d->d_name) + 2) {
            l->full = true;
            break;
        }
        add_entry(l, dir, d->d_name, mark_of(dirfd(stream), d->d_name, d->d_type));
    }
    closedir(stream);
    return true;
}

static int compare(const void *a, const void *b)
{
    return str_cmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* One level after the other: the directories of one give the next. */
static bool list(struct listing *l, int root, unsigned depth, struct err *err)
{
    int fd = beneath_open(root, ".", O_RDONLY | O_DIRECTORY, 0, 0);
    if (fd < 0 || !add_directory(l, fd, str_n("", 0)))
        return err_errno(err, E_IO, errno, "cannot list the directory");
    size_t begin = 0;
    for (unsigned level = 1; begin < l->n; level++) {
        size_t end = l->n;
        qsort(l->entries + begin, end - begin, sizeof(*l->entries), compare);
        for (size_t i = begin; i < end && level < depth && !l->full; i++) {
            struct str dir = l->entries[i].path;
            if (l->entries[i].mark != '/')
                continue;
            int sub = beneath_open(root, dir.p, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
            if (sub < 0 || !add_directory(l, sub, dir))
                l->closed++;
        }
        begin = end;
    }
    return true;
}

static void show(const struct listing *l, const struct list_dir_args *args, struct buf *text)
{
    size_t end = MIN(l->n, (size_t)args->offset + args->limit);
    for (size_t i = args->offset; i < end; i++) {
        utf8_add_printable(text, l->entries[i].path);
        if (l->entries[i].mark)
            buf_add_byte(text, l->entries[i].mark);
        buf_add_byte(text, '\n');
    }
}

static void tell(const struct listing *l, const struct list_dir_args *args, size_t shown,
    struct tool_result *result)
{
    size_t from = MIN((size_t)args->offset, l->n), next = from + shown;
    tool_detail(result, "entries", json_integer((json_int_t)l->n));
    tool_detail(result, "offset", json_integer((json_int_t)from));
    tool_detail(result, "shown", json_integer((json_int_t)shown));
    if (next < l->n) {
        result->truncated = true;
        tool_detail(result, "next_offset", json_integer((json_int_t)next));
        buf_printf(&result->content,
            "[truncated] %zu of %zu entries left out; go on with offset %zu\n", l->n - next, l->n,
            next);
    }
    result->truncated |= l->full;
    if (l->full)
        buf_printf(&result->content, "[truncated] only the first %d entries were looked at\n",
            ENTRIES_MAX);
    if (l->closed)
        tool_warns(result, "%zu directories can't be opened", l->closed);
    if (l->n == 0)
        buf_add_z(&result->content, "(empty)\n");
    tool_says(result, "%zu of %zu entries", shown, l->n);
}

/* As many whole lines as fit. */
static size_t cap(struct str text, struct buf *content)
{
    size_t shown = 0;
    struct str line;
    while (str_cut(text, '\n', &line, &text) && line.n) {
        if (shown == LIMIT_LINES || content->n + line.n + 1 > LIMIT_BYTES)
            break;
        buf_add_str(content, line);
        buf_add_byte(content, '\n');
        shown++;
    }
    return shown;
}

static bool run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct list_dir_args *args = arguments;
    struct resolved where;
    if (!toolbox_resolve(box, args->path, false, &result->arena, &where, err))
        return false;
    if (!where.exists)
        return err_set(
            err, E_NOT_FOUND, "there is no directory '" STR_FMT "'", STR_ARG(args->path));
    if (!S_ISDIR(where.st.st_mode))
        return err_set(err, E_TOOL_VALIDATION, "'" STR_FMT "' is not a directory: use read_file",
            STR_ARG(args->path));
    AUTO_FD int fd = boundary_open_resolved(&where, O_PATH | O_DIRECTORY, err);
    if (fd < 0)
        return false;
    struct listing l = {.arena = ARENA_INIT(LISTING_ARENA)};
    bool ok = list(&l, fd, args->depth, err);
    if (ok) {
        AUTO_BUF struct buf text = BUF_INIT(LISTING_MAX);
        show(&l, args, &text);
        tell(&l, args, cap(buf_str(&text), &result->content), result);
    }
    free(l.entries);
    arena_done(&l.arena);
    return ok;
}

const struct tool tool_list_dir = {
    .name = "list_dir",
    .about = "Lists a directory, level by level, sorted. A name ends in / for a directory, * for a "
             "program, @ for a link. Paths are relative to the directory.",
    .args = &shape,
    .example = "{\"path\": \"src\", \"depth\": 1}",
    .run = run,
};
