/* Trust in what was set aside in a repository (repo/protect.h): a hook or settings, by their bytes.
 *
 *     if (trust_held_is(path)) return trust_held(cli, &store, path, yes, list, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TRUST_HELD_H
#define CLI_TRUST_HELD_H

#include "cli/cmd.h"
#include "job/trust.h"

/* Whether a path lies where things are set aside. */
bool trust_held_is(struct str absolute);

/* Shows it, asks unless `yes`, remembers it, and puts it back into its place. */
MUST_USE bool trust_held(struct cli *cli, const struct trust_store *store, struct str absolute,
    bool yes, json_t *list, struct err *err);

/* For protect_options.accepted; the context is the path of the store. */
bool trust_held_accepts(void *context, struct str path, struct str bytes);

/* Whether an entry is of this kind. */
bool trust_held_entry(const struct trust *t);

#endif
