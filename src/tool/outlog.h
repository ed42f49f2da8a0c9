/* All that a command printed: kept in memory, and put into a file only if a model did not get to
 * see all of it.
 *
 *     struct outlog log;
 *     if (!outlog_open(&log, err)) return false;
 *     outlog_add(&log, bytes);
 *     if (cut) outlog_save(&log, dir, &path, err);      later bytes go there, too
 *     outlog_close(&log);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_OUTLOG_H
#define TOOL_OUTLOG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct outlog {
    int fd; /* of memory, or of the file */
    uint64_t size;
    char *path;  /* NULL: not saved */
    bool failed; /* the file could not take all of it */
};

#define OUTLOG_NONE ((struct outlog){.fd = -1})

MUST_USE bool outlog_open(struct outlog *log, struct err *err);
void outlog_close(struct outlog *log); /* a saved file stays */

void outlog_add(struct outlog *log, struct str bytes);

/* Reads up to `max` bytes from an offset. */
void outlog_read(const struct outlog *log, uint64_t offset, size_t max, struct buf *bytes);

/* Puts it into a new file in this directory, which is made if it is missing; once. Old logs there
 * make room for it: see logs.h. */
MUST_USE bool outlog_save(struct outlog *log, const char *dir, struct err *err);

#endif
