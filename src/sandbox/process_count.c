/* Counts processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/process_count.h"

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

static bool process_count_is_process(const char *name)
{
    return name[0] >= '1' && name[0] <= '9' && strcmp(name, "1") != 0;
}

void process_walk(int processes, process_visit *visit, void *context)
{
    static char text[ENTRIES] __attribute__((aligned(8)));
    ssize_t n;
    lseek(processes, 0, SEEK_SET);
    while ((n = syscall(SYS_getdents64, processes, text, sizeof(text))) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(text + at);
            if (process_count_is_process(entry->d_name) &&
                !visit(context, processes, entry->d_name))
                return;
            at += entry->d_reclen;
        }
}

struct process_counter {
    uint64_t count, most;
};

static bool count_one(void *context, int processes, const char *pid)
{
    struct process_counter *c = context;
    c->count += threads_of(processes, pid);
    return c->count <= c->most;
}

uint64_t process_count(int processes, uint64_t most)
{
    struct process_counter c = {.most = most};
    process_walk(processes, count_one, &c);
    return c.count;
}

bool process_count_enforce(int processes, uint64_t most)
{
    return process_count(processes, most) > most && kill(-1, SIGKILL) == 0;
}
