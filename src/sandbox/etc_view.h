/* /etc as the developer's machine shows it: the host's, without everything that not every user
 * may read, known places of secrets, and other file systems mounted there. It has one of two forms,
 * and in both a file stays hidden if the host replaces it:
 *
 * - layered: our own directory, with the files that a sandbox generates and the names to hide, on
 *   top of the host's. Cheap, but the kernel refuses it if something is mounted below /etc, as in
 *   most containers.
 * - otherwise: our own directory with the entries to show. A directory is mounted if any user may
 *   read all of it, and otherwise is also one of our own. Small files are copied.
 *
 *     etc_view_collect(&(struct etc_input){.from = "/etc", .layered = true}, &arena, &view);
 *     for (size_t i = 0; i < view.n; i++)
 *         add_step(&view.steps[i]);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ETC_VIEW_H
#define SANDBOX_ETC_VIEW_H

#include "sandbox/plan.h"

struct etc_input {
    const char *from; /* the directory to be shown at /etc */
    bool layered;
    /* Hide everything that not every user may read: for root, and for users in groups. The files of
     * others are closed to a user anyway. */
    bool modes;
};

struct etc_view {
    struct plan_step *steps; /* at /etc and below; none: it can't be shown */
    size_t n;
};

void etc_view_collect(
    const struct etc_input *input, struct arena *arena, struct etc_view *ret_view);

/* Whether a path relative to /etc is a known place of secrets. Pure. */
bool etc_view_omits(const char *path);

#endif
