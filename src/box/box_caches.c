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

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    WHY_MAX = 4096,
};

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Relative to the home directory. They hold packages and what was made of them; logins for
 * registries are in other files (~/.npmrc, ~/.cargo/credentials.toml, ~/.m2/settings.xml,
 * ~/.gradle/gradle.properties, ~/.config/pip). */
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

/* Opens the layers in the box's caches/, and creates those that do not exist; the box sees the mode
 * of the upper one. */
static bool caches_layers(
    const struct box *box, struct arena *a, mode_t mode, struct plan_overlay *o)
{
    char name[CARET_NAME_MAX + 1];
    caret_name(o->at, name);
    AUTO_FD int all = openat(box->fd, "caches", OPEN_DIR);
    AUTO_FD int dir = caches_make_dir(all, name);
    AUTO_FD int upper = caches_make_dir(dir, "upper"), work = caches_make_dir(dir, "work");
    return caches_source(upper, a, &o->upper) && caches_source(work, a, &o->work) &&
           fchmod(upper, (mode & 0777) | 0700) == 0;
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

static bool caches_overlay(const struct box_caches_input *in, struct arena *a, struct str path,
    struct plan_overlay *ret_overlay)
{
    struct plan_overlay o = {.at = path, .exec = true};
    struct stat st;
    AUTO_FD int fd = beneath_peek(path.p);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) || !caches_source(fd, a, &o.lower) ||
        caches_is_refused(in, a, path, o.lower.path) || !caches_layers(in->box, a, st.st_mode, &o))
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
    bool home = caches_home_is_same(in);
    for (size_t i = 0; i < ARRAY_LEN(home_caches) + ARRAY_LEN(system_caches); i++) {
        bool in_home = i < ARRAY_LEN(home_caches);
        struct str path =
            in_home ? str_z(arena_printf(a, STR_FMT "/%s", STR_ARG(in->box_home), home_caches[i]))
                    : str_z(system_caches[i - ARRAY_LEN(home_caches)]);
        if ((!in_home || home) && n < BOX_CACHES_MAX && caches_has_entries(path))
            n += caches_overlay(in, a, path, &overlays[n]);
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
    for (size_t i = 0; i < MIN(paths->n, (size_t)BOX_CACHES_MAX); i++)
        n += caches_overlay(in, arena, paths->p[i], &ret_overlays[n]);
    return n;
}
