/* Tests that crash or exit, for tests/isolate: each must be reported, and the others must run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(first_passes)
{
    CHECK(access(test_path("left"), F_OK) != 0); /* each test has a new directory */
}

TEST(second_crashes)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    test_write(test_path("left"), "behind");
    printf("# %s\n", test_dir());
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

TEST(third_fails)
{
    CHECK(false);
}

TEST(fourth_exits)
{
    exit(3);
}

TEST(last_passes)
{
    CHECK(access(test_path("left"), F_OK) != 0); /* each test has a new directory */
}
