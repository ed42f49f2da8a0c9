/* Reading /proc/self/mountinfo. */
#include "sandbox/mounts.h"

#include "path/file.h"
#include "path/lexical.h"

#include <fcntl.h>

enum {
    MOUNTS_MAX = 4096,

    /* Fields that come before the optional ones, counted from 0. */
    FIELD_ID = 0,
    FIELD_DEV = 2,
    FIELD_ROOT = 3,
    FIELD_AT = 4,
    FIELDS,
};

struct mount {
    struct str field[FIELDS]; /* as they are written */
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

/* Blanks, tabs, newlines and backslashes are written as \ooo. */
static struct str unescape(struct arena *arena, struct str text)
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
static bool parse_line(struct str line, struct mount *ret_mount)
{
    struct mount mount = {0};
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

static bool next_mount(struct str *rest, struct mount *ret_mount)
{
    struct str line;
    while (str_cut(*rest, '\n', &line, rest))
        if (parse_line(line, ret_mount))
            return true;
    return false;
}

/* A list of paths with room for all. */
struct list {
    struct arena *arena;
    struct str *p;
    size_t n;
};

static void add(struct list *list, struct str path)
{
    if (!list->p)
        list->p = ARENA_NEW(list->arena, struct str, MOUNTS_MAX);
    if (list->n < MOUNTS_MAX)
        list->p[list->n++] = path;
}

size_t mounts_of_kernel(struct arena *arena, struct str mountinfo, struct str **ret_at)
{
    struct list list = {.arena = arena};
    struct mount mount;
    while (next_mount(&mountinfo, &mount)) {
        struct str at = mount.field[FIELD_AT];
        if (is_kernel_type(mount.type) && !lexical_is_below(STR("/proc"), at) &&
            !lexical_is_below(STR("/sys"), at) && !lexical_is_below(STR("/dev"), at))
            add(&list, unescape(arena, at));
    }
    *ret_at = list.p;
    return list.n;
}

static bool find_mount(struct str mountinfo, uint64_t id, struct mount *ret_mount)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
    while (next_mount(&mountinfo, ret_mount))
        if (str_is(ret_mount->field[FIELD_ID], text))
            return true;
    return false;
}

size_t mounts_twins(struct arena *arena, struct str mountinfo, const struct mounts_place *place,
    struct str **ret_at)
{
    struct list list = {.arena = arena};
    struct mount own, other;
    *ret_at = NULL;
    if (!find_mount(mountinfo, place->mount, &own))
        return 0;
    struct str at = unescape(arena, own.field[FIELD_AT]);
    if (!lexical_is_below(at, place->path))
        return 0;
    /* Where it lies in its file system. */
    struct str inner = lexical_absolute(
        arena, unescape(arena, own.field[FIELD_ROOT]), lexical_rest(at, place->path));
    while (next_mount(&mountinfo, &other)) {
        struct str root = unescape(arena, other.field[FIELD_ROOT]);
        if (!str_eq(other.field[FIELD_DEV], own.field[FIELD_DEV]) || !lexical_is_below(root, inner))
            continue;
        struct str twin = lexical_absolute(
            arena, unescape(arena, other.field[FIELD_AT]), lexical_rest(root, inner));
        if (!str_eq(twin, place->path))
            add(&list, twin);
    }
    *ret_at = list.p;
    return list.n;
}

bool mounts_look(struct str path, unsigned mask, struct statx *ret_stat)
{
    return statx(AT_FDCWD, path.p, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, ret_stat) == 0;
}

bool mounts_same(const struct statx *a, const struct statx *b)
{
    return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
           a->stx_dev_minor == b->stx_dev_minor;
}

void mounts_read(struct buf *text)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !file_read(fd, MOUNTS_TEXT_MAX - 1, "mountinfo", text, &ignored))
        buf_reset(text);
}
