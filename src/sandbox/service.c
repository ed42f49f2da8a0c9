/* The supervisor's side of the service socket. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/service.h"

#include "io/file.h"
#include "io/packet.h"
#include "sandbox/machine.h"
#include "sandbox/service_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

enum {
    ERRNO_MAX = 4095,
    PORT_MAX = 65535,
    ANSWER_FDS = 4, /* more than are ever sent */
};

static bool add_remedy(int errnum, struct err *err)
{
    const char *remedy = machine_files_remedy(errnum);
    return remedy ? err_ctx(err, "remedy", "%s", remedy) : false;
}

/* Requests ------------------------------------------------------------------------------------ */

static bool service_send(
    int service, const struct wire_request *request, const int *fds, size_t n_fds, struct err *err)
{
    const struct iovec part = {(void *)request, sizeof(*request)};
    ssize_t n = packet_send(service, &part, 1, fds, n_fds, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof(*request))
        return true;
    if (n < 0 && errno == EAGAIN)
        return err_set(err, E_CONFLICT, "too many pending requests to the sandbox");
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
        return err_set(err, E_PROCESS_EXIT, "the sandbox has ended");
    const int errnum = n < 0 ? errno : EMSGSIZE;
    err_errno(err, E_IO, errnum, "cannot send a request to the sandbox");
    return add_remedy(errnum, err);
}

static size_t count_words(const char *const *words, size_t *size)
{
    size_t n = 0;
    for (; words[n]; n++)
        *size += strlen(words[n]) + 1 + sizeof(uint64_t);
    return n;
}

static uint64_t service_put_text(char *block, size_t *at, const char *text)
{
    size_t n = strlen(text) + 1, place = *at;
    memcpy(block + place, text, n);
    *at += n;
    return place;
}

static void fill_words(
    char *block, const struct service_command *c, uint32_t n_args, uint32_t n_env)
{
    struct wire_words *words = (struct wire_words *)(void *)block;
    size_t at = sizeof(*words) + (n_args + n_env + 2) * sizeof(uint64_t);
    words->n_args = n_args;
    words->n_env = n_env;
    for (size_t i = 0; i < n_args; i++)
        words->at[i] = service_put_text(block, &at, c->argv[i]);
    for (size_t i = 0; i < n_env; i++)
        words->at[n_args + 1 + i] = service_put_text(block, &at, c->envp[i]);
    words->path = (uint32_t)service_put_text(block, &at, c->path);
    words->cwd = (uint32_t)service_put_text(block, &at, c->cwd);
}

/* Writes a memfd, which is freed with the command that it is for: it contains keys. Returns -1 and
 * errno on failure. */
static int write_words(const struct service_command *c)
{
    size_t size = sizeof(struct wire_words) + 2 * sizeof(uint64_t);
    size += strlen(c->path) + strlen(c->cwd) + 2;
    size_t n_args = count_words(c->argv, &size), n_env = count_words(c->envp, &size);
    errno = E2BIG;
    if (size > SERVICE_WORDS_MAX)
        return -1;
    AUTO_FD int fd = memfd_create("cordon-words", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return -1;
    char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (block == MAP_FAILED)
        return -1;
    fill_words(block, c, (uint32_t)n_args, (uint32_t)n_env);
    munmap(block, size);
    return TAKE_FD(fd);
}

/* A directory would lead out of the sandbox, and a terminal to its user. */
static bool may_enter(int fd)
{
    struct stat st;
    struct termios mode;
    return fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode) &&
           !(S_ISCHR(st.st_mode) && tcgetattr(fd, &mode) == 0);
}

bool service_spawn(int service, uint32_t id, const struct service_command *c, struct err *err)
{
    struct wire_request request = {
        .word = WIRE_SPAWN, .id = id, .rows = c->rows, .cols = c->cols, .terminal = c->terminal};
    int fds[WIRE_REQUEST_FDS];
    size_t n = 1;
    if (id == 0 || c->path[0] != '/' || c->cwd[0] != '/' || !c->argv[0])
        return err_set(err, E_INTERNAL, "a command needs an id, absolute paths and a name");
    for (int i = 0; !c->terminal && i < 3; i++) {
        if (c->io[i] < 0)
            continue;
        if (!may_enter(c->io[i]))
            return err_set(err, E_POLICY_DENIED,
                "a directory or a terminal of the host cannot be passed into a sandbox");
        request.streams |= (uint8_t)(1u << i);
        fds[n++] = c->io[i];
    }
    AUTO_FD int words = write_words(c);
    if (words < 0)
        return err_errno(err, E_IO, errno, "cannot start '%s'", c->path);
    fds[0] = words;
    return service_send(service, &request, fds, n, err);
}

static bool service_send_plain(
    int service, enum wire_word word, uint32_t id, int value, struct err *err)
{
    const struct wire_request request = {.word = word, .id = id, .value = value};
    if (id == 0 && word != WIRE_START)
        return err_set(err, E_INTERNAL, "a request to the sandbox needs an id");
    return service_send(service, &request, NULL, 0, err);
}

bool service_start(int service, struct err *err)
{
    return service_send_plain(service, WIRE_START, 0, 0, err);
}

bool service_signal(int service, uint32_t id, int sig, struct err *err)
{
    return service_send_plain(service, WIRE_SIGNAL, id, sig, err);
}

bool service_kill(int service, uint32_t id, struct err *err)
{
    return service_send_plain(service, WIRE_KILL, id, 0, err);
}

