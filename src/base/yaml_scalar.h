/* Plain YAML scalars by the core schema of YAML 1.2. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include "base/json.h"

/* Returns a new value, or NULL and the reason for the rejection. */
MUST_USE json_t *yaml_scalar(struct str plain, const char **ret_why);

#endif
