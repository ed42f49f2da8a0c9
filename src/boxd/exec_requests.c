/* Commands of `exec`: started by the sandbox's init process, with the client's streams. Their input
 * and output do not pass through the supervisor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor_loop.h"

#include "boxd/box_denied.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum {
    ABANDONED_MS = 2000, /* between the termination request and SIGKILL */
};

void exec_request_init(struct exec_request *e)
{
    *e = (struct exec_request){.words = BUF_INIT(LINK_WORDS_MAX), .io = {-1, -1, -1}};
}

static void close_streams(struct exec_request *e)
{
    for (size_t i = 0; i < LINK_FDS; i++)
        if (e->io[i] >= 0)
            close(TAKE_FD(e->io[i]));
}

void exec_request_done(struct exec_request *e)
{
    close_streams(e);
    buf_done(&e->words);
    free(e->argv);
    free(e->path);
    e->argv = NULL;
    e->path = NULL;
}

/* Replies ------------------------------------------------------------------------------------- */

static void exec_request_tell(const struct client *c, const struct err *err)
{
    AUTO_FREE char *text = link_put_err(err);
    if (c->fd >= 0)
        (void)link_send(c->fd, LINK_FAILED, NULL, 0, str_z(text), NULL);
}

static void exec_request_fail(struct supervisor *sv, size_t index, const struct err *err)
{
    struct client *c = &sv->clients[index];
    exec_request_tell(c, err);
    c->exec.id = 0;
    clients_free(sv, index);
}

static struct client *exec_request_find(struct supervisor *sv, uint32_t id, size_t *ret_index)
{
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (sv->clients[i].used && sv->clients[i].kind == CLIENT_EXEC &&
            sv->clients[i].exec.id == id) {
            *ret_index = i;
            return &sv->clients[i];
        }
    return NULL;
}

/* Starting ------------------------------------------------------------------------------------ */

static struct str exec_request_search_path(const struct supervisor *sv)
{
    for (const char *const *e = sv->view.confined.envp; *e; e++)
        if (strncmp(*e, "PATH=", 5) == 0)
            return str_z(*e + 5);
    return STR("/usr/local/bin:/usr/bin:/bin");
}

/* Sets the next candidate path of the command, in the order of execvp(); false after the last. */
static bool exec_requests_next_place(const struct supervisor *sv, struct exec_request *e)
{
    struct str name = str_z(e->argv[0]), cwd = sv->view.confined.plan.cwd, dir,
               rest = exec_request_search_path(sv);
    AUTO_BUF struct buf path = BUF_INIT(64 * 1024);
    unsigned i = 0;
    if (e->tried >= SUPERVISOR_WORDS_TRIES)
        return false;
    if (str_find(name, '/') >= 0) {
        if (name.p[0] != '/')
            buf_printf(&path, STR_FMT "/", STR_ARG(cwd));
        buf_add_str(&path, name);
        i = e->tried;
    } else {
        while (str_cut(rest, ':', &dir, &rest) && i++ < e->tried)
            ;
        if (i <= e->tried)
            return false;
        if (!dir.n || dir.p[0] != '/')
            buf_printf(&path, STR_FMT "/", STR_ARG(cwd));
        buf_printf(&path, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(name));
        i = 0;
    }
    e->tried++;
    free(e->path);
    e->path = buf_take(&path);
    return i == 0;
}

static bool exec_request_spawn(struct supervisor *sv, struct exec_request *e, struct err *err)
{
    const struct service_command command = {
        .argv = e->argv,
        .envp = sv->view.confined.envp,
        .path = e->path,
        .cwd = sv->view.confined.plan.cwd.p,
        .terminal = e->how.terminal,
        .rows = e->how.rows,
        .cols = e->how.cols,
        .io = {e->io[0], e->io[1], e->io[2]},
    };
    for (int i = 0; i < 3; i++)
        if (!limiter_give_pipe(sv->way, e->io[i]))
            return err_errno(
                err, E_IO, errno, "cannot change the owner of a pipe to the box's user");
    return service_spawn(sv->service, e->id, &command, err);
}

