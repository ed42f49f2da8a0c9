/* The thread that answers a sandbox's system calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/listener.h"

#include "base/syscalls.h"
#include "sandbox/connector.h"
#include "sandbox/denied_calls.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>

enum {
    LISTENER_STACK = 512 * 1024, /* touched only as far as it is used */
    LISTENER_PATH_FIRST = 256,   /* bytes: most paths are shorter */
    PAGE_LEAST = 4096,
};

/* Newer than the headers of Debian 12; since Linux 6.6. */
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#endif

/* Room for a structure of the kernel that may be longer than ours. */
union listener_room {
    struct seccomp_notif request;
    struct seccomp_notif_resp response;
    char bytes[1024];
};

struct listener {
    struct listener_options options;
    struct denied_calls *denied;
    struct connector *connector;
    pthread_t thread;
    sem_t given; /* posted when `fd` is set */
    bool started;
    int fd;
    size_t request_size, response_size; /* the kernel's */
    bool ends;                          /* receiving ends with the sandbox */
    bool failed;
    union listener_room request, response;
};

/* Handlers ------------------------------------------------------------------------------------ */

typedef struct listener_reply listener_handler(const struct listener_call *call);

static const struct {
    int number; /* SYSCALL_NONE: of every number */
    listener_handler *handle;
} listener_handlers[] = {
    {SYSCALL_NONE, denied_calls_handle},
    {NR_connect, connector_handle},
};

static struct listener_reply listener_ask(const struct listener_call *call)
{
    struct listener_reply reply = {LISTENER_PASS, 0};
    for (size_t i = 0; i < ARRAY_LEN(listener_handlers) && reply.verdict == LISTENER_PASS; i++) {
        int number = listener_handlers[i].number;
        if (number == SYSCALL_NONE || number == call->request->data.nr)
            reply = listener_handlers[i].handle(call);
    }
    if (reply.verdict == LISTENER_PASS)
        reply = (struct listener_reply){LISTENER_REFUSE, EPERM};
    return reply;
}

/* Reading ------------------------------------------------------------------------------------- */

ssize_t listener_read(const struct listener_call *call, uint64_t address, void *to, size_t size)
{
    /* In two parts: the second page may not be mapped. */
    size_t first = MIN(size, (size_t)(PAGE_LEAST - address % PAGE_LEAST));
    const struct iovec local = {to, size};
    const struct iovec remote[] = {
        {(void *)(uintptr_t)address, first}, {(void *)(uintptr_t)(address + first), size - first}};
    return process_vm_readv((pid_t)call->request->pid, &local, 1, remote, size > first ? 2 : 1, 0);
}

bool listener_read_path(const struct listener_call *call, uint64_t address, char *to, size_t size)
{
    size_t have = 0;
    for (size_t want = MIN(size, (size_t)LISTENER_PATH_FIRST); have < size;
         want = MIN(size - have, (size_t)PAGE_LEAST)) {
        ssize_t n = listener_read(call, address + have, to + have, want);
        if (n <= 0)
            return false;
        if (memchr(to + have, '\0', (size_t)n))
            return true;
        have += (size_t)n;
    }
    return false;
}

/* The thread ---------------------------------------------------------------------------------- */

/* Returns false if the listener can't be used any more. A call that was interrupted, or whose
 * process is gone, has no answer (ENOENT). */
static bool listener_answer(struct listener *l, uint64_t call, struct listener_reply reply)
{
    if (reply.verdict == LISTENER_ANSWERED)
        return true;
    memset(&l->response, 0, l->response_size);
    struct seccomp_notif_resp *r = &l->response.response;
    r->id = call;
    if (reply.verdict == LISTENER_CONTINUE)
        r->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    else if (reply.verdict == LISTENER_RETURN)
        r->val = reply.value;
    else
        r->error = -reply.value;
    while (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SEND, r) != 0)
        if (errno != EINTR)
            return errno == ENOENT || errno == EINPROGRESS;
    return true;
}

void listener_answer_later(struct listener *l, uint64_t call, struct listener_reply reply)
{
    (void)!listener_answer(l, call, reply);
}

int listener_fd(const struct listener *l)
{
    return l->fd;
}

void listener_report_socket(struct listener *l, const struct seccomp_notif *call, const char *name)
{
    const struct listener_call late = {.fd = l->fd, .request = call, .denied = l->denied};
    if (l->denied)
        denied_calls_report_socket(&late, name);
}

enum listener_state {
    LISTENER_ON,
    LISTENER_OVER, /* no process of the sandbox is left */
    LISTENER_BROKEN,
};

/* Waits for a call; without a timeout only checks whether there can be one. */
static enum listener_state listener_wait(const struct listener *l, int timeout_ms)
{
    struct pollfd wait = {.fd = l->fd, .events = POLLIN};
    int ready = poll(&wait, 1, timeout_ms);
    if (ready <= 0)
        return ready == 0 || errno == EINTR ? LISTENER_ON : LISTENER_BROKEN;
    if (wait.revents & POLLIN)
        return LISTENER_ON;
    return wait.revents & POLLHUP ? LISTENER_OVER : LISTENER_BROKEN;
}

