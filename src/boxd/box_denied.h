/* Denials by the sandbox of a box: for the user of `cordon box exec`, and in host/denied.json for
 * `cordon box show`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_BOX_DENIED_H
#define BOXD_BOX_DENIED_H

#include "boxd/supervisor_loop.h"

/* Sends the client the reasons why its command may have failed: before LINK_EXITED. */
void box_denied_tell(struct supervisor *sv, const struct client *c, int status);

/* Replaces the file, if anything was denied. A failure is ignored: it is only a report. */
void box_denied_save(struct supervisor *sv);

#endif
