/* Files of /proc about a thread in a sandbox, as the supervisor sees them. The thread may be gone,
 * and its number in use again: the caller checks afterwards (SECCOMP_IOCTL_NOTIF_ID_VALID). Does
 * not allocate.
 *
 *     char text[PROC_ENTRY_MAX];
 *     if (proc_entry_read(thread, "status", text)) pid = proc_entry_number(text, "\nTgid:", 10);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PROC_ENTRY_H
#define SANDBOX_PROC_ENTRY_H

#include "base/base.h"

#include <sys/types.h>

enum {
    PROC_ENTRY_NAME = 48,
    PROC_ENTRY_MAX = 4096, /* bytes of a file that is read as text */
};

void proc_entry_name(char name[PROC_ENTRY_NAME], pid_t thread, const char *what);

/* Reads a file, NUL-terminated; false if it can't be read. */
bool proc_entry_read(pid_t thread, const char *what, char text[PROC_ENTRY_MAX]);

/* Reads a link; returns its length, or 0. */
size_t proc_entry_link(pid_t thread, const char *what, char *to, size_t size);

/* The last number in the line after a key; 0 without one. */
long proc_entry_number(const char *text, const char *key, int base);

#endif
