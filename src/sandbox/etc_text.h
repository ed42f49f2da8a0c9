/* Files of /etc as a sandbox shows them: the user's home directory and the name of the host are
 * those inside. Pure.
 *
 *     struct str shown = etc_hosts(&arena, bytes);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ETC_TEXT_H
#define SANDBOX_ETC_TEXT_H

#include "base/arena.h"
#include "base/str.h"

#include <sys/types.h>

#define ETC_HOST_NAME "cordon"

/* /etc/passwd with another home directory for this user; everything else stays. */
struct str etc_passwd(struct arena *arena, struct str text, uid_t uid, struct str home);

/* /etc/hosts with a line for ETC_HOST_NAME, unless it has one. */
struct str etc_hosts(struct arena *arena, struct str text);

#endif
