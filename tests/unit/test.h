/* A small test framework: tests register themselves, checks name file, line and table row.
 *
 *     TEST(str_cut_splits)
 *     {
 *         for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
 *             test_row(i, rows[i].name);
 *             CHECK_STR(rows[i].got, rows[i].want);
 *         }
 *     }
 *
 * Each test gets its own empty directory (test_dir()), which is removed after it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include "base/err.h"
#include "base/str.h"

typedef void (*test_fn)(void);
void test_register(const char *name, test_fn run);
void test_row(size_t index, const char *name); /* the table row that the next checks belong to */
void test_skip(const char *why);               /* the test can't run here: reported in the output */
const char *test_dir(void);                    /* an empty directory, absolute and real */
const char *test_path(const char *format, ...) PRINTF_LIKE(1, 2); /* below test_dir(); 16 live */
void test_write(const char *path, const char *content);           /* also creates parents */
char *test_read(const char *path);                                /* for free(); NULL: missing */
/* Whether a sample is enough: under a sanitizer, which makes each step ten times as expensive, or
 * in a second run as another user (CORDON_SAMPLE), which look for other faults; and with
 * `script/test --quick`. */
bool test_sampled(void);
bool test_env(const char *variable); /* set, and not empty: script/test exports empty ones */

bool check_true(bool ok, const char *file, int line, const char *what);
bool check_int(int64_t got, int64_t want, const char *file, int line, const char *what);
bool check_str(struct str got, struct str want, const char *file, int line, const char *what);
bool check_err(
    const struct err *err, enum err_code code, const char *part, const char *file, int line);

/* Each returns whether it held, so that dependent checks can be skipped. */
#define CHECK(cond)          check_true((cond), __FILE__, __LINE__, #cond)
#define CHECK_INT(got, want) check_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) check_str((got), (want), __FILE__, __LINE__, #got)
#define CHECK_Z(got, want)   check_str(str_z(got), str_z(want), __FILE__, __LINE__, #got)
/* Checks the error's code, and that its message contains this part. */
#define CHECK_ERR(err, code, part) check_err((err), (code), (part), __FILE__, __LINE__)
/* Checks that the call succeeded; otherwise shows the error. */
#define CHECK_OK(call, err)                               \
    ((call) ? check_true(true, __FILE__, __LINE__, #call) \
            : check_err((err), ERR_NONE, #call, __FILE__, __LINE__))

#define TEST(name)                                                 \
    static void test_##name(void);                                 \
    __attribute__((constructor)) static void register_##name(void) \
    {                                                              \
        test_register(#name, test_##name);                         \
    }                                                              \
    static void test_##name(void)

#endif
