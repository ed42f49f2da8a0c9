/* Accepting held files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trust_held.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "cli/box_cmds.h"
#include "cli/out.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "repo/hold.h"
#include "repo/protect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    SHOWN_MAX = 64 * 1024, /* bytes shown for review */
};

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

struct trust_held_file {
    int dir;          /* directory of the held file */
    const char *name; /* its name in `dir` */
    struct str place; /* absolute path where it belongs */
    bool settings;
    mode_t mode;
};

/* Refuses symlinks in the path. */
static int trust_held_open_dir(struct str path, struct arena *a, struct err *err)
{
    ptrdiff_t slash = str_find_last(path, '/');
    const char *dir = slash > 0 ? arena_strdup(a, str_head(path, (size_t)slash)) : "/";
    AUTO_FD int there = beneath_peek(dir);
    AUTO_FREE char *name = there >= 0 ? beneath_name(there) : NULL;
    if (!name || strcmp(name, dir) != 0) {
        err_set(err, E_FS_VIOLATION, "'%s' is not there, or leads elsewhere by a link", dir);
        return -1;
    }
    int fd = openat(there, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        err_errno(err, E_IO, errno, "cannot open '%s'", dir);
    return fd;
}

static bool read_held(
    struct trust_held_file *h, struct str path, struct arena *a, struct buf *bytes, struct err *err)
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
            "'" STR_FMT "' is not a file; move it back yourself when the session has ended",
            STR_ARG(path));
    h->mode = st.st_mode & 0777;
    return file_read(fd, PROTECT_FILE_MAX, path.p, bytes, err);
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
    if (!hold_read(dir, name, &now))
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
static bool trust_held_restore(
    struct trust_held_file *h, struct str bytes, struct arena *a, struct err *err)
{
    const char *name = arena_strdup(a, lexical_name(h->place));
    const char *fresh = arena_printf(a, "%s.cordon-new", name);
    AUTO_FD int dir = trust_held_open_dir(h->place, a, err);
    if (dir < 0)
        return false;
    bool over = h->settings && trust_held_is_rest(dir, name, bytes);
    (void)unlinkat(dir, fresh, 0);
    AUTO_FD int fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && file_write_all(fd, bytes) && fchmod(fd, h->mode) == 0 && fsync(fd) == 0 &&
              (over ? renameat(dir, fresh, dir, name) == 0
                    : file_rename_new(dir, fresh, dir, name));
    int errnum = errno;
    if (!ok) {
        (void)unlinkat(dir, fresh, 0);
        return err_errno(err, errnum == EEXIST ? E_CONFLICT : E_IO, errnum,
            "cannot put it back as '" STR_FMT "'", STR_ARG(h->place));
    }
    (void)unlinkat(h->dir, h->name, 0);
    return true;
}

static bool trust_held_confirm(
    struct cli *cli, struct str path, struct str bytes, bool yes, struct err *err)
{
    AUTO_BUF struct buf shown = BUF_INIT(8 * SHOWN_MAX);
    struct str line, rest = str_head(bytes, SHOWN_MAX);
    if (yes)
        return true;
    out_note(cli, STR_FMT ":", STR_ARG(path));
    while (str_cut(rest, '\n', &line, &rest)) {
        buf_reset(&shown);
        utf8_add_printable(&shown, line);
        out_note(cli, "  %s", buf_z(&shown));
    }
    if (bytes.n > SHOWN_MAX)
        out_note(cli, "  [and %zu bytes more]", bytes.n - SHOWN_MAX);
    return box_use_consent(cli, "Put it back, so that git uses it?", "give --yes", err);
}

bool trust_held(struct cli *cli, const struct trust_store *store, struct str path, bool yes,
    json_t *list, struct err *err)
{
    AUTO_BUF struct buf bytes = BUF_INIT(2 * PROTECT_FILE_MAX);
    if (str_is(lexical_name(path), "gitlinks"))
        return err_set(err, E_CLI_INVALID_ARG,
            "'" STR_FMT "' lists entries of an index; put them back with 'git update-index "
            "--index-info', which reads such lines",
            STR_ARG(path));
    struct trust_held_file h = {.dir = -1, .place = trust_held_original_path(path, cli->arena)};
    h.settings = str_starts_with(lexical_name(h.place), STR("config"));
    bool ok = read_held(&h, path, cli->arena, &bytes, err) &&
              trust_held_confirm(cli, path, buf_str(&bytes), yes, err) &&
              trust_held_restore(&h, buf_str(&bytes), cli->arena, err);
    if (h.dir >= 0)
        close(h.dir);
    if (!ok)
        return false;
    struct trust t = trust_held_make_entry(buf_str(&bytes), h.place, cli->arena);
    if (!trust_add(store, &t, err))
        return false;
    if (!cli->json) {
        out_text(cli, STR("put back: "));
        out_name(cli, h.place, '\n');
    }
    json_push(list, field_write(&trust_shape, &t));
    return true;
}
