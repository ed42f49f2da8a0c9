/* Scans files through a window of fixed size for matching lines and their context, ready for
 * display.
 *
 *     struct scan *s = scan_new(plan, &options, &stop);        one for each thread
 *     struct found found = {.text = &text};
 *     scan_fd(s, fd, size, &found);
 *
 * Memory use does not depend on the file: a line longer than the window is searched in parts.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_SEARCH_SCAN_H
#define SEARCH_SEARCH_SCAN_H

#include "search/matcher.h"

enum {
    SCAN_WINDOW = 256 * 1024,
    SCAN_OVERLAP = 4 * 1024, /* between the parts of a longer line; maximum length of a match */
    SCAN_SHOWN = 400,        /* bytes of a line to show, around the match */
    SCAN_SHOWN_BEFORE = 100, /* of them before the match */
};

struct scan_options {
    size_t limit;    /* matching lines after which a file is done */
    size_t context;  /* lines of context around each match */
    size_t text_max; /* bytes of line text kept per batch; further lines are only counted */
};

struct found_line {
    uint64_t number;
    bool match;   /* false: a line of context */
    size_t at, n; /* offset and length in the text */
};

enum scan_end {
    SCAN_ALL,
    SCAN_BINARY,       /* contains NUL bytes; no lines are shown */
    SCAN_BINARY_LATER, /* NUL bytes follow parts that were already searched */
    SCAN_NO_FILE,      /* not a regular file (a device, a pipe, …) */
    SCAN_FAILED,       /* see errnum */
};

/* Results for one file. */
struct found {
    struct found_line *lines;
    size_t n, cap;
    struct buf *text; /* buffer for the lines' text, shared between files */
    size_t matches;   /* including those that were not kept */
    size_t replaced;  /* invalid UTF-8 sequences that were replaced */
    size_t cut_lines; /* lines shown only in part */
    enum scan_end end;
    int errnum;
    uint64_t gave_up; /* first line on which the pattern hit its step limit; 0: none */
};

struct scan;

MUST_USE struct scan *scan_new(
    const struct matcher_plan *plan, const struct scan_options *options, struct stop *stop);
void scan_free(struct scan *s); /* accepts NULL */

/* Searches an open file from its current offset. The size is st_size from fstat(), or 0 if unknown.
 * found must have an empty list of lines. */
void scan_fd(struct scan *s, int fd, size_t size, struct found *found);

#endif
