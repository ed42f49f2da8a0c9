/* Keys from a command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/key_command.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
    GRACE_MS = 1000, /* time for the command to restore the terminal */
};

/* With a terminal the command stays in our process group, since it could not use the terminal
 * otherwise; Ctrl-C there reaches all of it. Without one it has its own process group, which can be
 * killed as a whole. */
static bool has_terminal(void)
{
    AUTO_FD int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return fd >= 0;
}

static bool key_command_start(
    const struct key_command *k, pid_t *ret_pid, int *ret_out, struct err *err)
{
    int ends[2];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)k->line, NULL};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, E_IO, errno, "cannot create a pipe");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    if (k->hosted) {
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    /* Signals that are blocked in this process must reach the command. */
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    bool own_group = k->hosted || !has_terminal();
    posix_spawnattr_setflags(
        &attributes, (short)(POSIX_SPAWN_SETSIGMASK | (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
    int failed = posix_spawn(ret_pid, "/bin/sh", &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return err_errno(err, E_CONFIG, failed, "key_command: cannot start sh");
    }
    *ret_out = ends[0];
    return true;
}

/* Reads until end of file, the size limit, the timeout or cancellation. */
static bool key_command_read(int fd, int cancel_fd, struct buf *text, struct err *err)
{
    const uint64_t until = clock_mono_ms() + KEY_COMMAND_TIMEOUT_MS;
    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
        uint64_t now = clock_mono_ms();
        char *room = buf_reserve(text, 256);
        if (!room)
            return err_set(err, E_CONFIG, "key_command: the command printed more than %d bytes",
                KEY_COMMAND_MAX);
        if (now >= until || poll(fds, 2, (int)(until - now)) == 0)
            return err_set(err, E_CONFIG,
                "key_command: timeout: the command did not exit within %d s",
                KEY_COMMAND_TIMEOUT_MS / 1000);
        if (fds[1].revents)
            return err_set(err, E_CANCELED, "interrupted");
        if (!fds[0].revents)
            continue;
        ssize_t n = read(fd, room, 256);
        if (n == 0)
            return true;
        if (n > 0)
            buf_grown(text, (size_t)n);
        else if (errno != EINTR)
            return err_errno(err, E_CONFIG, errno, "key_command");
    }
}

/* Kills the command and its children. Orphans are reparented to this process and waited for; not to
 * a host, whose other threads may start processes at the same time. */
static void key_command_kill(pid_t pid, bool hosted)
{
    AUTO_FD int fd = pidfd_open(pid, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    pid_t whole = getpgid(pid) == pid ? -pid : pid;
    int before = 0;
    if (!hosted) {
        prctl(PR_GET_CHILD_SUBREAPER, &before);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    kill(whole, SIGTERM);
    bool gone = fd >= 0 && poll(&ended, 1, GRACE_MS) > 0;
    if (!gone || whole < 0)
        kill(whole, SIGKILL); /* children of the shell may have ignored SIGTERM */
    while (waitpid(whole, NULL, 0) > 0 || errno == EINTR)
        ;
    if (!hosted)
        prctl(PR_SET_CHILD_SUBREAPER, before);
}

/* Without an exit status, the output is not used: the command may have failed. */
static bool key_command_check_exit(pid_t pid, struct err *err)
{
    int status = 0;
    pid_t got;
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (got < 0)
        return err_set(err, E_CONFIG,
            "key_command: the exit status of the command is not available: this process ignores "
            "SIGCHLD, or another part of it has waited for the command");
    return status == 0 || err_set(err, E_CONFIG, "key_command: the command failed (%s %d)",
                              WIFEXITED(status) ? "exit status" : "signal",
                              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* The output is never shown: it may contain the key. */
bool key_command_run(
    const struct key_command *k, struct arena *a, struct str *ret_key, struct err *err)
{
    pid_t pid;
    int fd = -1;
    AUTO_BUF struct buf text = BUF_INIT(KEY_COMMAND_MAX);
    if (!key_command_start(k, &pid, &fd, err))
        return false;
    bool ok = key_command_read(fd, k->cancel_fd, &text, err);
    close(fd);
    if (ok)
        ok = key_command_check_exit(pid, err);
    else
        key_command_kill(pid, k->hosted);
    struct str line, rest;
    if (ok && (!str_cut(buf_str(&text), '\n', &line, &rest) || line.n == 0))
        ok = err_set(err, E_CONFIG, "key_command: the first line of the output is empty");
    if (ok)
        *ret_key = arena_str(a, str_trim_end(line, '\r'));
    explicit_bzero(text.p ? text.p : (char[1]){0}, text.p ? text.n : 1);
    return ok;
}
