/* A file of lines that only grows, and has one writer.
 *
 *     struct tape t = TAPE_NONE;
 *     if (!tape_open(path, true, &t, err) || !tape_read(&t, on_line, context, err)) ...
 *     tape_append(&t, STR("{...}"), err);
 *     tape_close(&t);
 *
 * The line at the end that a crash cut off is for the reader to know: see tape_sink.
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
    bool broken;   /* what a failed write left there could not be taken back */
    uint64_t size; /* of what counts */
};

#define TAPE_NONE ((struct tape){.fd = -1})

/* One line, without its end. last: nothing comes after it; open: not even a newline, so that its
 * writing may have been cut off. A sink that finds such a line torn sets *ret_torn, and it is as if
 * the line were not there. */
struct tape_line {
    struct str text;
    size_t number; /* from 1 */
    bool last, open;
};
typedef bool tape_sink(
    void *context, const struct tape_line *line, bool *ret_torn, struct err *err);

/* For writing: locks it. E_NOT_FOUND, E_CONFLICT (in use), E_CONFIG (no regular file, too large).
 */
MUST_USE bool tape_open(const char *path, bool for_writing, struct tape *ret_tape, struct err *err);
/* Takes the descriptor over, for reading. */
MUST_USE bool tape_from_fd(int owned_fd, const char *name, struct tape *ret_tape, struct err *err);
void tape_close(struct tape *t); /* also one that was never opened */

/* All lines that are there now. */
MUST_USE bool tape_read(struct tape *t, tape_sink *sink, void *context, struct err *err);
/* The first one only; false: there is none that ends. */
bool tape_first(const struct tape *t, struct buf *line, bool *ret_more);

/* The line and its end in one write, synced. On failure nothing of it is there. */
MUST_USE bool tape_append(struct tape *t, struct str line, struct err *err);

/* A new file, whole or not at all, 0600 (or as the one that it replaces), its directory synced.
 * E_CONFLICT: it exists and is not to be replaced. */
MUST_USE bool tape_put(const char *path, struct str content, bool replace, struct err *err);
/* The same, 0600 also if another file is replaced. */
MUST_USE bool tape_put_private(const char *path, struct str content, bool replace, struct err *err);
/* A directory (0700) and what is missing above it. */
MUST_USE bool tape_make_dir(const char *dir, struct err *err);

#endif
