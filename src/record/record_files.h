/* The record of a run, opened for reading: its directory, and the files that every reader needs.
 *
 *     AUTO(record_files_close) struct record_files files = RECORD_FILES_NONE;
 *     if (!record_files_open("out", &files, err)) return false;
 *     if (!record_files_read_transcript(&files, RECORD_FILES_TRANSCRIPT_MAX, err)) return false;
 *
 * The record is not trusted: record/reader.h opens and limits every file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_FILES_H
#define RECORD_RECORD_FILES_H

#include "record/reader.h"

enum {
    RECORD_FILES_TRANSCRIPT_MAX = 256 << 20,
};

struct record_files {
    int dir;
    json_t *run; /* the RunResult; NULL: not read, or not written because the run was killed */
    struct buf transcript;
};

#define RECORD_FILES_NONE \
    ((struct record_files){.dir = -1, .transcript = BUF_INIT(RECORD_FILES_TRANSCRIPT_MAX + 2)})

/* Opens the directory; reads nothing. */
MUST_USE bool record_files_open(const char *path, struct record_files *ret_files, struct err *err);
void record_files_close(struct record_files *files);

/* At most `max` bytes, which is not more than RECORD_FILES_TRANSCRIPT_MAX. */
MUST_USE bool record_files_read_transcript(struct record_files *files, size_t max, struct err *err);

#endif
