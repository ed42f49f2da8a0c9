/* Identity of a root directory that survives a reboot.
 *
 *     struct rootid now;
 *     rootid_look(root_fd, &now, err)
 *     if (!rootid_is(&recorded, &now, same_path)) ...not the recorded directory...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_ROOTID_H
#define PATH_ROOTID_H

#include "base/err.h"

#include <sys/types.h>

struct rootid {
    dev_t dev;
    ino_t ino;
    uint64_t fsid;   /* of the file system; 0: it has none beyond its device number */
    int64_t birth_s; /* creation time of the directory; both 0: unknown */
    int64_t birth_ns;
};

MUST_USE bool rootid_look(int root_fd, struct rootid *ret_id, struct err *err);

/* Whether both are the same directory, as far as known. Device numbers may change at a reboot: at
 * the same path, a different one is ignored. */
bool rootid_is(const struct rootid *recorded, const struct rootid *now, bool same_path);

#endif
