/* Lists and prunes recordings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box_runs.h"

#include "base/str.h"
#include "io/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NUMBER_TEXT = 24,
    DEPTH_MAX = 3, /* directory depth of a recording */
};

static int number_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool runs_list(int host_fd, uint64_t numbers[RUNS_LISTED_MAX], size_t *ret_n, struct err *err)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    int64_t number;
    size_t n = 0;
    *ret_n = 0;
    if (!dir_open(&d, host_fd, "runs"))
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot list the recordings");
    while (n < RUNS_LISTED_MAX && dir_next(&d))
        if (str_to_int(str_z(d.name), 1, INT64_MAX, &number))
            numbers[n++] = (uint64_t)number;
    if (d.errnum)
        return err_errno(err, E_IO, d.errnum, "cannot list the recordings");
    if (n > 1)
        qsort(numbers, n, sizeof(*numbers), number_order);
    *ret_n = n;
    return true;
}

/* Removing ------------------------------------------------------------------------------------ */

static bool remove_tree(int at, const char *name, int depth)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (depth <= 0 || !dir_open(&d, at, name))
        return false;
    while (dir_next(&d))
        if (unlinkat(d.fd, d.name, 0) != 0 && errno == EISDIR)
            (void)remove_tree(d.fd, d.name, depth - 1);
    return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

static bool remove_run(int host_fd, uint64_t number)
{
    char name[NUMBER_TEXT + 8];
    snprintf(name, sizeof(name), "runs/%llu", (unsigned long long)number);
    return remove_tree(host_fd, name, DEPTH_MAX);
}

/* Finds the surplus recordings, oldest first, and returns their number. */
static size_t find_surplus(int host_fd, uint64_t current, uint64_t numbers[RUNS_LISTED_MAX])
{
    AUTO_ERR struct err ignored = {0};
    size_t n, found = 0;
    if (!runs_list(host_fd, numbers, &n, &ignored))
        return 0;
    for (size_t i = 0; i + RUNS_KEPT < n; i++)
        if (numbers[i] != current)
            numbers[found++] = numbers[i];
    return found;
}

void runs_prune(int host_fd, uint64_t current, size_t *ret_removed)
{
    AUTO_FREE uint64_t *numbers = base_alloc(RUNS_LISTED_MAX * sizeof(*numbers));
    size_t n = find_surplus(host_fd, current, numbers);
    *ret_removed = 0;
    for (size_t i = 0; i < n; i++)
        *ret_removed += remove_run(host_fd, numbers[i]);
}

size_t runs_surplus(int host_fd, uint64_t current)
{
    AUTO_FREE uint64_t *numbers = base_alloc(RUNS_LISTED_MAX * sizeof(*numbers));
    return find_surplus(host_fd, current, numbers);
}
