/* Caches of package managers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box_caches.h"

#include "box/layering.h"
#include "io/dir.h"
#include "path/beneath.h"
#include "path/caret.h"
#include "path/lexical.h"
#include "path/through.h"
#include "policy/blocked.h"
#include "policy/home_table.h"
#include "policy/narrow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    WHY_MAX = 4096,
};

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Relative to the home directory. They hold packages and what was made of them. Most logins for
 * registries are in other files; those in a cache are rows of policy/home_table.c, and hidden by
 * whiteouts in the box's layer. */
static const char *const home_caches[] = {
    ".bun/install/cache",
    ".cache/composer",
    ".cache/deno",
    ".cache/go-build",
    ".cache/pip",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".gradle/wrapper",
    ".ivy2/cache",
    ".m2/repository",
    ".npm/_cacache",
    ".nuget/packages",
    "go/pkg",
};
static const char *const system_caches[] = {"/var/lib/apt/lists"};

/* Layers -------------------------------------------------------------------------------------- */

static int caches_make_dir(int dir, const char *name)
{
    if (dir < 0 || (mkdirat(dir, name, 0700) != 0 && errno != EEXIST))
        return -1;
    return openat(dir, name, OPEN_DIR);
}

static bool caches_source(int fd, struct arena *a, struct plan_source *ret_source)
{
    struct stat st;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    if (!name || fstat(fd, &st) != 0)
        return false;
    *ret_source = (struct plan_source){arena_str(a, str_z(name)), st.st_dev, st.st_ino};
    return true;
}

/* Secrets ------------------------------------------------------------------------------------- */

/* A directory of the upper layer above a hidden file, with the mode of the lower one. */
static int caches_enter(int upper, int lower, const char *name)
{
    struct stat st;
    if (fstatat(lower, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode)) {
        errno = ENOENT;
        return -1;
    }
    bool made = mkdirat(upper, name, 0700) == 0;
    AUTO_FD int fd = made || errno == EEXIST ? openat(upper, name, OPEN_DIR) : -1;
    if (fd < 0 || (made && fchmod(fd, (st.st_mode & 0777) | 0700) != 0))
        return -1;
    return TAKE_FD(fd);
}

/* Hides a path of the lower layer, now and later. Where the box has a file of its own, or the lower
 * layer has no directory, there is nothing to hide. */
static bool caches_hide(int upper_fd, int lower_fd, struct str rest, struct arena *a)
{
    struct str name;
    AUTO_FD int upper = openat(upper_fd, ".", OPEN_DIR), lower = openat(lower_fd, ".", OPEN_DIR);
    while (upper >= 0 && lower >= 0 && lexical_next(&rest, &name)) {
        const char *text = arena_strdup(a, name);
        if (str_trim_end(rest, '/').n == 0)
            return mknodat(upper, text, S_IFCHR, 0) == 0 || errno == EEXIST;
        int inner = caches_enter(upper, lower, text);
        int inner_errno = errno;
        int below = openat(lower, text, OPEN_DIR);
        close(upper);
        close(lower);
        upper = inner;
        lower = below;
        errno = inner_errno;
    }
    return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
}

/* Files that hold secrets: those found, and those with a fixed name even if they do not exist. */
static bool caches_hide_secrets(
    const struct narrow *secrets, struct arena *a, const struct plan_overlay *o, int upper)
{
    const struct home_row *rows;
    const char *const *names;
    const size_t n = home_table_hidden(&rows), n_names = home_table_names(&names);
    AUTO_FD int lower = open(o->lower.path.p, OPEN_DIR);
    for (size_t i = 0; i < secrets->n_hidden; i++) {
        struct str path = secrets->hidden[i].path;
        if (lexical_is_below(path, o->lower.path))
            return false;
        if (lexical_is_below(o->lower.path, path) &&
            !caches_hide(upper, lower, lexical_rest(o->lower.path, path), a))
            return false;
    }
    for (size_t i = 0; i < n_names; i++)
        if (!caches_hide(upper, lower, str_z(names[i]), a))
            return false;
    for (size_t i = 0; i < n; i++) {
        struct str path = str_z(rows[i].path);
        bool fixed = str_find(path, '*') < 0 && !rows[i].only_with && !rows[i].has_password;
        struct str full =
            str_z(arena_printf(a, STR_FMT "/%s", STR_ARG(secrets->home), rows[i].path));
        if (fixed && lexical_is_below(o->at, full) && !str_eq(o->at, full) &&
            !caches_hide(upper, lower, lexical_rest(o->at, full), a))
            return false;
    }
    return true;
}

/* Opens the layers in the box's caches/, and creates those that do not exist; the box sees the mode
 * of the upper one. */
