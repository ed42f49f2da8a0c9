/* Acts that `cordon self-test` tries inside a sandbox. This program performs them itself, so that
 * nothing else need be installed. Each prints one line and succeeds; the caller evaluates it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/self_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    FORKS_MAX = 256,
};

static void act_hello(struct buf *out, const char *argument)
{
    buf_printf(out, "hello %s\n", argument);
}

static void self_test_add_act(struct buf *out, const char *done, bool ok)
{
    int errnum = errno;
    if (ok)
        buf_printf(out, "%s\n", done);
    else
        buf_printf(out, "refused: %s\n", strerror(errnum));
}

static void act_connect(struct buf *out, const char *port)
{
    int64_t number = 0;
    (void)!str_to_int(str_z(port), 1, UINT16_MAX, &number);
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)number),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    self_test_add_act(
        out, "connected", fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
}

static void act_read(struct buf *out, const char *path)
{
    char byte;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    self_test_add_act(out, "read", fd >= 0 && read(fd, &byte, 1) == 1);
}

static void act_write(struct buf *out, const char *path)
{
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    self_test_add_act(out, "wrote", fd >= 0 && write(fd, "written\n", 8) == 8);
}

/* Starts as many concurrent processes as possible, up to the number given. */
static void act_fork(struct buf *out, const char *argument)
{
    int64_t wanted = 0, n = 0;
    int gate[2];
    if (!str_to_int(str_z(argument), 1, FORKS_MAX, &wanted) || pipe2(gate, O_CLOEXEC) != 0)
        return self_test_add_act(out, "", false);
    for (pid_t pid = 1; n < wanted && pid > 0; n += pid > 0) {
        pid = fork();
        if (pid == 0) {
            char byte;
            close(gate[1]);
            _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
        }
    }
    close(gate[0]);
    close(gate[1]);
    while (wait(NULL) > 0)
        ;
    buf_printf(out, "forked %lld\n", (long long)n);
}

static void act_memory(struct buf *out, const char *argument)
{
    int64_t bytes = 0;
    (void)!str_to_int(str_z(argument), 1, INT64_MAX / 2, &bytes);
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    self_test_add_act(out, "allocated", p != MAP_FAILED);
}

/* Reads a line and prints it; the scenario looks for it on the terminal. */
static void act_answer(struct buf *out, const char *prompt)
{
    char line[64];
    size_t n = 0;
    dprintf(STDOUT_FILENO, "%s ", prompt);
    while (n + 1 < sizeof(line) && read(STDIN_FILENO, line + n, 1) == 1 && line[n] != '\n')
        n++;
    buf_printf(out, "answer: %.*s\n", (int)n, line);
}

static const struct {
    const char *name;
    void (*run)(struct buf *out, const char *argument);
} acts[] = {
    {"answer", act_answer},
    {"connect", act_connect},
    {"fork", act_fork},
    {"hello", act_hello},
    {"memory", act_memory},
    {"read", act_read},
    {"write", act_write},
};

bool self_test_act(const char *name, const char *argument, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(acts); i++)
        if (strcmp(acts[i].name, name) == 0) {
            acts[i].run(out, argument);
            return true;
        }
    return err_set(err, E_CLI_INVALID_ARG, "no such act: '%s'", name);
}
