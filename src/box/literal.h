/* The content of a binary file in a patch of git: deflated, in base 85, in lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_LITERAL_H
#define BOX_LITERAL_H

#include "base/buf.h"

/* Appends "literal SIZE", the lines, and an empty one. */
void literal_add(struct buf *text, struct str content);

#endif
