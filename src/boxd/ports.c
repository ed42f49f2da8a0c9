/* The supervisor's part of a box's network: the proxy process, and host ports forwarded into the
 * box. The proxy relays the data. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor_loop.h"
#include "io/file.h"
#include "io/packet.h"
#include "proxy/proxy_process.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
    NET_ID = 1u << 30, /* command ids are below this */
    ANSWER_MS = 5000,
    PORT_BACKLOG = 16,
    LINES_MAX = 64 * 1024,
    REFUSED_MAX = 1 << 20, /* maximum size of refused.jsonl */
};

static const char refused_name[] = "refused.jsonl";

static bool has_proxy(const struct supervisor *sv)
{
    struct str_list hosts;
    return box_network(sv->box, &hosts) == BOX_NETWORK_ALLOW;
}

static bool wants_ports(const struct supervisor *sv)
{
    return sv->options->mode != SUPERVISE_COMMANDS && sv->box->meta.ports.n > 0;
}

uint64_t net_files(const struct supervisor *sv)
{
    return has_proxy(sv) || wants_ports(sv) ? PROXY_FILES : 0;
}

/* Opening ------------------------------------------------------------------------------------- */

static struct sockaddr_in ports_loopback_addr(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool open_port(struct supervisor *sv, struct str text, struct err *err)
{
    struct str from, to;
    int64_t host = 0, inside = 0;
    const int one = 1;
    (void)str_cut(text, ':', &from, &to);
    if (!str_to_int(from, 1, UINT16_MAX, &host) || !str_to_int(to, 1, UINT16_MAX, &inside))
        return err_set(err, E_CONFIG, "'" STR_FMT "' is not HOST:BOX", STR_ARG(text));
    const struct sockaddr_in address = ports_loopback_addr((uint16_t)host);
    AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot create a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, PORT_BACKLOG) != 0) {
        err_errno(err, errno == EADDRINUSE ? E_CONFLICT : E_IO, errno,
            "cannot listen on port %d of this machine", (int)host);
        return err_ctx_int(err, "port", host);
    }
    sv->net.ports[sv->net.n_ports++] = (struct supervisor_port){TAKE_FD(fd), (uint16_t)inside};
    return true;
}

bool net_open(struct supervisor *sv, struct err *err)
{
    sv->net.lines = BUF_INIT(LINES_MAX);
    for (size_t i = 0;
         wants_ports(sv) && i < MIN(sv->box->meta.ports.n, (size_t)SUPERVISOR_PORTS_MAX); i++)
        if (!open_port(sv, sv->box->meta.ports.p[i], err))
            return false;
    return true;
}

/* The proxy ----------------------------------------------------------------------------------- */

static bool fork_proxy(struct supervisor *sv, struct err *err)
{
    struct proxy_start start = {.listener = sv->net.listener};
    struct proxy_process proxy;
    (void)box_network(sv->box, &start.hosts);
    if (!proxy_process_start(&start, &proxy, err))
        return false;
    sv->net.proxy = proxy.pid;
    sv->net.relays = proxy.relays;
    sv->net.report = proxy.report;
    return true;
}

/* The only reply that is waited for: nothing runs in the box yet. */
static bool await_listener(struct supervisor *sv, struct err *err)
{
    struct service_event news = {.fd = -1};
    uint64_t until = clock_mono_ms() + ANSWER_MS;
    for (uint64_t now; (now = clock_mono_ms()) < until;) {
        struct pollfd fd = {.fd = sv->service, .events = POLLIN};
        (void)poll(&fd, 1, clock_timeout_ms(now, until));
        enum service_result got = service_read_event(sv->service, &news);
        if (got == SERVICE_NEWS && news.word == SERVICE_LISTENS) {
            sv->net.listener = news.fd;
            return true;
        }
        if (got == SERVICE_NEWS)
            return err_errno(err, E_IO, news.value, "the proxy cannot listen in the box");
        if (got == SERVICE_GONE)
            break;
    }
    return err_set(err, E_IO, "the sandbox does not respond");
}

bool net_start(struct supervisor *sv, struct err *err)
{
    if (has_proxy(sv) && (!service_listen(sv->service, NET_ID, SUPERVISOR_PROXY_PORT, err) ||
                             !await_listener(sv, err)))
        return false;
    if (!has_proxy(sv) && !sv->net.n_ports)
        return true;
    return fork_proxy(sv, err);
}

static void end_proxy(struct supervisor *sv)
{
    if (sv->net.relays >= 0)
        close(TAKE_FD(sv->net.relays));
    if (sv->net.proxy <= 0)
        return;
    kill(sv->net.proxy, SIGKILL);
    while (waitpid(sv->net.proxy, NULL, 0) < 0 && errno == EINTR)
        ;
    sv->net.proxy = 0;
}

