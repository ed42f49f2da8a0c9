/* Text of strangers in columns and lines of a terminal: made printable, and cut where there is no
 * more room. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "base/buf.h"

/* The text on one line of at most so many columns; gives how many it took. */
unsigned columns_cut(struct buf *out, struct str text, unsigned columns);

/* The same, filled up with blanks, and two more. */
void columns_add(struct buf *out, struct str text, unsigned columns);

/* A directory, with ~ for the home directory. */
void columns_dir(struct buf *out, struct str dir, unsigned columns);

/* Lines that keep their ends, and nothing else that a terminal would obey; at most so many. */
void columns_lines(struct buf *out, struct str text, const char *indent, size_t most);

/* "3 min ago" */
enum {
    COLUMNS_AGO = 32,
};
void columns_ago(uint64_t then_ms, uint64_t now_ms, char text[COLUMNS_AGO]);

#endif
