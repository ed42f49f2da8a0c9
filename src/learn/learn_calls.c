/* System calls that take file names, programs or addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/learn_calls.h"

#include "base/syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NO CALL_NONE
/* A path alone; a path relative to a directory; two of these. */
#define PATH(path)  \
    {               \
        {NO, path}, \
        {           \
            NO, NO  \
        }           \
    }
#define AT(dir, path) \
    {                 \
        {dir, path},  \
        {             \
            NO, NO    \
        }             \
    }
#define BOTH(dir, path, dir_to, path_to) \
    {                                    \
        {dir, path},                     \
        {                                \
            dir_to, path_to              \
        }                                \
    }

static const struct learn_call calls[] = {
    {NR_openat, CALL_OPEN, AT(0, 1), 2},
    {NR_openat2, CALL_OPENAT2, AT(0, 1), 2},
    {NR_execve, CALL_EXEC, PATH(0), NO},
    {NR_execveat, CALL_EXEC, AT(0, 1), 4},
    {NR_unlinkat, CALL_ENTRY, AT(0, 1), NO},
    {NR_mkdirat, CALL_ENTRY, AT(0, 1), NO},
    {NR_mknodat, CALL_ENTRY, AT(0, 1), NO},
    {NR_linkat, CALL_ENTRY, AT(2, 3), NO},
    {NR_symlinkat, CALL_ENTRY, AT(1, 2), NO},
    {NR_renameat, CALL_ENTRY, BOTH(0, 1, 2, 3), NO},
    {NR_renameat2, CALL_ENTRY, BOTH(0, 1, 2, 3), NO},
    {NR_truncate, CALL_CHANGE, PATH(0), NO},
    {NR_fchmodat, CALL_CHANGE, AT(0, 1), NO},
    {NR_fchmodat2, CALL_CHANGE, AT(0, 1), 3},
    {NR_file_setattr, CALL_CHANGE, AT(0, 1), 4},
    {NR_fchownat, CALL_CHANGE, AT(0, 1), 4},
    {NR_utimensat, CALL_CHANGE, AT(0, 1), 3},
    {NR_setxattr, CALL_CHANGE, PATH(0), NO},
    {NR_lsetxattr, CALL_ENTRY, PATH(0), NO},
    {NR_setxattrat, CALL_CHANGE, AT(0, 1), 2},
    {NR_removexattr, CALL_CHANGE, PATH(0), NO},
    {NR_removexattrat, CALL_CHANGE, AT(0, 1), 2},
    {NR_lremovexattr, CALL_ENTRY, PATH(0), NO},
    {NR_connect, CALL_CONNECT, PATH(1), NO},
    {NR_bind, CALL_BIND, PATH(1), NO},
    {NR_sendto, CALL_SEND, PATH(4), NO},
    /* Older calls, which newer architectures don't have. */
    {NR_open, CALL_OPEN, PATH(0), 1},
    {NR_creat, CALL_CREAT, PATH(0), NO},
    {NR_unlink, CALL_ENTRY, PATH(0), NO},
    {NR_rmdir, CALL_ENTRY, PATH(0), NO},
    {NR_mkdir, CALL_ENTRY, PATH(0), NO},
    {NR_mknod, CALL_ENTRY, PATH(0), NO},
    {NR_link, CALL_ENTRY, PATH(1), NO},
    {NR_symlink, CALL_ENTRY, PATH(1), NO},
    {NR_rename, CALL_ENTRY, BOTH(NO, 0, NO, 1), NO},
    {NR_chmod, CALL_CHANGE, PATH(0), NO},
    {NR_chown, CALL_CHANGE, PATH(0), NO},
    {NR_lchown, CALL_ENTRY, PATH(0), NO},
    {NR_utime, CALL_CHANGE, PATH(0), NO},
    {NR_utimes, CALL_CHANGE, PATH(0), NO},
    {NR_futimesat, CALL_CHANGE, AT(0, 1), NO},
};

enum {
    HEAD = 8,     /* instructions before the first call */
    PER_CALL = 2, /* instructions for each */
    PROGRAM_MAX = HEAD + PER_CALL * ARRAY_LEN(calls) + 8,
};

const struct learn_call *call_find(unsigned answer)
{
    return answer < ARRAY_LEN(calls) ? &calls[answer] : NULL;
}

struct calls_program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short n;
};

static void calls_add(struct calls_program *p, struct sock_filter instruction)
{
    BUG_ON(p->n >= PROGRAM_MAX);
    p->code[p->n++] = instruction;
}

static void add_load(struct calls_program *p, size_t offset)
{
    calls_add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void add_answer(struct calls_program *p, unsigned answer)
{
    calls_add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* Adds instructions that return the answer if the loaded value equals `value`. */
static void add_case(struct calls_program *p, unsigned value, unsigned answer)
{
    calls_add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    add_answer(p, answer);
}

static void calls_build_filter(struct calls_program *p)
{
    add_load(p, offsetof(struct seccomp_data, arch));
    calls_add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYSCALL_ARCH, 1, 0));
    add_answer(p, SECCOMP_RET_TRACE | CALL_FOREIGN);
    add_load(p, offsetof(struct seccomp_data, nr));
#ifdef SYSCALL_X32_BIT
    calls_add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYSCALL_X32_BIT, 0, 1));
    add_answer(p, SECCOMP_RET_TRACE | CALL_FOREIGN);
#endif
    add_case(p, NR_io_uring_setup, SECCOMP_RET_ERRNO | ENOSYS);
    for (unsigned i = 0; i < ARRAY_LEN(calls); i++)
        if (calls[i].nr != SYSCALL_NONE)
            add_case(p, (unsigned)calls[i].nr, SECCOMP_RET_TRACE | i);
    add_answer(p, SECCOMP_RET_ALLOW);
}

bool calls_install_filter(void)
{
    struct calls_program program = {.n = 0};
    calls_build_filter(&program);
    struct sock_fprog filter = {.len = program.n, .filter = program.code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}
