/* The user's store of trusted scenarios. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trust.h"

#include "base/id.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/replace.h"
#include "path/private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    ENTRY_MAX = 8 << 20,
    NAME_SIZE = SHA256_HEX + sizeof(".json"),
};

/* The directory ------------------------------------------------------------------------------- */

static bool check_store(const struct trust_store *s, struct err *err)
{
    struct stat st;
    if (fstat(s->dir, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat '%s'", s->path);
    return private_is(&st) ||
           err_set(err, E_CONFIG,
               "'%s' belongs to another user, or others can write to it, and is therefore "
               "ignored; remove it, or make it private (chmod 700)",
               s->path);
}

bool trust_open(const char *path, bool make, struct trust_store *ret_store, struct err *err)
{
    AUTO(trust_close) struct trust_store s = {.dir = -1, .path = path};
    if (make && !private_make(path))
        return err_errno(err, E_IO, errno, "cannot create the directory '%s'", path);
    s.dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s.dir < 0 && errno == ENOENT)
        return err_set(err, E_NOT_FOUND, "nothing is trusted: '%s' does not exist", path);
    if (s.dir < 0)
        return err_errno(err, E_CONFIG, errno, "cannot open the directory '%s'", path);
    if (!check_store(&s, err))
        return false;
    *ret_store = s;
    s.dir = -1;
    return true;
}

void trust_close(struct trust_store *s)
{
    if (s->dir >= 0)
        close(TAKE_FD(s->dir));
}

/* Entries ------------------------------------------------------------------------------------- */

static void entry_name(struct str id, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, STR_FMT ".json", STR_ARG(str_head(id, SHA256_HEX - 1)));
}

/* Ignores an entry that is not private, is incomplete, or is not named by its id. */
static bool read_entry(int dir, const char *name, struct arena *arena, struct trust *ret_trust)
{
    struct stat st;
    char want[NAME_SIZE];
    AUTO_ERR struct err ignored = {0};
    AUTO_JSON json_t *tree = NULL;
    AUTO_BUF struct buf text = BUF_INIT(2 * ENTRY_MAX);
    struct trust t;
    AUTO_FD int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !private_is(&st) ||
        !file_read(fd, ENTRY_MAX, name, &text, &ignored) ||
        !json_parse(buf_str(&text), name, E_CONFIG, &tree, &ignored) ||
        !field_read(&trust_shape, tree, arena, E_CONFIG, &t, &ignored))
        return false;
    entry_name(t.id, want);
    if (t.id.n != SHA256_HEX - 1 || strcmp(name, want) != 0)
        return false;
    *ret_trust = t;
    return true;
}

bool trust_has(const struct trust_store *s, const struct trust *trust)
{
    AUTO_ARENA struct arena arena = ARENA_INIT((size_t)64 << 20);
    char name[NAME_SIZE];
    struct trust found;
    entry_name(trust->id, name);
    return read_entry(s->dir, name, &arena, &found) && str_eq(found.id, trust->id) &&
           str_eq(found.sha256, trust->sha256);
}

static int by_file(const void *a, const void *b)
{
    const struct trust *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    return order ? order : str_cmp(x->id, y->id);
}

bool trust_list(const struct trust_store *s, struct arena *arena, struct trust **ret_list,
    size_t *ret_n, struct err *err)
{
    struct trust *list = ARENA_NEW(arena, struct trust, TRUST_ENTRIES_MAX);
    size_t n = 0;
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open(&d, s->dir, "."))
        return err_errno(err, E_IO, errno, "cannot read the directory '%s'", s->path);
    while (n < TRUST_ENTRIES_MAX && dir_next(&d))
        n += read_entry(s->dir, d.name, arena, &list[n]);
    if (d.errnum)
        return err_errno(err, E_IO, d.errnum, "cannot read the directory '%s'", s->path);
    qsort(list, n, sizeof(*list), by_file);
    *ret_list = list;
    *ret_n = n;
    return true;
}

/* Returns the first file of `now` that differs from `then`. */
static struct str first_change(const struct trust *then, const struct trust *now)
{
    if (!str_eq(then->sha256, now->sha256))
        return now->file;
    for (size_t i = 0; i < MAX(now->n_named, then->n_named); i++) {
        if (i >= now->n_named)
            return then->named[i].path;
        if (i >= then->n_named || !str_eq(now->named[i].path, then->named[i].path) ||
            !str_eq(now->named[i].sha256, then->named[i].sha256))
            return now->named[i].path;
    }
    return now->file;
}

const char *trust_changed(
    const struct trust_store *s, const struct trust *trust, struct arena *arena)
{
    AUTO_ERR struct err ignored = {0};
    struct trust *list;
    size_t n;
    if (!trust_list(s, arena, &list, &n, &ignored))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].file, trust->file))
            return arena_strdup(arena, first_change(&list[i], trust));
    return NULL;
}

/* Changes ------------------------------------------------------------------------------------- */

static bool trust_cannot_write(const struct trust_store *s, int errnum, struct err *err)
{
    return err_errno(err, E_IO, errnum, "cannot write to '%s'", s->path);
}

/* Removes the entries for a file, except the one to keep. */
static bool trust_remove_entries(
    const struct trust_store *s, struct str file, struct str stays, size_t *ret_n, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT((size_t)1 << 30);
    struct trust *list;
    size_t n, removed = 0;
    char name[NAME_SIZE];
    if (!trust_list(s, &arena, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(list[i].file, file) || (stays.p && str_eq(list[i].id, stays)))
            continue;
        entry_name(list[i].id, name);
        if (unlinkat(s->dir, name, 0) != 0 && errno != ENOENT)
            return trust_cannot_write(s, errno, err);
        removed++;
    }
    *ret_n = removed;
    return true;
}

bool trust_remove(const struct trust_store *s, struct str file, size_t *ret_n, struct err *err)
{
    return trust_remove_entries(s, file, (struct str){0}, ret_n, err);
}

/* Atomic replace: an entry is complete or does not exist. */
static bool trust_store_write(
    const struct trust_store *s, const char *name, struct str text, struct err *err)
{
    const struct replace_options o = {
        .dir = s->dir, .name = name, .mode = 0600, .flags = REPLACE_DURABLE | REPLACE_EXACT_MODE};
    return replace_file(&o, text) || trust_cannot_write(s, errno, err);
}

bool trust_add(const struct trust_store *s, const struct trust *trust, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(ENTRY_MAX);
    AUTO_JSON json_t *json = field_write(&trust_shape, trust);
    char name[NAME_SIZE];
    size_t n;
    json_add_pretty(&text, json);
    buf_add_byte(&text, '\n');
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the entry for '" STR_FMT "' is too large", STR_ARG(trust->file));
    entry_name(trust->id, name);
    return trust_store_write(s, name, buf_str(&text), err) &&
           trust_remove_entries(s, trust->file, trust->id, &n, err);
}
