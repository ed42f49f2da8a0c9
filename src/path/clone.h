/* The content of one file into another: blocks are shared where the file system can do that, and
 * holes stay holes, so that a copy takes no more room than its source.
 *
 *     struct clone how = {0};          shared by all that copy from the same place to the same
 *     clone_content(&how, from, to, st.st_size)
 *     if (how.shared) ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_CLONE_H
#define PATH_CLONE_H

#include "base/base.h"

#include <stdatomic.h>

enum {
    CLONE_ALIGN = 64 * 1024, /* parts that begin at a multiple of it can share blocks */
};

struct clone {
    atomic_bool cannot_share; /* the file system said so once */
    atomic_bool shared;
};

/* From the beginning of both; `to` is empty. At most so many bytes are written: a file that grows
 * meanwhile can't fill the disk. One that is shorter by now is not a failure. errno. */
MUST_USE bool clone_content(struct clone *how, int from, int to, uint64_t size);

/* The same for a part of a file. `to` ends at or before `to_at`, and is so long afterwards that the
 * part is in it; if the part begins at a multiple of CLONE_ALIGN in both, blocks can be shared. The
 * descriptors' positions mean nothing, and several threads may copy from one. */
struct clone_part {
    int from;
    uint64_t at;
    int to;
    uint64_t to_at;
    uint64_t size;
};
MUST_USE bool clone_part(struct clone *how, const struct clone_part *part);

/* Where data begins at or after a place; `end` if there is none before it. A file system that does
 * not know holes has data everywhere. */
uint64_t clone_next_data(int fd, uint64_t at, uint64_t end);

#endif
