/* Looks up variables in a list such as `environ`, of which a program may have several.
 *
 *     struct str path = variable_of(environ, STR("PATH"));
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_VARIABLE_H
#define BASE_VARIABLE_H

#include "base/str.h"

/* The value of the first variable of this name, NUL-terminated; no value: there is none. The list
 * ends in NULL, and may be NULL. */
struct str variable_of(const char *const *list, struct str name);

#endif
