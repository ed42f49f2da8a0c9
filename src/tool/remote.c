/* Calls executed by another process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/remote.h"

#include "base/clock.h"
#include "io/file.h"
#include "path/exact.h"
#include "tool/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    READ_SIZE = 64 * 1024,
    REQUEST_MAX = 2 * TOOL_ARGUMENTS_MAX,
    CHANGES_MAX = 100 * 1000,
    WAIT_FOREVER_MS = -1,
    MESSAGE_MAX = 1024, /* kept of the server's standard error */
    MESSAGE_READS = 64, /* at the end of the connection: it may be written without end */
    STANDARD_FDS = 3,
};

struct remote {
    int pidfd;
    int in, out;     /* its standard input and output */
    int errors;      /* its standard error; -1: ours, or closed */
    struct buf seen; /* incomplete response */
    char said[MESSAGE_MAX];
    size_t n_said;
    uint64_t calls;
    bool gone;
};

/* The process --------------------------------------------------------------------------------- */

struct remote_child {
    const char *const *argv;
    int in, out, errors; /* errors -1: ours */
    int failure;         /* gets the error number if exec fails */
    enum remote_user user;
    pid_t parent;
};

/* A caller that ignores SIGCHLD would break the server. SIGHUP stays ignored, as by nohup(1). */
static void remote_reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGHUP)
            signal(sig, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The caller may have threads: only system calls until exec. */
NORETURN static void remote_exec_child(const struct remote_child *c)
{
    setpgid(0, 0);
    if (c->user == REMOTE_PROGRAM)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    if ((c->user != REMOTE_PROGRAM || getppid() == c->parent) && dup2(c->in, STDIN_FILENO) >= 0 &&
        dup2(c->out, STDOUT_FILENO) >= 0 &&
        (c->errors < 0 || dup2(c->errors, STDERR_FILENO) >= 0)) {
        (void)close_range(STANDARD_FDS, ~0u, CLOSE_RANGE_CLOEXEC);
        remote_reset_signals();
        execv(c->argv[0], (char *const *)c->argv);
    }
    int failed = errno;
    (void)!write(c->failure, &failed, sizeof(failed));
    _exit(127);
}

/* Ends above the standard streams, which the caller may have closed. */
static bool remote_pipe(int *ret_read, int *ret_write, struct err *err)
{
    int ends[2];
    bool ok = pipe2(ends, O_CLOEXEC) == 0;
    for (int i = 0; ok && i < 2; i++) {
        int high = ends[i] < STANDARD_FDS ? fcntl(ends[i], F_DUPFD_CLOEXEC, STANDARD_FDS) : -1;
        if (ends[i] < STANDARD_FDS) {
            close(ends[i]);
            ends[i] = high;
        }
    }
    if (!ok || ends[0] < 0 || ends[1] < 0) {
        int failed = errno;
        if (ok)
            auto_fd(&ends[0]), auto_fd(&ends[1]);
        return err_errno(err, E_IO, failed, "cannot create a pipe");
    }
    *ret_read = ends[0];
    *ret_write = ends[1];
    return true;
}

/* Without the caller's signal handlers in between. */
static pid_t remote_clone(const struct remote_child *child, int *ret_pidfd)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, ret_pidfd, NULL, NULL);
    if (pid == 0)
        remote_exec_child(child);
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    return pid;
}

static void remote_reap(int pidfd)
{
    siginfo_t info;
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) != 0 && errno == EINTR)
        ;
}

/* Starts the process; its ends of the pipes are closed by the caller. */
static bool remote_launch(struct remote_child *child, struct remote *r, struct err *err)
{
    AUTO_FD int failure = -1;
    AUTO_FD int failing = -1;
    int failed = 0;
    if (!remote_pipe(&failure, &failing, err))
        return false;
    child->failure = failing;
    if (remote_clone(child, &r->pidfd) < 0)
        return err_errno(err, E_IO, errno, "cannot start a process");
    close(TAKE_FD(failing));
    while (read(failure, &failed, sizeof(failed)) < 0 && errno == EINTR)
        ;
    if (!failed)
        return true;
    remote_reap(r->pidfd);
    return err_errno(err, E_IO, failed, "cannot start '%s'", child->argv[0]);
}

