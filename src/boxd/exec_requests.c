/* Commands of `exec`: started by the sandbox's init process, with the client's streams. Their input
 * and output do not pass through the supervisor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor_loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum {
    ABANDONED_MS = 2000, /* between the termination request and SIGKILL */
};

void errand_init(struct errand *e)
{
    *e = (struct errand){.words = BUF_INIT(LINK_WORDS_MAX), .io = {-1, -1, -1}};
}

static void close_streams(struct errand *e)
{
    for (size_t i = 0; i < LINK_FDS; i++)
        if (e->io[i] >= 0)
            close(TAKE_FD(e->io[i]));
}

void errand_done(struct errand *e)
{
    close_streams(e);
    buf_done(&e->words);
    free(e->argv);
    free(e->path);
    e->argv = NULL;
    e->path = NULL;
}

/* Replies ------------------------------------------------------------------------------------- */

static void errand_fail(struct keeper *k, size_t index, const struct err *err)
{
    struct guest *g = &k->guests[index];
    AUTO_FREE char *text = link_put_err(err);
    if (g->fd >= 0)
        (void)link_send(g->fd, LINK_FAILED, NULL, 0, str_z(text), NULL);
    g->errand.id = 0;
    guest_free(k, index);
}

static struct guest *errand_find(struct keeper *k, uint32_t id, size_t *ret_index)
{
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (k->guests[i].used && k->guests[i].kind == GUEST_RUNS && k->guests[i].errand.id == id) {
            *ret_index = i;
            return &k->guests[i];
        }
    return NULL;
}

/* Starting ------------------------------------------------------------------------------------ */

static struct str errand_search_path(const struct keeper *k)
{
    for (const char *const *e = k->view.envp; *e; e++)
        if (strncmp(*e, "PATH=", 5) == 0)
            return str_z(*e + 5);
    return STR("/usr/local/bin:/usr/bin:/bin");
}

/* Sets the next candidate path of the command, in the order of execvp(); false after the last. */
static bool next_place(const struct keeper *k, struct errand *e)
{
    struct str name = str_z(e->argv[0]), cwd = k->view.plan.cwd, dir, rest = errand_search_path(k);
    AUTO_BUF struct buf path = BUF_INIT(64 * 1024);
    unsigned i = 0;
    if (e->tried >= KEEPER_WORDS_TRIES)
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

static bool errand_spawn(struct keeper *k, struct errand *e, struct err *err)
{
    const struct service_command command = {
        .argv = e->argv,
        .envp = k->view.envp,
        .path = e->path,
        .cwd = k->view.plan.cwd.p,
        .terminal = e->how.terminal,
        .rows = e->how.rows,
        .cols = e->how.cols,
        .io = {e->io[0], e->io[1], e->io[2]},
    };
    for (int i = 0; i < 3; i++)
        if (!limiter_give_pipe(k->way, e->io[i]))
            return err_errno(err, E_IO, errno, "cannot give a pipe to the box's user");
    return service_spawn(k->service, e->id, &command, err);
}

static bool errand_not_found(const struct errand *e, struct err *err)
{
    bool named = strchr(e->argv[0], '/');
    err_set(err, E_NOT_FOUND,
        named ? "there is no '%s' in the box"
              : "'%s' is not installed: it is in no directory of the box's PATH",
        e->argv[0]);
    return err_ctx(err, "command", "%s", e->argv[0]);
}

static bool split_words(struct errand *e, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < e->words.n; i++)
        n += e->words.p[i] == '\0';
    if (n == 0 || !e->words.p[0])
        return err_set(err, E_CLI_INVALID_ARG, "there is no command: its name is empty");
    if (!buf_ok(&e->words) || e->words.p[e->words.n - 1] != '\0')
        return err_set(err, E_CLI_INVALID_ARG, "the command's words are too long");
    e->argv = base_alloc((n + 1) * sizeof(*e->argv));
    const char *word = e->words.p;
    for (size_t i = 0; i < n; i++, word += strlen(word) + 1)
        e->argv[i] = word;
    return true;
}

static bool errand_start(struct keeper *k, struct errand *e, struct link_packet *p, struct err *err)
{
    if (e->id || !link_body(p, &e->how, sizeof(e->how)))
        return err_set(err, E_PROTOCOL, "that is no command");
    if (k->over || k->stopping)
        return err_set(err, E_CONFLICT, "the box is ending");
    for (size_t i = 0; i < LINK_FDS && !e->how.terminal; i++)
        e->io[i] = TAKE_FD(p->fds[i]);
    e->how.rows = MIN(MAX(e->how.rows, (uint16_t)1), (uint16_t)LINK_SIZE_MAX);
    e->how.cols = MIN(MAX(e->how.cols, (uint16_t)1), (uint16_t)LINK_SIZE_MAX);
    if (!split_words(e, err))
        return false;
    if (!next_place(k, e))
        return errand_not_found(e, err);
    e->id = ++k->last_id ? k->last_id : ++k->last_id;
    return errand_spawn(k, e, err);
}

