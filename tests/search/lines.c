/* Prints the location of every matching line below a directory, for compare.py: search_lines DIR
 * PATTERN FLAGS THREADS; flags are i (either case), l (literal) or -. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/search.h"

#include <fcntl.h>

static bool print_file(void *context, const struct search_file *file)
{
    (void)context;
    for (size_t i = 0; i < file->found->n; i++) {
        const struct found_line *line = &file->found->lines[i];
        if (line->match)
            printf(STR_FMT "%c%llu\n", STR_ARG(file->path), 0, (unsigned long long)line->number);
    }
    if (file->found->gave_up)
        fprintf(stderr, STR_FMT ": gave up\n", STR_ARG(file->path));
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    struct search_options options = {
        .pattern = str_z(argv[2]),
        .how = {.ignore_case = strchr(argv[3], 'i'), .literal = strchr(argv[3], 'l')},
        .limit = 1 << 30,
        .text_max = 1 << 30,
        .budget_ms = 600 * 1000,
        .cancel = -1,
        .threads = (unsigned)strtoul(argv[4], NULL, 10),
        .file = print_file,
    };
    struct search_summary summary = {0};
    AUTO_ERR struct err err = {0};
    AUTO_FD int fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = search_dir(fd, &options, &summary, &err);
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    walk_problems_done(&summary.problems);
    return ok ? 0 : 1;
}
