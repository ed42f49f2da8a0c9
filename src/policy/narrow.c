/* Finds files with secrets, and shows directories without them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/narrow.h"

#include "io/dir.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/home_table.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    NARROW_ENTRIES = 8192, /* that are looked at in all: directories beyond that are hidden */
    NARROW_HIDDEN_MAX = 1024,
    NARROW_PARTS_MAX = 768, /* in all: directories beyond that are not shown */
    NARROW_DEPTH = 16,
    NARROW_TEXT = 64 << 10, /* of a file that may contain a URL with a password */
};

#define NARROW_OPEN (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Finding ------------------------------------------------------------------------------------- */

static void narrow_hide(struct narrow *n, struct str path, const char *reason)
{
    for (size_t i = 0; i < n->n_hidden; i++)
        if (str_eq(n->hidden[i].path, path))
            return;
    ARENA_GROW(n->arena, n->hidden, n->n_hidden, n->cap_hidden);
    n->hidden[n->n_hidden++] = (struct narrow_hidden){.path = path, .reason = reason};
}

/* Hides an entry of a directory; of a symlink also its target, which may be shown elsewhere. */
static void narrow_hide_entry(struct narrow *n, int dir, const char *name, const char *reason)
{
    AUTO_FREE char *parent = beneath_name(dir);
    if (!parent)
        return;
    const char *path = arena_printf(n->arena, "%s/%s", parent, name);
    AUTO_FREE char *real = beneath_resolve(path);
    narrow_hide(n, str_z(path), reason);
    if (real && !lexical_is_below(str_z(real), n->home))
        narrow_hide(n, arena_str(n->arena, str_z(real)), reason);
}

/* A directory that can't be searched completely. */
static void narrow_hide_dir(struct narrow *n, int dir)
{
    AUTO_FREE char *path = beneath_name(dir);
    if (path)
        narrow_hide(n, arena_str(n->arena, str_z(path)), "it cannot be searched for credentials");
}

/* Whether a file has a URL with a password; also if it can't be read to its end. */
static bool narrow_has_password(int dir, const char *path)
{
    struct stat st;
    AUTO_BUF struct buf text = BUF_INIT(NARROW_TEXT);
    AUTO_FD int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT && errno != ENOTDIR;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    char *room = st.st_size < NARROW_TEXT ? buf_reserve(&text, (size_t)st.st_size + 1) : NULL;
    ssize_t got = room ? read(fd, room, (size_t)st.st_size + 1) : -1;
    return got < 0 || home_table_has_password(str_n(room, (size_t)got));
}

/* Whether an entry that a row's pattern matches is to be hidden. */
static bool narrow_applies(const struct home_row *row, int dir, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof(path), "%s%s%s", name, row->only_with ? "/" : "",
        row->only_with ? row->only_with : "");
    if (n < 0 || (size_t)n >= sizeof(path))
        return true;
    return row->has_password ? narrow_has_password(dir, path)
                             : fstatat(dir, path, &st, 0) == 0 ||
                                   fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void narrow_search(struct narrow *n, const struct home_row *row, int dir, const char *rest);

/* Continues the search at one entry that the first component of the pattern matches. */
static void narrow_follow(
    struct narrow *n, const struct home_row *row, int dir, const char *name, const char *rest)
{
    struct stat st;
    if (n->n_hidden >= NARROW_HIDDEN_MAX) {
        narrow_hide_dir(n, dir);
        return;
    }
    if (!rest) {
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && narrow_applies(row, dir, name))
            narrow_hide_entry(n, dir, name, row->reason);
        return;
    }
    AUTO_FD int inner = openat(dir, name, NARROW_OPEN);
    if (inner >= 0)
        narrow_search(n, row, inner, rest);
}

static void narrow_search_all(
    struct narrow *n, const struct home_row *row, int dir, const char *pattern, const char *rest)
{
    AUTO_DIR struct dir list = DIR_INIT(NARROW_ENTRIES);
    if (!dir_open(&list, dir, ".")) {
        narrow_hide_dir(n, dir);
        return;
    }
    while (n->seen < NARROW_ENTRIES && dir_next(&list)) {
        n->seen++;
        if (fnmatch(pattern, list.name, 0) == 0)
            narrow_follow(n, row, list.fd, list.name, rest);
    }
    if (n->seen == NARROW_ENTRIES || !dir_complete(&list))
        narrow_hide_dir(n, dir);
}

/* Looks for the rest of a row's pattern in a directory. */
static void narrow_search(struct narrow *n, const struct home_row *row, int dir, const char *rest)
{
    char component[NAME_MAX + 1];
    struct str first, more;
    str_cut(str_z(rest), '/', &first, &more);
    BUG_ON(first.n >= sizeof(component));
    memcpy(component, first.p, first.n);
    component[first.n] = '\0';
    const char *next = more.n ? more.p : NULL;
    if (str_find(first, '*') >= 0)
        narrow_search_all(n, row, dir, component, next);
    else
        narrow_follow(n, row, dir, component, next);
}

/* Rows with the same first component share one descriptor of it. */
static void narrow_find(struct narrow *n, int home)
{
    const struct home_row *rows;
    const size_t n_rows = home_table_hidden(&rows);
    struct str first = {0}, name, rest;
    AUTO_FD int dir = -1;
    for (size_t i = 0; i < n_rows; i++) {
        str_cut(str_z(rows[i].path), '/', &name, &rest);
        if (!str_eq(first, name)) {
            if (dir >= 0)
                close(dir);
            first = name;
            dir = openat(home, arena_strdup(n->arena, name), NARROW_OPEN);
        }
        if (dir >= 0)
            narrow_search(n, &rows[i], dir, rest.p);
    }
}

