/* Compiles the tables of refused calls: ranges of numbers found by binary search, then for a few
 * calls checks of their arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp.h"

#include "base/syscalls.h"
#include "sandbox/syscall_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
    CLONE_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                       CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME,
    SOCKET_TYPE_MASK = 0xf,
    MAP_TYPE_MASK = 0xf,
    PIPE_BYTES = 64 * 1024,   /* the default size of a pipe, 16 pages of 4 KiB */
    SEGMENT_BYTES = 4 * 1024, /* of shared memory, where nothing limits the sum */
    SPACE_RESERVATION = 48,   /* sizeof(struct space_resv), which is in no public header */
};

/* Assembling ---------------------------------------------------------------------------------- */

struct seccomp_assembler {
    struct seccomp_filter *filter;
    const struct seccomp_options *options;
    uint16_t answers[SYSCALL_RULES_NEWEST + 1]; /* by number; 0 is allowed */
    uint8_t observed[SYSCALL_RULES_NEWEST + 1];
    enum syscall_observed how; /* of the call whose answer is being emitted */
};

static void seccomp_emit(
    struct seccomp_assembler *a, uint16_t code, uint32_t k, unsigned jt, unsigned jf)
{
    struct seccomp_filter *f = a->filter;
    BUG_ON(f->n == SECCOMP_PROGRAM_MAX || jt > 255 || jf > 255);
    f->code[f->n++] = (struct sock_filter){code, (uint8_t)jt, (uint8_t)jf, k};
}

