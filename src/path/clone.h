/* The content of one file into another: blocks are shared where the file system can do that.
 *
 *     struct clone how = {0};          shared by all that copy from the same place to the same
 *     clone_content(&how, from, to, st.st_size)
 *     if (how.shared) ...
 */
#ifndef PATH_CLONE_H
#define PATH_CLONE_H

#include "base/base.h"

#include <stdatomic.h>

struct clone {
    atomic_bool cannot_share; /* the file system said so once */
    atomic_bool shared;
};

/* From where both stand, which is the beginning of an empty file for `to`. At most so many bytes
 * are written: a file that grows meanwhile can't fill the disk. One that is shorter by now is no
 * failure. errno. */
MUST_USE bool clone_content(struct clone *how, int from, int to, uint64_t size);

#endif
