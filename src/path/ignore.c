/* Ignore rules of a tree: a stack with the rules of each directory from the top down. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/ignore.h"

#include "base/buf.h"
#include "base/grow.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/gitdir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct ignore_level {
    struct rules rules;
    size_t base;  /* length of the directory in full paths, with its '/' */
    size_t bytes; /* memory of its rules */
};

/* Full paths start at the top: `above` is the root's path there, empty or ending in '/'. */
struct ignore {
    struct ignore_level *levels;
    size_t n, cap;
    size_t live; /* bytes of all levels */
    struct buf above;
    struct buf path; /* scratch: a full path */
    struct buf text; /* scratch: a file */
    int root_fd;
};

enum {
    PATH_LONGEST = 1 << 20,
    CLIMB_MAX = 2048,
};

static const struct {
    const char *name;
    int file;
} file_names[] = {
    /* Lower precedence first. */
    {".gitignore", IGNORE_GIT},
    {".cordonignore", IGNORE_OWN},
};

int ignore_file(struct str name)
{
    if (name.n == 0 || name.p[0] != '.')
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(file_names); i++)
        if (str_is(name, file_names[i].name))
            return file_names[i].file;
    return 0;
}

static struct ignore_level *push_level(struct ignore *ig, size_t base)
{
    GROW(ig->levels, ig->n, ig->cap, GROW_MAX);
    struct ignore_level *level = &ig->levels[ig->n++];
    *level = (struct ignore_level){.base = base};
    return level;
}

void ignore_pop(struct ignore *ig)
{
    BUG_ON(ig->n == 0);
    struct ignore_level *level = &ig->levels[--ig->n];
    ig->live -= level->bytes;
    rules_done(&level->rules);
}

static void pop_to(struct ignore *ig, size_t n)
{
    while (ig->n > n)
        ignore_pop(ig);
}

void ignore_close(struct ignore *ig)
{
    if (!ig)
        return;
    pop_to(ig, 0);
    free(ig->levels);
    buf_done(&ig->above);
    buf_done(&ig->path);
    buf_done(&ig->text);
    if (ig->root_fd >= 0)
        close(ig->root_fd);
    free(ig);
}

/* Adds one file to the last level. As in git, only a regular file contains rules; O_NONBLOCK, so
 * that a FIFO can't block us. */
static bool ignore_add_file(
    struct ignore *ig, int dir_fd, const char *file, int flags, const char *name, struct err *err)
{
    struct ignore_level *level = &ig->levels[ig->n - 1];
    AUTO_FD int fd = openat(dir_fd, file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    struct stat st;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO))
        return true;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot read the ignore file '%s'", name);
    if (!S_ISREG(st.st_mode))
        return true;
    buf_reset(&ig->text);
    if (!file_read(fd, RULES_FILE_MAX, name, &ig->text, err))
        return false;
    if (!rules_add(&level->rules, buf_str(&ig->text), name, err))
        return false;
    ig->live -= level->bytes;
    level->bytes = rules_memory(&level->rules);
    ig->live += level->bytes;
    if (ig->live > IGNORE_LIVE_MAX)
        return err_set(err, E_IO, "the ignore files down to '%s' take more than %d bytes of memory",
            name, IGNORE_LIVE_MAX);
    return true;
}

/* Pushes the ignore files of a directory, given by its full path with '/' at the end, or "". */
static bool push_dir(struct ignore *ig, int dir_fd, struct str dir, int files, struct err *err)
{
    if (ig->n >= IGNORE_LEVELS_MAX)
        return err_set(err, E_IO, "directories are nested more than %d deep", IGNORE_LEVELS_MAX);
    push_level(ig, dir.n);
    for (size_t i = 0; i < ARRAY_LEN(file_names); i++) {
        if (!(files & file_names[i].file))
            continue;
        AUTO_BUF struct buf name = BUF_INIT(2 * PATH_LONGEST);
        buf_add_str(&name, dir);
        buf_add_z(&name, file_names[i].name);
        if (!ignore_add_file(ig, dir_fd, file_names[i].name, O_NOFOLLOW, buf_z(&name), err)) {
            ignore_pop(ig);
            return false;
        }
    }
    return true;
}

