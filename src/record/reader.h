/* Reads a record back, file by file, through its directory's descriptor.
 *
 *     AUTO_FD int dir = record_open("out", err);
 *     if (dir < 0 || !record_object(dir, "run.json", &tree, err)) return false;
 *     if (!record_lines(dir, "events.jsonl", cut_off, take_line, &context, err)) return false;
 *
 * The record is not trusted: symlinks are not followed, only regular files are opened, and every
 * size is limited. A missing file is E_NOT_FOUND, invalid content E_PROTOCOL; both name the file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_READER_H
#define RECORD_READER_H

#include "base/err.h"
#include "base/json.h"

enum {
    RECORD_LINE_MAX = 64 << 20, /* enough for a screen with all its cells */
    RECORD_LINES_BYTES_MAX = 1 << 30,
    RECORD_VALUES_MAX = 4 << 20, /* JSON values: some hundred bytes each */
};

/* Files of a run except the snapshots and the checksums; ends in NULL. */
extern const char *const record_names[];

/* Opens the directory. Returns -1 with the error. */
int record_open(const char *path, struct err *err);

/* Opens a regular file in it. Returns -1 with errno. */
int record_file(int dir, const char *name);

/* Sets the error after record_file() has failed. */
bool record_unreadable(const char *name, struct err *err);

/* Whether an entry of that name exists, of any type. */
bool record_has(int dir, const char *name);

MUST_USE bool record_text(int dir, const char *name, size_t max, struct buf *text, struct err *err);

/* Reads a file that contains one JSON object. */
MUST_USE bool record_object(int dir, const char *name, json_t **ret_tree, struct err *err);

/* The same, and checks its version. */
MUST_USE bool record_versioned(
    int dir, const char *name, const char *version_key, json_t **ret_tree, struct err *err);

/* Checks a further version number of an object. */
MUST_USE bool record_check_version(
    const json_t *tree, const char *name, const char *key, struct err *err);

/* Passes each line, a JSON object, to `take` until it returns false. The last line of a run that
 * was killed may be incomplete: with `cut_off` it is skipped. */
MUST_USE bool record_lines(int dir, const char *name, bool cut_off,
    bool (*take)(void *context, const json_t *object, struct err *err), void *context,
    struct err *err);

/* Adds the number of values in a tree to *sum, before a reader keeps the tree while it reads on.
 * E_IO if the sum exceeds RECORD_VALUES_MAX; the name is that of the file. */
MUST_USE bool record_count_values(
    const json_t *tree, const char *name, size_t *sum, struct err *err);

#endif
