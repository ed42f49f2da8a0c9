/* A child under ptrace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "traced.h"

#include "test.h"

#include "base/str.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

enum {
    COMMIT_SYNC = 3, /* which sync of the journal makes its commit line durable */
};

static void read_text(pid_t pid, uint64_t at, char text[300])
{
    struct iovec to = {text, 299}, from = {(void *)(uintptr_t)at, 299};
    ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);
    text[MAX(n, 0)] = '\0';
}

static bool is_journal(const char *name)
{
    return str_ends_with(str_z(name), STR(".journal")) || str_ends_with(str_z(name), STR(".new"));
}

static void saw_sync(struct watch *watch, pid_t pid, uint64_t fd)
{
    char link[64], name[4096];
    struct stat st;
    snprintf(link, sizeof(link), "/proc/%d/fd/%llu", (int)pid, (unsigned long long)fd);
    ssize_t n = readlink(link, name, sizeof(name) - 1);
    name[MAX(n, 0)] = '\0';
    watch->dir_syncs += strcmp(name, watch->journal_dir) == 0;
    bool parent = stat(link, &st) == 0 && S_ISDIR(st.st_mode) && strcmp(name, watch->journal_dir);
    watch->parent_syncs += parent && watch->journal_syncs < COMMIT_SYNC;
    if (is_journal(name) && ++watch->journal_syncs == COMMIT_SYNC)
        watch->commit_stop = watch->stops + 1;
    if (is_journal(name) && watch->journal_syncs == COMMIT_SYNC + 1)
        watch->done_stop = watch->stops;
}

static void saw_rename(struct watch *watch, pid_t pid, uint64_t from)
{
    char name[300];
    read_text(pid, from, name);
    const char *last = strrchr(name, '-'); /* the id before it may contain anything */
    bool journal = is_journal(name), dir = last && last[1] == 'd';
    if (!journal && !dir && watch->renames++ < ARRAY_LEN(watch->rename_stops))
        watch->rename_stops[watch->renames - 1] = watch->stops;
    if (!journal && watch->journal_syncs < (dir ? COMMIT_SYNC - 1 : COMMIT_SYNC))
        watch->early_rename = true;
}

static void saw_create(struct watch *watch, pid_t pid, uint64_t at)
{
    char name[300];
    read_text(pid, at, name);
    bool journal = is_journal(name) || name[0] == '/';
    if (journal && watch->begin_stop == 0)
        watch->begin_stop = watch->stops;
    if (!journal && (watch->journal_syncs < 1 || watch->dir_syncs < 1))
        watch->early_create = true;
}

static bool get_call(pid_t pid, struct __ptrace_syscall_info *info)
{
    return ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(*info), info) > 0 &&
           info->op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* Calls that only concern the process itself: a kill there is the same as one a little later. Most
 * of them come from the sanitizer. */
static bool is_about_memory(uint64_t number)
{
    return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect ||
           number == SYS_madvise || number == SYS_brk;
}

static bool is_about_files(uint64_t number)
{
    static const long numbers[] = {SYS_fsync, SYS_ftruncate, SYS_linkat, SYS_mkdirat, SYS_pwrite64,
        SYS_renameat, SYS_renameat2, SYS_syncfs, SYS_unlinkat, SYS_write};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (number == (uint64_t)numbers[i])
            return true;
    return false;
}

static void see_call(struct watch *watch, pid_t pid, const struct __ptrace_syscall_info *info)
{
    uint64_t args[6];
    memcpy(args, info->entry.args, sizeof(args));
    watch->can_fail = is_about_files(info->entry.nr);
    if (watch->can_fail && watch->n_calls < ARRAY_LEN(watch->calls))
        watch->calls[watch->n_calls++] = watch->stops;
    switch (info->entry.nr) {
    case SYS_fsync:
        saw_sync(watch, pid, args[0]);
        break;
    case SYS_mkdirat:
        saw_create(watch, pid, args[1]);
        break;
    case SYS_openat:
        if (args[2] & O_CREAT)
            saw_create(watch, pid, args[1]);
        break;
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_unlinkat:
        saw_rename(watch, pid, args[1]);
        break;
    default:
        break;
    }
}