static bool caches_layers(const struct box *box, const struct narrow *secrets, struct arena *a,
    mode_t mode, struct plan_overlay *o)
{
    char name[CARET_NAME_MAX + 1];
    caret_name(o->at, name);
    AUTO_FD int all = openat(box->fd, "caches", OPEN_DIR);
    AUTO_FD int dir = caches_make_dir(all, name);
    AUTO_FD int upper = caches_make_dir(dir, "upper"), work = caches_make_dir(dir, "work");
    return caches_source(upper, a, &o->upper) && caches_source(work, a, &o->work) &&
           fchmod(upper, (mode & 0777) | 0700) == 0 && caches_hide_secrets(secrets, a, o, upper);
}

/* Finding ------------------------------------------------------------------------------------- */

/* Whether a resolved directory must not be shown as a cache. */
static bool caches_is_refused(
    const struct box_caches_input *in, struct arena *a, struct str path, struct str real)
{
    if (blocked_path(real, BLOCKED_READ) || lexical_is_below(real, in->box_home) ||
        lexical_is_below(real, in->state) || lexical_is_below(in->state, real) ||
        through_dirs(path, &in->writable, a))
        return true;
    for (size_t i = 0; i < in->inside.n; i++)
        if (lexical_is_below(in->inside.p[i], path) || lexical_is_below(path, in->inside.p[i]) ||
            lexical_is_below(in->inside.p[i], real) || lexical_is_below(real, in->inside.p[i]))
            return true;
    return false;
}

static bool caches_overlay(const struct box_caches_input *in, const struct narrow *secrets,
    struct arena *a, struct str path, struct plan_overlay *ret_overlay)
{
    struct plan_overlay o = {.at = path, .exec = true};
    struct stat st;
    AUTO_FD int fd = beneath_peek(path.p);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) || !caches_source(fd, a, &o.lower) ||
        caches_is_refused(in, a, path, o.lower.path) ||
        !caches_layers(in->box, secrets, a, st.st_mode, &o))
        return false;
    *ret_overlay = o;
    return true;
}

static bool caches_has_entries(struct str path)
{
    AUTO_DIR struct dir d = DIR_INIT(1);
    return dir_open_path(&d, path.p) && dir_next(&d);
}

/* Only in the user's own home directory: elsewhere package managers would not look for them. */
static bool caches_home_is_same(const struct box_caches_input *in)
{
    AUTO_FD int fd = in->home ? beneath_peek(in->home) : -1;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    return name && str_eq(str_z(name), in->box_home);
}

static size_t caches_find(
    const struct box_caches_input *in, struct arena *a, struct plan_overlay *overlays)
{
    size_t n = 0;
    struct narrow secrets;
    bool home = caches_home_is_same(in);
    narrow_init(&secrets, in->home, a);
    for (size_t i = 0; i < ARRAY_LEN(home_caches) + ARRAY_LEN(system_caches); i++) {
        bool in_home = i < ARRAY_LEN(home_caches);
        struct str path =
            in_home ? str_z(arena_printf(a, STR_FMT "/%s", STR_ARG(in->box_home), home_caches[i]))
                    : str_z(system_caches[i - ARRAY_LEN(home_caches)]);
        if ((!in_home || home) && n < BOX_CACHES_MAX && caches_has_entries(path))
            n += caches_overlay(in, &secrets, a, path, &overlays[n]);
    }
    return n;
}

/* Choosing ------------------------------------------------------------------------------------ */

static bool caches_can_mount(
    const struct plan_overlay *overlays, size_t n, struct arena *a, const char **ret_why)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf why = BUF_INIT(WHY_MAX);
    if (layering_test(overlays, n, &why, &err))
        return true;
    *ret_why = arena_strdup(a, why.n ? buf_str(&why) : str_z(err.message));
    return false;
}

static void caches_note(struct arena *a, struct str_list *list, struct str path)
{
    if (!list->p)
        list->p = ARENA_NEW(a, struct str, BOX_CACHES_MAX);
    list->p[list->n++] = path;
}

/* All at once, as it will be; only if that fails one by one. */
void box_caches_choose(
    const struct box_caches_input *in, struct arena *arena, struct box_caches_choice *ret_choice)
{
    struct plan_overlay *overlays = ARENA_NEW(arena, struct plan_overlay, BOX_CACHES_MAX);
    struct box_caches_choice c = {0};
    size_t n = caches_find(in, arena, overlays);
    bool all = n == 0 || caches_can_mount(overlays, n, arena, &c.why);
    for (size_t i = 0; i < n; i++) {
        bool ok = all || caches_can_mount(&overlays[i], 1, arena, &c.why);
        caches_note(arena, ok ? &c.shown : &c.omitted, overlays[i].at);
    }
    *ret_choice = c;
}

size_t box_caches_overlays(
    const struct box_caches_input *in, struct arena *arena, struct plan_overlay *ret_overlays)
{
    const struct str_list *paths = &in->box->setup.caches;
    size_t n = 0;
    struct narrow secrets;
    narrow_init(&secrets, paths->n ? in->home : NULL, arena);
    for (size_t i = 0; i < MIN(paths->n, (size_t)BOX_CACHES_MAX); i++)
        n += caches_overlay(in, &secrets, arena, paths->p[i], &ret_overlays[n]);
    return n;
}