static bool remote_connect(
    struct remote *r, const char *const *argv, enum remote_user user, struct err *err)
{
    AUTO_FD int in = -1;
    AUTO_FD int out = -1;
    AUTO_FD int errors = -1;
    if (!remote_pipe(&in, &r->in, err) || !remote_pipe(&r->out, &out, err) ||
        (user == REMOTE_LIBRARY && !remote_pipe(&r->errors, &errors, err)))
        return false;
    struct remote_child child = {
        .argv = argv, .in = in, .out = out, .errors = errors, .user = user, .parent = getpid()};
    fcntl(r->in, F_SETFL, O_NONBLOCK);
    fcntl(r->out, F_SETFL, O_NONBLOCK);
    if (r->errors >= 0)
        fcntl(r->errors, F_SETFL, O_NONBLOCK);
    return remote_launch(&child, r, err);
}

static void remote_free(struct remote *r)
{
    auto_fd(&r->in);
    auto_fd(&r->out);
    auto_fd(&r->errors);
    auto_fd(&r->pidfd);
    buf_done(&r->seen);
    free(r);
}

bool remote_start(
    const char *const *argv, enum remote_user user, struct remote **ret_remote, struct err *err)
{
    struct remote *r = base_alloc(sizeof(*r));
    *r = (struct remote){
        .pidfd = -1, .in = -1, .out = -1, .errors = -1, .seen = BUF_INIT(REMOTE_ANSWER_MAX)};
    if (!remote_connect(r, argv, user, err)) {
        remote_free(r);
        return false;
    }
    *ret_remote = r;
    return true;
}

static bool has_ended(const struct remote *r, int wait_ms)
{
    struct pollfd end = {.fd = r->pidfd, .events = POLLIN};
    return poll(&end, 1, wait_ms) > 0;
}

/* By descriptor: a caller that ignores SIGCHLD may have another process with this number. */
static void remote_signal(const struct remote *r, int sig)
{
    (void)pidfd_send_signal(r->pidfd, sig, NULL, 0);
}

/* Closes the server's standard input, which ends it. */
void remote_stop(struct remote *r)
{
    if (!r)
        return;
    close(TAKE_FD(r->in));
    if (r->errors >= 0)
        close(TAKE_FD(r->errors)); /* a full pipe would delay its exit */
    if (!has_ended(r, r->gone ? 0 : REMOTE_GRACE_MS)) {
        remote_signal(r, SIGTERM);
        if (!has_ended(r, REMOTE_GRACE_MS))
            remote_signal(r, SIGKILL);
    }
    remote_reap(r->pidfd);
    remote_free(r);
}

/* Messages ------------------------------------------------------------------------------------ */

/* Keeps the end of the server's standard error; returns false if there is nothing more now. */
static bool remote_read_message(struct remote *r)
{
    char bytes[MESSAGE_MAX];
    ssize_t n = r->errors >= 0 ? read(r->errors, bytes, sizeof(bytes)) : -1;
    if (n == 0)
        close(TAKE_FD(r->errors));
    if (n <= 0)
        return false;
    size_t keep = MIN(r->n_said, sizeof(r->said) - (size_t)n);
    memmove(r->said, r->said + r->n_said - keep, keep);
    memcpy(r->said + keep, bytes, (size_t)n);
    r->n_said = keep + (size_t)n;
    return true;
}

/* The last line. */
static struct str remote_last_message(struct remote *r)
{
    for (int i = 0; i < MESSAGE_READS && remote_read_message(r); i++)
        ;
    struct str text = str_trim_end(str_n(r->said, r->n_said), '\n');
    return str_skip(text, (size_t)(str_find_last(text, '\n') + 1));
}

/* Requests ------------------------------------------------------------------------------------ */

struct remote_talk {
    struct remote *r;
    struct str request; /* unsent rest */
    int signals;
    int signal;           /* signal that interrupted the call; 0: none */
    uint64_t deadline_ms; /* after an interruption, and for the first answer; 0: none */
};

