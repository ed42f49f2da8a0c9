/* Names of boxes: letters and digits, with single '.', '_' or '-' between them. Such a name is a
 * single path component and cannot be mistaken for an option. It never begins with a dot; those
 * names are reserved for us. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_NAME_H
#define BOX_NAME_H

#include "base/err.h"

enum {
    BOX_NAME_MAX = 56,
};

bool box_name_valid(struct str name);

/* E_CLI_INVALID_ARG, with the reason. */
MUST_USE bool box_name_check(struct str name, struct err *err);

#endif
