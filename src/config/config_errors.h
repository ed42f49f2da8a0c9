/* All errors of a settings file, for `cordon config check`.
 *
 *     struct config_errors errors = {0};
 *     config_find_errors(&source, &config_user_shape, &arena, &errors);
 *     ... errors.p[i].message ...
 *     config_errors_done(&errors);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_CONFIG_ERRORS_H
#define CONFIG_CONFIG_ERRORS_H

#include "config/config.h"

enum {
    CONFIG_ERRORS_MAX = 50,
};

struct config_errors {
    struct err p[CONFIG_ERRORS_MAX];
    size_t n;
    size_t more; /* errors beyond the maximum, not kept */
};

/* In the order of the file; without those of its syntax, which config_parse() reports. */
void config_find_errors(const struct config_source *source, const struct shape *shape,
    struct arena *a, struct config_errors *errors);
void config_errors_done(struct config_errors *e);

#endif
