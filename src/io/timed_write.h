/* Writes with a timeout, to a reader that may stall.
 *
 *     struct write_deadline p = {.until_ms = clock_mono_ms() + 1000, .cancel = -1};
 *     timed_write(STDERR_FILENO, line, &p);
 *
 * For output that may be dropped rather than block. The descriptor may be shared with other
 * processes, so it stays in blocking mode.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_TIMED_WRITE_H
#define IO_TIMED_WRITE_H

#include "base/str.h"

enum {
    TIMED_WRITE_LAST_MS = 500, /* for final output after a cancellation */
};

#define TIMED_WRITE_ENDLESS UINT64_MAX

/* One deadline for all writes: a stalled reader costs the timeout only once. */
struct write_deadline {
    uint64_t until_ms; /* by clock_mono_ms() */
    int cancel;        /* readable: shorten the deadline to TIMED_WRITE_LAST_MS; -1: none */
};

#define TIMED_WRITE_INIT ((struct write_deadline){TIMED_WRITE_ENDLESS, -1})

/* Opens the same terminal or pipe again, non-blocking. Returns -1 for any other kind of file and if
 * it can't be opened: a terminal may belong to another user. */
int timed_write_open(int fd);

/* Number of bytes that can be written without blocking after poll() reported POLLOUT: one at a time
 * for a terminal that could not be opened non-blocking. */
size_t timed_write_room(int fd);

/* Writes as much as there is room for; returns the result of write(). */
ssize_t timed_write_put(int fd, struct str text);

/* Returns true if everything was written. Output that does not block is written even after the
 * deadline. */
bool timed_write(int fd, struct str text, struct write_deadline *p);

/* Shortens the deadline to at most TIMED_WRITE_LAST_MS from now. */
void timed_write_end(struct write_deadline *p);

#endif
