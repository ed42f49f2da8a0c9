/* Accepting held files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trust_held.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static const struct str held_flag = {"held", 4};

/* Offset of the held directory in a path; -1: none. */
static ptrdiff_t held_at(struct str path)
{
    static const struct str dir = {"/" PARTS_HELD "/", sizeof("/" PARTS_HELD "/") - 1};
    for (size_t i = path.n; i-- > 0;)
        if (str_starts_with(str_skip(path, i), dir))
            return (ptrdiff_t)i;
    return -1;
}

static struct str beside_of(struct str path)
{
    struct str end = STR("." PARTS_HELD);
    return str_ends_with(path, end) ? str_head(path, path.n - end.n) : (struct str){0};
}

bool trust_held_is(struct str path)
{
    return held_at(path) >= 0 || beside_of(path).p;
}

bool trust_held_entry(const struct trust *t)
{
    return t->flags.n == 1 && str_eq(t->flags.p[0], held_flag);
}

/* Trust is for contents at a path: the same settings elsewhere may name other files. */
static struct trust trust_held_make_entry(struct str bytes, struct str file, struct arena *a)
{
    char hex[SHA256_HEX], id[SHA256_HEX];
    struct sha256 all;
    sha256_text(bytes, hex);
    sha256_init(&all);
    sha256_add(&all, STR("cordon held 1\n"));
    sha256_add(&all, str_z(hex));
    sha256_add(&all, file);
    sha256_hex(&all, id);
    struct str *flags = ARENA_NEW(a, struct str, 1);
    flags[0] = held_flag;
    return (struct trust){.version = TRUST_VERSION,
        .id = arena_str(a, str_z(id)),
        .file = file,
        .sha256 = arena_str(a, str_z(hex)),
        .flags = {flags, 1},
        .trusted_at_ms = clock_wall_ms()};
}

bool trust_held_accepts(void *context, struct str path, struct str bytes)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    struct trust t = trust_held_make_entry(bytes, path, &a);
    return trust_open(context, false, &store, &ignored) && trust_has(&store, &t);
}

void trust_held_done(struct trust_held *h)
{
    auto_fd(&h->dir);
    h->dir = -1;
    buf_done(&h->bytes);
}

/* Refuses symlinks in the path. */
static int trust_held_open_dir(struct str path, struct arena *a, struct err *err)
{
    ptrdiff_t slash = str_find_last(path, '/');
    const char *dir = slash > 0 ? arena_strdup(a, str_head(path, (size_t)slash)) : "/";
    AUTO_FD int there = beneath_peek(dir);
    AUTO_FREE char *name = there >= 0 ? beneath_name(there) : NULL;
    if (!name || strcmp(name, dir) != 0) {
        err_set(err, E_FS_VIOLATION, "'%s' does not exist, or is reached through a link", dir);
        return -1;
    }
    int fd = openat(there, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        err_errno(err, E_IO, errno, "cannot open '%s'", dir);
    return fd;
}

static bool read_held(struct trust_held *h, struct str path, struct arena *a, struct err *err)
{
    struct stat st;
    h->dir = trust_held_open_dir(path, a, err);
    h->name = arena_strdup(a, lexical_name(path));
    if (h->dir < 0)
        return false;
    AUTO_FD int fd =
        openat(h->dir, h->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot open '" STR_FMT "'", STR_ARG(path));
    if (!S_ISREG(st.st_mode))
        return err_set(err, E_IO,
            "'" STR_FMT "' is not a regular file; move it back yourself when the session has ended",
            STR_ARG(path));
    h->mode = st.st_mode & 0777;
    return file_read(fd, PROTECT_FILE_MAX, path.p, &h->bytes, err);
}

/* Original path of a held file, without the suffix that avoids name collisions. */
static struct str trust_held_original_path(struct str path, struct arena *a)
{
    enum {
        SUFFIX = 9
    };
    ptrdiff_t at = held_at(path);
    struct str place = beside_of(path);
    if (at >= 0) {
        struct str rest = str_skip(path, (size_t)at + sizeof("/" PARTS_HELD "/") - 1);
        if (rest.n > SUFFIX && rest.p[rest.n - SUFFIX] == '.' &&
            strspn(rest.p + rest.n - SUFFIX + 1, "0123456789abcdef") == SUFFIX - 1)
            rest.n -= SUFFIX;
        return str_z(arena_printf(
            a, STR_FMT "/" STR_FMT, STR_ARG(str_head(path, (size_t)at)), STR_ARG(rest)));
    }
    return arena_str(a, place);
}

/* Settings may be replaced only if they are exactly the part of these that was left in place. */
static bool trust_held_is_rest(int dir, const char *name, struct str bytes)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    AUTO_BUF struct buf now = BUF_INIT(2 * PROTECT_FILE_MAX);
    AUTO_BUF struct buf plain = BUF_INIT(4 * PROTECT_FILE_MAX);
    struct gitconfig config;
    if (!quarantine_read(dir, name, &now))
        return false;
    size_t n = 0;
    if (gitconfig_parse(bytes, &a, &config))
        for (size_t i = 0; i < config.n; i++)
            if (parts_setting_is_plain(&config.p[i]))
                config.p[n++] = config.p[i];
    if (n)
        gitconfig_write(config.p, n, &plain);
    return str_eq(buf_str(&now), buf_str(&plain));
}

/* Writes the bytes that were shown, not the held file, which may have changed since. */
static bool trust_held_put_back(
    struct trust_held *h, struct str bytes, struct arena *a, struct err *err)
{
    const char *name = arena_strdup(a, lexical_name(h->place));
    const char *fresh = arena_printf(a, "%s.cordon-new", name);
    AUTO_FD int dir = trust_held_open_dir(h->place, a, err);
    if (dir < 0)
        return false;
    bool over = h->settings && trust_held_is_rest(dir, name, bytes);
    const struct replace_options o = {.dir = dir,
        .name = name,
        .temp = fresh,
        .mode = h->mode,
        .flags = REPLACE_SYNC | REPLACE_EXACT_MODE | (over ? 0 : REPLACE_NEW)};
    if (!replace_file(&o, bytes))
        return err_errno(err, errno == EEXIST ? E_CONFLICT : E_IO, errno,
            "cannot restore it as '" STR_FMT "'", STR_ARG(h->place));
    (void)unlinkat(h->dir, h->name, 0);
    return true;
}

bool trust_held_read(struct str path, struct arena *a, struct trust_held *h, struct err *err)
{
    if (str_is(lexical_name(path), "gitlinks"))
        return err_set(err, E_CLI_INVALID_ARG,
            "'" STR_FMT
            "' lists entries of an index; restore them with 'git update-index --index-info', "
            "which reads such lines",
            STR_ARG(path));
    h->place = trust_held_original_path(path, a);
    h->settings = str_starts_with(lexical_name(h->place), STR("config"));
    return read_held(h, path, a, err);
}

bool trust_held_restore(struct trust_held *h, const struct trust_store *store, struct arena *a,
    struct trust *ret_trust, struct err *err)
{
    if (!trust_held_put_back(h, buf_str(&h->bytes), a, err))
        return false;
    *ret_trust = trust_held_make_entry(buf_str(&h->bytes), h->place, a);
    return trust_add(store, ret_trust, err);
}