static void seccomp_emit_load(struct seccomp_assembler *a, size_t offset)
{
    seccomp_emit(a, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Loads the low half of an argument: the kernel uses no more of those that are ints. */
static void load_arg(struct seccomp_assembler *a, unsigned i)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the low half has another offset"
#endif
    seccomp_emit_load(a, offsetof(struct seccomp_data, args) + 8 * i);
}

static void load_high(struct seccomp_assembler *a, unsigned i)
{
    seccomp_emit_load(a, offsetof(struct seccomp_data, args) + 8 * i + 4);
}

static void seccomp_emit_ret(struct seccomp_assembler *a, int answer)
{
    uint32_t value = SECCOMP_RET_KILL_PROCESS;
    if ((answer == 0 && a->how == SYSCALL_OBSERVED) ||
        (answer == EPERM && a->how == SYSCALL_REPORTED))
        value = SECCOMP_RET_USER_NOTIF;
    else if (answer == 0)
        value = SECCOMP_RET_ALLOW;
    else if (answer == SECCOMP_PRETENDS)
        value = SECCOMP_RET_ERRNO;
    else if (answer > 0)
        value = SECCOMP_RET_ERRNO | ((uint32_t)answer & SECCOMP_RET_DATA);
    seccomp_emit(a, BPF_RET | BPF_K, value, 0, 0);
}

/* Allows the call without telling a listener. */
static void seccomp_emit_silent(struct seccomp_assembler *a)
{
    seccomp_emit(a, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Answers if the loaded value is this. */
static void answer_if(struct seccomp_assembler *a, uint32_t value, int answer)
{
    seccomp_emit(a, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    seccomp_emit_ret(a, answer);
}

static void answer_unless(struct seccomp_assembler *a, uint32_t value, int answer)
{
    seccomp_emit(a, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    seccomp_emit_ret(a, answer);
}

/* Answers if the loaded value has one of these bits. */
static void answer_if_any(struct seccomp_assembler *a, uint32_t bits, int answer)
{
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    seccomp_emit_ret(a, answer);
}

/* The instructions from if_is() to end_if() are for this loaded value only. */
static unsigned short if_is(struct seccomp_assembler *a, uint32_t value)
{
    seccomp_emit(a, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0);
    return (unsigned short)(a->filter->n - 1);
}

static void end_if(struct seccomp_assembler *a, unsigned short at)
{
    int distance = a->filter->n - at - 1;
    BUG_ON(distance > UINT8_MAX);
    a->filter->code[at].jf = (uint8_t)distance;
}

/* Answers if the whole argument is above this. */
static void answer_if_above(struct seccomp_assembler *a, unsigned arg, uint64_t most, int answer)
{
    load_high(a, arg);
    seccomp_emit(a, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(most >> 32), 0, 1);
    seccomp_emit_ret(a, answer);
    unsigned short at = if_is(a, (uint32_t)(most >> 32));
    load_arg(a, arg);
    seccomp_emit(a, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)most, 0, 1);
    seccomp_emit_ret(a, answer);
    end_if(a, at);
}

/* Checks -------------------------------------------------------------------------------------- */

static void seccomp_check_clone(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_if_any(a, (uint32_t)CLONE_NAMESPACES, EPERM);
    seccomp_emit_ret(a, 0);
}

#define IOCTL_XFS(number, size) ((uint32_t)_IOC(_IOC_WRITE, 'X', number, size))

static const struct {
    uint32_t request;
    int answer;
} refused_ioctls[] = {
    {TIOCSTI, EPERM},
    {TIOCLINUX, EPERM},
    /* Space beyond a file's end, which RLIMIT_FSIZE does not count: ALLOCSP, ALLOCSP64, RESVSP,
     * RESVSP64, ZERO_RANGE, and a hint for the size of each allocation. */
    {IOCTL_XFS(10, SPACE_RESERVATION), EOPNOTSUPP},
    {IOCTL_XFS(36, SPACE_RESERVATION), EOPNOTSUPP},
    {IOCTL_XFS(40, SPACE_RESERVATION), EOPNOTSUPP},
    {IOCTL_XFS(42, SPACE_RESERVATION), EOPNOTSUPP},
    {IOCTL_XFS(57, SPACE_RESERVATION), EOPNOTSUPP},
    {(uint32_t)FS_IOC_FSSETXATTR, EOPNOTSUPP},
};

/* Process 1 holds the listener, so that it outlives the supervisor, but must not use it. */
static const uint32_t listener_ioctls[] = {
    (uint32_t)SECCOMP_IOCTL_NOTIF_RECV,
    (uint32_t)SECCOMP_IOCTL_NOTIF_SEND,
    (uint32_t)SECCOMP_IOCTL_NOTIF_ADDFD,
};

static void seccomp_check_ioctl(struct seccomp_assembler *a)
{
    load_arg(a, 1);
    for (size_t i = 0; i < ARRAY_LEN(refused_ioctls); i++)
        answer_if(a, refused_ioctls[i].request, refused_ioctls[i].answer);
    const bool listens = a->options->observe || a->options->connects;
    for (size_t i = 0; listens && i < ARRAY_LEN(listener_ioctls); i++)
        answer_if(a, listener_ioctls[i], EPERM);
    seccomp_emit_ret(a, 0);
}

/* Refuses set-user-id and set-group-id. */
static void answer_for_mode(struct seccomp_assembler *a, unsigned arg)
{
    load_arg(a, arg);
    answer_if_any(a, a->options->group_id ? S_ISUID : S_ISUID | S_ISGID, EPERM);
}

static void seccomp_check_mode(struct seccomp_assembler *a, unsigned arg)
{
    answer_for_mode(a, arg);
    seccomp_emit_ret(a, 0);
}

static void seccomp_check_mode_1(struct seccomp_assembler *a)
{
    seccomp_check_mode(a, 1);
}

static void seccomp_check_mode_2(struct seccomp_assembler *a)
{
    seccomp_check_mode(a, 2);
}

/* The same, and refuses devices. Landlock refuses them as well, but not on every kernel whiteouts,
 * which any user may create. */
static void seccomp_check_node(struct seccomp_assembler *a, unsigned arg)
{
    answer_for_mode(a, arg);
    seccomp_emit(a, BPF_ALU | BPF_AND | BPF_K, S_IFMT, 0, 0);
    answer_if(a, S_IFCHR, EPERM);
    answer_if(a, S_IFBLK, EPERM);
    seccomp_emit_ret(a, 0);
}

static void seccomp_check_node_1(struct seccomp_assembler *a)
{
    seccomp_check_node(a, 1);
}

static void seccomp_check_node_2(struct seccomp_assembler *a)
{
    seccomp_check_node(a, 2);
}

/* The flags are loaded, and create nothing. A file that is only looked up, or that is read in an
 * open directory, is of no interest to a listener: programs that walk a tree open it that way, and
 * have found it there. Nor are headers that gcc tries to find, some hundred attempts for each file:
 * it opens them with O_NOCTTY, and reporting them makes a build 17 % slower instead of 2 %. A
 * filter can't tell whether the path is absolute. */
static void allow_dull_open(struct seccomp_assembler *a, unsigned flags)
{
    const unsigned looks = flags == 1 ? 1 : 3;
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, O_PATH, 0, 1);
    seccomp_emit_silent(a);
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_TRUNC, 1 + looks, 0);
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, O_NOCTTY, looks - 1, flags == 1);
    if (flags != 1) {
        load_arg(a, 0);
        seccomp_emit(a, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)AT_FDCWD, 1, 0);
    }
    seccomp_emit_silent(a);
}

