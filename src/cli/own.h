/* Files that steer cordon and that no command of it may change: the user's settings, and what
 * $CORDON_HOME holds (sessions, boxes, what is trusted), and the user's settings of git.
 *
 *     struct str_list own = own_files(cli->arena);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OWN_H
#define CLI_OWN_H

#include "base/arena.h"
#include "base/field.h"

/* Absolute paths; they need not be there. */
struct str_list own_files(struct arena *a);

/* Of these, files of settings that the user writes, and cordon does not. */
struct str_list own_settings(struct arena *a);

/* The same with files that a command line in the settings names. */
struct str_list own_files_and(struct arena *a, struct str command_line);

#endif
