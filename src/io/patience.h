/* Writing to whoever may not read: for a limited time, then no more.
 *
 *     patience_write(STDERR_FILENO, line, 1000);
 *
 * For words that are better lost than waited for. The descriptor may be shared with others and so
 * is left in blocking mode.
 */
#ifndef IO_PATIENCE_H
#define IO_PATIENCE_H

#include "base/str.h"

/* A new description of the same terminal or pipe, non-blocking; -1 for anything else, and where
 * none can be had: a terminal may be another user's. */
int patience_open(int fd);

/* How many bytes can be written at once after poll() has said that there is room, and nothing
 * blocks: a terminal that could not be opened anew takes them one by one. */
size_t patience_room(int fd);

/* True if all of it was taken within so many milliseconds. */
bool patience_write(int fd, struct str text, unsigned ms);

#endif
