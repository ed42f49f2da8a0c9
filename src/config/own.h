/* Files that control cordon and that no command may change: the user's settings, everything in
 * $CORDON_HOME (sessions, boxes, trust), and the user's git settings.
 *
 *     struct str_list own = own_files(cli->arena);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_OWN_H
#define CONFIG_OWN_H

#include "base/arena.h"
#include "base/field.h"

/* Absolute paths; the files need not exist. */
struct str_list own_files(struct arena *a);

/* Only the settings files, which the user writes, not cordon. */
struct str_list own_settings(struct arena *a);

/* The same as own_files(), with files that are named by a command line in the settings. */
struct str_list own_files_and(struct arena *a, struct str command_line);

#endif
