/* What kind of file system something lies on, as far as it matters to us. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_FSTYPE_H
#define PATH_FSTYPE_H

#include "base/base.h"

/* One of the kernel's own, wherever it is mounted: its files are no storage. */
bool fstype_is_kernel(int fd);

/* One of which it is known that syncfs() makes durable what fsync() of each file would. FUSE, for
 * one, may tell its server nothing. */
bool fstype_syncs_whole(int fd);

#endif
