/* The home directory of a box: its path inside, and its contents, which the box can change.
 *
 *     setup.home = box_home_choose(&(struct box_home_choice){.agent = agent, .home = home, …}, &a);
 *     if (!box_home_fill(fd, agent, err)) return false;
 *
 * Its path is that of the user's own home directory, where toolchains look for their files; the
 * files are those of the box, and are kept with it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOX_HOME_H
#define BOX_BOX_HOME_H

#include "box/rows.h"

struct box_home_choice {
    const struct box_agent *agent;
    const char *home;      /* the user's, or NULL */
    struct str_list shown; /* directories of the host that the box shows at their own paths */
};

/* The user's home directory, unless the agent's row says otherwise, it does not exist, the box
 * shows it, or it belongs to the system. The result is absolute and NUL-terminated. */
struct str box_home_choose(const struct box_home_choice *choice, struct arena *arena);

/* Creates the agent's state directory in a new home directory. */
MUST_USE bool box_home_fill(int home_fd, const struct box_agent *agent, struct err *err);

/* Creates a mount point: the sandbox creates none in a directory of the host. `rest` is relative to
 * the home directory. Sets errno. */
MUST_USE bool box_home_place(int home_fd, struct str rest, bool is_dir, struct arena *arena);

/* Makes a symlink there, in place of another one or of a mount point, unless the box has a file of
 * its own there or above it. */
void box_home_link(int home_fd, struct str rest, struct str target, struct arena *arena);

/* Whether a mount of the host's `path` there would hide no file of the box. Symlinks that are those
 * of the host do not count. */
bool box_home_is_free(
    int home_fd, struct str rest, struct str path, bool is_dir, struct arena *arena);

/* Creates ~/.gitconfig, unless there is one. Git in the box may change it later. */
MUST_USE bool box_home_identity(int home_fd, struct str text, struct err *err);

#endif