/* The proxy exited unexpectedly. The listener is still open, so new connections wait for the new
 * proxy. After the last restart it is closed, so that they fail instead. */
static void revive_proxy(struct supervisor *sv)
{
    AUTO_ERR struct err ignored = {0};
    end_proxy(sv);
    buf_reset(&sv->net.lines);
    sv->net.ends++;
    if (sv->session)
        sv->state.proxy_ends = sv->net.ends;
    if ((sv->net.ends > STATE_PROXY_RESTARTS || !fork_proxy(sv, &ignored)) && sv->net.listener >= 0)
        close(TAKE_FD(sv->net.listener));
}

/* Ports --------------------------------------------------------------------------------------- */

static void ports_join(struct supervisor *sv, int one, int two)
{
    const int fds[] = {one, two};
    const struct iovec part = {(char[1]){0}, 1};
    /* If the proxy does not take it, the connection is just closed. */
    packet_send(sv->net.relays, &part, 1, fds, ARRAY_LEN(fds), MSG_DONTWAIT);
}

static void ports_accept_call(struct supervisor *sv, const struct supervisor_port *port)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = accept4(port->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        supervisor_shed(sv, port->listener);
    for (size_t i = 0; fd >= 0 && i < SUPERVISOR_PORTS_MAX; i++) {
        struct supervisor_call *call = &sv->net.calls[i];
        if (call->id)
            continue;
        call->id = NET_ID + 1 + (uint32_t)i;
        if (!service_connect(sv->service, call->id, port->to, &ignored))
            call->id = 0;
        else
            call->fd = TAKE_FD(fd);
        return;
    }
}

bool net_news(struct supervisor *sv, const struct service_event *news)
{
    if (news->id < NET_ID)
        return false;
    for (size_t i = 0; i < SUPERVISOR_PORTS_MAX; i++) {
        struct supervisor_call *call = &sv->net.calls[i];
        if (call->id != news->id)
            continue;
        if (news->word == SERVICE_CONNECTS && news->fd >= 0)
            ports_join(sv, call->fd, news->fd);
        close(call->fd);
        *call = (struct supervisor_call){.fd = -1};
    }
    return true;
}

/* Refused requests ---------------------------------------------------------------------------- */

/* Writes complete lines; further ones are dropped when the file has reached its limit. */
static void ports_write_lines(struct supervisor *sv)
{
    struct stat st;
    struct str text = buf_str(&sv->net.lines);
    ptrdiff_t last = str_find_last(text, '\n');
    if (last < 0)
        return;
    size_t n = (size_t)last + 1;
    AUTO_FD int fd = openat(
        sv->box->host, refused_name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size + n <= REFUSED_MAX)
        (void)!file_write_all(fd, str_head(text, n));
    memmove(sv->net.lines.p, sv->net.lines.p + n, sv->net.lines.n - n);
    buf_truncate(&sv->net.lines, sv->net.lines.n - n);
}

static void read_report(struct supervisor *sv)
{
    char bytes[4096];
    ssize_t n = read(sv->net.report, bytes, sizeof(bytes));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close(TAKE_FD(sv->net.report));
        return;
    }
    if (sv->net.lines.n + (size_t)n >= LINES_MAX)
        buf_reset(&sv->net.lines);
    buf_add(&sv->net.lines, bytes, (size_t)n);
    ports_write_lines(sv);
}

/* Polling ------------------------------------------------------------------------------------- */

size_t net_polls(const struct supervisor *sv, struct pollfd *fds)
{
    size_t n = 0;
    fds[n++] = (struct pollfd){.fd = sv->net.report, .events = POLLIN};
    for (size_t i = 0; i < sv->net.n_ports; i++)
        fds[n++] = (struct pollfd){.fd = sv->net.ports[i].listener, .events = POLLIN};
    return n;
}

void net_step(struct supervisor *sv, const struct pollfd *fds, size_t n)
{
    if (fds[0].revents)
        read_report(sv);
    if (sv->net.report < 0 && sv->net.proxy > 0)
        revive_proxy(sv);
    for (size_t i = 1; i < n; i++)
        if (fds[i].revents)
            ports_accept_call(sv, &sv->net.ports[i - 1]);
}

void net_close(struct supervisor *sv)
{
    int *const fds[] = {&sv->net.listener, &sv->net.relays};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (*fds[i] >= 0)
            close(TAKE_FD(*fds[i]));
    for (size_t i = 0; i < sv->net.n_ports; i++)
        close(sv->net.ports[i].listener);
    sv->net.n_ports = 0;
    while (sv->net.report >= 0) { /* until the proxy has exited */
        struct pollfd fd = {.fd = sv->net.report, .events = POLLIN};
        if (poll(&fd, 1, ANSWER_MS) <= 0)
            break;
        read_report(sv);
    }
    end_proxy(sv);
    buf_done(&sv->net.lines);
}
