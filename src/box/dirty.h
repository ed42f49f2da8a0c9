/* State of a project according to git before a box is created: its commit, and whether there are
 * uncommitted changes.
 *
 * git itself is run. Its index is not enough: staged changes need HEAD's tree, and line endings and
 * filters determine whether a file differs. A `:rw` box may have written the repository, so git
 * runs in a sandbox (git_ask.h), where programs named by the repository can read it and do nothing
 * else. No hook and no fsmonitor is run, no lock taken, and no submodule entered.
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
    bool is_git;               /* the project is in a work tree */
    char head[DIRTY_SHA_SIZE]; /* "" without a commit */
    size_t changed, untracked;
};

/* Sets only is_git and head: takes a tenth of the time. */
MUST_USE bool dirty_ask_head(const char *dir, struct dirty *ret_dirty, struct err *err);

/* E_IO if git cannot answer (not installed, failed, timeout): never reported as clean. */
MUST_USE bool dirty_ask(const char *dir, struct dirty *ret_dirty, struct err *err);

#endif
