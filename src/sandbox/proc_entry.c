/* Reading /proc. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/proc_entry.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void proc_entry_name(char name[PROC_ENTRY_NAME], pid_t thread, const char *what)
{
    snprintf(name, PROC_ENTRY_NAME, "/proc/%d/%s", (int)thread, what);
}

bool proc_entry_read(pid_t thread, const char *what, char text[PROC_ENTRY_MAX])
{
    char name[PROC_ENTRY_NAME];
    proc_entry_name(name, thread, what);
    AUTO_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, PROC_ENTRY_MAX - 1) : -1;
    text[MAX(n, 0)] = '\0';
    return n > 0;
}

size_t proc_entry_link(pid_t thread, const char *what, char *to, size_t size)
{
    char name[PROC_ENTRY_NAME];
    proc_entry_name(name, thread, what);
    ssize_t n = readlink(name, to, size - 1);
    to[MAX(n, 0)] = '\0';
    return n > 0 && (size_t)n < size - 1 ? (size_t)n : 0;
}

long proc_entry_number(const char *text, const char *key, int base)
{
    const char *at = strstr(text, key);
    long value = 0;
    if (!at)
        return 0;
    for (at += strlen(key); *at && *at != '\n';) {
        char *end;
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        value = strtol(at, &end, base);
        at = end > at ? end : at + 1;
    }
    return value;
}