/* The full path of a path below the root. */
static struct str full_path(struct ignore *ig, struct str path, bool slash)
{
    if (ig->above.n == 0 && !slash)
        return path;
    buf_reset(&ig->path);
    buf_add_str(&ig->path, buf_str(&ig->above));
    buf_add_str(&ig->path, path);
    if (slash && path.n)
        buf_add_byte(&ig->path, '/');
    return buf_str(&ig->path);
}

bool ignore_push(struct ignore *ig, int dir_fd, struct str dir, int files, struct err *err)
{
    struct str full = full_path(ig, dir, true);
    if (!buf_ok(&ig->path))
        return err_set(err, E_IO, "a path is longer than %d bytes", PATH_LONGEST);
    return push_dir(ig, dir_fd, full, files, err);
}

/* Deeper files take precedence. */
static bool match_full(const struct ignore *ig, struct str full, bool is_dir)
{
    for (size_t i = ig->n; i-- > 0;) {
        const struct ignore_level *level = &ig->levels[i];
        if (level->rules.n == 0)
            continue;
        enum rules_verdict verdict =
            rules_match(&level->rules, str_skip(full, level->base), is_dir);
        if (verdict != RULES_NONE)
            return verdict == RULES_IGNORE;
    }
    return false;
}

bool ignore_match(struct ignore *ig, struct str path, bool is_dir)
{
    return match_full(ig, full_path(ig, path, false), is_dir);
}

/* Searches upwards for the top of the work tree, within the file system, as git does: the nearest
 * repository, or else the nearest `.git` of any kind. So a directory that is merely called `.git`
 * can't hide the rules of the repository around it. Returns a descriptor and the number of
 * directories in between; -1 if not found. */
static int ignore_find_top(int root_fd, size_t *ret_climbed)
{
    AUTO_FD int fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD int like_one = -1;
    struct stat here, up;
    if (fd < 0 || fstat(fd, &here) != 0)
        return -1;
    for (size_t i = 0; i < CLIMB_MAX; i++) {
        bool present = gitdir_present(fd), repository = present && gitdir_is_repository(fd);
        if (repository || (present && like_one < 0))
            *ret_climbed = i;
        if (repository)
            return TAKE_FD(fd);
        if (present && like_one < 0)
            like_one = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        int parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (parent < 0)
            break;
        close(fd);
        fd = parent;
        if (fstat(fd, &up) != 0 || up.st_dev != here.st_dev || up.st_ino == here.st_ino)
            break;
        here = up;
    }
    return TAKE_FD(like_one);
}

/* The last n components of a path. */
static struct str last_components(struct str path, size_t n)
{
    size_t at = path.n;
    while (at > 0 && n > 0)
        n -= path.p[--at] == '/';
    return n ? str_n(path.p, 0) : str_skip(path, at + 1);
}

/* Pushes each directory from the top to the parent of the root. *ret_visible is false if one of
 * them is ignored. */
