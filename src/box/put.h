/* Small files that must be intact after a crash. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PUT_H
#define BOX_PUT_H

#include "base/err.h"

/* Atomic replace, mode 0600, on disk on return. */
MUST_USE bool put_file(int dir, const char *name, struct str content, struct err *err);

#endif
