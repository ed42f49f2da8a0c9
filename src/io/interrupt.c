/* Signals as a file descriptor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/interrupt.h"

#include "base/base.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

int interrupt_open(bool resize, sigset_t *ret_set)
{
    sigset_t set;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals) - (resize ? 0 : 1); i++) {
        struct sigaction now;
        /* Signals that were ignored at startup, for example by nohup, stay ignored. */
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    *ret_set = set;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void interrupt_close(const sigset_t *set)
{
    const struct timespec now = {0};
    while (sigtimedwait(set, NULL, &now) > 0)
        ;
    sigprocmask(SIG_UNBLOCK, set, NULL);
}

int interrupt_set_new(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

bool interrupt_set_add(int set, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;
}

void interrupt_set_remove(int set, int fd)
{
    struct epoll_event event = {0};
    (void)epoll_ctl(set, EPOLL_CTL_DEL, fd, &event);
}

/* A set cannot be read. */
int interrupt_take(int fd)
{
    struct signalfd_siginfo info;
    ssize_t n = read(fd, &info, sizeof(info));
    if (n == (ssize_t)sizeof(info))
        return (int)info.ssi_signo;
    return n < 0 && errno == EINVAL ? INTERRUPT_CANCELED : 0;
}
