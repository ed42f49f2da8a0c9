/* Warnings for the user from code that does not print: the caller decides where they go.
 *
 *     notice_send(warnings, "cannot write events to '%s'", path);
 *
 * A zeroed struct discards them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NOTICE_H
#define BASE_NOTICE_H

#include "base/base.h"
#include "base/str.h"

struct notices {
    void (*put)(void *context, struct str text); /* one line; may contain untrusted text */
    void *context;
};

void notice_send(struct notices notices, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
