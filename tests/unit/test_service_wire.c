/* The supervisor's trust in messages from the first process of a sandbox: as little as possible. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "io/packet.h"
#include "sandbox/service.h"
#include "sandbox/service_init.h"
#include "sandbox/service_wire.h"
#include "sandbox/session_kill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

static size_t count_entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

enum garbage_fd {
    NO_FD,
    TWO_FDS,
    NINE_FDS,
    FILE_FD,
    SOCKET_FD
};

static const struct {
    const char *name;
    struct wire_answer answer;
    size_t size; /* 0: that of an answer */
    enum garbage_fd fds;
} garbage[] = {
    {"too short", {SERVICE_SPAWNED, 1, 0, 0}, 7, NO_FD},
    {"empty", {SERVICE_SPAWNED, 1, 0, 0}, SIZE_MAX, NO_FD},
    {"too long", {SERVICE_SPAWNED, 1, 0, 0}, 40, NO_FD},
    {"no id", {SERVICE_SPAWNED, 0, 0, 0}, 0, NO_FD},
    {"no such word", {77, 1, 0, 0}, 0, NO_FD},
    {"a word below all", {UINT32_MAX, 1, 0, 0}, 0, NO_FD},
    {"two descriptors", {SERVICE_SPAWNED, 1, 0, 0}, 0, TWO_FDS},
    {"more than fit", {SERVICE_SPAWNED, 1, 0, 0}, 0, NINE_FDS},
    {"a file for a terminal", {SERVICE_SPAWNED, 1, 0, 0}, 0, FILE_FD},
    {"a descriptor with an end", {SERVICE_ENDED, 1, 0, 0}, 0, FILE_FD},
    {"stopping is not the end", {SERVICE_ENDED, 1, 0x137f, 0}, 0, NO_FD},
    {"a status beyond", {SERVICE_ENDED, 1, 0x10000, 0}, 0, NO_FD},
    {"a status below", {SERVICE_ENDED, 1, -1, 0}, 0, NO_FD},
    {"listens without a socket", {SERVICE_LISTENS, 1, 80, 0}, 0, NO_FD},
    {"listens by a file", {SERVICE_LISTENS, 1, 80, 0}, 0, FILE_FD},
    {"listens by a socket that does not", {SERVICE_LISTENS, 1, 80, 0}, 0, SOCKET_FD},
    {"no port", {SERVICE_LISTENS, 1, 0, 0}, 0, SOCKET_FD},
    {"connects by a file", {SERVICE_CONNECTS, 1, 80, 0}, 0, FILE_FD},
    {"refused without a reason", {SERVICE_REFUSED, 1, 0, 0}, 0, NO_FD},
    {"refused beyond reason", {SERVICE_REFUSED, 1, 5000, 0}, 0, NO_FD},
    {"refused at no stage", {SERVICE_REFUSED, 1, 1, 99}, 0, NO_FD},
};

static void say(int socket, const struct wire_answer *answer, size_t size, const int *fds, size_t n)
{
    char bytes[64] = {0}, space[CMSG_SPACE(9 * sizeof(int))] __attribute__((aligned(8))) = {0};
    memcpy(bytes, answer, sizeof(*answer));
    struct iovec iov = {bytes, size == SIZE_MAX ? 0 : size ? size : sizeof(*answer)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (n) {
        msg.msg_control = space;
        msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        *c = (struct cmsghdr){CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    }
    CHECK(sendmsg(socket, &msg, MSG_NOSIGNAL) >= 0);
}

TEST(service_garbage)
{
    static const size_t counts[] = {0, 2, 9, 1, 1};
    AUTO_FD int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    AUTO_FD int unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t before = count_entries("/proc/self/fd");
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
        int pair[2], fds[9];
        struct service_event news = {.id = 4711, .fd = -1};
        test_row(i, garbage[i].name);
        for (size_t k = 0; k < ARRAY_LEN(fds); k++)
            fds[k] = garbage[i].fds == SOCKET_FD ? unix_socket : file;
        if (!CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0))
            return;
        say(pair[1], &garbage[i].answer, garbage[i].size, fds, counts[garbage[i].fds]);
        CHECK_INT(service_read_event(pair[0], &news), SERVICE_GONE);
        CHECK_INT(news.id, 4711);
        struct pollfd hung_up = {.fd = pair[1]};
        CHECK_INT(poll(&hung_up, 1, 0), 1); /* the other side sees a hangup */
        close(pair[0]);
        close(pair[1]);
        CHECK_INT(count_entries("/proc/self/fd"), before);
    }
    int pair[2]; /* the control: a valid message is accepted */
    struct service_event news;
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    CHECK_INT(service_read_event(pair[0], &news), SERVICE_NOTHING);
    say(pair[1], &(struct wire_answer){SERVICE_ENDED, 3, 9, 0}, 0, NULL, 0);
    CHECK_INT(service_read_event(pair[0], &news), SERVICE_NEWS);
    CHECK_INT(news.id, 3);
    close(pair[1]);
    CHECK_INT(service_read_event(pair[0], &news), SERVICE_GONE);
    close(pair[0]);
}