static bool remote_lose(struct remote *r, struct err *err, const char *why)
{
    struct str said = remote_last_message(r);
    r->gone = true;
    return err_set(err, E_IO, "%s; its tools can no longer be used%s" STR_FMT, why,
        said.n ? ": " : "", STR_ARG(said));
}

static void remote_interrupt(struct remote_talk *t)
{
    t->signal = guard_take(t->signals);
    t->deadline_ms = clock_mono_ms() + REMOTE_GRACE_MS;
    remote_signal(t->r, SIGINT);
}

static bool put_request(struct remote_talk *t)
{
    ssize_t n = file_write_quiet(t->r->in, t->request);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    t->request = str_skip(t->request, (size_t)n);
    return true;
}

/* Returns 1 after reading data, 0 without data, -1 at the end or if the response is too long. */
static int remote_read_answer(struct remote *r)
{
    char *room = buf_reserve(&r->seen, READ_SIZE);
    ssize_t n = room ? read(r->out, room, READ_SIZE) : 0;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n == 0)
        return -1;
    buf_grown(&r->seen, (size_t)n);
    return 1;
}

/* Polls once; returns false if there is nothing left to wait for. */
static bool remote_step(struct remote_talk *t, struct err *err)
{
    struct remote *r = t->r;
    struct pollfd fds[] = {
        {.fd = r->out, .events = POLLIN},
        {.fd = t->request.n ? r->in : -1, .events = POLLOUT},
        {.fd = t->signal ? -1 : t->signals, .events = POLLIN},
        {.fd = r->errors, .events = POLLIN},
    };
    int wait_ms = WAIT_FOREVER_MS;
    if (t->deadline_ms) {
        uint64_t now = clock_mono_ms();
        if (now >= t->deadline_ms)
            return remote_lose(r, err,
                t->signal ? "the box did not respond to an interrupt"
                          : "timeout: the tools of the box did not respond");
        wait_ms = (int)(t->deadline_ms - now);
    }
    if (poll(fds, ARRAY_LEN(fds), wait_ms) < 0)
        return errno == EINTR || err_errno(err, E_IO, errno, "cannot wait for the box");
    if (fds[3].revents)
        (void)remote_read_message(r);
    if (fds[2].revents)
        remote_interrupt(t);
    if (fds[0].revents && remote_read_answer(r) < 0)
        return remote_lose(r, err,
            r->seen.n ? "the connection to the box was lost in the middle of an answer"
                      : "the connection to the box was lost");
    if (fds[1].revents && !put_request(t))
        return remote_lose(r, err, "the box does not accept calls");
    return true;
}

/* Returns the response line without its line break; it stays in `seen`. */
static bool remote_exchange(struct remote_talk *t, struct str *ret_line, struct err *err)
{
    struct remote *r = t->r;
    size_t looked = 0;
    for (;;) {
        const char *end =
            r->seen.n > looked ? memchr(r->seen.p + looked, '\n', r->seen.n - looked) : NULL;
        if (end && t->request.n)
            return remote_lose(r, err, "the box answered before it received the call");
        if (end) {
            *ret_line = str_n(r->seen.p, (size_t)(end - r->seen.p));
            return ret_line->n + 1 == r->seen.n ||
                   remote_lose(r, err, "the box sent more than one answer");
        }
        looked = r->seen.n;
        if (!remote_step(t, err))
            return false;
    }
}

/* Responses ----------------------------------------------------------------------------------- */

static enum err_code code_from(struct str name)
{
    for (enum err_code c = ERR_NONE + 1; c < ERR_COUNT; c++)
        if (str_is(name, err_name(c)))
            return c;
    return E_INTERNAL;
}

