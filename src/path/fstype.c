/* File system types. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/fstype.h"

#include <linux/magic.h>
#include <sys/vfs.h>

/* Magic numbers that no header defines. */
enum {
    MAGIC_CONFIGFS = 0x62656570,
    MAGIC_FUSECTL = 0x65735543,
    MAGIC_MQUEUE = 0x19800202,
    MAGIC_NFSD = 0x6e667364,
    MAGIC_RPC_PIPEFS = 0x67596969,
};

static const long of_kernel[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
    SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC, DEVPTS_SUPER_MAGIC,
    BINFMTFS_MAGIC, NSFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, EFIVARFS_MAGIC, PSTOREFS_MAGIC,
    AUTOFS_SUPER_MAGIC, RDTGROUP_SUPER_MAGIC, MAGIC_CONFIGFS, MAGIC_FUSECTL, MAGIC_MQUEUE,
    MAGIC_NFSD, MAGIC_RPC_PIPEFS};

static const long synced_whole[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
    F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC};

static bool is_one_of(int fd, const long *types, size_t n)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (fs.f_type == types[i])
            return true;
    return false;
}

bool fstype_is_kernel(int fd)
{
    return is_one_of(fd, of_kernel, ARRAY_LEN(of_kernel));
}

bool fstype_syncs_whole(int fd)
{
    return is_one_of(fd, synced_whole, ARRAY_LEN(synced_whole));
}
