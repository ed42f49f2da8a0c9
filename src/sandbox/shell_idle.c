/* Inspects a command from process 1, which allocates nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/shell_idle.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

enum {
    PROC_TEXT = 4096, /* of a status file, including the list of groups */
    PID_TEXT = 16,
};

/* Opens /proc/PID or, below it, task/PID. */
static int open_process(pid_t pid, int below)
{
    char text[PID_TEXT], *p = text + sizeof(text) - 1;
    *p = '\0';
    for (unsigned left = (unsigned)pid; left; left /= 10)
        *--p = (char)('0' + left % 10);
    AUTO_FD int list = openat(below, below < 0 ? "/proc" : "task", O_PATH | O_CLOEXEC);
    return openat(list, p, O_PATH | O_CLOEXEC);
}

/* Reads a file of a /proc/PID directory; empty if it can't be read. */
static void shell_idle_read_file(int process, const char *name, char text[PROC_TEXT])
{
    AUTO_FD int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, PROC_TEXT - 1) : 0;
    text[MAX(n, 0)] = '\0';
}

bool shell_is_idle(pid_t command)
{
    static const char digits[] = "0123456789abcdef", title[] = "\nSigIgn:\t";
    char text[PROC_TEXT];
    uint64_t ignored = 0;
    AUTO_FD int process = open_process(command, -1);
    AUTO_FD int thread = open_process(command, process);
    shell_idle_read_file(process, "status", text);
    const char *at = strstr(text, title);
    for (at = at ? at + strlen(title) : ""; *at && strchr(digits, *at); at++)
        ignored = ignored << 4 | (uint64_t)(strchr(digits, *at) - digits);
    shell_idle_read_file(thread, "children", text);
    return ignored >> (SIGTERM - 1) & 1 && !text[0];
}
