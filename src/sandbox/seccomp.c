/* The table of refused calls, and its compilation: ranges of numbers found by binary search, then
 * for a few calls a look at the low halves of their arguments. */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined __x86_64__
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define X32_BIT     0x40000000u
#elif defined __aarch64__
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the system-call filter does not know this architecture"
#endif

enum {
    /* The newest call that this table was made with: set_mempolicy_home_node, Linux 5.17. */
    NEWEST_CALL = 450,
    CLONE_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                       CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME,
    PROTOCOL_MPTCP = 262,
    SOCKET_TYPE_MASK = 0xf,
};

/* Beyond errno values: how a call is judged by its arguments. */
enum judged {
    JUDGE_CLONE = 1000,
    JUDGE_IOCTL,
    JUDGE_MODE_1, /* the second argument is a file mode; and so on */
    JUDGE_MODE_2,
    JUDGE_OPEN,
    JUDGE_OPENAT,
    JUDGE_PERSONALITY,
    JUDGE_PRLIMIT,
    JUDGE_SOCKET,
    JUDGE_SOCKETPAIR,
};

struct refused {
    int number;
    int answer;
};

#define REFUSE(name)      \
    {                     \
        SYS_##name, EPERM \
    }
#define ABSENT(name)       \
    {                      \
        SYS_##name, ENOSYS \
    }
#define JUDGE(name, how)        \
    {                           \
        SYS_##name, JUDGE_##how \
    }

static const struct refused table[] = {
    /* Another view of the file system. */
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
    /* Ways around this filter, and around the list of executables. */
    ABSENT(io_uring_setup),
    ABSENT(io_uring_enter),
    ABSENT(io_uring_register),
    ABSENT(memfd_create),
    ABSENT(memfd_secret),
    JUDGE(personality, PERSONALITY),
    /* Files that would run as their owner, for whoever finds them later. The mode for openat2 is
     * behind a pointer. */
    JUDGE(fchmod, MODE_1),
    JUDGE(fchmodat, MODE_2),
    JUDGE(mknodat, MODE_2),
    JUDGE(openat, OPENAT),
    ABSENT(openat2),
#ifdef __x86_64__
    JUDGE(chmod, MODE_1),
    JUDGE(creat, MODE_1),
    JUDGE(mknod, MODE_1),
    JUDGE(open, OPEN),
#endif
    /* Process 1. */
    JUDGE(prlimit64, PRLIMIT),
    /* Terminals. */
    JUDGE(ioctl, IOCTL),
    REFUSE(vhangup),
    /* Sockets. */
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
#ifdef __x86_64__
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
#endif
};

/* Assembling ---------------------------------------------------------------------------------- */

struct assembler {
    struct seccomp_filter *filter;
    const struct seccomp_options *options;
    uint16_t answers[NEWEST_CALL + 1]; /* by number; 0 is allowed */
};

static void emit(struct assembler *a, uint16_t code, uint32_t k, unsigned jt, unsigned jf)
{
    struct seccomp_filter *f = a->filter;
    BUG_ON(f->n == SECCOMP_PROGRAM_MAX || jt > 255 || jf > 255);
    f->code[f->n++] = (struct sock_filter){code, (uint8_t)jt, (uint8_t)jf, k};
}

