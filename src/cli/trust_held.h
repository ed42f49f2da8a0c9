/* Trust in held files of a repository (repo/protect.h), such as hooks or settings, by contents.
 *
 *     if (trust_held_is(path)) return trust_held(cli, &store, path, yes, list, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TRUST_HELD_H
#define CLI_TRUST_HELD_H

#include "cli/cmd.h"
#include "job/trust.h"

/* Whether a path is that of a held file. */
bool trust_held_is(struct str absolute);

/* Shows the file, asks unless `yes`, moves it back to its place and records the trust. */
MUST_USE bool trust_held(struct cli *cli, const struct trust_store *store, struct str absolute,
    bool yes, json_t *list, struct err *err);

/* For protect_options.accepted; `context` is the path of the store. */
bool trust_held_accepts(void *context, struct str path, struct str bytes);

/* Whether an entry is for a held file. */
bool trust_held_entry(const struct trust *t);

#endif
