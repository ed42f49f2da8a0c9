/* Compares the content of two open files or symlinks. Holes common to both are not read.
 *
 *     AUTO_FD int a = delta_open(one_fd, path, &sa), b = delta_open(other_fd, path, &sb);
 *     uint64_t left = 1 << 30;
 *     compare_content(a, &sa, b, &sb, &left, &same, err)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_COMPARE_H
#define CHANGE_COMPARE_H

#include "base/err.h"

#include <sys/stat.h>

/* *left: number of bytes that may still be read; exceeding it is E_IO. Different types compare as
 * different. */
MUST_USE bool compare_content(int a, const struct stat *sa, int b, const struct stat *sb,
    uint64_t *left, bool *ret_same, struct err *err);

/* Compares `size` bytes from an offset in each file. A file that is too short compares as
 * different. */
struct compare_part {
    int fd;
    uint64_t at;
};
MUST_USE bool compare_parts(const struct compare_part *a, const struct compare_part *b,
    uint64_t size, uint64_t *left, bool *ret_same, struct err *err);

/* Compares the beginning of a file with a buffer. */
MUST_USE bool compare_text(
    int fd, struct str text, uint64_t *left, bool *ret_same, struct err *err);

#endif
