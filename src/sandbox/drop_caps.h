/* Gives up the capabilities of the calling process. Does only what is safe after clone() in a
 * multithreaded process.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DROP_CAPS_H
#define SANDBOX_DROP_CAPS_H

#include "base/base.h"

/* Drops all capabilities, and keeps a program that root starts from regaining any; without `must`
 * as far as the process may. Returns false and errno on failure. */
MUST_USE bool drop_capabilities(bool must);

#endif
