/* Which goldens of a scenario `cordon run` writes: those that --update-goldens names, or the
 * missing ones after a question on the terminal.
 *
 *     if (!goldens_prepare(cli, options->update_goldens, &scenario, err)) return false;
 *
 * The text of a golden is chosen by the program that runs in the sandbox: it never gets into a file
 * that acts by itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_GOLDENS_H
#define CLI_GOLDENS_H

#include "cli/out.h"
#include "run/scenario.h"

/* The values of --update-goldens; ends in NULL. */
extern const char *const goldens_modes[];

/* `which` is one of them, or NULL: the option was not given. `ask`: a question may be asked.
 * E_POLICY_DENIED: a golden that is to be written has a name that is refused. */
MUST_USE bool goldens_prepare(
    struct cli *cli, const char *which, bool ask, struct scenario *scenario, struct err *err);

#endif
