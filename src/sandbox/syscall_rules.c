/* The tables of refused calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/syscall_rules.h"

#include "base/syscalls.h"

#include <errno.h>

struct syscall_rules_call {
    int number;
    int answer;
};

#define REFUSE(name)     \
    {                    \
        NR_##name, EPERM \
    }
#define ABSENT(name)      \
    {                     \
        NR_##name, ENOSYS \
    }
#define CHECKED(name, how)             \
    {                                  \
        NR_##name, SYSCALL_CHECK_##how \
    }

static const struct syscall_rules_call everywhere[] = {
    /* Changing the view of the file system. */
    REFUSE(mount),
    REFUSE(umount2),
    REFUSE(pivot_root),
    REFUSE(chroot),
    REFUSE(open_tree),
    REFUSE(move_mount),
    REFUSE(fsopen),
    REFUSE(fsconfig),
    REFUSE(fsmount),
    REFUSE(fspick),
    REFUSE(mount_setattr),
    REFUSE(open_by_handle_at),
    REFUSE(name_to_handle_at),
    /* Namespaces. The arguments of clone3 are behind a pointer; libc falls back to clone. */
    REFUSE(unshare),
    REFUSE(setns),
    CHECKED(clone, CLONE),
    ABSENT(clone3),
    /* Other processes. */
    REFUSE(ptrace),
    REFUSE(process_vm_readv),
    REFUSE(process_vm_writev),
    REFUSE(process_madvise),
    REFUSE(process_mrelease),
    REFUSE(pidfd_getfd),
    REFUSE(kcmp),
    /* Process 1 counts the others where nothing else does: it must get CPU time. */
    CHECKED(sched_setaffinity, SCHEDULE),
    CHECKED(sched_setattr, SCHEDULE),
    CHECKED(sched_setparam, SCHEDULE),
    CHECKED(sched_setscheduler, SCHEDULE),
    CHECKED(setpriority, PRIORITY),
    CHECKED(ioprio_set, IOPRIO),
    CHECKED(setpgid, GROUP),
    /* Ways around this filter, and around the list of executables. */
    ABSENT(io_uring_setup),
    ABSENT(io_uring_enter),
    ABSENT(io_uring_register),
    ABSENT(memfd_create),
    ABSENT(memfd_secret),
    CHECKED(personality, PERSONALITY),
    /* Files that would run as their owner when executed later. The mode for openat2 is behind a
     * pointer. */
    CHECKED(fchmod, MODE_1),
    CHECKED(fchmodat, MODE_2),
    CHECKED(mknodat, NODE_2),
    CHECKED(openat, OPENAT),
    ABSENT(openat2),
    CHECKED(chmod, MODE_1),
    CHECKED(creat, MODE_1),
    CHECKED(mknod, NODE_1),
    CHECKED(open, OPEN),
    CHECKED(renameat2, RENAME),
    /* Limits, including those of process 1, and ways to bypass them. Memory in pipes and contexts
     * for asynchronous I/O are counted per user or for the whole machine. */
    CHECKED(prlimit64, PRLIMIT),
    CHECKED(setrlimit, SETRLIMIT),
    CHECKED(mmap, MMAP),
    CHECKED(shmget, SHMGET),
    CHECKED(fallocate, FALLOCATE),
    CHECKED(fcntl, FCNTL),
    ABSENT(vmsplice),
    ABSENT(io_setup),
    /* Terminals. */
    CHECKED(ioctl, IOCTL),
    REFUSE(vhangup),
    /* Sockets. */
    CHECKED(bind, BIND),
    CHECKED(socket, SOCKET),
    CHECKED(socketpair, SOCKETPAIR),
    /* Parts of the kernel that a program does not need. */
    REFUSE(bpf),
    REFUSE(perf_event_open),
    REFUSE(userfaultfd),
    REFUSE(keyctl),
    REFUSE(add_key),
    REFUSE(request_key),
    REFUSE(kexec_load),
    REFUSE(kexec_file_load),
    REFUSE(init_module),
    REFUSE(finit_module),
    REFUSE(delete_module),
    REFUSE(swapon),
    REFUSE(swapoff),
    REFUSE(acct),
    REFUSE(quotactl),
    REFUSE(quotactl_fd),
    REFUSE(syslog),
    REFUSE(fanotify_init),
    REFUSE(fanotify_mark),
    REFUSE(move_pages),
    REFUSE(migrate_pages),
    REFUSE(mbind),
    REFUSE(set_mempolicy),
    REFUSE(set_mempolicy_home_node),
    REFUSE(settimeofday),
    REFUSE(clock_settime),
    REFUSE(clock_adjtime),
    REFUSE(adjtimex),
    REFUSE(reboot),
    REFUSE(sethostname),
    REFUSE(setdomainname),
    REFUSE(lookup_dcookie),
    REFUSE(nfsservctl),
    REFUSE(modify_ldt),
    REFUSE(ioperm),
    REFUSE(iopl),
    REFUSE(uselib),
    REFUSE(ustat),
    REFUSE(sysfs),
    REFUSE(_sysctl),
    REFUSE(create_module),
    REFUSE(get_kernel_syms),
    REFUSE(query_module),
    REFUSE(getpmsg),
    REFUSE(putpmsg),
    REFUSE(afs_syscall),
    REFUSE(tuxcall),
    REFUSE(security),
    REFUSE(vserver),
};

