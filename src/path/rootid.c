/* Identity of a root directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/rootid.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

/* The encoding of a device number that the kernel uses as fsid if a file system has no better
 * identity: it changes at a reboot, and adds nothing to the device number. */
static uint64_t rootid_encode_dev(dev_t dev)
{
    uint64_t n = minor(dev);
    return (n & 0xff) | ((uint64_t)major(dev) << 8) | ((n & ~UINT64_C(0xff)) << 12);
}

static uint64_t fsid_of(const struct statfs *fs, dev_t dev)
{
    uint32_t half[2];
    _Static_assert(sizeof(fs->f_fsid) == sizeof(half), "two halves");
    memcpy(half, &fs->f_fsid, sizeof(half));
    uint64_t id = half[0] | (uint64_t)half[1] << 32;
    return id == rootid_encode_dev(dev) ? 0 : id;
}

bool rootid_look(int root_fd, struct rootid *ret_id, struct err *err)
{
    struct stat st;
    struct statfs fs = {0};
    struct statx more;
    if (fstat(root_fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot stat the root");
    if (!S_ISDIR(st.st_mode))
        return err_set(err, E_IO, "the root is not a directory");
    *ret_id = (struct rootid){.dev = st.st_dev, .ino = st.st_ino};
    if (fstatfs(root_fd, &fs) == 0)
        ret_id->fsid = fsid_of(&fs, st.st_dev);
    /* The birth time of an overlay directory changes on the first change below it (copy-up). */
    if (fs.f_type != OVERLAYFS_SUPER_MAGIC &&
        statx(root_fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
        (more.stx_mask & STATX_BTIME)) {
        ret_id->birth_s = more.stx_btime.tv_sec;
        ret_id->birth_ns = more.stx_btime.tv_nsec;
    }
    return true;
}

static bool has_birth(const struct rootid *id)
{
    return id->birth_s || id->birth_ns;
}

bool rootid_is(const struct rootid *recorded, const struct rootid *now, bool same_path)
{
    if (recorded->ino != now->ino || (recorded->dev != now->dev && !same_path))
        return false;
    if (recorded->fsid && now->fsid && recorded->fsid != now->fsid)
        return false;
    return !has_birth(recorded) || !has_birth(now) ||
           (recorded->birth_s == now->birth_s && recorded->birth_ns == now->birth_ns);
}
