/* Untrusted text in columns and lines of a terminal: made printable, and truncated to fit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "base/buf.h"

/* Adds text on one line of at most `columns` columns. Returns the number of columns used. */
unsigned columns_cut(struct buf *out, struct str text, unsigned columns);

/* The same, padded with blanks to that width and by two more. */
void columns_add(struct buf *out, struct str text, unsigned columns);

/* Adds a directory, with ~ for the home directory. */
void columns_dir(struct buf *out, struct str dir, unsigned columns);

/* Adds at most `most` lines. Line breaks are kept; other control characters are made printable. */
void columns_lines(struct buf *out, struct str text, const char *indent, size_t most);

/* "3 min ago" */
enum {
    COLUMNS_AGO = 32,
};
void columns_ago(uint64_t then_ms, uint64_t now_ms, char text[COLUMNS_AGO]);

#endif
