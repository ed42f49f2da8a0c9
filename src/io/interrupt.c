/* Signals as a file descriptor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/interrupt.h"

#include "base/base.h"

#include <sys/signalfd.h>
#include <time.h>

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
