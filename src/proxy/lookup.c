/* Lookups in child processes: glibc's resolver has no non-blocking interface. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/lookup.h"

#include "base/names.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <resolv.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static bool lookup_has_addr(const struct lookup_answer *a, const struct proxy_addr *addr)
{
    for (size_t i = 0; i < a->n; i++)
        if (addr_eq(&a->addrs[i], addr))
            return true;
    return false;
}

static void ask_system(const char *name, struct lookup_answer *ret_answer)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    names_prepare();
    if (res_init() == 0)
        _res.options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
    ret_answer->error = getaddrinfo(name, NULL, &hints, &found);
    for (const struct addrinfo *i = found; i && ret_answer->n < LOOKUP_ADDRS_MAX; i = i->ai_next) {
        struct proxy_addr addr;
        if (addr_from_sockaddr(i->ai_addr, &addr) && !lookup_has_addr(ret_answer, &addr))
            ret_answer->addrs[ret_answer->n++] = addr;
    }
    if (found)
        freeaddrinfo(found);
}

/* Fails if our own addresses cannot be listed: then they could not be recognized. */
static void mark_own(struct lookup_answer *a)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        a->error = EAI_SYSTEM;
        return;
    }
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct proxy_addr own;
        if (!i->ifa_addr || !addr_from_sockaddr(i->ifa_addr, &own))
            continue;
        for (size_t k = 0; k < a->n; k++)
            a->own[k] |= addr_eq(&a->addrs[k], &own);
    }
    freeifaddrs(all);
}

NORETURN static void lookup_run_child(int out, const char *name, lookup_fn *how)
{
    struct lookup_answer answer;
    memset(&answer, 0, sizeof(answer)); /* its padding is written as well */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    alarm(LOOKUP_SECONDS);
    /* Do not keep inherited sockets open. */
    if (dup2(out, STDIN_FILENO) < 0)
        _exit(1);
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
    how(name, &answer);
    if (answer.error == 0)
        mark_own(&answer);
    ssize_t n = write(STDIN_FILENO, &answer, sizeof(answer)); /* at most PIPE_BUF, so atomic */
    _exit(n == (ssize_t)sizeof(answer) ? 0 : 1);
}

int lookup_start(const char *name, lookup_fn *how)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        lookup_run_child(ends[1], name, how ? how : ask_system);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

bool lookup_read(int fd, struct lookup_answer *ret_answer)
{
    struct lookup_answer answer;
    ssize_t n;
    do {
        n = read(fd, &answer, sizeof(answer));
    } while (n < 0 && errno == EINTR);
    close(fd);
    if (n != (ssize_t)sizeof(answer) || answer.n > LOOKUP_ADDRS_MAX)
        return false;
    *ret_answer = answer;
    return true;
}
