/* Writing to whoever may not read: for a limited time, then no more.
 *
 *     struct patience p = {.until_ms = clock_mono_ms() + 1000, .cancel = -1};
 *     patience_write(STDERR_FILENO, line, &p);
 *
 * For words that are better lost than waited for. The descriptor may be shared with others and so
 * is left in blocking mode.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_PATIENCE_H
#define IO_PATIENCE_H

#include "base/str.h"

enum {
    PATIENCE_LAST_MS = 500, /* for the last words, when there is no time left */
};

#define PATIENCE_ENDLESS UINT64_MAX

/* One for all that is written: whoever does not read costs its time once. */
struct patience {
    uint64_t until_ms; /* by clock_mono_ms() */
    int cancel;        /* if this can be read, there is time for the last words only; -1: none */
};

#define PATIENCE_INIT ((struct patience){PATIENCE_ENDLESS, -1})

/* A new description of the same terminal or pipe, non-blocking; -1 for anything else, and where
 * none can be had: a terminal may be another user's. */
int patience_open(int fd);

/* How many bytes can be written at once after poll() has said that there is room, and nothing
 * blocks: a terminal that could not be opened anew takes them one by one. */
size_t patience_room(int fd);

/* Writes what there is room for, as write() does. */
ssize_t patience_put(int fd, struct str text);

/* True if all of it was taken. What has room is written also when there is no patience left. */
bool patience_write(int fd, struct str text, struct patience *p);

/* From now on there is time for the last words only. */
void patience_end(struct patience *p);

#endif
