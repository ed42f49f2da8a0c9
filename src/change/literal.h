/* Binary file content in a git patch: deflated, base 85, split in lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_LITERAL_H
#define CHANGE_LITERAL_H

#include "base/buf.h"

/* Appends "literal SIZE", the lines, and an empty line. */
void literal_add(struct buf *text, struct str content);

#endif
