/* Attempts to reach a socket of the host. The host counts what arrives; the results of the calls
 * here matter less. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum {
    FAMILIES = 48,
    CONNECT_MS = 300,
    MPTCP = 262
};

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } u;
    socklen_t size;
};

static struct address inet_address(const char *host, const char *port)
{
    struct address a = {.size = sizeof a.u.in};
    a.u.in.sin_port = htons((uint16_t)number(port));
    if (inet_pton(AF_INET, host, &a.u.in.sin_addr) == 1) {
        a.u.in.sin_family = AF_INET;
        return a;
    }
    a.u.in6.sin6_port = htons((uint16_t)number(port));
    a.u.in6.sin6_family = AF_INET6;
    a.size = sizeof a.u.in6;
    if (inet_pton(AF_INET6, host, &a.u.in6.sin6_addr) != 1)
        _exit(2);
    return a;
}

/* @NAME is an abstract address. */
static struct address unix_address(const char *path)
{
    struct address a = {.u.un.sun_family = AF_UNIX};
    size_t n = strlen(path);
    if (n >= sizeof a.u.un.sun_path)
        _exit(2);
    memcpy(a.u.un.sun_path, path, n);
    a.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (*path != '@'));
    if (*path == '@')
        a.u.un.sun_path[0] = 0;
    return a;
}

/* Connects without blocking forever, and sends text that the host can recognise. */
static void reach(int fd, const struct address *a)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    int result = connect(fd, &a->u.any, a->size);
    if (result < 0 && errno == EINPROGRESS) {
        struct pollfd wait = {fd, POLLOUT, 0};
        socklen_t size = sizeof errno;
        poll(&wait, 1, CONNECT_MS);
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &size);
        result = errno ? -1 : 0;
    }
    report("connect", result);
    report("send", send(fd, "reached", 7, MSG_NOSIGNAL));
    report("sendto", sendto(fd, "reached", 7, MSG_NOSIGNAL, &a->u.any, a->size));
}

/* inet HOST PORT TYPE PROTOCOL */
static void do_inet(int argc, char **argv)
{
    (void)argc;
    struct address a = inet_address(argv[0], argv[1]);
    int fd = socket(a.u.any.sa_family, (int)number(argv[2]), (int)number(argv[3]));
    if (report("socket", fd))
        reach(fd, &a);
}

/* fastopen HOST PORT: data before the connection, which needs no connect() */
static void do_fastopen(int argc, char **argv)
{
    (void)argc;
    struct address a = inet_address(argv[0], argv[1]);
    int fd = socket(a.u.any.sa_family, SOCK_STREAM, 0);
    if (report("socket", fd))
        report("sendto", sendto(fd, "reached", 7, MSG_FASTOPEN | MSG_NOSIGNAL, &a.u.any, a.size));
}

/* unix PATH TYPE [FAMILY]: the family with bits above it that the kernel drops */
static void do_unix(int argc, char **argv)
{
    struct address a = unix_address(argv[0]);
    unsigned long family = argc > 2 ? number(argv[2]) : AF_UNIX;
    int fd = (int)syscall(SYS_socket, family, number(argv[1]), 0);
    if (report("socket", fd))
        reach(fd, &a);
}

/* pair PATH TYPE [FAMILY]: one end of a pair, used to reach another socket */
static void do_pair(int argc, char **argv)
{
    struct address a = unix_address(argv[0]);
    unsigned long family = argc > 2 ? number(argv[2]) : AF_UNIX;
    int ends[2];
    if (!report("socketpair", syscall(SYS_socketpair, family, number(argv[1]), 0, ends)))
        return;
    report("sendto", sendto(ends[1], "reached", 7, MSG_NOSIGNAL, &a.u.any, a.size));
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    report("disconnect", connect(ends[0], &none, sizeof none));
    close(ends[1]);
    reach(ends[0], &a);
}

/* unixfd FD PATH: with a socket that already existed */
static void do_unixfd(int argc, char **argv)
{
    (void)argc;
    struct address a = unix_address(argv[1]);
    reach((int)number(argv[0]), &a);
}

enum {
    RACED = 100, /* the descriptor whose socket is exchanged */
    RACE_MS = 1500,
};

static struct {
    struct address to[2], now;
    int fds[2];
    volatile int over;
} race;

