/* Calls executed by another process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/remote.h"

#include "base/clock.h"
#include "path/exact.h"
#include "tool/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
    READ_SIZE = 64 * 1024,
    REQUEST_MAX = 2 * TOOL_ARGUMENTS_MAX,
    CHANGES_MAX = 100 * 1000,
    WAIT_FOREVER_MS = -1,
};

struct remote {
    pid_t pid;
    int pidfd;
    int in, out;     /* its standard input and output */
    struct buf seen; /* incomplete response */
    uint64_t calls;
    bool gone;
};

/* The process --------------------------------------------------------------------------------- */

NORETURN static void remote_exec_child(const char *const *argv, int in, int out, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
        signal(SIGPIPE, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execv(argv[0], (char *const *)argv);
    }
    _exit(127);
}

bool remote_start(const char *const *argv, struct remote **ret_remote, struct err *err)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        return err_errno(err, E_IO, errno, "cannot make a pipe");
    AUTO_FD int theirs = in[0];
    AUTO_FD int ours = in[1];
    if (pipe2(out, O_CLOEXEC) != 0)
        return err_errno(err, E_IO, errno, "cannot make a pipe");
    AUTO_FD int answers = out[0];
    AUTO_FD int answering = out[1];
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        remote_exec_child(argv, theirs, answering, parent);
    if (pid < 0)
        return err_errno(err, E_IO, errno, "cannot start a process");
    fcntl(ours, F_SETFL, O_NONBLOCK);
    fcntl(answers, F_SETFL, O_NONBLOCK);
    struct remote *r = base_alloc(sizeof(*r));
    *r = (struct remote){
        .pid = pid,
        .pidfd = pidfd_open(pid, 0),
        .in = TAKE_FD(ours),
        .out = TAKE_FD(answers),
        .seen = BUF_INIT(REMOTE_ANSWER_MAX),
    };
    *ret_remote = r;
    return true;
}

static bool has_ended(const struct remote *r, int wait_ms)
{
    struct pollfd end = {.fd = r->pidfd, .events = POLLIN};
    return r->pidfd >= 0 && poll(&end, 1, wait_ms) > 0;
}

/* Closes the server's standard input, which ends it. */
void remote_stop(struct remote *r)
{
    if (!r)
        return;
    close(r->in);
    if (!has_ended(r, r->gone ? 0 : REMOTE_GRACE_MS)) {
        kill(r->pid, SIGTERM);
        if (!has_ended(r, REMOTE_GRACE_MS))
            kill(r->pid, SIGKILL);
    }
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(r->out);
    if (r->pidfd >= 0)
        close(r->pidfd);
    buf_done(&r->seen);
    free(r);
}

/* Requests ------------------------------------------------------------------------------------ */

struct remote_talk {
    struct remote *r;
    struct str request; /* unsent rest */
    int signals;
    int signal;           /* signal that interrupted the call; 0: none */
    uint64_t deadline_ms; /* after an interruption */
};

static bool remote_lose(struct remote *r, struct err *err, const char *why)
{
    r->gone = true;
    return err_set(err, E_IO, "%s; its tools can't be used any more", why);
}

static void remote_interrupt(struct remote_talk *t)
{
    t->signal = guard_take(t->signals);
    t->deadline_ms = clock_mono_ms() + REMOTE_GRACE_MS;
    kill(t->r->pid, SIGINT);
}

static bool put_request(struct remote_talk *t)
{
    ssize_t n = write(t->r->in, t->request.p, t->request.n);
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
    };
    int wait_ms = WAIT_FOREVER_MS;
    if (t->signal) {
        uint64_t now = clock_mono_ms();
        if (now >= t->deadline_ms)
            return remote_lose(r, err, "the box did not answer an interruption");
        wait_ms = (int)(t->deadline_ms - now);
    }
    if (poll(fds, ARRAY_LEN(fds), wait_ms) < 0)
        return errno == EINTR || err_errno(err, E_IO, errno, "cannot wait for the box");
    if (fds[2].revents)
        remote_interrupt(t);
    if (fds[0].revents && remote_read_answer(r) < 0)
        return remote_lose(r, err, r->seen.n ? "the box broke off its answer" : "the box is gone");
    if (fds[1].revents && !put_request(t))
        return remote_lose(r, err, "the box takes no calls");
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
            return remote_lose(r, err, "the box answered before it was asked");
        if (end) {
            *ret_line = str_n(r->seen.p, (size_t)(end - r->seen.p));
            return ret_line->n + 1 == r->seen.n ||
                   remote_lose(r, err, "the box said more than it was asked");
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
        return err_set(err, E_IO, "the box is gone");
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
             : remote_lose(r, err, "the box gave an answer that is none");
    buf_reset(&r->seen);
    return talk.signal ? guard_error(err, talk.signal) : ok;
}
