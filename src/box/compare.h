/* Have two open files, or links, the same content?
 *
 *     AUTO_FD int a = delta_open(one_fd, path, &sa), b = delta_open(other_fd, path, &sb);
 *     uint64_t left = 1 << 30;
 *     compare_content(a, &sa, b, &sb, &left, &same, err)
 */
#ifndef BOX_COMPARE_H
#define BOX_COMPARE_H

#include "base/err.h"

#include <sys/stat.h>

/* *left: bytes that may still be read; running out is E_IO. Different types are not the same. */
MUST_USE bool compare_content(int a, const struct stat *sa, int b, const struct stat *sb,
    uint64_t *left, bool *ret_same, struct err *err);

#endif
