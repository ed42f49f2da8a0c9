/* Formats a diff for display: a heading for each file, then its lines in colour.
 *
 *     struct diffview_count n = diffview_count(diff);
 *     diffview_put(diff, &(struct diffview){.width = 80}, &rows);
 *
 * Parses git's format; anything else is shown verbatim.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_DIFFVIEW_H
#define TUI_DIFFVIEW_H

#include "tui/tui_text.h"

struct diffview_count {
    size_t files, added, removed, lines; /* lines: total of all hunks */
};

struct diffview {
    unsigned width;
    bool headings;
    size_t lines; /* maximum lines of hunks, then the number of omitted ones; 0: all */
};

struct diffview_count diffview_count(struct str diff);
void diffview_put(struct str diff, const struct diffview *how, struct text *out);

#endif