/* Process 1 connects for its commands, and must not wait for itself. Its memory is not theirs. */
static bool is_own_call(const struct listener *l, const struct seccomp_notif *request)
{
    return (pid_t)request->pid == l->options.process_1 &&
           (request->data.nr == NR_connect || request->data.nr == NR_chdir);
}

/* Handles one call, which may be gone before it is received. */
static enum listener_state listener_step(struct listener *l)
{
    memset(&l->request, 0, l->request_size);
    if (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, &l->request.request) != 0)
        return errno == ENOENT  ? listener_wait(l, 0)
               : errno == EINTR ? LISTENER_ON
                                : LISTENER_BROKEN;
    const struct seccomp_notif *request = &l->request.request;
    const struct listener_call call = {
        .fd = l->fd, .request = request, .denied = l->denied, .connector = l->connector};
    const struct listener_reply reply = is_own_call(l, request)
                                            ? (struct listener_reply){LISTENER_CONTINUE, 0}
                                            : listener_ask(&call);
    return listener_answer(l, request->id, reply) ? LISTENER_ON : LISTENER_BROKEN;
}

/* Waits for the next call; until then continues those that are being carried out. */
static enum listener_state listener_wait_busy(struct listener *l)
{
    struct pollfd fds[1 + CONNECTOR_POLLED] = {{.fd = l->fd, .events = POLLIN}};
    while (connector_waits(l->connector)) {
        int timeout_ms;
        size_t n = connector_poll(l->connector, fds + 1, &timeout_ms);
        int ready = poll(fds, 1 + n, timeout_ms);
        if (ready < 0 && errno != EINTR)
            return LISTENER_BROKEN;
        connector_continue(l->connector, l);
        if (ready > 0 && fds[0].revents)
            break;
    }
    return LISTENER_ON;
}

/* Since Linux 6.11 receiving a call also ends with the last process, and poll() is not needed. */
static void listener_loop(struct listener *l)
{
    enum listener_state state = LISTENER_ON;
    while (state == LISTENER_ON) {
        state = listener_wait_busy(l);
        if (state == LISTENER_ON && !l->ends)
            state = listener_wait(l, -1);
        if (state == LISTENER_ON)
            state = listener_step(l);
    }
    if (state == LISTENER_OVER)
        return;
    l->failed = true;
    syscall(SYS_pidfd_send_signal, l->options.sandbox, l->options.death, NULL, 0);
}

static bool receiving_ends(void)
{
    struct utsname name;
    char *end;
    if (uname(&name) != 0)
        return false;
    long major = strtol(name.release, &end, 10),
         minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 11);
}

/* Its sizes are the running kernel's. Without them nothing can be received. */
static bool listener_measure(struct listener *l)
{
    struct seccomp_notif_sizes sizes = {0};
    l->ends = receiving_ends();
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
        return false;
    l->request_size = MAX((size_t)sizes.seccomp_notif, sizeof(struct seccomp_notif));
    l->response_size = MAX((size_t)sizes.seccomp_notif_resp, sizeof(struct seccomp_notif_resp));
    return l->request_size <= sizeof(l->request) && l->response_size <= sizeof(l->response);
}

static void *listener_main(void *context)
{
    struct listener *l = context;
    prctl(PR_SET_NAME, "cordon-listen", 0, 0, 0);
    bool known = listener_measure(l);
    while (sem_wait(&l->given) != 0)
        ;
    if (l->fd < 0)
        return NULL;
    if (!known) {
        l->failed = true;
        syscall(SYS_pidfd_send_signal, l->options.sandbox, l->options.death, NULL, 0);
        return NULL;
    }
    /* Faster: the caller waits for us, so we run in its place. */
    (void)!ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
    listener_loop(l);
    return NULL;
}

static bool listener_create_thread(struct listener *l)
{
    pthread_attr_t attr;
    sigset_t all;
    sigfillset(&all);
    if (pthread_attr_init(&attr) != 0)
        return false;
    bool ok = pthread_attr_setstacksize(&attr, LISTENER_STACK) == 0 &&
              pthread_attr_setsigmask_np(&attr, &all) == 0 &&
              pthread_create(&l->thread, &attr, listener_main, l) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

/* Opening and closing ------------------------------------------------------------------------- */

static void listener_release(struct listener *l)
{
    auto_fd(&l->fd);
    denied_calls_free(l->denied);
    connector_free(l->connector);
    sem_destroy(&l->given);
    free(l);
}

struct listener *listener_new(const struct listener_options *options)
{
    struct listener *l = calloc(1, sizeof(*l));
    BUG_ON(!l);
    l->options = *options;
    l->fd = -1;
    if (options->denied)
        l->denied = denied_calls_new(options->plan, options->denied);
    if (options->connects >= 0)
        l->connector = connector_new(options->connects);
    sem_init(&l->given, 0, 0);
    if (listener_create_thread(l))
        return l;
    listener_release(l);
    return NULL;
}

void listener_start(struct listener *l, int fd)
{
    l->fd = fd;
    l->started = true;
    sem_post(&l->given);
}

bool listener_free(struct listener *l)
{
    if (!l)
        return true;
    if (!l->started)
        listener_start(l, -1);
    pthread_join(l->thread, NULL);
    bool ok = !l->failed;
    listener_release(l);
    return ok;
}
