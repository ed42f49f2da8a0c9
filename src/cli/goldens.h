/* Selects the goldens of a scenario that `cordon run` writes: those of --update-goldens, or the
 * missing ones after a question on the terminal.
 *
 *     if (!goldens_prepare(cli, options->update_goldens, true, &scenario, err)) return false;
 *
 * The content of a golden comes from the program in the sandbox, so it must never be written to a
 * file that acts by itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_GOLDENS_H
#define CLI_GOLDENS_H

#include "cli/out.h"
#include "run/scenario.h"

/* Values of --update-goldens, NULL-terminated. */
extern const char *const goldens_modes[];

/* `which` is one of them, or NULL if the option was not given; with `ask` the user may be asked.
 * Fails with E_POLICY_DENIED if the name of a golden to be written is refused. */
MUST_USE bool goldens_prepare(
    struct cli *cli, const char *which, bool ask, struct scenario *scenario, struct err *err);

#endif
