/* Changes of a box in the user's terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BOX_PATCH_H
#define CLI_BOX_PATCH_H

#include "box/changes.h"
#include "cli/out.h"

/* Warns on stderr about changes that cannot be shown or applied; names the first few. */
void box_patch_warn_refused(struct cli *cli, const struct delta *d);
void box_patch_warn_left_out(struct cli *cli, const struct delta *d);

/* Print text from a box on a terminal: line breaks and tabs are kept, all other control characters
 * are made visible. Colored like a patch if colors are on. */
void box_patch_show(struct cli *cli, struct str patch);
void box_patch_show_stat(struct cli *cli, struct str stat);

/* Columns of --stat: the terminal's width, or a fixed number. */
size_t box_patch_columns(const struct cli *cli);

#endif
