/* Finds a variable by its name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/variable.h"

struct str variable_of(const char *const *list, struct str name)
{
    for (; list && *list; list++) {
        struct str one = str_z(*list);
        if (str_starts_with(one, name) && one.n > name.n && one.p[name.n] == '=')
            return str_skip(one, name.n + 1);
    }
    return (struct str){0};
}
