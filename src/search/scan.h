/* One file after the other through a window of fixed size: the lines that match, and lines around
 * them, made ready to be shown.
 *
 *     struct scan *s = scan_new(plan, &options, &stop);      one for each thread
 *     struct found found = {.text = &text};
 *     scan_fd(s, fd, size, &found);
 *
 * Memory does not depend on the file: a line that is longer than the window is searched in parts.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_SCAN_H
#define SEARCH_SCAN_H

#include "search/matcher.h"

enum {
    SCAN_WINDOW = 256 * 1024,
    SCAN_OVERLAP = 4 * 1024, /* of the parts of a line that is longer: no match may be */
    SCAN_SHOWN = 400,        /* bytes of a line that are shown, around the match */
    SCAN_SHOWN_BEFORE = 100, /* of them before the match */
};

struct scan_options {
    size_t limit;    /* matching lines after which a file needs no more */
    size_t context;  /* lines around them */
    size_t text_max; /* bytes of lines that are kept of a batch; the rest is counted */
};

struct found_line {
    uint64_t number;
    bool match;   /* or one around it */
    size_t at, n; /* in the text */
};

enum scan_end {
    SCAN_ALL,
    SCAN_BINARY,       /* it has NUL bytes, so nothing of it is shown */
    SCAN_BINARY_LATER, /* they come after parts that were searched */
    SCAN_NO_FILE,      /* a device, a pipe, … */
    SCAN_FAILED,       /* errnum */
};

/* What was found in one file. */
struct found {
    struct found_line *lines;
    size_t n, cap;
    struct buf *text; /* where lines are kept; shared by files */
    size_t matches;   /* also those that were not kept */
    size_t replaced;  /* parts that are no UTF-8 */
    size_t cut_lines; /* shown in part */
    enum scan_end end;
    int errnum;
    uint64_t gave_up; /* the first line where the pattern took too much; 0: none */
};

struct scan;

MUST_USE struct scan *scan_new(
    const struct matcher_plan *plan, const struct scan_options *options, struct stop *stop);
void scan_free(struct scan *s); /* accepts NULL */

/* Searches an open file from where it stands. The size is what fstat says; 0 if it does not know.
 * The list of lines is empty before. */
void scan_fd(struct scan *s, int fd, size_t size, struct found *found);

#endif
