/* A change of files for people: a heading for each, then its lines in their colours.
 *
 *     struct diffview_count n = diffview_count(diff);
 *     diffview_put(diff, &(struct diffview){.width = 80}, &rows);
 *
 * What is read is the form of git's diffs; what is no part of it is shown as it is.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_DIFFVIEW_H
#define TUI_DIFFVIEW_H

#include "tui/text.h"

struct diffview_count {
    size_t files, added, removed, lines; /* lines: of all hunks */
};

struct diffview {
    unsigned width;
    bool headings;
    size_t lines; /* of hunks, at most; 0: all. Then a row says how many more there are */
};

struct diffview_count diffview_count(struct str diff);
void diffview_put(struct str diff, const struct diffview *how, struct text *out);

#endif