bool service_listen(int service, uint32_t id, uint16_t port, struct err *err)
{
    return service_send_plain(service, WIRE_LISTEN, id, port, err);
}

bool service_connect(int service, uint32_t id, uint16_t port, struct err *err)
{
    return service_send_plain(service, WIRE_CONNECT, id, port, err);
}

/* Answers ------------------------------------------------------------------------------------- */

struct service_received {
    struct wire_answer answer;
    int fds[ANSWER_FDS];
    size_t n_fds;
    bool dropped; /* its descriptor did not fit in our table */
};

static void service_received_done(struct service_received *r)
{
    for (size_t i = 0; i < r->n_fds; i++)
        auto_fd(&r->fds[i]);
}

/* Returns 1: a complete packet; 0: none now; -1: end of file, or not a packet of ours. */
static int service_receive(int service, struct service_received *r)
{
    char space[CMSG_SPACE(ANSWER_FDS * sizeof(int))] __attribute__((aligned(8)));
    struct iovec iov = {&r->answer, sizeof(r->answer)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    ssize_t n;
    while ((n = recvmsg(service, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        return errno == EAGAIN ? 0 : -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < got && r->n_fds < ANSWER_FDS; i++)
            memcpy(&r->fds[r->n_fds++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    r->dropped = msg.msg_flags & MSG_CTRUNC && r->n_fds == 0;
    if (n != (ssize_t)sizeof(r->answer) || msg.msg_flags & MSG_TRUNC)
        return -1;
    return !(msg.msg_flags & MSG_CTRUNC) || r->dropped ? 1 : -1;
}

static bool option_is(int fd, int name, int want)
{
    int value = -1;
    socklen_t size = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 && value == want;
}

static bool is_master(int fd)
{
    int number;
    return ioctl(fd, TIOCGPTN, &number) == 0;
}

static bool is_tcp(int fd, bool listens)
{
    return (option_is(fd, SO_DOMAIN, AF_INET) || option_is(fd, SO_DOMAIN, AF_INET6)) &&
           option_is(fd, SO_PROTOCOL, IPPROTO_TCP) && option_is(fd, SO_ACCEPTCONN, listens) &&
           fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0;
}

static bool is_refusal(const struct wire_answer *a)
{
    return a->value > 0 && a->value <= ERRNO_MAX && a->stage <= STAGE_EXEC;
}

static bool service_is_valid(const struct service_received *r)
{
    const struct wire_answer *a = &r->answer;
    int fd = r->fds[0];
    bool bare = r->n_fds == 0, one = r->n_fds == 1;
    if (a->id == 0)
        return false;
    switch (a->word) {
    case SERVICE_SPAWNED:
        return a->value > 0 && (bare || (one && is_master(fd)));
    case SERVICE_ENDED:
        return bare && a->value >= 0 && a->value <= 0xffff &&
               (a->stage == 0 || a->stage == STAGE_FORK || a->stage == STAGE_LIMITS) &&
               (WIFEXITED(a->value) || WIFSIGNALED(a->value));
    case SERVICE_LISTENS:
        return one && a->value > 0 && a->value <= PORT_MAX && is_tcp(fd, true);
    case SERVICE_CONNECTS:
        return one && is_tcp(fd, false);
    case SERVICE_REFUSED:
        return bare && is_refusal(a);
    default:
        return false;
    }
}

/* A command whose terminal was dropped can't be used. */
static void refuse_dropped(int service, struct wire_answer *answer)
{
    AUTO_ERR struct err ignored = {0};
    if (answer->word == SERVICE_SPAWNED)
        (void)!service_signal(service, answer->id, SIGKILL, &ignored);
    *answer = (struct wire_answer){SERVICE_REFUSED, answer->id, EMFILE, STAGE_TERMINAL};
}

enum service_result service_read_event(int service, struct service_event *ret_news)
{
    AUTO(service_received_done) struct service_received r = {.fds = {-1, -1, -1, -1}};
    int got = service_receive(service, &r);
    if (got == 0)
        return SERVICE_NOTHING;
    if (got > 0 && r.dropped && r.answer.id && r.answer.word <= SERVICE_REFUSED)
        refuse_dropped(service, &r.answer);
    if (got < 0 || !service_is_valid(&r)) {
        shutdown(service, SHUT_RDWR); /* ends the sandbox */
        return SERVICE_GONE;
    }
    *ret_news = (struct service_event){.word = r.answer.word,
        .id = r.answer.id,
        .value = r.answer.value,
        .fd = r.n_fds ? TAKE_FD(r.fds[0]) : -1,
        .stage = r.answer.stage};
    return SERVICE_NEWS;
}

bool service_refused(
    const struct service_event *news, const struct service_command *c, struct err *err)
{
    switch (news->stage) {
    case STAGE_CWD:
        return err_errno(err, E_IO, news->value, "cannot start in '%s'", c->cwd);
    case STAGE_FORK:
        return err_errno(err, E_IO, news->value,
            "cannot start '%s': the sandbox has reached its limit on processes", c->path);
    case STAGE_TERMINAL:
        err_errno(
            err, E_IO, news->value, "cannot start '%s': cannot create a terminal for it", c->path);
        return add_remedy(news->value, err);
    default:
        err_errno(err, E_IO, news->value, "cannot start '%s'", c->path);
        return add_remedy(news->value, err);
    }
}
