/* The tables of refused calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/refused.h"

#include "base/syscalls.h"

#include <errno.h>

struct refused {
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
#define JUDGE(name, how)       \
    {                          \
        NR_##name, JUDGE_##how \
    }

static const struct refused everywhere[] = {
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
    JUDGE(clone, CLONE),
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
    JUDGE(sched_setaffinity, SCHEDULE),
    JUDGE(sched_setattr, SCHEDULE),
    JUDGE(sched_setparam, SCHEDULE),
    JUDGE(sched_setscheduler, SCHEDULE),
    JUDGE(setpriority, PRIORITY),
    JUDGE(ioprio_set, IOPRIO),
    JUDGE(setpgid, GROUP),
    /* Ways around this filter, and around the list of executables. */
    ABSENT(io_uring_setup),
    ABSENT(io_uring_enter),
    ABSENT(io_uring_register),
    ABSENT(memfd_create),
    ABSENT(memfd_secret),
    JUDGE(personality, PERSONALITY),
    /* Files that would run as their owner when executed later. The mode for openat2 is behind a
     * pointer. */
    JUDGE(fchmod, MODE_1),
    JUDGE(fchmodat, MODE_2),
    JUDGE(mknodat, NODE_2),
    JUDGE(openat, OPENAT),
    ABSENT(openat2),
    JUDGE(chmod, MODE_1),
    JUDGE(creat, MODE_1),
    JUDGE(mknod, NODE_1),
    JUDGE(open, OPEN),
    JUDGE(renameat2, RENAME),
    /* Limits, including those of process 1, and ways to bypass them. Memory in pipes and contexts
     * for asynchronous I/O are counted per user or for the whole machine. */
    JUDGE(prlimit64, PRLIMIT),
    JUDGE(setrlimit, SETRLIMIT),
    JUDGE(mmap, MMAP),
    JUDGE(shmget, SHMGET),
    JUDGE(fallocate, FALLOCATE),
    JUDGE(fcntl, FCNTL),
    ABSENT(vmsplice),
    ABSENT(io_setup),
    /* Terminals. */
    JUDGE(ioctl, IOCTL),
    REFUSE(vhangup),
    /* Sockets. */
    JUDGE(bind, BIND),
    JUDGE(socket, SOCKET),
    JUDGE(socketpair, SOCKETPAIR),
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
static const struct refused without_namespaces[] = {
    JUDGE(kill, KILL),
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

static void fill(const struct refused *table, size_t n, uint16_t answers[REFUSED_NEWEST + 1])
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].number == SYSCALL_NONE)
            continue;
        BUG_ON(table[i].number < 0 || table[i].number > REFUSED_NEWEST);
        answers[table[i].number] = (uint16_t)table[i].answer;
    }
}

void refused_fill(const struct seccomp_options *options, uint16_t answers[REFUSED_NEWEST + 1])
{
    fill(everywhere, ARRAY_LEN(everywhere), answers);
    if (options->no_namespaces)
        fill(without_namespaces, ARRAY_LEN(without_namespaces), answers);
    if (options->no_truncate)
        answers[NR_truncate] = EPERM;
}
