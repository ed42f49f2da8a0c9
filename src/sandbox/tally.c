/* Counts processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/tally.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ENTRIES = 4 * 1024, /* bytes of directory entries read at a time */
    NAME_MAX_PID = 16,
    LINKS = 2, /* of a directory without threads in it */
};

/* The task directory of a process has a subdirectory, and so a link, for each of its threads. A
 * process that has ended since counts as 0. */
static uint64_t threads_of(int processes, const char *pid)
{
    char path[NAME_MAX_PID + sizeof("/task")] = {0};
    struct stat st;
    size_t n = strlen(pid);
    if (n >= NAME_MAX_PID)
        return 0;
    memcpy(path, pid, n);
    memcpy(path + n, "/task", sizeof("/task"));
    if (fstatat(processes, path, &st, 0) != 0 || st.st_nlink <= LINKS)
        return 0;
    return st.st_nlink - LINKS;
}

static bool is_process(const char *name)
{
    return name[0] >= '1' && name[0] <= '9' && strcmp(name, "1") != 0;
}

uint64_t tally_count(int processes, uint64_t most)
{
    static char text[ENTRIES] __attribute__((aligned(8)));
    uint64_t count = 0;
    ssize_t n;
    lseek(processes, 0, SEEK_SET);
    while (count <= most && (n = syscall(SYS_getdents64, processes, text, sizeof(text))) > 0)
        for (ssize_t at = 0; at < n && count <= most;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(text + at);
            if (is_process(entry->d_name))
                count += threads_of(processes, entry->d_name);
            at += entry->d_reclen;
        }
    return count;
}

bool tally_enforce(int processes, uint64_t most)
{
    return tally_count(processes, most) > most && kill(-1, SIGKILL) == 0;
}
