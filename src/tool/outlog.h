/* The complete output of a command: kept in memory, and saved to a file only if a model was shown
 * just part of it.
 *
 *     struct outlog log;
 *     if (!outlog_open(&log, err)) return false;
 *     outlog_add(&log, bytes);
 *     if (cut) outlog_save(&log, dir, err);           later bytes also go to the file
 *     outlog_close(&log);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_OUTLOG_H
#define TOOL_OUTLOG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct outlog {
    int fd; /* a memfd, or the file */
    uint64_t size;
    char *path;  /* NULL: not saved */
    bool failed; /* a write failed; the log is incomplete */
};

#define OUTLOG_NONE ((struct outlog){.fd = -1})

MUST_USE bool outlog_open(struct outlog *log, struct err *err);
void outlog_close(struct outlog *log); /* keeps a saved file */

void outlog_add(struct outlog *log, struct str bytes);

/* Reads up to `max` bytes from an offset. */
void outlog_read(const struct outlog *log, uint64_t offset, size_t max, struct buf *bytes);

/* Saves the log to a new file in this directory of a session, which is created if missing; does
 * nothing the second time. Old logs are pruned first: see logs.h. */
MUST_USE bool outlog_save(struct outlog *log, const char *dir, struct err *err);

#endif
