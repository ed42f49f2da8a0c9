/* Runs a box's proxy on loopback, for proxy.py: prints {"port", "pid"}, and stops it at the end of
 * standard input. Exit status 0: it was running until then (or, with --ends, had exited by itself
 * with 0).
 *
 *     proxy_run [--relays FD] [--report FILE] [--ends] [--name NAME=ADDRESS,…]… HOST…
 *
 * With a --name, only those names resolve; an address `-` is a lookup that never ends.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    NAMES_MAX = 16,
    HOSTS_MAX = 64,
    BACKLOG = 512,
};

static const char *names[NAMES_MAX];
static size_t n_names;

static void look_up(const char *name, struct lookup_answer *ret_answer)
{
    struct str item, addrs = {0};
    ret_answer->error = EAI_NONAME;
    for (size_t i = 0; i < n_names; i++) {
        struct str row = str_z(names[i]), host;
        if (str_cut(row, '=', &host, &row) && str_is(host, name))
            addrs = row;
    }
    while (str_cut(addrs, ',', &item, &addrs)) {
        while (str_is(item, "-"))
            pause();
        BUG_ON(!addr_parse(item, &ret_answer->addrs[ret_answer->n++]));
        ret_answer->error = 0;
    }
}

static int listen_loopback(uint16_t *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BUG_ON(fd < 0 || bind(fd, (const struct sockaddr *)&at, size) != 0);
    BUG_ON(listen(fd, BACKLOG) != 0 || getsockname(fd, (struct sockaddr *)&at, &size) != 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static int number(const char *text)
{
    int64_t n = -1;
    BUG_ON(!str_to_int(str_z(text), 0, INT32_MAX, &n));
    return (int)n;
}

static bool parse(int argc, char **argv, struct proxy_input *in)
{
    static struct str hosts[HOSTS_MAX];
    bool ends = false;
    in->hosts.p = hosts;
    for (int i = 1; i < argc; i++) {
        struct str arg = str_z(argv[i]);
        if (str_is(arg, "--ends"))
            ends = true;
        else if (str_is(arg, "--relays") && i + 1 < argc)
            in->relays = number(argv[++i]);
        else if (str_is(arg, "--report") && i + 1 < argc)
            in->report = open(argv[++i], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        else if (str_is(arg, "--name") && i + 1 < argc && n_names < NAMES_MAX)
            names[n_names++] = argv[++i];
        else if (in->hosts.n < HOSTS_MAX)
            hosts[in->hosts.n++] = arg;
    }
    in->lookup = n_names ? look_up : NULL;
    return ends;
}

int main(int argc, char **argv)
{
    struct proxy_input in = {.listener = -1, .relays = -1, .report = -1};
    bool ends = parse(argc, argv, &in);
    uint16_t port;
    int status = 0;
    char byte;
    in.listener = listen_loopback(&port);
    pid_t pid = fork();
    if (pid == 0)
        proxy_main(&in);
    BUG_ON(pid < 0);
    close(in.listener);
    auto_fd(&in.relays);
    printf("{\"port\": %u, \"pid\": %d}\n", port, (int)pid);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    if (ends)
        return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
    if (waitpid(pid, &status, WNOHANG) != 0) {
        fprintf(stderr, "the proxy ended by itself: status %x\n", (unsigned)status);
        return 1;
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return 0;
}
