/* Computes the identity of a scenario: the hashes of all its files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trust.h"

#include "job/consent.h"
#include "path/beneath.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CHUNK = 64 * 1024,
    FILE_BYTES_MAX = 1 << 30,
};

static const struct field named_fields[] = {
    FIELD_STR("path", struct trust_named, path, "absolute path", .flags = FIELD_REQUIRED),
    FIELD_STR(
        "sha256", struct trust_named, sha256, "hash of its contents", .flags = FIELD_REQUIRED),
};
static const struct shape named_shape =
    SHAPE("named file", struct trust_named, named_fields, "a file that a scenario names");

static const struct field trust_fields[] = {
    FIELD_U32("trust_version", struct trust, version, "1", .flags = FIELD_REQUIRED,
        FIELD_RANGE(TRUST_VERSION, TRUST_VERSION)),
    FIELD_STR("id", struct trust, id, "hash of the whole entry", .flags = FIELD_REQUIRED),
    FIELD_STR("file", struct trust, file, "the scenario", .flags = FIELD_REQUIRED),
    FIELD_STR("sha256", struct trust, sha256, "hash of its contents", .flags = FIELD_REQUIRED),
    FIELD_OBJECTS("named", struct trust, named, n_named, &named_shape,
        "files that the scenario names", .def = "[]", FIELD_RANGE(0, TRUST_NAMED_MAX)),
    FIELD_STRS("flags", struct trust, flags, "flags that the trust replaces", .def = "[]"),
    FIELD_U64("trusted_at_ms", struct trust, trusted_at_ms,
        "time of the trust, in milliseconds since 1970", .def = "0"),
};
const struct shape trust_shape =
    SHAPE("trust", struct trust, trust_fields, "a scenario that the user trusts");

/* Files --------------------------------------------------------------------------------------- */

struct trust_collector {
    struct arena *arena;
    struct str base; /* for relative names; no value: they are left out */
    struct trust *trust;
};

static bool trust_hash_file(int fd, struct str path, char hex[SHA256_HEX], struct err *err)
{
    AUTO_FREE char *chunk = base_alloc(CHUNK);
    struct sha256 hash;
    ssize_t n;
    sha256_init(&hash);
    while ((n = read(fd, chunk, CHUNK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, E_IO, errno, "cannot read '" STR_FMT "'", STR_ARG(path));
        sha256_add(&hash, str_n(chunk, (size_t)n));
        if (hash.total > FILE_BYTES_MAX)
            return err_set(err, E_IO,
                "'" STR_FMT "' is larger than %d bytes: a scenario that names it cannot be trusted",
                STR_ARG(path), FILE_BYTES_MAX);
    }
    sha256_hex(&hash, hex);
    return true;
}

static bool trust_add_named(
    struct trust_collector *g, struct str path, const char *hex, struct err *err)
{
    struct trust *t = g->trust;
    for (size_t i = 0; i < t->n_named; i++)
        if (str_eq(t->named[i].path, path))
            return true;
    if (t->n_named == TRUST_NAMED_MAX)
        return err_set(err, E_IO, "the scenario names more than %d files", TRUST_NAMED_MAX);
    t->named[t->n_named++] =
        (struct trust_named){arena_str(g->arena, path), arena_str(g->arena, str_z(hex))};
    return true;
}

/* Adds a word of the command line if it is a file, except the system's own files, which change with
 * every update. */
static bool trust_add_word(struct trust_collector *g, struct str word, struct err *err)
{
    struct stat st;
    char hex[SHA256_HEX];
    if (word.n == 0 || word.n > LEXICAL_MAX || memchr(word.p, '\0', word.n) ||
        (word.p[0] != '/' && !g->base.p))
        return true;
    struct str path = lexical_absolute(g->arena, g->base.p ? g->base : STR("/"), word);
    AUTO_FD int fd = open(path.p, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    if (!name || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || consent_is_system(str_z(name)))
        return true;
    return trust_hash_file(fd, path, hex, err) && trust_add_named(g, path, hex, err);
}

static bool trust_collect(struct trust_collector *g, const struct scenario *s, struct err *err)
{
    if (s->reference.path.p && !trust_add_named(g, s->reference.path, s->reference.sha256, err))
        return false;
    if (!trust_add_word(g, s->command, err))
        return false;
    for (size_t i = 0; i < s->args.n; i++)
        if (!trust_add_word(g, s->args.p[i], err))
            return false;
    return true;
}

/* Unambiguous: hashes have a fixed length, and paths contain no NUL. */
static void trust_compute_id(struct trust *t, struct arena *arena)
{
    struct sha256 all;
    char hex[SHA256_HEX];
    sha256_init(&all);
    sha256_add(&all, STR("cordon trust 1\n"));
    sha256_add(&all, t->sha256);
    for (size_t i = 0; i < t->n_named; i++) {
        sha256_add(&all, t->named[i].sha256);
        sha256_add(&all, t->named[i].path);
        sha256_add(&all, str_n("", 1));
    }
    sha256_hex(&all, hex);
    t->id = arena_str(arena, str_z(hex));
}

bool trust_identify(const struct scenario *s, const char *path, struct arena *arena,
    struct trust *ret_trust, struct err *err)
{
    struct trust t = {.version = TRUST_VERSION,
        .sha256 = arena_str(arena, str_z(s->sha256)),
        .named = ARENA_NEW(arena, struct trust_named, TRUST_NAMED_MAX)};
    struct trust_collector g = {.arena = arena, .trust = &t};
    g.base = s->cwd.p ? s->cwd : s->has_policy ? s->policy.fs.working_dir : (struct str){0};
    if (g.base.n == 0 || g.base.p[0] != '/')
        g.base = (struct str){0};
    t.file = lexical_absolute(
        arena, s->dir.p ? s->dir : STR("/"), s->dir.p ? lexical_name(str_z(path)) : str_z(path));
    if (!trust_collect(&g, s, err))
        return false;
    trust_compute_id(&t, arena);
    *ret_trust = t;
    return true;
}
