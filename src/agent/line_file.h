/* An append-only file of lines with one writer.
 *
 *     struct line_file t = LINE_FILE_NONE;
 *     if (!line_file_open(path, true, &t, err) || !line_file_read(&t, on_line, context, err)) ...
 *     line_file_append(&t, STR("{...}"), err);
 *     line_file_close(&t);
 *
 * The reader decides whether the last line was torn by a crash: see line_file_sink.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_LINE_FILE_H
#define AGENT_LINE_FILE_H

#include "base/buf.h"
#include "base/err.h"

struct line_file {
    int fd;
    char *name;
    bool writable;
    bool open_end; /* the last line has no newline yet */
    bool broken;   /* the remains of a failed write could not be truncated */
    uint64_t size; /* of the valid part */
};

#define LINE_FILE_NONE ((struct line_file){.fd = -1})

/* One line, without its newline. last: nothing comes after it; open: not even a newline, so that
 * the write may have been cut off. A sink that finds such a line torn sets *ret_torn, and the line
 * is ignored. */
struct line_file_line {
    struct str text;
    size_t number; /* from 1 */
    bool last, open;
};
typedef bool line_file_sink(
    void *context, const struct line_file_line *line, bool *ret_torn, struct err *err);

/* Locks the file if for writing. E_NOT_FOUND, E_CONFLICT (in use), E_CONFIG (too large, or not a
 * regular file). */
MUST_USE bool line_file_open(
    const char *path, bool for_writing, struct line_file *ret_file, struct err *err);
/* Opens a file descriptor for reading; takes ownership. */
MUST_USE bool line_file_from_fd(
    int owned_fd, const char *name, struct line_file *ret_file, struct err *err);
void line_file_close(struct line_file *t); /* accepts one that was never opened */

/* Passes all lines that are there now to the sink. */
MUST_USE bool line_file_read(
    struct line_file *t, line_file_sink *sink, void *context, struct err *err);
/* Reads the first line only; false if it has no newline. */
bool line_file_first(const struct line_file *t, struct buf *line, bool *ret_more);

/* Appends the line and its newline in one write and syncs. On failure nothing of it remains. */
MUST_USE bool line_file_append(struct line_file *t, struct str line, struct err *err);

/* Creates a directory (0700) and its missing parents. */
MUST_USE bool line_file_make_dir(const char *dir, struct err *err);

#endif
