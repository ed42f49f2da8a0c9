/* Starts and ends the proxy's process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy_process.h"

#include "sandbox/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Keeps only three file descriptors, and in particular not a box's lock. */
NORETURN static void run_proxy(struct proxy_input *input)
{
    int *const keep[] = {&input->listener, &input->relays, &input->report};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "cordon-proxy");
    (void)descriptors_raise();
    const int first = 3, above = first + (int)ARRAY_LEN(keep);
    int high[ARRAY_LEN(keep)];
    for (size_t i = 0; i < ARRAY_LEN(keep); i++)
        if ((high[i] = *keep[i] >= 0 ? descriptors_lift(*keep[i], above) : -1) < 0 && *keep[i] >= 0)
            _exit(1);
    for (size_t i = 0; i < ARRAY_LEN(keep); i++) {
        int fd = first + (int)i;
        if (high[i] < 0)
            close(fd);
        else if ((*keep[i] = dup3(high[i], fd, O_CLOEXEC)) < 0)
            _exit(1);
    }
    syscall(SYS_close_range, above, ~0u, 0);
    proxy_main(input);
}

static bool has_files(struct err *err)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max >= PROXY_FILES)
        return true;
    err_set(err, E_IO, "the proxy needs %d open files, and the limit is %llu", PROXY_FILES,
        (unsigned long long)files.rlim_max);
    return err_ctx(err, "remedy", "raise the hard limit of open files (ulimit -Hn)");
}

bool proxy_process_start(
    const struct proxy_start *start, struct proxy_process *ret_process, struct err *err)
{
    int pair[2], pipes[2];
    if (!has_files(err))
        return false;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return err_errno(err, E_IO, errno, "cannot create a socket pair");
    AUTO_FD int ours = pair[0], theirs = pair[1];
    if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_errno(err, E_IO, errno, "cannot create a pipe");
    AUTO_FD int reads = pipes[0], writes = pipes[1];
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return err_errno(err, E_IO, errno, "cannot start the proxy");
    if (pid == 0) {
        struct proxy_input input = {
            .listener = start->listener, .relays = theirs, .report = writes, .hosts = start->hosts};
        if (getppid() != parent)
            _exit(0);
        run_proxy(&input);
    }
    *ret_process =
        (struct proxy_process){.pid = pid, .relays = TAKE_FD(ours), .report = TAKE_FD(reads)};
    return true;
}

bool proxy_process_take(
    int *listener, struct str_list hosts, struct proxy_process *ret_process, struct err *err)
{
    AUTO_FD int fd = *listener;
    *listener = -1;
    *ret_process = PROXY_PROCESS_NONE;
    return fd < 0 || proxy_process_start(&(struct proxy_start){fd, hosts}, ret_process, err);
}

void proxy_process_end(struct proxy_process *p, struct buf *lines)
{
    char bytes[4096];
    ssize_t n;
    auto_fd(&p->relays);
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    while (lines && p->report >= 0 && (n = read(p->report, bytes, sizeof(bytes))) > 0)
        buf_add(lines, bytes, (size_t)n);
    auto_fd(&p->report);
    *p = PROXY_PROCESS_NONE;
}
