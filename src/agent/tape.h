/* An append-only file of lines with one writer.
 *
 *     struct tape t = TAPE_NONE;
 *     if (!tape_open(path, true, &t, err) || !tape_read(&t, on_line, context, err)) ...
 *     tape_append(&t, STR("{...}"), err);
 *     tape_close(&t);
 *
 * The reader decides whether the last line was torn by a crash: see tape_sink.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TAPE_H
#define AGENT_TAPE_H

#include "base/buf.h"
#include "base/err.h"

struct tape {
    int fd;
    char *name;
    bool writable;
    bool open_end; /* the last line has no newline yet */
    bool broken;   /* the remains of a failed write could not be truncated */
    uint64_t size; /* of the valid part */
};

#define TAPE_NONE ((struct tape){.fd = -1})

/* One line, without its newline. last: nothing comes after it; open: not even a newline, so that
 * the write may have been cut off. A sink that finds such a line torn sets *ret_torn, and the line
 * is ignored. */
struct tape_line {
    struct str text;
    size_t number; /* from 1 */
    bool last, open;
};
typedef bool tape_sink(
    void *context, const struct tape_line *line, bool *ret_torn, struct err *err);

/* Locks the file if for writing. E_NOT_FOUND, E_CONFLICT (in use), E_CONFIG (too large, or not a
 * regular file). */
MUST_USE bool tape_open(const char *path, bool for_writing, struct tape *ret_tape, struct err *err);
/* Opens a file descriptor for reading; takes ownership. */
MUST_USE bool tape_from_fd(int owned_fd, const char *name, struct tape *ret_tape, struct err *err);
void tape_close(struct tape *t); /* accepts one that was never opened */

/* Passes all lines that are there now to the sink. */
MUST_USE bool tape_read(struct tape *t, tape_sink *sink, void *context, struct err *err);
/* Reads the first line only; false if it has no newline. */
bool tape_first(const struct tape *t, struct buf *line, bool *ret_more);

/* Appends the line and its newline in one write and syncs. On failure nothing of it remains. */
MUST_USE bool tape_append(struct tape *t, struct str line, struct err *err);

/* Creates a directory (0700) and its missing parents. */
MUST_USE bool tape_make_dir(const char *dir, struct err *err);

#endif