/* Without namespaces processes, queues, segments and directories of the host are reachable. */
static const struct syscall_rules_call without_namespaces[] = {
    CHECKED(kill, KILL),
    REFUSE(shmget),
    REFUSE(shmat),
    REFUSE(shmctl),
    REFUSE(msgget),
    REFUSE(msgsnd),
    REFUSE(msgrcv),
    REFUSE(msgctl),
    REFUSE(semget),
    REFUSE(semop),
    REFUSE(semtimedop),
    REFUSE(semctl),
    REFUSE(mq_open),
    REFUSE(mq_unlink),
    /* A watch needs no right that Landlock knows. Programs fall back to polling. */
    ABSENT(inotify_init1),
    REFUSE(inotify_add_watch),
    ABSENT(inotify_init),
};

/* For developers: programs from memory, and debuggers. Process 1 can't be traced. */
static const struct syscall_rules_call for_developers[] = {
    {NR_memfd_create, 0},
    {NR_ptrace, 0},
    {NR_process_vm_readv, 0},
    {NR_process_vm_writev, 0},
};

/* Observed calls ------------------------------------------------------------------------------ */

struct syscall_rules_observed {
    int number;
    enum syscall_observed how;
    const char *name;
};

#define OBSERVE(name)                      \
    {                                      \
        NR_##name, SYSCALL_OBSERVED, #name \
    }
#define REPORT(name)                       \
    {                                      \
        NR_##name, SYSCALL_REPORTED, #name \
    }

/* Calls that name a file, a program or an address, and the exit of a process that failed. Refused
 * calls only if programs are written for them: others, such as name_to_handle_at and mbind, are
 * tried on the chance that they work. */
static const struct syscall_rules_observed observed[] = {
    OBSERVE(open),
    OBSERVE(openat),
    OBSERVE(creat),
    OBSERVE(mkdir),
    OBSERVE(mkdirat),
    OBSERVE(unlink),
    OBSERVE(unlinkat),
    OBSERVE(rmdir),
    OBSERVE(rename),
    OBSERVE(renameat),
    OBSERVE(renameat2),
    OBSERVE(link),
    OBSERVE(linkat),
    OBSERVE(symlink),
    OBSERVE(symlinkat),
    OBSERVE(truncate),
    OBSERVE(chmod),
    OBSERVE(fchmodat),
    OBSERVE(chdir),
    OBSERVE(execve),
    OBSERVE(execveat),
    OBSERVE(connect),
    OBSERVE(exit_group),
    OBSERVE(seccomp),
    REPORT(socket),
    REPORT(clone),
    REPORT(unshare),
    REPORT(setns),
    REPORT(mount),
    REPORT(umount2),
    REPORT(pivot_root),
    REPORT(chroot),
    REPORT(open_tree),
    REPORT(fsopen),
    REPORT(ptrace),
    REPORT(process_vm_readv),
    REPORT(process_vm_writev),
    REPORT(perf_event_open),
    REPORT(bpf),
    REPORT(userfaultfd),
    REPORT(keyctl),
    REPORT(add_key),
    REPORT(request_key),
    REPORT(syslog),
    REPORT(fanotify_init),
    REPORT(sethostname),
    REPORT(settimeofday),
    REPORT(clock_settime),
    REPORT(init_module),
    REPORT(finit_module),
    REPORT(reboot),
};

static const struct syscall_rules_observed *find_observed(uint32_t number)
{
    for (size_t i = 0; i < ARRAY_LEN(observed); i++)
        if (observed[i].number != SYSCALL_NONE && (uint32_t)observed[i].number == number)
            return &observed[i];
    return NULL;
}

enum syscall_observed syscall_rules_observe(uint32_t number)
{
    const struct syscall_rules_observed *found = find_observed(number);
    return found ? found->how : SYSCALL_UNOBSERVED;
}

void syscall_rules_fill_observed(uint8_t how[SYSCALL_RULES_NEWEST + 1])
{
    for (size_t i = 0; i < ARRAY_LEN(observed); i++)
        if (observed[i].number != SYSCALL_NONE)
            how[observed[i].number] = (uint8_t)observed[i].how;
}

const char *syscall_rules_name(uint32_t number)
{
    const struct syscall_rules_observed *found = find_observed(number);
    return found && found->how == SYSCALL_REPORTED ? found->name : NULL;
}

/* Filling ------------------------------------------------------------------------------------- */

/* Observed calls with arguments that decide whether they are interesting. */
static const struct syscall_rules_call for_observers[] = {
    CHECKED(exit_group, EXIT),
    CHECKED(seccomp, SECCOMP),
};

static void syscall_rules_fill_table(
    const struct syscall_rules_call *table, size_t n, uint16_t answers[SYSCALL_RULES_NEWEST + 1])
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].number == SYSCALL_NONE)
            continue;
        BUG_ON(table[i].number < 0 || table[i].number > SYSCALL_RULES_NEWEST);
        answers[table[i].number] = (uint16_t)table[i].answer;
    }
}

void syscall_rules_fill(
    const struct seccomp_options *options, uint16_t answers[SYSCALL_RULES_NEWEST + 1])
{
    syscall_rules_fill_table(everywhere, ARRAY_LEN(everywhere), answers);
    if (options->no_namespaces)
        syscall_rules_fill_table(without_namespaces, ARRAY_LEN(without_namespaces), answers);
    if (options->developer)
        syscall_rules_fill_table(for_developers, ARRAY_LEN(for_developers), answers);
    if (options->observe)
        syscall_rules_fill_table(for_observers, ARRAY_LEN(for_observers), answers);
    if (options->no_truncate)
        answers[NR_truncate] = EPERM;
}
