/* Reads /proc/self/mountinfo. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mounts.h"

#include "base/fnv.h"
#include "io/file.h"
#include "path/lexical.h"
#include "sandbox/machine.h"

#include <errno.h>
#include <fcntl.h>

enum {
    MOUNTS_MAX = 64 * 1024,
    LEFT_OVER = 1 << 20, /* of the arena, for later allocations */

    /* Fields before the optional ones, counted from 0. */
    FIELD_ID = 0,
    FIELD_DEV = 2,
    FIELD_ROOT = 3,
    FIELD_AT = 4,
    FIELDS,
};

struct mounts_entry {
    struct str field[FIELDS]; /* still escaped */
    struct str type;
};

static bool is_kernel_type(struct str type)
{
    static const char *const types[] = {"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2",
        "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs", "fusectl", "mqueue", "nfsd",
        "nsfs", "proc", "pstore", "resctrl", "rpc_pipefs", "securityfs", "selinuxfs", "smackfs",
        "sysfs", "tracefs"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(type, types[i]))
            return true;
    return false;
}

/* Blanks, tabs, line breaks and backslashes are written as \ooo. */
static struct str mounts_unescape(struct arena *arena, struct str text)
{
    char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\' && text.n - i > 3) {
            out[n++] = (char)((text.p[i + 1] - '0') << 6 | (text.p[i + 2] - '0') << 3 |
                              (text.p[i + 3] - '0'));
            i += 3;
        } else {
            out[n++] = text.p[i];
        }
    }
    return str_n(out, n);
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime shared:1 - ext3 /dev/root rw": the optional fields end in "-".
 */
static bool mounts_parse_line(struct str line, struct mounts_entry *ret_mount)
{
    struct mounts_entry mount = {0};
    struct str word, rest = line;
    for (int field = 0; str_cut(rest, ' ', &word, &rest); field++) {
        if (field < FIELDS)
            mount.field[field] = word;
        else if (str_is(word, "-") && str_cut(rest, ' ', &mount.type, &rest)) {
            *ret_mount = mount;
            return true;
        }
    }
    return false;
}

/* Iterates over the mounts: one that can't be parsed or stored ends it with an error. */
struct mounts_reader {
    struct arena *arena;
    struct str rest;
    const char *failed; /* the step that failed, or NULL */
    struct str *p;      /* the collected paths */
    size_t n, cap;
};

static void mounts_reader_fail(struct mounts_reader *r, const char *why)
{
    r->failed = why;
    r->rest = (struct str){0};
}

static bool mounts_next(struct mounts_reader *r, struct mounts_entry *ret_mount)
{
    struct str line;
    if (r->rest.n == 0)
        return false;
    if (str_cut(r->rest, '\n', &line, &r->rest) && mounts_parse_line(line, ret_mount) &&
        arena_left(r->arena) > 4 * line.n + r->cap * 2 * sizeof(*r->p) + LEFT_OVER)
        return true;
    mounts_reader_fail(r, "parsing /proc/self/mountinfo");
    return false;
}

static void mounts_keep(struct mounts_reader *r, struct str path)
{
    ARENA_GROW(r->arena, r->p, r->n, r->cap);
    r->p[r->n++] = path;
    if (r->n == MOUNTS_MAX)
        mounts_reader_fail(r, "hiding too many mounts of the host");
}

static bool mounts_reader_finish(
    const struct mounts_reader *r, struct mounts_list *ret_list, struct err *err)
{
    if (r->failed)
        return machine_unavailable(&(struct machine_failure){r->failed, E2BIG, {0}}, err);
    *ret_list = (struct mounts_list){r->p, r->n};
    return true;
}

bool mounts_of_kernel(
    struct arena *arena, struct str mountinfo, struct mounts_list *ret_list, struct err *err)
{
    struct mounts_reader r = {.arena = arena, .rest = mountinfo};
    struct mounts_entry mount;
    while (mounts_next(&r, &mount)) {
        struct str at = mount.field[FIELD_AT];
        if (is_kernel_type(mount.type) && !lexical_is_below(STR("/proc"), at) &&
            !lexical_is_below(STR("/sys"), at) && !lexical_is_below(STR("/dev"), at))
            mounts_keep(&r, mounts_unescape(arena, at));
    }
    return mounts_reader_finish(&r, ret_list, err);
}