static pid_t start_traced(const struct act *act)
{
    int status;
    pid_t pid = fork();
    BUG_ON(pid < 0);
    if (pid == 0) {
        BUG_ON(act->prepare(act->scene) != 0);
        BUG_ON(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
        raise(SIGSTOP);
        _exit(act->run(act->scene)); /* no leak check: it can't run under ptrace */
    }
    BUG_ON(waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status));
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    BUG_ON(ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) != 0);
    return pid;
}

/* Continues to the next stop that counts. False: it ended, with this status. */
static bool next_stop(pid_t pid, struct watch *watch, int *ret_status)
{
    long signal = 0;
    struct __ptrace_syscall_info info;
    for (bool skip = false;;) {
        BUG_ON(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)signal) != 0);
        BUG_ON(waitpid(pid, ret_status, 0) != pid);
        if (!WIFSTOPPED(*ret_status))
            return false;
        bool at_call = WSTOPSIG(*ret_status) == (SIGTRAP | 0x80);
        signal = at_call ? 0 : WSTOPSIG(*ret_status);
        bool entry = at_call && get_call(pid, &info);
        if (entry)
            skip = is_about_memory(info.entry.nr);
        if (!at_call || skip)
            continue;
        watch->stops++;
        watch->can_fail = false;
        if (entry)
            see_call(watch, pid, &info);
        return true;
    }
}

#if defined(__x86_64__)
static void skip_call(pid_t pid)
{
    size_t at = offsetof(struct user_regs_struct, orig_rax);
    BUG_ON(ptrace(PTRACE_POKEUSER, pid, (void *)at, (void *)-1L) != 0);
}

static void set_result(pid_t pid, long result)
{
    size_t at = offsetof(struct user_regs_struct, rax);
    BUG_ON(ptrace(PTRACE_POKEUSER, pid, (void *)at, (void *)result) != 0);
}
#elif defined(__aarch64__)
static void skip_call(pid_t pid)
{
    int number = -1;
    struct iovec part = {&number, sizeof(number)};
    BUG_ON(ptrace(PTRACE_SETREGSET, pid, (void *)NT_ARM_SYSTEM_CALL, &part) != 0);
}

static void set_result(pid_t pid, long result)
{
    struct user_regs_struct regs;
    struct iovec part = {&regs, sizeof(regs)};
    BUG_ON(ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &part) != 0);
    regs.regs[0] = (unsigned long long)result;
    BUG_ON(ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &part) != 0);
}
#endif

#if CAN_FAIL

/* Makes the pending call fail with EIO. */
static void fail_call(pid_t pid, struct watch *watch, int *ret_status)
{
    if (watch->skip)
        skip_call(pid);
    BUG_ON(!next_stop(pid, watch, ret_status));
    set_result(pid, -EIO);
    watch->failed++;
}
#else
static void fail_call(pid_t pid, struct watch *watch, int *ret_status)
{
    (void)pid, (void)watch, (void)ret_status;
}
#endif

bool trace(const struct act *act, size_t kill_at, struct watch *watch)
{
    int status;
    struct watch unused = {.journal_dir = ""};
    pid_t pid = start_traced(act);
    if (!watch)
        watch = &unused;
    while (next_stop(pid, watch, &status)) {
        if (watch->stops == watch->act_at)
            watch->act(act->scene);
        for (size_t i = 0; i < ARRAY_LEN(watch->fail_at); i++)
            if (watch->can_fail && watch->stops == watch->fail_at[i])
                fail_call(pid, watch, &status);
        if (watch->stops >= kill_at) {
            kill(pid, SIGKILL);
            BUG_ON(waitpid(pid, &status, 0) != pid);
            return false;
        }
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= act->worst);
    watch->status = status;
    return true;
}

size_t trace_stride(size_t all, size_t some, size_t few)
{
    if (test_sampled())
        return few;
    return test_env("EVERYTHING") ? all : some;
}
