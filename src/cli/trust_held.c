/* What was set aside, accepted. */
#include "cli/trust_held.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "cli/box_cmds.h"
#include "cli/out.h"
#include "path/file.h"
#include "path/lexical.h"
#include "repo/parts.h"
#include "repo/protect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    SHOWN_MAX = 64 * 1024, /* bytes that a person looks at */
};

static const struct str held_flag = {"held", 4};

/* Where in a path the part begins that says so; -1: nowhere. */
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

static struct trust entry_of(struct str bytes, struct str file, struct arena *a)
{
    char hex[SHA256_HEX], id[SHA256_HEX];
    struct sha256 all;
    sha256_text(bytes, hex);
    sha256_init(&all);
    sha256_add(&all, STR("cordon held 1\n"));
    sha256_add(&all, str_z(hex));
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

bool trust_held_accepts(void *context, struct str bytes)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    struct trust t = entry_of(bytes, STR(""), &a);
    return trust_open(context, false, &store, &ignored) && trust_has(&store, &t);
}

static bool read_held(struct str path, struct buf *bytes, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = open(path.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot open '" STR_FMT "'", STR_ARG(path));
    if (!S_ISREG(st.st_mode))
        return err_set(err, E_IO,
            "'" STR_FMT "' is not a file; move it back yourself when the session has ended",
            STR_ARG(path));
    return file_read(fd, PROTECT_FILE_MAX, path.p, bytes, err);
}

/* Settings have been replaced by those that were plain; a hook has not. */
static bool put_back(struct str path, struct arena *a, struct str *ret_place, struct err *err)
{
    ptrdiff_t at = held_at(path);
    struct str place = beside_of(path);
    if (at >= 0)
        place = str_z(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(str_head(path, (size_t)at)),
            STR_ARG(str_skip(path, (size_t)at + sizeof("/" PARTS_HELD "/") - 1))));
    else
        place = arena_str(a, place);
    bool settings = at >= 0 && str_starts_with(lexical_name(place), STR("config"));
    if (renameat2(AT_FDCWD, path.p, AT_FDCWD, place.p, settings ? 0 : RENAME_NOREPLACE) != 0)
        return err_errno(err, errno == EEXIST ? E_CONFLICT : E_IO, errno,
            "cannot put it back as '" STR_FMT "'", STR_ARG(place));
    *ret_place = place;
    return true;
}

static bool agree(struct cli *cli, struct str path, struct str bytes, bool yes, struct err *err)
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
    struct str place;
    if (str_is(lexical_name(path), "gitlinks"))
        return err_set(err, E_CLI_INVALID_ARG,
            "'" STR_FMT "' lists entries of an index; put them back with 'git update-index "
            "--index-info', which reads such lines",
            STR_ARG(path));
    if (!read_held(path, &bytes, err) || !agree(cli, path, buf_str(&bytes), yes, err) ||
        !put_back(path, cli->arena, &place, err))
        return false;
    struct trust t = entry_of(buf_str(&bytes), place, cli->arena);
    if (!trust_add(store, &t, err))
        return false;
    if (!cli->json) {
        out_text(cli, STR("put back: "));
        out_name(cli, place, '\n');
    }
    json_push(list, field_write(&trust_shape, &t));
    return true;
}