/* As for a mode, if the flags create a file. With O_TRUNC Linux also truncates a file that is
 * opened for reading. */
static void seccomp_check_open_flags(struct seccomp_assembler *a, unsigned flags)
{
    if (a->options->no_truncate) {
        load_arg(a, flags);
        seccomp_emit(a, BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_TRUNC, 0, 0);
        answer_if(a, O_RDONLY | O_TRUNC, EPERM);
    }
    load_arg(a, flags);
    unsigned short at = a->filter->n;
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 0, 0);
    if (a->how == SYSCALL_OBSERVED)
        allow_dull_open(a, flags);
    seccomp_emit_ret(a, 0);
    a->filter->code[at].jf = 0;
    a->filter->code[at].jt = (uint8_t)(a->filter->n - at - 1);
    seccomp_check_mode(a, flags + 1);
}

static void seccomp_check_open(struct seccomp_assembler *a)
{
    seccomp_check_open_flags(a, 1);
}

static void seccomp_check_openat(struct seccomp_assembler *a)
{
    seccomp_check_open_flags(a, 2);
}

/* A whiteout is a device node. */
static void seccomp_check_rename(struct seccomp_assembler *a)
{
    load_arg(a, 4);
    answer_if_any(a, RENAME_WHITEOUT, EINVAL);
    seccomp_emit_ret(a, 0);
}

static void seccomp_check_personality(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_if(a, 0, 0);
    answer_if(a, 0xffffffffu, 0);
    if (a->options->developer)
        answer_if(a, ADDR_NO_RANDOMIZE, 0); /* debuggers, and sanitizers that need fixed places */
    seccomp_emit_ret(a, EPERM);
}

/* The id of a process is loaded: refuses process 1, or without namespaces all but the caller
 * itself. */
static void answer_for_process(struct seccomp_assembler *a)
{
    if (a->options->no_namespaces)
        answer_unless(a, 0, EPERM);
    else
        answer_if(a, 1, EPERM);
}

/* Limits -------------------------------------------------------------------------------------- */

/* With RLIMIT_CORE at 1, and only then, the kernel starts no program of the host for a core file.
 * Programs that disable core files for themselves exit if they can't: for them the call seems to
 * succeed, and core files are already disabled. A filter can't return the old limits if they are
 * requested at the same time. */
static void seccomp_check_prlimit(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_for_process(a);
    load_arg(a, 1);
    answer_unless(a, RLIMIT_CORE, 0);
    load_arg(a, 2);
    unsigned short at = if_is(a, 0);
    load_high(a, 2);
    answer_if(a, 0, 0); /* nothing is set */
    end_if(a, at);
    seccomp_emit_ret(a, SECCOMP_PRETENDS);
}

static void seccomp_check_setrlimit(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_if(a, RLIMIT_CORE, SECCOMP_PRETENDS);
    seccomp_emit_ret(a, 0);
}

/* RLIMIT_DATA counts neither shared memory nor a mapping that grows like a stack, which
 * RLIMIT_STACK limits one by one; huge pages are a pool of the whole machine. */
static void seccomp_check_mmap(struct seccomp_assembler *a)
{
    load_arg(a, 3);
    answer_if_any(a, MAP_HUGETLB | MAP_GROWSDOWN, ENOMEM);
    if (a->options->shared_max) {
        seccomp_emit(a, BPF_ALU | BPF_AND | BPF_K, MAP_TYPE_MASK | MAP_ANONYMOUS, 0, 0);
        answer_unless(a, MAP_SHARED | MAP_ANONYMOUS, 0);
        answer_if_above(a, 1, a->options->shared_max, ENOMEM);
    }
    seccomp_emit_ret(a, 0);
}

