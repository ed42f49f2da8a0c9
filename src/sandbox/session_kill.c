/* Kills the processes of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/session_kill.h"

#include "sandbox/process_count.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    PID_NAME = 16,
    STAT_TEXT = 1024,
    ROUNDS = 200,

    /* Fields of /proc/PID/stat, counted from the state, which follows the name. */
    FIELD_SESSION = 3,
    FIELD_FLAGS = 6,
    FIELD_PENDING = 28,
    FIELDS,

    EXITING = 0x4, /* the kernel's flag */
};

bool session_read_stat(const char *text, struct session_stat *ret_stat)
{
    uint64_t fields[FIELDS] = {0};
    const char *p = strrchr(text, ')'); /* the name may contain anything */
    if (!p || p[1] != ' ')
        return false;
    const char state = p[2];
    p += 2;
    for (size_t i = 1; i < FIELDS; i++) {
        while (*p && *p != ' ')
            p++;
        if (!*p)
            return false;
        for (p++; *p >= '0' && *p <= '9'; p++)
            fields[i] = fields[i] * 10 + (uint64_t)(*p - '0');
    }
    const uint64_t killed = UINT64_C(1) << (SIGKILL - 1);
    *ret_stat = (struct session_stat){
        .session = (pid_t)fields[FIELD_SESSION],
        .ends = state == 'Z' || state == 'X' || (fields[FIELD_FLAGS] & EXITING) ||
                (fields[FIELD_PENDING] & killed),
    };
    return true;
}

static pid_t pid_of(const char *name)
{
    pid_t pid = 0;
    size_t i;
    for (i = 0; i + 1 < PID_NAME && name[i] >= '0' && name[i] <= '9'; i++)
        pid = pid * 10 + (name[i] - '0');
    return name[i] ? 0 : pid;
}

struct session_killing {
    pid_t session;
    bool killed; /* a process that was not ending yet */
};

static bool kill_member(void *context, int processes, const char *name)
{
    struct session_killing *k = context;
    char path[PID_NAME + sizeof("/stat")] = {0}, text[STAT_TEXT];
    struct session_stat stat;
    const pid_t pid = pid_of(name);
    if (pid <= 1)
        return true;
    memcpy(path, name, strlen(name));
    memcpy(path + strlen(name), "/stat", sizeof("/stat"));
    AUTO_FD int fd = openat(processes, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    text[MAX(n, (ssize_t)0)] = '\0';
    if (session_read_stat(text, &stat) && stat.session == k->session && !stat.ends)
        k->killed |= kill(pid, SIGKILL) == 0;
    return true;
}

static bool kill_members(int processes, pid_t session)
{
    struct session_killing k = {.session = session};
    process_walk(processes, kill_member, &k);
    return k.killed;
}

/* A process that was killed does not fork: a round that kills none is the last. */
void session_kill(int processes, pid_t session)
{
    kill(-session, SIGKILL);
    for (int i = 0; processes >= 0 && i < ROUNDS; i++)
        if (!kill_members(processes, session))
            return;
    kill(-1, SIGKILL);
}