/* Random packets: nothing is left open, and accepted values are within their range. */
TEST(service_random)
{
    AUTO_FD int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int fds[9] = {file, file, file, file, file, file, file, file, file};
    size_t before = count_entries("/proc/self/fd");
    unsigned state = 12345;
    for (int i = 0; i < 20000; i++) {
        int pair[2];
        struct service_event news = {.fd = -1};
        unsigned r[4];
        for (size_t k = 0; k < ARRAY_LEN(r); k++)
            r[k] = (state = state * 1664525u + 1013904223u) >> 8;
        if (!CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0))
            return;
        const struct wire_answer answer = {
            r[0] % 7, r[0] >> 8 & 1, (int32_t)(r[1] & 1 ? r[1] >> 1 & 0xff : r[1] << 8), r[2] % 40};
        say(pair[1], &answer, r[3] % 5 ? 0 : r[3] >> 4 & 31, fds, r[2] % 3 ? 0 : r[2] >> 8 & 7);
        if (service_read_event(pair[0], &news) == SERVICE_NEWS) {
            CHECK(news.word <= SERVICE_REFUSED && news.id == 1);
            CHECK(news.word != SERVICE_LISTENS && news.word != SERVICE_CONNECTS);
            CHECK_INT(news.fd, -1);
        }
        close(pair[0]);
        close(pair[1]);
    }
    CHECK_INT(count_entries("/proc/self/fd"), before);
}

/* Killed for too many processes, one after the other, before any end could be reported: each report
 * has the reason, but not that of one that ended before. */
TEST(serve_reports_why_each_was_killed)
{
    static struct serve serve;
    static const struct {
        pid_t pid;
        uint32_t stage;
    } rows[] = {{7, 0}, {8, STAGE_FORK}, {9, STAGE_FORK}};
    int pair[2];
    if (!CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0))
        return;
    serve = (struct serve){.socket = pair[1], .owed_fd = -1};
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++)
        serve.commands[i] = (struct serve_command){.id = i + 1, .pid = rows[i].pid};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        serve_note_end(&serve, rows[i].pid, 0);
        serve_note_too_many(&serve);
    }
    CHECK(serve_flush(&serve));
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wire_answer answer;
        test_row(i, "");
        CHECK_INT(recv(pair[0], &answer, sizeof(answer), 0), sizeof(answer));
        CHECK_INT(answer.id, i + 1);
        CHECK_INT(answer.stage, rows[i].stage);
    }
    close(pair[0]);
    close(pair[1]);
}

/* Descriptors in flight: all processes of the user together. ------------------------------------
 */

enum {
    FEW_FILES = 64,
    MANY_FDS = 250, /* in one packet */
    OTHER_UID = 12345,
};

/* Root may pass any number. */
static bool become_user_with_few_files(void)
{
    const struct rlimit few = {FEW_FILES, FEW_FILES};
    return (geteuid() != 0 || setresuid(OTHER_UID, OTHER_UID, OTHER_UID) == 0) &&
           setrlimit(RLIMIT_NOFILE, &few) == 0;
}

static bool put_in_flight(int file)
{
    char space[CMSG_SPACE(MANY_FDS * sizeof(int))] __attribute__((aligned(8))) = {0};
    struct iovec iov = {(char[1]){0}, 1};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int pair[2];
    *c = (struct cmsghdr){CMSG_LEN(MANY_FDS * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    for (size_t i = 0; i < MANY_FDS; i++)
        memcpy(CMSG_DATA(c) + i * sizeof(int), &file, sizeof(int));
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 &&
           sendmsg(pair[0], &msg, 0) == 1;
}

/* Returns 0, or the number of the check that failed. */
static int answer_in_flight(void)
{
    static struct serve serve;
    struct wire_answer got;
    int pair[2], file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!become_user_with_few_files() ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 || !put_in_flight(file))
        return 1;
    pid_t command = fork();
    if (command == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    if (command < 0 || setpgid(command, command) != 0)
        return 6;
    serve = (struct serve){.socket = pair[1], .owed_fd = -1};
    serve.commands[0] = (struct serve_command){.id = 7, .pid = command};
    serve_answer(&serve, &(struct wire_answer){SERVICE_SPAWNED, 7, 0, 0}, file);
    if (!serve_flush(&serve) || serve.commands[0].id)
        return 2;
    if (recv(pair[0], &got, sizeof(got), MSG_DONTWAIT) != (ssize_t)sizeof(got))
        return 3;
    if (got.word != SERVICE_REFUSED || got.id != 7 || got.value != ETOOMANYREFS)
        return 4;
    int status;
    return waitpid(command, &status, 0) == command && WIFSIGNALED(status) ? 0 : 5;
}

TEST(serve_refuses_an_answer_whose_descriptor_cannot_be_passed)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(answer_in_flight());
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

/* Full tables ---------------------------------------------------------------------------------- */

/* With no free number the kernel drops the descriptors of a packet. */
static void fill_table(struct rlimit *ret_before)
{
    getrlimit(RLIMIT_NOFILE, ret_before);
    int next = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(next);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next, ret_before->rlim_max});
}

