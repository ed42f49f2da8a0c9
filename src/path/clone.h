/* Copies the content of one file into another: shares blocks (reflink) if the file system supports
 * it, and preserves holes, so that a copy takes no more space than its source.
 *
 *     struct clone how = {0};          one for all copies between the same file systems
 *     clone_content(&how, from, to, st.st_size)
 *     if (how.shared) ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_CLONE_H
#define PATH_CLONE_H

#include "base/base.h"

#include <stdatomic.h>

enum {
    CLONE_ALIGN = 64 * 1024, /* parts starting at a multiple of this can share blocks */
};

struct clone {
    atomic_bool cannot_share; /* the file system refused once */
    atomic_bool shared;
};

/* Copies from the beginning of both; `to` is empty. Writes at most size bytes: a file that grows
 * concurrently can't fill the disk. A file that has become shorter is not an error. Sets errno. */
MUST_USE bool clone_content(struct clone *how, int from, int to, uint64_t size);

/* The same for a part of a file. `to` ends at or before `to_at`, and is extended to include the
 * part; if the part starts at a multiple of CLONE_ALIGN in both, blocks can be shared. File offsets
 * are not used, so several threads may copy from one descriptor. */
struct clone_part {
    int from;
    uint64_t at;
    int to;
    uint64_t to_at;
    uint64_t size;
};
MUST_USE bool clone_part(struct clone *how, const struct clone_part *part);

/* Offset of the next data at or after `at`; `end` if it has none before that. On a file system
 * without hole support everything is data. */
uint64_t clone_next_data(int fd, uint64_t at, uint64_t end);

#endif