static void seccomp_check_shmget(struct seccomp_assembler *a)
{
    if (a->options->small_segments)
        answer_if_above(a, 1, SEGMENT_BYTES, EINVAL);
    seccomp_emit_ret(a, 0);
}

/* RLIMIT_FSIZE does not count space beyond a file's end, nor operations that move the end. */
static void seccomp_check_fallocate(struct seccomp_assembler *a)
{
    static const uint32_t modes[] = {0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_ZERO_RANGE, FALLOC_FL_UNSHARE_RANGE};
    load_arg(a, 1);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        answer_if(a, modes[i], 0);
    seccomp_emit_ret(a, EOPNOTSUPP);
}

/* The pages of all pipes are counted per user. */
static void seccomp_check_fcntl(struct seccomp_assembler *a)
{
    load_arg(a, 1);
    answer_unless(a, F_SETPIPE_SZ, 0);
    answer_if_above(a, 2, PIPE_BYTES, EPERM);
    seccomp_emit_ret(a, 0);
}

/* Other processes ----------------------------------------------------------------------------- */

static void seccomp_check_schedule(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_for_process(a);
    seccomp_emit_ret(a, 0);
}

/* The kind of id, then the id. Process 1 also belongs to the user. */
static void seccomp_check_who(struct seccomp_assembler *a, uint32_t process, uint32_t user)
{
    load_arg(a, 0);
    if (a->options->no_namespaces)
        answer_unless(a, process, EPERM);
    else
        answer_if(a, user, EPERM);
    load_arg(a, 1);
    answer_for_process(a);
    seccomp_emit_ret(a, 0);
}

static void seccomp_check_priority(struct seccomp_assembler *a)
{
    seccomp_check_who(a, PRIO_PROCESS, PRIO_USER);
}

static void seccomp_check_ioprio(struct seccomp_assembler *a)
{
    seccomp_check_who(a, IOPRIO_WHO_PROCESS, IOPRIO_WHO_USER);
}

/* A member of process 1's process group would reach it by "my group". The kernel refuses groups of
 * other sessions in the same way. */
static void seccomp_check_group(struct seccomp_assembler *a)
{
    load_arg(a, 1);
    if (!a->options->no_namespaces)
        answer_if(a, 1, EPERM);
    seccomp_emit_ret(a, 0);
}

/* Refuses kill(-1), which reaches everything at once. */
static void seccomp_check_kill(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_if(a, 0xffffffffu, EPERM);
    seccomp_emit_ret(a, 0);
}

/* Sockets ------------------------------------------------------------------------------------- */

