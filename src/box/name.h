/* Names of boxes: letters and digits, with single '.', '_' or '-' between them. Such a name is one
 * file name, no option, and never one that begins with a dot, which are ours. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_NAME_H
#define BOX_NAME_H

#include "base/err.h"

enum {
    BOX_NAME_MAX = 56,
};

bool box_name_valid(struct str name);

/* E_CLI_INVALID_ARG, with what is wrong. */
MUST_USE bool box_name_check(struct str name, struct err *err);

#endif