void errand_take(struct keeper *k, size_t index, struct link_packet *p)
{
    struct errand *e = &k->guests[index].errand;
    AUTO_ERR struct err err = {0};
    uint32_t sig;
    if (p->word == LINK_WORDS && !e->id)
        buf_add_str(&e->words, p->body);
    else if (p->word == LINK_EXEC && !errand_start(k, e, p, &err))
        errand_fail(k, index, &err);
    else if (p->word == LINK_SIGNAL && e->id && link_body(p, &sig, sizeof(sig)) && sig > 0 &&
             sig < NSIG)
        (void)!service_signal(k->service, e->id, (int)sig, &err);
}

/* Ending -------------------------------------------------------------------------------------- */

void errand_abandon(struct keeper *k, size_t index)
{
    AUTO_ERR struct err ignored = {0};
    struct errand *e = &k->guests[index].errand;
    if (e->kill_ms)
        return;
    e->kill_ms = clock_mono_ms() + ABANDONED_MS;
    (void)!service_signal(k->service, e->id, SIGHUP, &ignored);
    (void)!service_signal(k->service, e->id, SIGTERM, &ignored);
    (void)!service_signal(k->service, e->id, SIGCONT, &ignored);
}

uint64_t errands_due(const struct keeper *k)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++)
        if (k->guests[i].used && k->guests[i].errand.kill_ms)
            due = MIN(due, k->guests[i].errand.kill_ms);
    return due;
}

void errands_tick(struct keeper *k, uint64_t now)
{
    AUTO_ERR struct err ignored = {0};
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++) {
        struct errand *e = &k->guests[i].errand;
        if (!k->guests[i].used || !e->kill_ms || now < e->kill_ms)
            continue;
        (void)!service_signal(k->service, e->id, SIGKILL, &ignored);
        e->kill_ms = now + ABANDONED_MS;
    }
}

/* The sandbox is gone, and all commands with it. */
void errands_end(struct keeper *k)
{
    const int32_t status = SIGKILL;
    for (size_t i = 0; i < KEEPER_GUESTS_MAX; i++) {
        struct guest *g = &k->guests[i];
        if (!g->used || g->kind != GUEST_RUNS || !g->errand.id)
            continue;
        if (g->fd >= 0)
            (void)link_send(g->fd, LINK_EXITED, &status, sizeof(status), STR(""), NULL);
        guest_free(k, i);
    }
}

/* Events -------------------------------------------------------------------------------------- */

static void on_spawned(struct keeper *k, size_t index, struct service_news *news)
{
    struct guest *g = &k->guests[index];
    const int fds[LINK_FDS] = {news->fd, -1, -1};
    close_streams(&g->errand);
    if (g->fd < 0 || link_send(g->fd, LINK_SPAWNED, NULL, 0, STR(""), fds) == LINK_SENT)
        return;
    guest_leave(k, index);
}

/* If the program does not exist, try the next PATH directory. */
static void on_refused(struct keeper *k, size_t index, const struct service_news *news)
{
    struct errand *e = &k->guests[index].errand;
    AUTO_ERR struct err err = {0};
    const struct service_command command = {
        .argv = e->argv, .path = e->path, .cwd = k->view.plan.cwd.p};
    bool missing = news->stage == STAGE_EXEC &&
                   (news->value == ENOENT || news->value == ENOTDIR || news->value == EACCES);
    if (missing && !strchr(e->argv[0], '/') && next_place(k, e) && errand_spawn(k, e, &err))
        return;
    if (!err.code && missing && news->value != EACCES)
        errand_not_found(e, &err);
    else if (!err.code)
        service_refused(news, &command, &err);
    errand_fail(k, index, &err);
}

static void on_ended(struct keeper *k, size_t index, const struct service_news *news)
{
    struct guest *g = &k->guests[index];
    const int32_t status = news->value;
    AUTO_ERR struct err err = {0};
    if (news->stage == STAGE_FORK && WIFSIGNALED(status)) {
        err_set(&err, E_PROCESS_EXIT,
            "there were more processes in the box than --processes allows, and all were killed");
        errand_fail(k, index, &err);
        return;
    }
    if (g->fd >= 0)
        (void)link_send(g->fd, LINK_EXITED, &status, sizeof(status), STR(""), NULL);
    g->errand.id = 0;
    guest_free(k, index);
}

void errands_news(struct keeper *k)
{
    struct service_news news;
    enum service_got got;
    while ((got = service_next(k->service, &news)) == SERVICE_NEWS) {
        size_t index;
        if (net_news(k, &news) || !errand_find(k, news.id, &index))
            news.fd = news.fd; /* handled by net_news(), or an unknown id */
        else if (news.word == SERVICE_SPAWNED)
            on_spawned(k, index, &news);
        else if (news.word == SERVICE_REFUSED)
            on_refused(k, index, &news);
        else if (news.word == SERVICE_ENDED)
            on_ended(k, index, &news);
        if (news.fd >= 0)
            close(news.fd);
    }
    k->gone |= got == SERVICE_GONE;
}
