/* What git says of a project before there is a box: its commit, and whether work is uncommitted.
 *
 * git itself is asked. Its index alone does not tell: staged changes need HEAD's tree, and line
 * ends and filters decide whether a file differs. A `:rw` box may have made the repository, so git
 * is asked in a sandbox (git_ask.h), where what the repository names can read it and do nothing. No
 * hook and no fsmonitor is run, no lock taken, and no submodule entered.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_DIRTY_H
#define BOX_DIRTY_H

#include "base/err.h"

enum {
    DIRTY_TIMEOUT_MS = 20 * 1000,
    DIRTY_SHA_SIZE = 65,
};

struct dirty {
    bool is_git;               /* it lies in a work tree */
    char head[DIRTY_SHA_SIZE]; /* "": no commit yet */
    size_t changed, untracked;
};

/* Only is_git and the commit: a tenth of the time. */
MUST_USE bool dirty_ask_head(const char *dir, struct dirty *ret_dirty, struct err *err);

/* An answer that git can't give (it is not there, it fails, it takes too long) is E_IO: not
 * "clean". */
MUST_USE bool dirty_ask(const char *dir, struct dirty *ret_dirty, struct err *err);

#endif