bool mounts_below(
    struct arena *arena, struct str mountinfo, struct str path, bool *ret_any, struct err *err)
{
    struct mounts_reader r = {.arena = arena, .rest = mountinfo};
    struct mounts_list ignored;
    struct mounts_entry mount;
    bool any = false;
    while (mounts_next(&r, &mount)) {
        struct str at = mounts_unescape(arena, mount.field[FIELD_AT]);
        any |= lexical_is_below(path, at) && !str_eq(path, at);
    }
    if (!mounts_reader_finish(&r, &ignored, err))
        return false;
    *ret_any = any;
    return true;
}

/* Returns false on errors and if there is no such mount. */
static bool find_mount(struct mounts_reader *r, uint64_t id, struct mounts_entry *ret_mount)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
    while (mounts_next(r, ret_mount))
        if (str_is(ret_mount->field[FIELD_ID], text))
            return true;
    return false;
}

bool mounts_other_names(struct arena *arena, struct str mountinfo, const struct mounts_place *place,
    struct mounts_list *ret_list, struct err *err)
{
    struct mounts_reader first = {.arena = arena, .rest = mountinfo};
    struct mounts_reader r = {.arena = arena, .rest = mountinfo};
    struct mounts_entry own, other;
    if (!find_mount(&first, place->mount, &own))
        return mounts_reader_finish(&first, ret_list, err);
    struct str at = mounts_unescape(arena, own.field[FIELD_AT]);
    if (!lexical_is_below(at, place->path))
        return mounts_reader_finish(&first, ret_list, err);
    /* Its path within its file system. */
    struct str inner = lexical_absolute(
        arena, mounts_unescape(arena, own.field[FIELD_ROOT]), lexical_rest(at, place->path));
    while (mounts_next(&r, &other)) {
        struct str root = mounts_unescape(arena, other.field[FIELD_ROOT]);
        if (!str_eq(other.field[FIELD_DEV], own.field[FIELD_DEV]) || !lexical_is_below(root, inner))
            continue;
        struct str alias = lexical_absolute(
            arena, mounts_unescape(arena, other.field[FIELD_AT]), lexical_rest(root, inner));
        if (!str_eq(alias, place->path))
            mounts_keep(&r, alias);
    }
    return mounts_reader_finish(&r, ret_list, err);
}

bool mounts_find(struct arena *arena, struct str mountinfo, const struct mounts_wanted *wanted,
    struct mounts_shown *ret_shown)
{
    struct mounts_reader r = {.arena = arena, .rest = mountinfo};
    struct mounts_entry mount;
    while (mounts_next(&r, &mount)) {
        if (!str_eq(mount.type, wanted->type))
            continue;
        struct str root = mounts_unescape(arena, mount.field[FIELD_ROOT]);
        if (!lexical_is_below(root, wanted->path))
            continue;
        *ret_shown = (struct mounts_shown){
            mounts_unescape(arena, mount.field[FIELD_AT]), lexical_rest(root, wanted->path)};
        return true;
    }
    return false;
}

uint64_t mounts_add_hash(struct arena *arena, struct str mountinfo, struct str dir, uint64_t hash)
{
    struct mounts_reader r = {.arena = arena, .rest = mountinfo};
    struct mounts_entry mount;
    while (mounts_next(&r, &mount)) {
        struct str at = mounts_unescape(arena, mount.field[FIELD_AT]);
        for (size_t i = 0; (lexical_is_below(dir, at) || lexical_is_below(at, dir)) && i < FIELDS;
             i++)
            hash = fnv_add(fnv_add(hash, mount.field[i]), STR(" "));
    }
    return hash;
}

bool mounts_statx(struct str path, unsigned mask, struct statx *ret_stat)
{
    return statx(AT_FDCWD, path.p, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, ret_stat) == 0;
}

bool mounts_same_file(const struct statx *a, const struct statx *b)
{
    return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
           a->stx_dev_minor == b->stx_dev_minor;
}

/* An empty file is an error: at least /proc is mounted. */
bool mounts_read(struct buf *text, struct err *err)
{
    AUTO_ERR struct err failed = {0};
    AUTO_FD int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    int errnum = fd < 0 ? errno : EIO;
    if (fd < 0 || !file_read(fd, MOUNTS_TEXT_MAX - 1, "mountinfo", text, &failed) || text->n == 0)
        return machine_unavailable(
            &(struct machine_failure){"reading /proc/self/mountinfo", errnum, {0}}, err);
    return true;
}
