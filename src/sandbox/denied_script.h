/* Programs that the kernel or env(1) starts in place of a script: a denial of one of them looks to
 * the command like a denial of the script. Only for reports. Allocates nothing.
 *
 *     n = denied_script_needs(&look, needs, sizeof(needs));     "/bin/sh\0"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DENIED_SCRIPT_H
#define SANDBOX_DENIED_SCRIPT_H

#include "sandbox/denied_path.h"

/* Collects the interpreters of the program of this look that are themselves denied, each ended by
 * NUL. If the program is not denied, only if it is inside. Returns the number of bytes. */
size_t denied_script_needs(const struct denied_look *look, bool denied, char *to, size_t size);

#endif