static void take_changes(const json_t *changes, struct tool_result *result)
{
    const json_t *files = json_object_get(changes, "files");
    size_t n = MIN(json_array_size(files), (size_t)CHANGES_MAX);
    result->changes = ARENA_NEW(&result->arena, struct tool_change, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *file = json_array_get(files, i);
        struct tool_change *c = &result->changes[result->n_changes++];
        struct str action = json_str(json_object_get(file, "action"));
        json_int_t bytes = json_integer_value(json_object_get(file, "bytes_written"));
        c->path = arena_str(&result->arena, json_str(json_object_get(file, "path")));
        c->bytes_written = (uint64_t)MAX(bytes, 0);
        for (c->action = WRITER_CREATED; c->action < WRITER_DELETED; c->action++)
            if (str_is(action, writer_action_name(c->action)))
                break;
    }
}

static bool take_result(const json_t *tree, struct tool_result *result, struct err *err)
{
    struct str status = json_str(json_object_get(tree, "status"));
    struct str message = json_str(json_object_get(tree, "message"));
    struct str content = json_str(json_object_get(tree, "content"));
    json_t *details = json_object_get(tree, "details");
    buf_add_str(&result->content, str_head(content, TOOL_CONTENT_MAX));
    result->truncated =
        json_is_true(json_object_get(tree, "truncated")) || content.n > TOOL_CONTENT_MAX;
    if (json_is_object(details)) {
        json_decref(result->details);
        result->details = json_incref(details);
    }
    take_changes(json_object_get(tree, "changes"), result);
    if (str_is(status, "ok")) {
        tool_says(result, STR_FMT, STR_ARG(message));
        return true;
    }
    return err_set(
        err, code_from(json_str(json_object_get(tree, "code"))), STR_FMT, STR_ARG(message));
}

static bool remote_is_result(const json_t *tree, uint64_t id)
{
    static const char *const texts[] = {"status", "message", "content"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!json_is_string(json_object_get(tree, texts[i])))
            return false;
    return json_integer_value(json_object_get(tree, "request_id")) == (json_int_t)id;
}

static void make_request(
    struct remote *r, const char *name, const json_t *arguments, struct buf *line)
{
    AUTO_JSON json_t *object = json_object();
    json_put(object, "name", json_string(name));
    json_put(object, "arguments", json_incref((json_t *)arguments));
    json_put(object, "request_id", json_integer((json_int_t)++r->calls));
    json_add_compact(line, object);
    buf_add_byte(line, '\n');
}

bool remote_call(struct remote *r, const char *name, const json_t *arguments, int signals,
    struct tool_result *result, struct err *err)
{
    AUTO_BUF struct buf request = BUF_INIT(REQUEST_MAX);
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err unread = {0};
    struct str line;
    if (r->gone)
        return err_set(err, E_IO, "the connection to the box was lost");
    make_request(r, name, arguments, &request);
    if (!buf_ok(&request))
        return err_set(err, E_TOOL_VALIDATION, "the arguments are too long");
    struct remote_talk talk = {.r = r, .request = buf_str(&request), .signals = signals};
    bool ok = remote_exchange(&talk, &line, err);
    if (talk.signal && !ok)
        return guard_error(err, talk.signal);
    if (!ok)
        return false;
    ok = json_parse(line, "answer", E_PROTOCOL, &tree, &unread) && remote_is_result(tree, r->calls)
             ? take_result(tree, result, err)
             : remote_lose(r, err, "the box sent an invalid answer");
    buf_reset(&r->seen);
    return talk.signal ? guard_error(err, talk.signal) : ok;
}

/* A request without a name is refused, and has no effect. */
bool remote_await(struct remote *r, uint64_t timeout_ms, struct err *err)
{
    char request[64];
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err unread = {0};
    struct str line;
    int n = snprintf(
        request, sizeof(request), "{\"request_id\":%llu}\n", (unsigned long long)++r->calls);
    struct remote_talk talk = {.r = r,
        .request = str_n(request, (size_t)n),
        .signals = -1,
        .deadline_ms = clock_mono_ms() + timeout_ms};
    if (!remote_exchange(&talk, &line, err))
        return false;
    bool ok =
        json_parse(line, "answer", E_PROTOCOL, &tree, &unread) && remote_is_result(tree, r->calls);
    buf_reset(&r->seen);
    return ok || remote_lose(r, err, "the box sent an invalid answer");
}
