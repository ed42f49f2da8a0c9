/* The screen as lines of text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/draw.h"
#include "term/look.h"

void draw_text(const struct snapshot *s, struct buf *out)
{
    for (unsigned row = 0; row < s->rows; row++) {
        if (row)
            buf_add_byte(out, '\n');
        look_add_text(out, s->lines[row]);
    }
}
