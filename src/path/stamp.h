/* State of a file at some point in time: enough to detect later whether it is still the same.
 *
 *     struct stamp read_from = stamp_of(&st);
 *     if (!stamp_is(&read_from, &st_now)) ...it was changed...
 *
 * The change time is left out on purpose: renaming a file changes it. Mode and owner cover most of
 * what else it would detect. For a directory only its identity is compared: its contents are
 * checked separately.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_STAMP_H
#define PATH_STAMP_H

#include "base/base.h"

#include <sys/stat.h>

struct stamp {
    dev_t dev;
    ino_t ino; /* 0: no file */
    int64_t mtime_s;
    int64_t mtime_ns;
    int64_t size;
    mode_t mode; /* includes the type */
    uid_t uid;
    gid_t gid;
};

static inline struct stamp stamp_of(const struct stat *st)
{
    return (struct stamp){
        .dev = st->st_dev,
        .ino = st->st_ino,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = st->st_mtim.tv_nsec,
        .size = st->st_size,
        .mode = st->st_mode,
        .uid = st->st_uid,
        .gid = st->st_gid,
    };
}

/* The same file with the same content, mode and owner, as far as visible. The device is not
 * compared: both are looked up in one directory, and device numbers do not survive a reboot. */
static inline bool stamp_is(const struct stamp *stamp, const struct stat *st)
{
    if (S_ISDIR(stamp->mode))
        return stamp->ino == st->st_ino && S_ISDIR(st->st_mode);
    return stamp->ino && stamp->ino == st->st_ino && stamp->mtime_s == st->st_mtim.tv_sec &&
           stamp->mtime_ns == st->st_mtim.tv_nsec && stamp->size == st->st_size &&
           stamp->mode == st->st_mode && stamp->uid == st->st_uid && stamp->gid == st->st_gid;
}

#endif