static void load(struct assembler *a, size_t offset)
{
    emit(a, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The low half of an argument: the kernel looks at no more of those that are ints. */
static void load_arg(struct assembler *a, unsigned i)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the low half is elsewhere"
#endif
    load(a, offsetof(struct seccomp_data, args) + 8 * i);
}

static void ret(struct assembler *a, int answer)
{
    uint32_t value = SECCOMP_RET_KILL_PROCESS;
    if (answer == 0)
        value = SECCOMP_RET_ALLOW;
    else if (answer > 0)
        value = SECCOMP_RET_ERRNO | ((uint32_t)answer & SECCOMP_RET_DATA);
    emit(a, BPF_RET | BPF_K, value, 0, 0);
}

/* If the loaded value is this: answer. */
static void answer_if(struct assembler *a, uint32_t value, int answer)
{
    emit(a, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    ret(a, answer);
}

static void judge_clone(struct assembler *a)
{
    load_arg(a, 0);
    emit(a, BPF_JMP | BPF_JSET | BPF_K, (uint32_t)CLONE_NAMESPACES, 0, 1);
    ret(a, EPERM);
    ret(a, 0);
}

static void judge_ioctl(struct assembler *a)
{
    load_arg(a, 1);
    answer_if(a, TIOCSTI, EPERM);
    answer_if(a, TIOCLINUX, EPERM);
    ret(a, 0);
}

/* Neither set-user-id nor set-group-id. */
static void judge_mode(struct assembler *a, unsigned arg)
{
    load_arg(a, arg);
    emit(a, BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1);
    ret(a, EPERM);
    ret(a, 0);
}

/* The same, if the flags say that a file is made. */
static void judge_open(struct assembler *a, unsigned flags)
{
    load_arg(a, flags);
    emit(a, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 1, 0);
    ret(a, 0);
    judge_mode(a, flags + 1);
}

static void judge_prlimit(struct assembler *a)
{
    load_arg(a, 0);
    answer_if(a, 1, EPERM);
    ret(a, 0);
}

static void judge_personality(struct assembler *a)
{
    load_arg(a, 0);
    answer_if(a, 0, 0);
    answer_if(a, 0xffffffffu, 0);
    ret(a, EPERM);
}

/* Jumps over the next n instructions unless the loaded value is this. */
static void skip_unless(struct assembler *a, uint32_t value, unsigned n)
{
    emit(a, BPF_JMP | BPF_JEQ | BPF_K, value, 0, n);
}

static void load_socket_type(struct assembler *a)
{
    load_arg(a, 1);
    emit(a, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
}

/* The family is loaded. No raw packets; no second transport that other rules might not know. */
static void judge_inet(struct assembler *a, uint32_t family)
{
    skip_unless(a, family, 10);
    load_socket_type(a);
    answer_if(a, SOCK_RAW, EPERM);
    answer_if(a, SOCK_PACKET, EPERM);
    load_arg(a, 2);
    answer_if(a, PROTOCOL_MPTCP, EPROTONOSUPPORT);
    ret(a, 0);
}

static void judge_socket(struct assembler *a)
{
    load_arg(a, 0);
    answer_if(a, AF_UNIX, a->options->unix_domain ? 0 : EPERM);
    if (a->options->inet) {
        judge_inet(a, AF_INET);
        judge_inet(a, AF_INET6);
        /* Interfaces and routes can be read; changing them needs capabilities. */
        skip_unless(a, AF_NETLINK, 3);
        load_arg(a, 2);
        answer_if(a, NETLINK_ROUTE, 0);
    }
    ret(a, EAFNOSUPPORT);
}

/* A pair of datagram sockets could be connected to another name afterwards. */
static void judge_socketpair(struct assembler *a)
{
    if (!a->options->unix_domain) {
        load_socket_type(a);
        answer_if(a, SOCK_STREAM, 0);
        answer_if(a, SOCK_SEQPACKET, 0);
        ret(a, EPERM);
    }
    ret(a, 0);
}

static void judge(struct assembler *a, int answer)
{
    switch (answer) {
    case JUDGE_CLONE:
        judge_clone(a);
        break;
    case JUDGE_IOCTL:
        judge_ioctl(a);
        break;
    case JUDGE_MODE_1:
        judge_mode(a, 1);
        break;
    case JUDGE_MODE_2:
        judge_mode(a, 2);
        break;
    case JUDGE_OPEN:
        judge_open(a, 1);
        break;
    case JUDGE_OPENAT:
        judge_open(a, 2);
        break;
    case JUDGE_PRLIMIT:
        judge_prlimit(a);
        break;
    case JUDGE_PERSONALITY:
        judge_personality(a);
        break;
    case JUDGE_SOCKET:
        judge_socket(a);
        break;
    case JUDGE_SOCKETPAIR:
        judge_socketpair(a);
        break;
    default:
        ret(a, answer);
    }
}

/* A run of calls with one answer. */
struct span {
    uint32_t last;
    int answer;
};

static size_t find_spans(const struct assembler *a, struct span spans[NEWEST_CALL + 1])
{
    size_t n = 0;
    for (uint32_t i = 0; i <= NEWEST_CALL; i++) {
        if (i == 0 || a->answers[i] != a->answers[i - 1])
            n++;
        spans[n - 1] = (struct span){i, a->answers[i]};
    }
    return n;
}

/* Lets the comparison at this place, if it holds, jump to what comes next. If that is further than
 * it can, a jump is put between; all others are relative and don't mind. */
static void jump_over(struct assembler *a, unsigned short at)
{
    struct sock_filter *code = a->filter->code + at;
    size_t distance = (size_t)(a->filter->n - at - 1);
    if (distance <= UINT8_MAX) {
        code->jt = (uint8_t)distance;
        return;
    }
    emit(a, 0, 0, 0, 0);
    memmove(code + 2, code + 1, distance * sizeof(*code));
    code[0].jf = 1;
    code[1] = (struct sock_filter){BPF_JMP | BPF_JA, 0, 0, (uint32_t)distance};
}

/* The call's number is loaded and lies in one of these: halves until one is left. */
static void search(struct assembler *a, const struct span *spans, size_t n)
{
    if (n == 1) {
        judge(a, spans[0].answer);
        return;
    }
    size_t half = n / 2;
    unsigned short at = a->filter->n;
    emit(a, BPF_JMP | BPF_JGT | BPF_K, spans[half - 1].last, 0, 0);
    search(a, spans, half);
    jump_over(a, at);
    search(a, spans + half, n - half);
}

void seccomp_compile(const struct seccomp_options *options, struct seccomp_filter *ret_filter)
{
    struct assembler a = {.filter = ret_filter, .options = options};
    ret_filter->n = 0;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        BUG_ON(table[i].number < 0 || table[i].number > NEWEST_CALL);
        a.answers[table[i].number] = (uint16_t)table[i].answer;
    }
    load(&a, offsetof(struct seccomp_data, arch));
    emit(&a, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
    ret(&a, -1);
    load(&a, offsetof(struct seccomp_data, nr));
#ifdef X32_BIT
    emit(&a, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    ret(&a, -1);
#endif
    emit(&a, BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1);
    ret(&a, ENOSYS);
    struct span spans[NEWEST_CALL + 1];
    search(&a, spans, find_spans(&a, spans));
}

/* Interpreting, for tests --------------------------------------------------------------------- */

int seccomp_answer(
    const struct seccomp_filter *filter, uint32_t arch, uint32_t number, const uint64_t args[6])
{
    struct seccomp_data data = {.nr = (int)number, .arch = arch};
    uint32_t acc = 0;
    memcpy(data.args, args, sizeof(data.args));
    for (size_t pc = 0; pc < filter->n; pc++) {
        const struct sock_filter *i = &filter->code[pc];
        bool jump = false;
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&acc, (const char *)&data + i->k, 4);
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            acc &= i->k;
            continue;
        case BPF_JMP | BPF_JA:
            pc += i->k;
            continue;
        case BPF_JMP | BPF_JEQ | BPF_K:
            jump = acc == i->k;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            jump = acc > i->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            jump = acc >= i->k;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            jump = (acc & i->k) != 0;
            break;
        case BPF_RET | BPF_K:
            if (i->k == SECCOMP_RET_ALLOW)
                return 0;
            return i->k == SECCOMP_RET_KILL_PROCESS ? -1 : (int)(i->k & SECCOMP_RET_DATA);
        default:
            BUG_ON(true);
        }
        pc += jump ? i->jt : i->jf;
    }
    BUG_ON(true);
}
