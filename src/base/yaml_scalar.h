/* What a plain scalar of YAML means, by the core schema of YAML 1.2. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include "base/json.h"

/* A new value, or NULL and why it is refused. */
MUST_USE json_t *yaml_scalar(struct str plain, const char **ret_why);

#endif
