/* Installing the filter. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/filter_enter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

/* Newer than some headers; since Linux 5.19. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* Too large for the stack of a command that is about to start. */
static struct seccomp_options wanted;
static struct seccomp_filter program;

void filter_prepare(const struct seccomp_options *options)
{
    wanted = *options;
    seccomp_compile(&wanted, &program);
}

static int filter_install(unsigned long flags)
{
    const struct sock_fprog code = {.len = program.n, .filter = program.code};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &code);
}

bool filter_enter(int *ret_listener, int *ret_errnum)
{
    *ret_listener = -1;
    *ret_errnum = 0;
    if (!wanted.observe && !wanted.connects)
        return filter_install(0) == 0;
    /* A call that the listener has received is not interrupted by signals, which would make it
     * receive the call once more. */
    *ret_listener =
        filter_install(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    if (*ret_listener < 0 && errno == EINVAL)
        *ret_listener = filter_install(SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (*ret_listener >= 0)
        return true;
    *ret_errnum = errno;
    wanted.observe = wanted.connects = false;
    seccomp_compile(&wanted, &program);
    return filter_install(0) == 0;
}