static void load_socket_type(struct seccomp_assembler *a)
{
    load_arg(a, 1);
    seccomp_emit(a, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
}

/* The type is loaded. Allows for one type these protocols, including 0, and no other. */
static void seccomp_check_protocols(
    struct seccomp_assembler *a, uint32_t type, const uint32_t *protocols, size_t n)
{
    unsigned short at = if_is(a, type);
    load_arg(a, 2);
    for (size_t i = 0; i < n; i++)
        answer_if(a, protocols[i], 0);
    seccomp_emit_ret(a, EPROTONOSUPPORT);
    end_if(a, at);
}

/* The family is loaded. Refuses raw packets, and transports that other rules might not cover
 * (UDP-Lite, SCTP, DCCP, SMC, MPTCP). */
static void seccomp_check_inet(struct seccomp_assembler *a)
{
    static const uint32_t streams[] = {0, IPPROTO_TCP};
    static const uint32_t datagrams[] = {0, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6};
    seccomp_emit(a, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0);
    unsigned short at = if_is(a, AF_INET6);
    load_socket_type(a);
    answer_if(a, SOCK_RAW, EPERM);
    answer_if(a, SOCK_PACKET, EPERM);
    seccomp_check_protocols(a, SOCK_STREAM, streams, ARRAY_LEN(streams));
    seccomp_check_protocols(a, SOCK_DGRAM, datagrams, ARRAY_LEN(datagrams));
    seccomp_emit_ret(a, ESOCKTNOSUPPORT);
    end_if(a, at);
}

/* Interfaces and routes can be read. The request is behind a pointer; the kernel requires
 * CAP_NET_ADMIN for a change. */
static void seccomp_check_netlink(struct seccomp_assembler *a)
{
    unsigned short at = if_is(a, AF_NETLINK);
    load_arg(a, 2);
    answer_if(a, NETLINK_ROUTE, 0);
    end_if(a, at);
}

/* The type is loaded. Datagrams can be sent to a name without connect(). */
static void seccomp_check_stream(struct seccomp_assembler *a)
{
    answer_if(a, SOCK_STREAM, 0);
    answer_if(a, SOCK_SEQPACKET, 0);
    seccomp_emit_ret(a, EPERM);
}

static void seccomp_check_socket(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    if (a->options->connects && !a->options->unix_domain) {
        unsigned short at = if_is(a, AF_UNIX);
        load_socket_type(a);
        seccomp_check_stream(a);
        end_if(a, at);
    } else {
        answer_if(a, AF_UNIX, a->options->unix_domain ? 0 : EPERM);
    }
    if (a->options->inet) {
        seccomp_check_inet(a);
        seccomp_check_netlink(a);
    }
    seccomp_emit_ret(a, EAFNOSUPPORT);
}

/* Without addresses there is nothing to bind to, and a socket pair needs no name: Landlock does not
 * cover the names of Unix sockets. */
static void seccomp_check_bind(struct seccomp_assembler *a)
{
    bool any = a->options->inet || a->options->unix_domain || !a->options->no_namespaces;
    seccomp_emit_ret(a, any ? 0 : EPERM);
}

/* Datagram sockets of a pair could be connected to another name afterwards. */
static void seccomp_check_socketpair(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    answer_unless(a, AF_UNIX, EAFNOSUPPORT);
    if (!a->options->unix_domain) {
        load_socket_type(a);
        seccomp_check_stream(a);
        return;
    }
    seccomp_emit_ret(a, 0);
}

/* Observing ----------------------------------------------------------------------------------- */

/* A process that succeeds needs no explanation. */
static void seccomp_check_exit(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, 0xff, 1, 0);
    seccomp_emit_silent(a);
    seccomp_emit_ret(a, 0);
}

/* A second listener: the kernel refuses it with EBUSY. */
static void seccomp_check_seccomp(struct seccomp_assembler *a)
{
    load_arg(a, 0);
    seccomp_emit(a, BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_SET_MODE_FILTER, 1, 0);
    seccomp_emit_silent(a);
    load_arg(a, 1);
    seccomp_emit(a, BPF_JMP | BPF_JSET | BPF_K, SECCOMP_FILTER_FLAG_NEW_LISTENER, 1, 0);
    seccomp_emit_silent(a);
    seccomp_emit_ret(a, 0);
}

static void seccomp_emit_answer(struct seccomp_assembler *a, int answer)
{
    static void (*const how[SYSCALL_CHECK_END - SYSCALL_CHECK_FIRST])(
        struct seccomp_assembler *) = {
#define HOW(name, function) [SYSCALL_CHECK_##name - SYSCALL_CHECK_FIRST] = function
        HOW(BIND, seccomp_check_bind),
        HOW(CLONE, seccomp_check_clone),
        HOW(EXIT, seccomp_check_exit),
        HOW(FALLOCATE, seccomp_check_fallocate),
        HOW(FCNTL, seccomp_check_fcntl),
        HOW(GROUP, seccomp_check_group),
        HOW(IOCTL, seccomp_check_ioctl),
        HOW(IOPRIO, seccomp_check_ioprio),
        HOW(KILL, seccomp_check_kill),
        HOW(MMAP, seccomp_check_mmap),
        HOW(MODE_1, seccomp_check_mode_1),
        HOW(MODE_2, seccomp_check_mode_2),
        HOW(NODE_1, seccomp_check_node_1),
        HOW(NODE_2, seccomp_check_node_2),
        HOW(OPEN, seccomp_check_open),
        HOW(OPENAT, seccomp_check_openat),
        HOW(PERSONALITY, seccomp_check_personality),
        HOW(PRIORITY, seccomp_check_priority),
        HOW(PRLIMIT, seccomp_check_prlimit),
        HOW(RENAME, seccomp_check_rename),
        HOW(SCHEDULE, seccomp_check_schedule),
        HOW(SECCOMP, seccomp_check_seccomp),
        HOW(SETRLIMIT, seccomp_check_setrlimit),
        HOW(SHMGET, seccomp_check_shmget),
        HOW(SOCKET, seccomp_check_socket),
        HOW(SOCKETPAIR, seccomp_check_socketpair),
#undef HOW
    };
    if (answer < SYSCALL_CHECK_FIRST)
        seccomp_emit_ret(a, answer);
    else
        how[answer - SYSCALL_CHECK_FIRST](a);
}

