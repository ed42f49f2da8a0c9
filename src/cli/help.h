/* Help generated from the tables: for a terminal, and as the manual's source. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cmd.h"
#include "cli/out.h"

void help_overview(struct cli *cli);                       /* output of `cordon` alone */
void help_command(struct cli *cli, const struct cmd *cmd); /* output of --help */

/* Copies a manual template, with its @lines@ expanded from the tables (see man/). */
MUST_USE bool help_manual(struct cli *cli, struct str template, struct err *err);

#endif
