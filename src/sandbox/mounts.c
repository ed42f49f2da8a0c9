/* Reading /proc/self/mountinfo. */
#include "sandbox/mounts.h"

#include "base/buf.h"
#include "path/file.h"
#include "path/lexical.h"

#include <fcntl.h>

enum {
    MOUNTINFO_MAX = 64 << 20,
    MOUNTS_MAX = 4096,
    FIELD_AT = 4, /* where it is mounted, counted from 0 */
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
static bool parse_line(struct str line, struct str *ret_at, struct str *ret_type)
{
    struct str word, rest = line, at = {0};
    for (int field = 0; str_cut(rest, ' ', &word, &rest); field++) {
        if (field == FIELD_AT)
            at = word;
        if (field > FIELD_AT && str_is(word, "-") && str_cut(rest, ' ', &word, &rest)) {
            *ret_at = at;
            *ret_type = word;
            return true;
        }
    }
    return false;
}

size_t mounts_in(struct arena *arena, struct str mountinfo, struct str **ret_at)
{
    struct str line, rest = mountinfo, at, type, *list = NULL;
    size_t n = 0;
    while (n < MOUNTS_MAX && str_cut(rest, '\n', &line, &rest)) {
        if (!parse_line(line, &at, &type) || !is_kernel_type(type) ||
            lexical_is_below(STR("/proc"), at) || lexical_is_below(STR("/sys"), at) ||
            lexical_is_below(STR("/dev"), at))
            continue;
        if (!list)
            list = ARENA_NEW(arena, struct str, MOUNTS_MAX);
        list[n++] = unescape(arena, at);
    }
    *ret_at = list;
    return n;
}

size_t mounts_of_kernel(struct arena *arena, struct str **ret_at)
{
    AUTO_BUF struct buf text = BUF_INIT(MOUNTINFO_MAX + 1);
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    *ret_at = NULL;
    if (fd < 0 || !file_read(fd, MOUNTINFO_MAX, "mountinfo", &text, &ignored))
        return 0;
    return mounts_in(arena, buf_str(&text), ret_at);
}
