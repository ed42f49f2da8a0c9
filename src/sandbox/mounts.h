/* File systems through which the kernel itself is read and set. One that is mounted below a
 * directory that a policy names comes along with it, and is covered.
 *
 *     struct str *at;
 *     size_t n = mounts_of_kernel(&arena, &at);
 */
#ifndef SANDBOX_MOUNTS_H
#define SANDBOX_MOUNTS_H

#include "base/arena.h"

/* Where such file systems are mounted now, outside of /proc, /sys and /dev. */
size_t mounts_of_kernel(struct arena *arena, struct str **ret_at);

/* The same from the text of a mountinfo file: see proc(5). */
size_t mounts_in(struct arena *arena, struct str mountinfo, struct str **ret_at);

#endif