TEST(serve_answers_a_request_whose_descriptors_do_not_fit)
{
    static struct serve serve;
    struct serve_request request;
    struct wire_answer answer;
    struct rlimit before;
    int pair[2];
    AUTO_FD int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0))
        return;
    serve = (struct serve){.socket = pair[1], .owed_fd = -1};
    const struct wire_request wire = {.word = WIRE_SPAWN, .id = 9};
    const struct iovec part = {(void *)&wire, sizeof(wire)};
    CHECK_INT(packet_send(pair[0], &part, 1, &file, 1, 0), sizeof(wire));
    fill_table(&before);
    CHECK(!serve_next(&serve, &request));
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK_INT(recv(pair[0], &answer, sizeof(answer), MSG_DONTWAIT), sizeof(answer));
    CHECK_INT(answer.word, SERVICE_REFUSED);
    CHECK_INT(answer.id, 9);
    CHECK_INT(answer.value, EMFILE);
    close(pair[0]);
    close(pair[1]);
}

/* Only that command fails: it is killed, and the service continues. */
TEST(service_refuses_an_answer_whose_descriptor_does_not_fit)
{
    struct service_event news = {.fd = -1};
    struct wire_request request;
    struct rlimit before;
    int pair[2];
    AUTO_FD int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0))
        return;
    say(pair[1], &(struct wire_answer){SERVICE_SPAWNED, 5, 0, 0}, 0, &file, 1);
    fill_table(&before);
    CHECK_INT(service_read_event(pair[0], &news), SERVICE_NEWS);
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.id, 5);
    CHECK_INT(news.value, EMFILE);
    CHECK_INT(recv(pair[1], &request, sizeof(request), MSG_DONTWAIT), sizeof(request));
    CHECK(request.word == WIRE_SIGNAL && request.id == 5 && request.value == SIGKILL);
    CHECK_INT(service_read_event(pair[0], &news), SERVICE_NOTHING);
    close(pair[0]);
    close(pair[1]);
}

/* /proc/PID/stat: the name is the program's choice. */
TEST(session_stat_is_read)
{
#define REST " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99 1000 200 18446744073709551615 1 2 3 4 5 "
    static const struct {
        const char *text;
        bool valid, ends;
        pid_t session;
    } rows[] = {
        {"7 (sh) S 1 6 5" REST "0 0 0 0", true, false, 5},
        {"7 (a) R 9 9 9 9) S 1 6 5" REST "0 0 0 0", true, false, 5},
        {"7 (a\n) (b) S 1 6 5" REST "0 0 0 0", true, false, 5},
        {"7 (sh) Z 1 6 5" REST "0 0 0 0", true, true, 5},
        {"7 (sh) X 1 6 5" REST "0 0 0 0", true, true, 5},
        {"7 (sh) S 1 6 5" REST "256 0 0 0", true, true, 5},
        {"7 (sh) S 1 6 5" REST "255 0 0 0", true, false, 5},
        {"7 (sh) R 1 6 5 0 -1 4194564 1 2 3 4 5 6 7 8 20 0 1 0 99 1000 200 1 1 2 3 4 5 0 0 0 0",
            true, true, 5},
        {"7 (sh) S 1 6 5", false, false, 0},
        {"7 sh S", false, false, 0},
        {"7 (sh)", false, false, 0},
        {"", false, false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct session_stat stat = {0};
        test_row(i, rows[i].text);
        CHECK_INT(session_read_stat(rows[i].text, &stat), rows[i].valid);
        CHECK_INT(stat.ends, rows[i].ends);
        CHECK_INT(stat.session, rows[i].session);
    }
}
