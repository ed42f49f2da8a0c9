/* The SGR sequence that changes a terminal's style.
 *
 *     struct style pen = {0};                  the terminal's current style
 *     restyle(&pen, &cell->style, &out);       "\033[1;31m", or nothing
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_RESTYLE_H
#define TERM_RESTYLE_H

#include "base/buf.h"
#include "term/style.h"

/* Invalid colours become the default, invalid underlines a single one. Links and protection are not
 * written; the caller must clear them so that styles compare equal. */
void restyle(struct style *pen, const struct style *to, struct buf *out);

#endif
