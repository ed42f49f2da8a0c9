/* Samples the memory of processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/memory_watch.h"

#include "base/clock.h"
#include "sandbox/process_count.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    WATCH_TEXT = 4096, /* a status file has about 1,500 bytes */
    WATCH_NAME = 64,
    WATCH_BYTES_PER_MS = 16 << 20, /* as fast as memory can be filled, about */
    WATCH_KB = 1024,
};

/* The number at the start of a text, after blanks. */
static uint64_t leading_number(struct str text)
{
    uint64_t number = 0;
    size_t i = 0;
    while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
        i++;
    for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(text.p[i] - '0');
    return number;
}

uint64_t memory_watch_parse(struct str status)
{
    static const char *const keys[] = {
        "HugetlbPages:", "RssAnon:", "RssShmem:", "VmPTE:", "VmSwap:"};
    uint64_t sum = 0;
    struct str line;
    while (status.n && str_cut(status, '\n', &line, &status))
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            if (str_starts_with(line, str_z(keys[i])))
                sum += leading_number(str_skip(line, strlen(keys[i]))) * WATCH_KB;
    return sum;
}

uint64_t memory_watch_interval(uint64_t most, uint64_t largest)
{
    uint64_t left = largest < most ? most - largest : 0;
    return MIN(MAX(left / WATCH_BYTES_PER_MS, (uint64_t)MEMORY_WATCH_MIN_MS),
        (uint64_t)MEMORY_WATCH_MAX_MS);
}

/* Appends a name to a path; returns false if it does not fit. */
static bool watch_append(char path[WATCH_NAME], const char *name)
{
    size_t at = strlen(path), n = strlen(name);
    if (at + n >= WATCH_NAME)
        return false;
    memcpy(path + at, name, n + 1);
    return true;
}

/* Reads a file of a process or thread; no value if it has ended. */
static struct str watch_read(
    int processes, const char *task, const char *name, char text[WATCH_TEXT])
{
    char path[WATCH_NAME] = {0};
    if (!watch_append(path, task) || !watch_append(path, name))
        return (struct str){0};
    AUTO_FD int fd = openat(processes, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, WATCH_TEXT) : -1;
    return got > 0 ? str_n(text, (size_t)got) : (struct str){0};
}

/* Bytes of address space; 0 if the task has ended. No more than that can be in use, apart from page
 * tables, which need one 512th of it at most. */
static uint64_t watch_space(int processes, const char *task)
{
    char text[WATCH_TEXT];
    return leading_number(watch_read(processes, task, "/statm", text)) *
           (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Finds a thread that is alive in a process whose first thread has ended, and returns its address
 * space: the files of such a process show none. */
static uint64_t watch_other_thread(int processes, char task[WATCH_NAME])
{
    static char text[WATCH_TEXT] __attribute__((aligned(8)));
    size_t end = strlen(task);
    AUTO_FD int threads = watch_append(task, "/task/")
                              ? openat(processes, task, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                              : -1;
    size_t after = strlen(task);
    ssize_t n;
    while (threads >= 0 && (n = syscall(SYS_getdents64, threads, text, sizeof(text))) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(text + at);
            at += entry->d_reclen;
            task[after] = '\0';
            uint64_t space = entry->d_name[0] != '.' && watch_append(task, entry->d_name)
                                 ? watch_space(processes, task)
                                 : 0;
            if (space)
                return space;
        }
    task[end] = '\0';
    return 0;
}

static bool was_killed(const struct memory_watch *w, pid_t pid)
{
    for (size_t i = 0; i < MEMORY_WATCH_DYING; i++)
        if (w->dying[i] == pid)
            return true;
    return false;
}

/* The descriptor comes before the reading: if the process ends in between, the signal
 * reaches none, instead of another one with the same number. */
static void watch_check(struct memory_watch *w, int processes, pid_t pid, const char *task)
{
    char text[WATCH_TEXT];
    AUTO_FD int process = (int)syscall(SYS_pidfd_open, pid, 0);
    uint64_t bytes = memory_watch_parse(watch_read(processes, task, "/status", text));
    w->largest = MAX(w->largest, bytes);
    if (bytes <= w->most || process < 0)
        return;
    if (w->killed)
        w->killed(w->context, pid);
    if (syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) == 0 && !was_killed(w, pid))
        w->dying[w->kills++ % MEMORY_WATCH_DYING] = pid;
}

static bool watch_visit(void *context, int processes, const char *pid)
{
    struct memory_watch *w = context;
    char task[WATCH_NAME] = {0};
    if (!watch_append(task, pid))
        return true;
    uint64_t space = watch_space(processes, task);
    if (space == 0)
        space = watch_other_thread(processes, task);
    w->idle = false;
    if (space > w->most / 2)
        watch_check(w, processes, (pid_t)leading_number(str_z(pid)), task);
    else
        w->largest = MAX(w->largest, space);
    return true;
}

int memory_watch_timeout(const struct memory_watch *w, uint64_t now_ms)
{
    return w->idle ? -1 : clock_timeout_ms(now_ms, w->due_ms);
}

void memory_watch_started(struct memory_watch *w)
{
    w->idle = false;
}

void memory_watch_sample(struct memory_watch *w, uint64_t now_ms)
{
    if (w->idle || now_ms < w->due_ms)
        return;
    w->idle = true;
    w->largest = 0;
    process_walk(w->processes, watch_visit, w);
    w->due_ms = now_ms + memory_watch_interval(w->most, w->largest);
}
