/* Directory arguments: an answer or an error, never both; the path is absolute and clean. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/dirarg.h"
#include "path/lexical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct dirarg dir;
    struct str arg = str_n((const char *)data, size);
    if (!dirarg_parse(arg, STR("/cwd/dir"), &a, &dir, &err)) {
        BUG_ON(err.code != E_CLI_INVALID_ARG);
        return 0;
    }
    BUG_ON(err.code != ERR_NONE);
    BUG_ON(dir.path.n == 0 || dir.path.p[0] != '/');
    struct str component, rest = dir.path;
    while (lexical_next(&rest, &component))
        BUG_ON(str_is(component, ".") || str_is(component, ".."));
    BUG_ON(dir.path.n > 1 && dir.path.p[dir.path.n - 1] == '/');
    BUG_ON(!str_eq(lexical_absolute(&a, STR("/"), dir.path), dir.path));
    return 0;
}