/* Exchanges the socket and the address, all the time. */
static int exchange(void *unused)
{
    (void)unused;
    for (unsigned i = 0; !race.over; i++) {
        memcpy(&race.now, &race.to[i & 1], sizeof race.now);
        dup2(race.fds[i >> 1 & 1], RACED);
    }
    return 0;
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* unixrace PATH FLAGS: connects while another thread, or a process with the same descriptors,
 * exchanges the socket and the address */
static void do_unixrace(int argc, char **argv)
{
    (void)argc;
    static char stack[64 * 1024] __attribute__((aligned(16)));
    race.to[0] = inet_address("127.0.0.1", "1");
    race.to[1] = unix_address(argv[0]);
    race.fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    race.fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    dup2(race.fds[0], RACED);
    int other = clone(exchange, stack + sizeof stack, (int)number(argv[1]), NULL);
    if (!report("clone", other))
        return;
    for (long end = now_ms() + RACE_MS; now_ms() < end;) {
        connect(RACED, &race.now.u.any, race.to[1].size);
        if (send(race.fds[1], "reached", 7, MSG_NOSIGNAL) == 7)
            break;
    }
    race.over = 1;
    report("send", send(race.fds[1], "reached", 7, MSG_NOSIGNAL));
}

static void do_inetfd(int argc, char **argv)
{
    (void)argc;
    struct address a = inet_address(argv[1], argv[2]);
    reach((int)number(argv[0]), &a);
}

/* receive FD: a file descriptor that was passed along, and its contents */
static void do_receive(int argc, char **argv)
{
    (void)argc;
    char bytes[64], room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (!report("recvmsg", recvmsg((int)number(argv[0]), &message, MSG_DONTWAIT)))
        return;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_type != SCM_RIGHTS)
        return;
    int fd;
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
    read_out("smuggled", fd);
}

/* families: every family with every type; prints which sockets can be created */
static void do_families(int argc, char **argv)
{
    (void)argc, (void)argv;
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_PACKET};
    for (int family = 0; family < FAMILIES; family++) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            int fd = socket(family, types[i], family == AF_INET && types[i] == SOCK_RAW);
            if (fd < 0)
                continue;
            printf("socket %d %d\n", family, types[i]);
            close(fd);
        }
    }
    fflush(stdout);
}

/* socket FAMILY TYPE PROTOCOL */
static void do_socket(int argc, char **argv)
{
    (void)argc;
    report("socket", syscall(SYS_socket, number(argv[0]), number(argv[1]), number(argv[2])));
}

/* vsock CID PORT */
static void do_vsock(int argc, char **argv)
{
    (void)argc;
    const struct sockaddr_vm to = {.svm_family = AF_VSOCK,
        .svm_cid = (unsigned)number(argv[0]),
        .svm_port = (unsigned)number(argv[1])};
    int fd = socket(AF_VSOCK, SOCK_STREAM, 0);
    if (report("socket", fd)) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        report("connect", connect(fd, (const struct sockaddr *)&to, sizeof to));
    }
}

/* addlink: requests a network interface from the kernel */
static void do_addlink(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg body;
        struct rtattr attr;
        struct in_addr address;
    } ask = {
        .head = {sizeof ask, RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, 0},
        .body = {AF_INET, 32, 0, 0, 1},
        .attr = {sizeof ask.attr + sizeof ask.address, IFA_LOCAL},
    };
    struct {
        struct nlmsghdr head;
        struct nlmsgerr body;
        char rest[256];
    } answer;
    inet_pton(AF_INET, "127.77.0.1", &ask.address);
    int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    if (fd < 0) {
        got("socket");
        return;
    }
    if (send(fd, &ask, sizeof ask, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0) {
        got("netlink");
        return;
    }
    errno = -answer.body.error;
    report("newaddr", errno ? -1 : 0);
}

/* ifup: the same by ioctl, on the loopback interface */
static void do_ifup(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct ifreq ask = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (!report("socket", fd) || !report("getflags", ioctl(fd, SIOCGIFFLAGS, &ask)))
        return;
    report("setflags", ioctl(fd, SIOCSIFFLAGS, &ask));
}

const struct attempt probe_net[] = {
    {"inet", 4, do_inet},
    {"fastopen", 2, do_fastopen},
    {"unix", 2, do_unix},
    {"pair", 2, do_pair},
    {"unixfd", 2, do_unixfd},
    {"unixrace", 2, do_unixrace},
    {"inetfd", 3, do_inetfd},
    {"receive", 1, do_receive},
    {"families", 0, do_families},
    {"socket", 3, do_socket},
    {"vsock", 2, do_vsock},
    {"addlink", 0, do_addlink},
    {"ifup", 0, do_ifup},
    {0},
};
