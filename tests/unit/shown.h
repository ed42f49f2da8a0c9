/* Styled lines as plain text, to be compared and read:
 *
 *     plain ⟦b6:bold and cyan⟧ ⟦u4:text→https://example.org⟧
 *
 * b bold, f faint, i italic, u underlined, s struck out, v reversed, 0-9 the colour. Blanks at the
 * end of a line are left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SHOWN_H
#define TESTS_UNIT_SHOWN_H

#include "tui/tui_text.h"

void shown_line(const struct text *t, size_t line, struct buf *out);
void shown(const struct text *t, struct buf *out);       /* all lines, each with a newline */
void shown_plain(const struct text *t, struct buf *out); /* without styles */

/* Whether it contains only valid characters, and widths are as counted. */
bool shown_is_safe(const struct text *t);

#endif