/* Searching ----------------------------------------------------------------------------------- */

/* A run of calls with one answer. */
struct seccomp_span {
    uint32_t last;
    int answer;
    enum syscall_observed how;
};

static size_t find_spans(
    const struct seccomp_assembler *a, struct seccomp_span spans[SYSCALL_RULES_NEWEST + 1])
{
    size_t n = 0;
    for (uint32_t i = 0; i <= SYSCALL_RULES_NEWEST; i++) {
        if (i == 0 || a->answers[i] != a->answers[i - 1] || a->observed[i] != a->observed[i - 1])
            n++;
        spans[n - 1] = (struct seccomp_span){i, a->answers[i], a->observed[i]};
    }
    return n;
}

/* Makes the comparison at this place, if it is true, jump to the next instruction. If that is too
 * far, a jump is inserted after it; all others are relative and stay valid. */
static void jump_over(struct seccomp_assembler *a, unsigned short at)
{
    struct sock_filter *code = a->filter->code + at;
    size_t distance = (size_t)(a->filter->n - at - 1);
    if (distance <= UINT8_MAX) {
        code->jt = (uint8_t)distance;
        return;
    }
    seccomp_emit(a, 0, 0, 0, 0);
    memmove(code + 2, code + 1, distance * sizeof(*code));
    code[0].jf = 1;
    code[1] = (struct sock_filter){BPF_JMP | BPF_JA, 0, 0, (uint32_t)distance};
}

/* The call's number is loaded and in one of these spans: halves them until one is left. */
static void seccomp_emit_search(
    struct seccomp_assembler *a, const struct seccomp_span *spans, size_t n)
{
    if (n == 1) {
        a->how = spans[0].how;
        seccomp_emit_answer(a, spans[0].answer);
        a->how = SYSCALL_UNOBSERVED;
        return;
    }
    size_t half = n / 2;
    unsigned short at = a->filter->n;
    seccomp_emit(a, BPF_JMP | BPF_JGT | BPF_K, spans[half - 1].last, 0, 0);
    seccomp_emit_search(a, spans, half);
    jump_over(a, at);
    seccomp_emit_search(a, spans + half, n - half);
}

void seccomp_compile(const struct seccomp_options *options, struct seccomp_filter *ret_filter)
{
    struct seccomp_assembler a = {.filter = ret_filter, .options = options};
    ret_filter->n = 0;
    syscall_rules_fill(options, a.answers);
    if (options->observe)
        syscall_rules_fill_observed(a.observed);
    if (options->connects)
        a.observed[NR_connect] = SYSCALL_OBSERVED;
    seccomp_emit_load(&a, offsetof(struct seccomp_data, arch));
    seccomp_emit(&a, BPF_JMP | BPF_JEQ | BPF_K, SYSCALL_ARCH, 1, 0);
    seccomp_emit_ret(&a, -1);
    seccomp_emit_load(&a, offsetof(struct seccomp_data, nr));
#ifdef SYSCALL_X32_BIT
    seccomp_emit(&a, BPF_JMP | BPF_JGE | BPF_K, SYSCALL_X32_BIT, 0, 1);
    seccomp_emit_ret(&a, -1);
#endif
    seccomp_emit(&a, BPF_JMP | BPF_JGT | BPF_K, SYSCALL_RULES_NEWEST, 0, 1);
    seccomp_emit_ret(&a, ENOSYS);
    struct seccomp_span spans[SYSCALL_RULES_NEWEST + 1];
    seccomp_emit_search(&a, spans, find_spans(&a, spans));
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
            if (i->k == SECCOMP_RET_ERRNO)
                return SECCOMP_PRETENDS;
            if (i->k == SECCOMP_RET_USER_NOTIF)
                return SECCOMP_NOTIFIES;
            return i->k == SECCOMP_RET_KILL_PROCESS ? -1 : (int)(i->k & SECCOMP_RET_DATA);
        default:
            BUG_ON(true);
        }
        pc += jump ? i->jt : i->jf;
    }
    BUG_ON(true);
}
