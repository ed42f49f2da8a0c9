/* A session in the caller's event loop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

static bool api_watch_add(int set, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};
    return fd < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool api_watch_open(struct api_watch *w, int cancel, struct err *err)
{
    AUTO_FD int set = epoll_create1(EPOLL_CLOEXEC);
    AUTO_FD int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (set < 0 || timer < 0 || !api_watch_add(set, timer, EPOLLIN) ||
        !api_watch_add(set, cancel, EPOLLIN))
        return err_errno(err, E_IO, errno, "cannot create the session's descriptor");
    w->set = TAKE_FD(set);
    w->timer = TAKE_FD(timer);
    w->cancel = cancel;
    return true;
}

void api_watch_close(struct api_watch *w)
{
    auto_fd(&w->set);
    auto_fd(&w->timer);
    w->set = w->timer = -1;
}

/* A descriptor that was closed has left the set by itself. */
static void api_watch_slot(struct api_watch *w, size_t i, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};
    if (w->now[i].fd == fd && w->now[i].events == events)
        return;
    if (w->now[i].fd >= 0 && w->now[i].fd != fd)
        (void)epoll_ctl(w->set, EPOLL_CTL_DEL, w->now[i].fd, &event);
    if (fd >= 0)
        (void)epoll_ctl(w->set, w->now[i].fd == fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    w->now[i].fd = fd;
    w->now[i].events = events;
}

static void api_watch_set_timer(struct api_watch *w, uint64_t due_ms)
{
    struct itimerspec once = {0};
    if (due_ms != UINT64_MAX)
        once.it_value = (struct timespec){
            (time_t)(due_ms / 1000), (long)(due_ms % 1000) * 1000000 + (due_ms == 0)};
    (void)timerfd_settime(w->timer, TFD_TIMER_ABSTIME, &once, NULL);
}

void api_watch_update(struct api_watch *w, const struct session *s)
{
    struct pollfd fds[SESSION_POLLS];
    if (w->set < 0)
        return;
    if (w->over && w->cancel >= 0) {
        struct epoll_event event = {0};
        (void)epoll_ctl(w->set, EPOLL_CTL_DEL, w->cancel, &event);
        w->cancel = -1;
    }
    session_polls(s, fds);
    for (size_t i = 0; i < SESSION_POLLS; i++)
        api_watch_slot(w, i, w->over ? -1 : fds[i].fd,
            (fds[i].events & POLLIN ? EPOLLIN : 0u) | (fds[i].events & POLLOUT ? EPOLLOUT : 0u));
    api_watch_set_timer(w, w->over ? UINT64_MAX : session_due_ms(s));
}
