/* File system types, as far as they matter here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_FSTYPE_H
#define PATH_FSTYPE_H

#include "base/base.h"

/* A kernel interface file system (proc, sysfs, ...), wherever it is mounted: its files are not
 * storage. */
bool fstype_is_kernel(int fd);

/* Whether syncfs() is known to make files as durable as fsync() of each would. FUSE, for example,
 * might not forward it to its server. */
bool fstype_syncs_whole(int fd);

#endif
