/* A record that is read back, file by file, through its directory's descriptor.
 *
 *     AUTO_FD int dir = record_open("out", err);
 *     if (dir < 0 || !record_object(dir, "run.json", &tree, err)) return false;
 *     if (!record_lines(dir, "events.jsonl", cut_off, take_line, &context, err)) return false;
 *
 * Whoever wrote it is not trusted: no link is followed, nothing but plain files is opened, every
 * size has a limit. What is not there is E_NOT_FOUND, what can't be understood E_PROTOCOL; both
 * name the file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_READER_H
#define RECORD_READER_H

#include "base/err.h"
#include "base/json.h"

enum {
    RECORD_LINE_MAX = 64 << 20, /* a screen with all its cells */
    RECORD_LINES_BYTES_MAX = 1 << 30,
};

/* What a run writes, apart from the snapshots and the checksums; ends in NULL. */
extern const char *const record_names[];

/* The directory, or -1 with the error. */
int record_open(const char *path, struct err *err);

/* Opens a plain file of it: -1 with errno. */
int record_file(int dir, const char *name);

/* After record_file() has failed: says why. */
bool record_unreadable(const char *name, struct err *err);

/* There is something of that name, whatever it is. */
bool record_has(int dir, const char *name);

MUST_USE bool record_text(int dir, const char *name, size_t max, struct buf *text, struct err *err);

/* A file that holds one JSON object. */
MUST_USE bool record_object(int dir, const char *name, json_t **ret_tree, struct err *err);

/* Each line, a JSON object, in order, until one is refused. The last line of a run that was killed
 * may be half of one: that is skipped if `cut_off`. */
MUST_USE bool record_lines(int dir, const char *name, bool cut_off,
    bool (*take)(void *context, const json_t *object, struct err *err), void *context,
    struct err *err);

#endif