static bool exec_request_not_found(const struct exec_request *e, struct err *err)
{
    bool named = strchr(e->argv[0], '/');
    err_set(err, E_NOT_FOUND,
        named ? "no such program in the box: '%s'"
              : "'%s' is not installed: it was not found in the box's PATH",
        e->argv[0]);
    return err_ctx(err, "command", "%s", e->argv[0]);
}

static bool split_words(struct exec_request *e, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < e->words.n; i++)
        n += e->words.p[i] == '\0';
    if (n == 0 || !e->words.p[0])
        return err_set(err, E_CLI_INVALID_ARG, "no command: its name is empty");
    if (!buf_ok(&e->words) || e->words.p[e->words.n - 1] != '\0')
        return err_set(err, E_CLI_INVALID_ARG, "the command line is too long");
    e->argv = base_alloc((n + 1) * sizeof(*e->argv));
    const char *word = e->words.p;
    for (size_t i = 0; i < n; i++, word += strlen(word) + 1)
        e->argv[i] = word;
    return true;
}

static bool exec_request_start(
    struct supervisor *sv, struct exec_request *e, struct link_packet *p, struct err *err)
{
    if (e->id || !link_body(p, &e->how, sizeof(e->how)))
        return err_set(err, E_PROTOCOL, "not a valid command request");
    if (sv->over || sv->stopping)
        return err_set(err, E_CONFLICT, "the box is shutting down");
    for (size_t i = 0; i < LINK_FDS && !e->how.terminal; i++)
        e->io[i] = TAKE_FD(p->fds[i]);
    e->how.rows = MIN(MAX(e->how.rows, (uint16_t)1), (uint16_t)LINK_SIZE_MAX);
    e->how.cols = MIN(MAX(e->how.cols, (uint16_t)1), (uint16_t)LINK_SIZE_MAX);
    if (!split_words(e, err))
        return false;
    if (!exec_requests_next_place(sv, e))
        return exec_request_not_found(e, err);
    e->id = ++sv->last_id ? sv->last_id : ++sv->last_id;
    return exec_request_spawn(sv, e, err);
}

/* A signal before the command is spawned would be lost if its program is then searched for in the
 * next directory. */
static void exec_request_signal(struct supervisor *sv, struct exec_request *e, int sig)
{
    AUTO_ERR struct err ignored = {0};
    if (e->spawned)
        (void)!service_signal(sv->service, e->id, sig, &ignored);
    else
        e->pending |= UINT64_C(1) << (sig - 1);
}

void exec_request_take(struct supervisor *sv, size_t index, struct link_packet *p)
{
    struct exec_request *e = &sv->clients[index].exec;
    AUTO_ERR struct err err = {0};
    uint32_t sig;
    if (p->word == LINK_WORDS && !e->id)
        buf_add_str(&e->words, p->body);
    else if (p->word == LINK_EXEC && !exec_request_start(sv, e, p, &err))
        exec_request_fail(sv, index, &err);
    else if (p->word == LINK_SIGNAL && e->id && link_body(p, &sig, sizeof(sig)) && sig > 0 &&
             sig < NSIG)
        exec_request_signal(sv, e, (int)sig);
}

/* Ending -------------------------------------------------------------------------------------- */

void exec_request_abandon(struct supervisor *sv, size_t index)
{
    struct exec_request *e = &sv->clients[index].exec;
    if (e->kill_ms)
        return;
    e->kill_ms = clock_mono_ms() + ABANDONED_MS;
    exec_request_signal(sv, e, SIGHUP);
    exec_request_signal(sv, e, SIGTERM);
    exec_request_signal(sv, e, SIGCONT);
}

uint64_t exec_requests_due(const struct supervisor *sv)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++)
        if (sv->clients[i].used && sv->clients[i].exec.kill_ms)
            due = MIN(due, sv->clients[i].exec.kill_ms);
    return due;
}

void exec_requests_tick(struct supervisor *sv, uint64_t now)
{
    AUTO_ERR struct err ignored = {0};
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++) {
        struct exec_request *e = &sv->clients[i].exec;
        if (!sv->clients[i].used || !e->kill_ms || now < e->kill_ms)
            continue;
        (void)!service_signal(sv->service, e->id, SIGKILL, &ignored);
        e->kill_ms = now + ABANDONED_MS;
    }
}

