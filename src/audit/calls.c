/* System calls that name files, programs or addresses. */
#include "audit/calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#define X32_BIT   0x40000000U
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#else
#error "name this processor's AUDIT_ARCH here"
#endif

#define NO CALL_NONE
/* A path alone; one below a directory; two. */
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

static const struct call calls[] = {
    {SYS_openat, CALL_OPEN, AT(0, 1), 2},
    {SYS_openat2, CALL_OPENAT2, AT(0, 1), 2},
    {SYS_execve, CALL_EXEC, PATH(0), NO},
    {SYS_execveat, CALL_EXEC, AT(0, 1), 4},
    {SYS_unlinkat, CALL_ENTRY, AT(0, 1), NO},
    {SYS_mkdirat, CALL_ENTRY, AT(0, 1), NO},
    {SYS_mknodat, CALL_ENTRY, AT(0, 1), NO},
    {SYS_linkat, CALL_ENTRY, AT(2, 3), NO},
    {SYS_symlinkat, CALL_ENTRY, AT(1, 2), NO},
#ifdef SYS_renameat
    {SYS_renameat, CALL_ENTRY, BOTH(0, 1, 2, 3), NO},
#endif
    {SYS_renameat2, CALL_ENTRY, BOTH(0, 1, 2, 3), NO},
    {SYS_truncate, CALL_CHANGE, PATH(0), NO},
    {SYS_fchmodat, CALL_CHANGE, AT(0, 1), NO},
#ifdef SYS_fchmodat2
    {SYS_fchmodat2, CALL_CHANGE, AT(0, 1), 3},
#endif
    {SYS_fchownat, CALL_CHANGE, AT(0, 1), 4},
    {SYS_utimensat, CALL_CHANGE, AT(0, 1), 3},
    {SYS_setxattr, CALL_CHANGE, PATH(0), NO},
    {SYS_lsetxattr, CALL_ENTRY, PATH(0), NO},
    {SYS_removexattr, CALL_CHANGE, PATH(0), NO},
    {SYS_lremovexattr, CALL_ENTRY, PATH(0), NO},
    {SYS_connect, CALL_CONNECT, PATH(1), NO},
    {SYS_bind, CALL_BIND, PATH(1), NO},
    {SYS_sendto, CALL_SEND, PATH(4), NO},
/* Older ones, which newer processors don't have. */
#ifdef SYS_open
    {SYS_open, CALL_OPEN, PATH(0), 1},
    {SYS_creat, CALL_CREAT, PATH(0), NO},
    {SYS_unlink, CALL_ENTRY, PATH(0), NO},
    {SYS_rmdir, CALL_ENTRY, PATH(0), NO},
    {SYS_mkdir, CALL_ENTRY, PATH(0), NO},
    {SYS_mknod, CALL_ENTRY, PATH(0), NO},
    {SYS_link, CALL_ENTRY, PATH(1), NO},
    {SYS_symlink, CALL_ENTRY, PATH(1), NO},
    {SYS_rename, CALL_ENTRY, BOTH(NO, 0, NO, 1), NO},
    {SYS_chmod, CALL_CHANGE, PATH(0), NO},
    {SYS_chown, CALL_CHANGE, PATH(0), NO},
    {SYS_lchown, CALL_ENTRY, PATH(0), NO},
    {SYS_utime, CALL_CHANGE, PATH(0), NO},
    {SYS_utimes, CALL_CHANGE, PATH(0), NO},
    {SYS_futimesat, CALL_CHANGE, AT(0, 1), NO},
#endif
};

enum {
    HEAD = 8,     /* instructions before the first call */
    PER_CALL = 2, /* instructions for each */
    PROGRAM_MAX = HEAD + PER_CALL * ARRAY_LEN(calls) + 8,
};

const struct call *call_find(unsigned answer)
{
    return answer < ARRAY_LEN(calls) ? &calls[answer] : NULL;
}

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short n;
};

static void add(struct program *p, struct sock_filter instruction)
{
    BUG_ON(p->n >= PROGRAM_MAX);
    p->code[p->n++] = instruction;
}

static void add_load(struct program *p, size_t offset)
{
    add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void add_answer(struct program *p, unsigned answer)
{
    add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* If the loaded value is this one: the answer. */
static void add_case(struct program *p, unsigned value, unsigned answer)
{
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    add_answer(p, answer);
}

static void build(struct program *p)
{
    add_load(p, offsetof(struct seccomp_data, arch));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0));
    add_answer(p, SECCOMP_RET_TRACE | CALL_FOREIGN);
    add_load(p, offsetof(struct seccomp_data, nr));
#ifdef X32_BIT
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
    add_answer(p, SECCOMP_RET_TRACE | CALL_FOREIGN);
#endif
    add_case(p, SYS_io_uring_setup, SECCOMP_RET_ERRNO | ENOSYS);
    for (unsigned i = 0; i < ARRAY_LEN(calls); i++)
        add_case(p, calls[i].nr, SECCOMP_RET_TRACE | i);
    add_answer(p, SECCOMP_RET_ALLOW);
}

bool calls_install_filter(void)
{
    struct program program = {.n = 0};
    build(&program);
    struct sock_fprog filter = {.len = program.n, .filter = program.code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}
