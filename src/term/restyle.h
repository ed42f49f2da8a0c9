/* What a terminal must be told so that what is written next looks otherwise.
 *
 *     struct style pen = {0};                  as the terminal has it
 *     restyle(&pen, &cell->style, &out);       "\033[1;31m", or nothing
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_RESTYLE_H
#define TERM_RESTYLE_H

#include "base/buf.h"
#include "term/style.h"

/* Invalid colours are written as the default, invalid underlines as a single one. Links and
 * protection are not told; the caller clears them where two styles are to be equal. */
void restyle(struct style *pen, const struct style *to, struct buf *out);

#endif
