/* A library that reports that it was loaded: the escape tests try to load it into a program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

__attribute__((constructor)) static void say(void);

static void say(void)
{
    static const char text[] = "ran:library\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(3);
}
