/* A policy's verdict for people: the page of --explain-policy, and denials with their remedies.
 *
 *     explain_page(cli, &prepared.confined, report);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXPLAIN_PAGE_H
#define CLI_EXPLAIN_PAGE_H

#include "cli/out.h"
#include "job/prepare.h"

/* Prints every denial with its reason and remedy. */
void explain_denials(struct cli *cli, const struct denials *denials);

/* Prints what an allowed command may read, write and run, the mechanisms that enforce this, and the
 * gaps. The plan has been made; `report` is that of sandbox/sandbox_report.h. */
void explain_page(struct cli *cli, const struct confined *c, const json_t *report);

#endif
