/* Git directories that places point to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitdir_target.h"

#include "io/file.h"
#include "path/gitdir.h"
#include "path/lexical.h"
#include "repo/path_walk.h"
#include "repo/quarantine.h"

#include <fcntl.h>
#include <limits.h>

enum {
    POINTER_MAX = PATH_MAX + 64,
};

static const struct str pointer_words = {"gitdir: ", 8};

/* Directories -----------------------------------------------------------------------------------
 */

static bool gitdir_target_read_file(int dir, const char *name, int flags, struct buf *text)
{
    AUTO_ERR struct err ignored = {0};
    struct stat st;
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           file_read(fd, PROTECT_FILE_MAX, name, text, &ignored);
}

static int gitdir_target_open_path(int dir, struct str path)
{
    char name[PATH_MAX];
    if (path.n == 0 || path.n >= sizeof(name))
        return -1;
    memcpy(name, path.p, path.n);
    name[path.n] = '\0';
    return openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Opens the directory above a path of the root. */
static int gitdir_target_open_parent(const struct protect_root *r, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    return known_open(r, arena_str(&a, known_above(path)));
}

static int open_gitdir(const struct protect_root *r, enum scan_kind kind, struct str path)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (kind == SCAN_GITDIR)
        return known_open(r, path);
    AUTO_FD int dir = gitdir_target_open_parent(r, path);
    if (dir >= 0 && kind == SCAN_LINK)
        return gitdir_target_open_path(dir, lexical_name(path));
    if (dir < 0 || kind != SCAN_POINTER || !gitdir_target_read_file(dir, ".git", O_NOFOLLOW, &text))
        return -1;
    return gitdir_target_open_path(dir, gitdir_line(buf_str(&text), pointer_words));
}

static int open_common(int gitdir)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (faccessat(gitdir, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return openat(gitdir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return gitdir_target_read_file(gitdir, "commondir", 0, &text)
               ? gitdir_target_open_path(gitdir, gitdir_line(buf_str(&text), STR("")))
               : -1;
}

struct known_lead gitdir_target_of(
    const struct protect_root *r, enum scan_kind kind, struct str path)
{
    struct known_lead lead = {.known = true};
    struct stat st;
    AUTO_FD int gitdir = open_gitdir(r, kind, path);
    if (gitdir < 0 || fstat(gitdir, &st) != 0)
        return lead;
    lead.dev = st.st_dev;
    lead.ino = st.st_ino;
    AUTO_FD int common = open_common(gitdir);
    if (common < 0 || fstat(common, &st) != 0)
        return lead;
    lead.common_dev = st.st_dev;
    lead.common_ino = st.st_ino;
    return lead;
}

static bool gitdir_target_same_device(dev_t then, dev_t now)
{
    return then == now || then == KNOWN_ANY_DEVICE;
}

bool gitdir_target_changed(const struct known_lead *then, const struct known_lead *now)
{
    if (!then->known || !now->ino)
        return false;
    return then->ino != now->ino || !gitdir_target_same_device(then->dev, now->dev) ||
           (now->common_ino && (then->common_ino != now->common_ino ||
                                   !gitdir_target_same_device(then->common_dev, now->common_dev)));
}

/* Paths -----------------------------------------------------------------------------------------
 */

/* Follows a path that starts in a directory of the root; no value: it leaves the root. */
static struct str gitdir_target_follow(const struct protect_root *r, struct str above,
    struct str path, struct arena *a, int *ret_links)
{
    struct path_walk w = {0};
    struct str dir = known_absolute(r, above, a);
    bool absolute = path.n && path.p[0] == '/';
    struct str whole = absolute ? arena_str(a, path)
                                : str_z(arena_printf(a, STR_FMT "/" STR_FMT,
                                      STR_ARG(str_trim_end(dir, '/')), STR_ARG(path)));
    bool led = path_walk_follow(&w, whole, !absolute && r->path.n > 1 ? r->path.n : 0);
    *ret_links = w.links;
    struct str to = str_n(w.path, w.n);
    return led && lexical_is_below(r->path, to) ? arena_str(a, lexical_rest(r->path, to))
                                                : (struct str){0};
}

struct str gitdir_target_of_file(const struct protect_root *r, struct str path, struct arena *a)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    static const struct str none = {0};
    int links;
    if (!quarantine_read(r->fd, path.p, &text) || text.n > POINTER_MAX)
        return none;
    struct str line = str_trim_end(str_trim_end(buf_str(&text), '\n'), '\r');
    if (!str_starts_with(line, pointer_words) || memchr(line.p, '\n', line.n) ||
        memchr(line.p, '\0', line.n))
        return none;
    struct str gitdir = gitdir_target_follow(
        r, arena_str(a, known_above(path)), str_skip(line, pointer_words.n), a, &links);
    return links ? none : gitdir;
}

bool gitdir_target_link_is_plain(const struct protect_root *r, struct str path)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    int links;
    struct str gitdir = gitdir_target_follow(r, STR(""), path, &a, &links);
    const struct scan_place *place = gitdir.p ? scan_find(&r->scan, gitdir) : NULL;
    return place && place->kind == SCAN_GITDIR;
}