static bool push_above(struct ignore *ig, int top_fd, bool *ret_visible, struct err *err)
{
    AUTO_FD int fd = openat(top_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct str above = buf_str(&ig->above);
    size_t start = 0;
    bool visible = true;
    while (start < above.n && visible) {
        if (!push_dir(ig, fd, str_head(above, start), IGNORE_FILES, err))
            return false;
        size_t end = start + (size_t)str_find(str_skip(above, start), '/');
        visible = !match_full(ig, str_head(above, end), true);
        AUTO_FREE char *name = strndup(above.p + start, end - start);
        BUG_ON(!name);
        int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            return err_errno(err, E_IO, errno, "cannot open '%s'", name);
        close(fd);
        fd = next;
        start = end + 1;
    }
    *ret_visible = visible;
    return true;
}

/* Determines the root's path below the top. */
static bool set_above(struct ignore *ig, size_t climbed, struct err *err)
{
    if (climbed == 0)
        return true;
    AUTO_FREE char *name = beneath_name(ig->root_fd);
    if (!name)
        return err_set(err, E_IO,
            "cannot determine the path of the root, and so cannot find its ignore files");
    struct str above = last_components(str_z(name), climbed);
    if (above.n == 0)
        return err_set(err, E_IO, "'%s' was moved", name);
    buf_add_str(&ig->above, above);
    buf_add_byte(&ig->above, '/');
    return true;
}

static bool load_repository(struct ignore *ig, struct err *err)
{
    size_t climbed = 0;
    bool visible = true;
    AUTO_FD int top = ignore_find_top(ig->root_fd, &climbed);
    if (top < 0)
        return true;
    AUTO_FD int common = -1;
    if (!set_above(ig, climbed, err) || !gitdir_open_common(top, &common, err))
        return false;
    push_level(ig, 0);
    if (common >= 0 && !ignore_add_file(ig, common, "info/exclude", 0, "info/exclude", err))
        return false;
    if (!push_above(ig, top, &visible, err))
        return false;
    if (!visible) {
        pop_to(ig, 0);
        buf_reset(&ig->above);
    }
    return true;
}

bool ignore_open(int root_fd, struct ignore **ret_ignore, struct err *err)
{
    struct ignore *ig = base_alloc(sizeof(*ig));
    *ig = (struct ignore){
        .above = BUF_INIT(PATH_LONGEST),
        .path = BUF_INIT(2 * PATH_LONGEST),
        .text = BUF_INIT(RULES_FILE_MAX + (1 << 20)),
    };
    ig->root_fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (ig->root_fd < 0)
        err_errno(err, E_IO, errno, "cannot open the root");
    if (ig->root_fd < 0 || !load_repository(ig, err)) {
        ignore_close(ig);
        return false;
    }
    *ret_ignore = ig;
    return true;
}

/* Descends by one component; a missing one or a non-directory has no ignore files. */
static bool ignore_descend(int *fd, struct str name, struct err *err)
{
    AUTO_FREE char *z = strndup(name.p, name.n);
    BUG_ON(!z);
    int next = *fd < 0 ? -1 : openat(*fd, z, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0 && *fd >= 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP &&
        errno != ENAMETOOLONG)
        return err_errno(err, E_IO, errno, "cannot open '%s' for its ignore files", z);
    auto_fd(fd);
    *fd = next;
    return true;
}

static bool ignore_check_parents(
    struct ignore *ig, struct str path, bool is_dir, bool *ret_ignored, struct err *err)
{
    AUTO_FD int fd = openat(ig->root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t start = 0;;) {
        struct str dir = str_head(path, start ? start - 1 : 0);
        if (!ignore_push(ig, fd, dir, fd < 0 ? 0 : IGNORE_FILES, err))
            return false;
        ptrdiff_t slash = str_find(str_skip(path, start), '/');
        size_t end = slash < 0 ? path.n : start + (size_t)slash;
        *ret_ignored = ignore_match(ig, str_head(path, end), slash >= 0 || is_dir);
        if (*ret_ignored || slash < 0)
            return true;
        if (!ignore_descend(&fd, str_n(path.p + start, end - start), err))
            return false;
        start = end + 1;
    }
}

bool ignore_path(
    struct ignore *ig, struct str path, bool is_dir, bool *ret_ignored, struct err *err)
{
    size_t before = ig->n;
    bool ignored = false;
    bool ok = ignore_check_parents(ig, path, is_dir, &ignored, err);
    pop_to(ig, before);
    if (ok)
        *ret_ignored = ignored;
    return ok;
}
