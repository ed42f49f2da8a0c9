/* Landlock: with its own constants, since the system's headers may be older than the kernel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/landlock.h"

#include "base/syscalls.h"
#include "sandbox/plan.h"

enum {
    CREATE_VERSION = 1,
    RULE_PATH_BENEATH = 1,
    TRUNCATE_SINCE = 3,
    REFER_SINCE = 2,
    NET_SINCE = 4,
    IOCTL_SINCE = 5,
    SCOPE_SINCE = 6,
};

/* Access rights for files, by bit. */
#define FS_EXECUTE     (1ull << 0)
#define FS_WRITE_FILE  (1ull << 1)
#define FS_READ_FILE   (1ull << 2)
#define FS_READ_DIR    (1ull << 3)
#define FS_REMOVE_DIR  (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_CHAR   (1ull << 6)
#define FS_MAKE_DIR    (1ull << 7)
#define FS_MAKE_REG    (1ull << 8)
#define FS_MAKE_SOCK   (1ull << 9)
#define FS_MAKE_FIFO   (1ull << 10)
#define FS_MAKE_BLOCK  (1ull << 11)
#define FS_MAKE_SYM    (1ull << 12)
#define FS_REFER       (1ull << 13)
#define FS_TRUNCATE    (1ull << 14)
#define FS_IOCTL_DEV   (1ull << 15)

#define FS_FIRST (FS_REFER - 1) /* the rights of version 1 */
#define FS_FILE  (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
/* Writing, except for creating device nodes and sockets. */
#define FS_WRITE                                                                                 \
    (FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_FIFO | \
        FS_MAKE_SYM | FS_REFER | FS_TRUNCATE)

#define NET_TCP   3ull /* bind, connect */
#define SCOPE_ALL 3ull /* abstract sockets, signals */

struct ruleset_attr {
    uint64_t fs, net, scope;
};

struct path_attr {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

int landlock_abi(void)
{
    long abi = syscall(NR_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
    return abi < 0 ? 0 : (int)abi;
}

bool landlock_stops_truncation(int abi)
{
    return abi >= TRUNCATE_SINCE;
}

bool landlock_has_scopes(int abi)
{
    return abi >= SCOPE_SINCE;
}

static uint64_t landlock_handled_rights(int abi)
{
    uint64_t fs = FS_FIRST;
    if (abi >= REFER_SINCE)
        fs |= FS_REFER;
    if (landlock_stops_truncation(abi))
        fs |= FS_TRUNCATE;
    if (abi >= IOCTL_SINCE)
        fs |= FS_IOCTL_DEV;
    return fs;
}

int landlock_create(int abi, const struct landlock_options *options)
{
    struct ruleset_attr attr = {.fs = landlock_handled_rights(abi)};
    size_t size = offsetof(struct ruleset_attr, net);
    if (abi >= NET_SINCE) {
        attr.net = options->tcp ? NET_TCP : 0;
        size = offsetof(struct ruleset_attr, scope);
    }
    if (landlock_has_scopes(abi)) {
        attr.scope = SCOPE_ALL;
        size = sizeof(attr);
    }
    return (int)syscall(NR_landlock_create_ruleset, &attr, size, 0);
}

int landlock_allow(int ruleset, int abi, int fd, unsigned access, bool is_dir)
{
    struct path_attr attr = {.fd = fd};
    if (access & PLAN_READ)
        attr.allowed |= FS_READ_FILE | FS_READ_DIR;
    if (access & PLAN_LIST)
        attr.allowed |= FS_READ_DIR;
    if (access & PLAN_WRITE)
        attr.allowed |= FS_WRITE;
    if (access & PLAN_SOCKET)
        attr.allowed |= FS_MAKE_SOCK;
    if (access & PLAN_EXEC)
        attr.allowed |= FS_EXECUTE;
    if (access & PLAN_IOCTL)
        attr.allowed |= FS_IOCTL_DEV;
    attr.allowed &= landlock_handled_rights(abi) & (is_dir ? UINT64_MAX : FS_FILE);
    if (attr.allowed == 0)
        return 0;
    return (int)syscall(NR_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0);
}

int landlock_restrict(int ruleset)
{
    return (int)syscall(NR_landlock_restrict_self, ruleset, 0);
}
