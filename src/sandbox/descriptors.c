/* Moving file descriptors to their fixed numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
    KEPT = FD_FREE - FD_CONTROL,
};

int descriptors_lift(int fd, int from)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (high < 0 && errno == EINVAL)
        errno = EMFILE;
    return high;
}

/* Closes all file descriptors from this one on, except for the given mounts. Returns 0 or an error
 * number. */
static int close_others(const struct init_input *in, unsigned from)
{
    bool ok = true;
    for (size_t i = 0; i < in->n_open; i++) {
        unsigned keep = (unsigned)in->open[i];
        if (keep > from)
            ok &= syscall(SYS_close_range, from, keep - 1, 0) == 0;
        from = keep + 1;
    }
    return ok && syscall(SYS_close_range, from, ~0u, 0) == 0 ? 0 : errno;
}

/* Keeps only the control socket, which reports the failure. */
static int keep_control(const struct init_input *in, int errnum)
{
    if (in->control != FD_CONTROL && dup3(in->control, FD_CONTROL, O_CLOEXEC) < 0)
        _exit(127);
    syscall(SYS_close_range, FD_CONTROL + 1, ~0u, 0);
    return errnum;
}

/* A later descriptor would get a number that stays unused, and the command would inherit it. */
static int occupy_standard(void)
{
    int errnum = 0;
    for (int fd = 0; fd < FD_CONTROL; fd++)
        close(fd);
    for (int fd = 0; fd < FD_CONTROL; fd++)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && (errno == EMFILE || errno == ENFILE))
            errnum = errno;
    return errnum;
}

/* Copies them above the fixed numbers first, so that none is overwritten. */
int descriptors_keep(const struct init_input *in)
{
    const int given[KEPT] = {
        in->control, in->io[0], in->io[1], in->io[2], in->service, in->connects};
    int high[KEPT];
    for (int i = 0; i < KEPT; i++) {
        high[i] = given[i] >= 0 ? descriptors_lift(given[i], FD_FREE) : -1;
        if (given[i] >= 0 && high[i] < 0)
            return keep_control(in, errno);
    }
    for (int i = 0; i < KEPT; i++) {
        close(FD_CONTROL + i);
        if (high[i] >= 0 && dup3(high[i], FD_CONTROL + i, O_CLOEXEC) < 0)
            _exit(127);
    }
    int errnum = close_others(in, FD_FREE), standard = occupy_standard();
    return errnum ? errnum : standard;
}

uint64_t descriptors_raise(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0)
        return 0;
    now.rlim_cur = now.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &now) == 0 ? now.rlim_cur : 0;
}