void narrow_init(struct narrow *n, const char *home, struct arena *arena)
{
    *n = (struct narrow){.arena = arena};
    AUTO_FD int fd = home && home[0] == '/' ? beneath_peek(home) : -1;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    if (!name)
        return;
    n->home = arena_str(arena, str_z(name));
    narrow_find(n, fd);
}

/* Showing ------------------------------------------------------------------------------------- */

/* How hidden files concern a resolved path. */
static enum narrow_answer narrow_judge(struct narrow *n, struct str real)
{
    enum narrow_answer answer = NARROW_WHOLE;
    for (size_t i = 0; i < n->n_hidden; i++) {
        struct narrow_hidden *h = &n->hidden[i];
        bool inside = lexical_is_below(h->path, real);
        if (!inside && !lexical_is_below(real, h->path))
            continue;
        h->used = true;
        if (inside)
            return NARROW_HIDDEN;
        answer = NARROW_PARTS;
    }
    return answer;
}

static void narrow_add_link(struct narrow *n, struct str at, struct str target)
{
    for (size_t i = 0; i < n->n_links; i++)
        if (str_eq(n->links[i].at, at))
            return;
    ARENA_GROW(n->arena, n->links, n->n_links, n->cap_links);
    n->links[n->n_links++] = (struct narrow_link){at, target};
}

static void narrow_copy_link(struct narrow *n, int dir, const char *name, struct str at)
{
    char target[PATH_MAX];
    ssize_t size = readlinkat(dir, name, target, sizeof(target));
    if (size > 0 && (size_t)size < sizeof(target))
        narrow_add_link(n, at, arena_str(n->arena, str_n(target, (size_t)size)));
}

struct narrow_list {
    struct str *p;
    size_t n, cap;
};

/* Names that are hidden in every shown directory of the home directory. */
static void narrow_look_for_names(struct narrow *n, int dir, struct str real)
{
    const char *const *names;
    const size_t n_names = home_table_names(&names);
    if (!n->home.n || !lexical_is_below(n->home, real))
        return;
    for (size_t i = 0; i < n_names; i++) {
        struct stat st;
        if (fstatat(dir, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            narrow_hide_entry(n, dir, names[i], "files of this name hold credentials");
    }
}

/* Adds the entries of a directory in which something is hidden. Returns false if there are too
 * many. */
static bool narrow_split(
    struct narrow *n, struct str real, unsigned depth, struct narrow_list *parts)
{
    AUTO_DIR struct dir list = DIR_INIT(NARROW_PARTS_MAX);
    if (depth == NARROW_DEPTH || !dir_open_path(&list, arena_strdup(n->arena, real)))
        return false;
    narrow_look_for_names(n, list.fd, real);
    while (dir_next(&list)) {
        struct stat st;
        struct str path = str_z(arena_printf(n->arena, STR_FMT "/%s", STR_ARG(real), list.name));
        if (fstatat(list.fd, list.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        enum narrow_answer answer = narrow_judge(n, path);
        if (answer == NARROW_HIDDEN || n->parts++ == NARROW_PARTS_MAX)
            continue;
        if (S_ISLNK(st.st_mode)) {
            narrow_copy_link(n, list.fd, list.name, path);
        } else if (S_ISDIR(st.st_mode) && answer == NARROW_PARTS) {
            if (!narrow_split(n, path, depth + 1, parts))
                return false;
        } else if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) {
            ARENA_GROW(n->arena, parts->p, parts->n, parts->cap);
            parts->p[parts->n++] = path;
        }
    }
    return dir_complete(&list) && n->parts <= NARROW_PARTS_MAX;
}

enum narrow_answer narrow_path(struct narrow *n, struct str path, struct str_list *ret_parts)
{
    struct narrow_list parts = {0};
    AUTO_FD int fd = n->home.n ? beneath_peek(path.p) : -1;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    *ret_parts = (struct str_list){0};
    if (!name)
        return NARROW_WHOLE;
    struct str real = arena_str(n->arena, str_z(name));
    narrow_look_for_names(n, fd, real);
    enum narrow_answer answer = narrow_judge(n, real);
    if (answer != NARROW_PARTS)
        return answer;
    const size_t n_links = n->n_links;
    if (!narrow_split(n, real, 0, &parts)) {
        n->n_links = n_links;
        return NARROW_TOO_MANY;
    }
    if (!str_eq(real, path))
        narrow_add_link(n, path, real);
    *ret_parts = (struct str_list){parts.p, parts.n};
    return NARROW_PARTS;
}

struct str_list narrow_list(struct narrow *n, struct str_list list)
{
    struct narrow_list all = {0};
    for (size_t i = 0; i < list.n; i++) {
        struct str_list parts;
        enum narrow_answer answer = narrow_path(n, list.p[i], &parts);
        if (answer == NARROW_WHOLE)
            parts = (struct str_list){&list.p[i], 1};
        for (size_t k = 0; k < parts.n; k++) {
            ARENA_GROW(n->arena, all.p, all.n, all.cap);
            all.p[all.n++] = parts.p[k];
        }
    }
    return (struct str_list){all.p, all.n};
}

/* What was used ------------------------------------------------------------------------------- */

void narrow_use(struct narrow *n, struct str dir)
{
    for (size_t i = 0; i < n->n_hidden; i++)
        n->hidden[i].used |= lexical_is_below(dir, n->hidden[i].path);
}

size_t narrow_used(struct narrow *n)
{
    size_t used = 0;
    for (size_t i = 0; i < n->n_hidden; i++) {
        struct narrow_hidden h = n->hidden[i];
        if (!h.used)
            continue;
        n->hidden[i] = n->hidden[used];
        n->hidden[used++] = h;
    }
    return used;
}