/* The sandbox is gone, and all commands with it. */
void exec_requests_end(struct supervisor *sv)
{
    const int32_t status = SIGKILL;
    for (size_t i = 0; i < SUPERVISOR_CLIENTS_MAX; i++) {
        struct client *c = &sv->clients[i];
        if (!c->used || c->kind != CLIENT_EXEC || !c->exec.id)
            continue;
        if (c->fd >= 0)
            (void)link_send(c->fd, LINK_EXITED, &status, sizeof(status), STR(""), NULL);
        clients_free(sv, i);
    }
}

/* Events -------------------------------------------------------------------------------------- */

static void exec_request_send_pending(struct supervisor *sv, struct exec_request *e)
{
    e->spawned = true;
    for (int sig = 1; e->pending; sig++, e->pending >>= 1)
        if (e->pending & 1)
            exec_request_signal(sv, e, sig);
    if (e->kill_ms)
        e->kill_ms = clock_mono_ms() + ABANDONED_MS;
}

static void on_spawned(struct supervisor *sv, size_t index, struct service_event *news)
{
    struct client *c = &sv->clients[index];
    const int fds[LINK_FDS] = {news->fd, -1, -1};
    AUTO_ERR struct err err = {0};
    close_streams(&c->exec);
    c->exec.session = news->value;
    exec_request_send_pending(sv, &c->exec);
    if (c->fd < 0)
        return;
    const enum link_sent sent = link_send(c->fd, LINK_SPAWNED, NULL, 0, STR(""), fds);
    if (sent == LINK_SENT)
        return;
    if (sent == LINK_CROWDED) {
        link_crowded("the terminal of a command", &err);
        exec_request_tell(c, &err);
    }
    clients_leave(sv, index);
}

/* If the program does not exist, try the next PATH directory, unless the client is gone. */
static void on_refused(struct supervisor *sv, size_t index, const struct service_event *news)
{
    struct exec_request *e = &sv->clients[index].exec;
    AUTO_ERR struct err err = {0};
    const struct service_command command = {
        .argv = e->argv, .path = e->path, .cwd = sv->view.confined.plan.cwd.p};
    bool missing = news->stage == STAGE_EXEC &&
                   (news->value == ENOENT || news->value == ENOTDIR || news->value == EACCES);
    if (missing && !e->kill_ms && !strchr(e->argv[0], '/') && exec_requests_next_place(sv, e) &&
        exec_request_spawn(sv, e, &err))
        return;
    if (!err.code && missing && news->value != EACCES)
        exec_request_not_found(e, &err);
    else if (!err.code)
        service_refused(news, &command, &err);
    exec_request_fail(sv, index, &err);
}

static void on_ended(struct supervisor *sv, size_t index, const struct service_event *news)
{
    struct client *c = &sv->clients[index];
    const int32_t status = news->value;
    AUTO_ERR struct err err = {0};
    if (news->stage && WIFSIGNALED(status)) {
        err_set(&err, E_PROCESS_EXIT, "%s",
            news->stage == STAGE_FORK
                ? "the box had more processes than --processes allows, and all were killed"
                : "a process had more memory than --memory allows, and was killed");
        exec_request_fail(sv, index, &err);
        return;
    }
    box_denied_tell(sv, c, status);
    if (status != 0)
        box_denied_save(sv);
    if (c->fd >= 0)
        (void)link_send(c->fd, LINK_EXITED, &status, sizeof(status), STR(""), NULL);
    c->exec.id = 0;
    clients_free(sv, index);
}

void exec_requests_news(struct supervisor *sv)
{
    struct service_event news;
    enum service_result got;
    while ((got = service_read_event(sv->service, &news)) == SERVICE_NEWS) {
        size_t index;
        if (net_news(sv, &news) || !exec_request_find(sv, news.id, &index))
            news.fd = news.fd; /* handled by net_news(), or an unknown id */
        else if (news.word == SERVICE_SPAWNED)
            on_spawned(sv, index, &news);
        else if (news.word == SERVICE_REFUSED)
            on_refused(sv, index, &news);
        else if (news.word == SERVICE_ENDED)
            on_ended(sv, index, &news);
        if (news.fd >= 0)
            close(news.fd);
    }
    sv->gone |= got == SERVICE_GONE;
}
