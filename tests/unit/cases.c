/* Reads cases from files; cases.h describes them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "test.h"

#include <glob.h>
#include <stdio.h>

static const struct str heading = STR("== ");

/* The text before the next heading; `rest` begins with that heading, or is empty. */
static struct str case_text(struct str *rest)
{
    const char *start = rest->p;
    struct str line;
    while (!str_starts_with(*rest, heading) && str_cut(*rest, '\n', &line, rest))
        ;
    return str_n(start, (size_t)(rest->p - start));
}

static size_t run_file(const char *path, size_t row, cases_fn run, void *context)
{
    AUTO_FREE char *content = test_read(path);
    char name[512];
    const char *file = strrchr(path, '/') + 1;
    struct str rest = str_z(content), title;
    size_t n = 0;
    struct str before = case_text(&rest);
    if (rest.n == 0) {
        test_row(row, file);
        run(context, str_z(file), before);
        return 1;
    }
    while (rest.n && str_cut(str_skip(rest, heading.n), '\n', &title, &rest)) {
        snprintf(name, sizeof(name), "%s: " STR_FMT, file, STR_ARG(title));
        test_row(row + n++, name);
        run(context, title, case_text(&rest));
    }
    return n;
}

size_t cases_run(const char *pattern, cases_fn run, void *context)
{
    const char *dir = getenv("CORDON_TESTS");
    char path[4096];
    glob_t found = {0};
    size_t n = 0;
    snprintf(path, sizeof(path), "%s/%s", dir ? dir : TESTS_DIR, pattern);
    CHECK_INT(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        n += run_file(found.gl_pathv[i], n, run, context);
    globfree(&found);
    test_row(0, NULL);
    return n;
}
