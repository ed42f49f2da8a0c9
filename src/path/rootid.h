/* What tells one root from another, also after the machine was started again.
 *
 *     struct rootid now;
 *     rootid_look(root_fd, &now, err)
 *     if (!rootid_is(&recorded, &now, same_path)) ...not the directory that was meant...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_ROOTID_H
#define PATH_ROOTID_H

#include "base/err.h"

#include <sys/types.h>

struct rootid {
    dev_t dev;
    ino_t ino;
    uint64_t fsid;   /* of the file system; 0: it has none, or only its device number again */
    int64_t birth_s; /* of the directory; both 0: unknown */
    int64_t birth_ns;
};

MUST_USE bool rootid_look(int root_fd, struct rootid *ret_id, struct err *err);

/* The same directory, as far as both know. Device numbers may change when the machine starts again:
 * at the same path, another one is no difference. */
bool rootid_is(const struct rootid *recorded, const struct rootid *now, bool same_path);

#endif
