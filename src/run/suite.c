/* Suites: finding scenarios, running them in processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/suite.h"

#include "base/clock.h"
#include "base/grow.h"
#include "io/dir.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    RESULT_MAX = 256 << 20, /* bytes of a worker's result */
    WORDS_MAX = 1 << 20,    /* bytes of a worker's stderr that are repeated */
};

void suite_done(struct suite *s)
{
    for (size_t i = 0; i < s->n; i++)
        json_decref(s->entries[i].result);
    free(s->entries);
    s->entries = NULL;
    s->n = 0;
}

/* Finding scenarios --------------------------------------------------------------------------- */

static const char *const ends[] = {".yaml", ".yml", ".json"};

/* Strips the suffix of a scenario; returns false if it has none. `marked`: it includes
 * ".scenario". */
static bool stem_of(struct str name, bool *ret_marked, struct str *ret_stem)
{
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct str end = str_z(ends[i]);
        if (name.n <= end.n || !str_ends_with(name, end))
            continue;
        name.n -= end.n;
        *ret_marked = str_ends_with(name, STR(".scenario"));
        if (*ret_marked && name.n > STR(".scenario").n)
            name.n -= STR(".scenario").n;
        *ret_stem = name;
        return true;
    }
    *ret_marked = false;
    *ret_stem = name;
    return false;
}

static bool suite_name_is_taken(const struct suite *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->entries[i].name, name) == 0)
            return true;
    return false;
}

/* File name without its suffix, with a number if the name is taken. */
static const char *suite_unique_name(const struct suite *s, const char *file)
{
    bool ignored;
    struct str stem;
    const char *slash = strrchr(file, '/');
    (void)stem_of(str_z(slash ? slash + 1 : file), &ignored, &stem);
    if (stem.n == 0 || str_is(stem, ".") || str_is(stem, ".."))
        stem = STR("scenario"); /* not usable as a directory name */
    stem = str_head(stem, SUITE_NAME_MAX);
    const char *name = arena_strdup(s->arena, stem);
    for (unsigned i = 2; suite_name_is_taken(s, name); i++)
        name = arena_printf(s->arena, STR_FMT "-%u", STR_ARG(stem), i);
    return name;
}

static bool suite_add_file(struct suite *s, const char *file, struct err *err)
{
    if (s->n == SUITE_MAX)
        return err_set(
            err, E_CLI_INVALID_ARG, "too many scenarios: at most %d are allowed", SUITE_MAX);
    GROW(s->entries, s->n, s->cap, SUITE_MAX);
    struct suite_entry entry = {.file = file,
        .name = suite_unique_name(s, file),
        .status = "canceled",
        .exit = err_status(E_CANCELED),
        .pidfd = -1,
        .out = -1,
        .err_fd = -1};
    s->entries[s->n++] = entry;
    return true;
}

static int suite_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct suite_names {
    const char **p;
    size_t n, cap;
    bool marked; /* only names with ".scenario" */
};

static void take_name(struct suite_names *l, struct arena *a, const char *name)
{
    bool marked;
    struct str ignored;
    if (name[0] == '.' || !stem_of(str_z(name), &marked, &ignored) || (l->marked && !marked))
        return;
    if (marked && !l->marked)
        l->n = 0;
    l->marked |= marked;
    GROW(l->p, l->n, l->cap, SUITE_MAX + 1);
    l->p[l->n++] = arena_strdup(a, str_z(name));
}

static bool suite_add_dir(struct suite *s, const char *path, struct err *err)
{
    struct suite_names l = {0};
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open_path(&d, path))
        return err_errno(err, E_IO, errno, "cannot read the directory '%s'", path);
    while (l.n <= SUITE_MAX && dir_next(&d))
        take_name(&l, s->arena, d.name);
    if (l.n)
        qsort(l.p, l.n, sizeof(*l.p), suite_compare_names);
    bool ok = l.n > 0 || err_set(err, E_CLI_INVALID_ARG, "no scenario in '%s'", path);
    struct str head = str_trim_end(str_z(path), '/');
    for (size_t i = 0; ok && i < l.n; i++)
        ok = suite_add_file(s, arena_printf(s->arena, STR_FMT "/%s", STR_ARG(head), l.p[i]), err);
    free(l.p);
    return ok;
}

bool suite_add(struct suite *s, const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return suite_add_dir(s, path, err);
    return suite_add_file(s, path, err);
}

/* Workers ------------------------------------------------------------------------------------- */

static _Noreturn void suite_become_worker(const struct suite_entry *e, const char *const *words)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(e->out, STDOUT_FILENO) < 0 ||
        dup2(e->err_fd, STDERR_FILENO) < 0)
        _exit(err_status(E_IO));
    execv("/proc/self/exe", (char *const *)words);
    _exit(err_status(E_INTERNAL));
}

static void close_entry(struct suite_entry *e)
{
    int *const fds[] = {&e->pidfd, &e->out, &e->err_fd};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

static bool suite_start_entry(struct suite_entry *e, const char *const *words, struct err *err)
{
    e->out = file_nameless();
    e->err_fd = file_nameless();
    if (e->out < 0 || e->err_fd < 0)
        return err_errno(err, E_IO, errno, "cannot create files for the results of '%s'", e->file);
    e->started_ms = clock_mono_ms();
    pid_t pid = fork();
    if (pid == 0)
        suite_become_worker(e, words);
    if (pid > 0)
        e->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (e->pidfd < 0)
        return err_errno(err, E_IO, errno, "cannot start a process for '%s'", e->file);
    return true;
}

static const char *suite_result_status(const json_t *result)
{
    const char *status = json_string_value(json_object_get(result, "status"));
    return status ? status : "errored";
}

/* Reads the worker's result, or makes one if it failed to produce any. */
static void read_result(struct suite_entry *e, const siginfo_t *info)
{
    AUTO_BUF struct buf text = BUF_INIT((size_t)2 * RESULT_MAX);
    AUTO_ERR struct err error = {0};
    (void)!lseek(e->out, 0, SEEK_SET);
    e->exit = info->si_code == CLD_EXITED ? info->si_status : err_status(E_INTERNAL);
    if (file_read(e->out, RESULT_MAX, e->file, &text, &error) &&
        json_parse(buf_str(&text), e->file, E_INTERNAL, &e->result, &error)) {
        e->status = suite_result_status(e->result);
        return;
    }
    err_set(&error, E_INTERNAL, "the process for '%s' ended without a result", e->file);
    e->result = json_object();
    json_put(e->result, "error", err_to_json(&error));
    e->status = "errored";
    if (e->exit == 0)
        e->exit = err_status(E_INTERNAL);
}

/* Reports a worker's stderr. If it is very long, only its end is read: errors come last. */
static void report_words(const struct suite *s, const struct suite_entry *e)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * WORDS_MAX);
    AUTO_ERR struct err ignored = {0};
    struct str line, rest;
    off_t size = lseek(e->err_fd, 0, SEEK_END);
    off_t cut = size > WORDS_MAX ? size - WORDS_MAX : 0;
    if (!s->ended)
        return;
    (void)!lseek(e->err_fd, cut, SEEK_SET);
    (void)!file_read(e->err_fd, WORDS_MAX, "words", &text, &ignored);
    rest = buf_str(&text);
    struct suite_words words = {.text = rest};
    if (cut) { /* up to the end of a line */
        (void)str_cut(rest, '\n', &line, &words.text);
        words.cut = (uint64_t)cut + line.n + 1;
    }
    s->ended(s->context, e, &words);
}

static void suite_finish_entry(struct suite *s, struct suite_entry *e)
{
    siginfo_t info = {0};
    while (waitid(P_PIDFD, (id_t)e->pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    e->ms = clock_mono_ms() - e->started_ms;
    read_result(e, &info);
    report_words(s, e);
    close_entry(e);
}

struct suite_pool {
    struct suite *s;
    size_t next, running;
    bool canceled;
    int cancel;
};

static bool suite_start_workers(struct suite_pool *p, struct err *err)
{
    struct suite *s = p->s;
    while (!p->canceled && p->running < s->jobs && p->next < s->n) {
        struct suite_entry *e = &s->entries[p->next++];
        if (!suite_start_entry(e, s->argv(s->context, e), err)) {
            close_entry(e);
            return false;
        }
        p->running++;
    }
    return true;
}

static void suite_terminate_all(struct suite_pool *p)
{
    p->canceled = true;
    for (size_t i = 0; i < p->s->n; i++)
        if (p->s->entries[i].pidfd >= 0)
            (void)syscall(SYS_pidfd_send_signal, p->s->entries[i].pidfd, SIGTERM, NULL, 0);
}

/* Waits until a process exits, or for a signal to end them all. */
static void suite_await_worker(struct suite_pool *p)
{
    struct pollfd fds[SUITE_JOBS_MAX + 1];
    struct suite_entry *whose[SUITE_JOBS_MAX + 1];
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = p->canceled ? -1 : p->cancel, .events = POLLIN};
    for (size_t i = 0; i < p->next && n < ARRAY_LEN(fds); i++)
        if (p->s->entries[i].pidfd >= 0) {
            whose[n] = &p->s->entries[i];
            fds[n] = (struct pollfd){.fd = whose[n]->pidfd, .events = POLLIN};
            n++;
        }
    if (poll(fds, n, -1) < 0)
        return;
    if (fds[0].revents)
        suite_terminate_all(p);
    for (nfds_t i = 1; i < n; i++)
        if (fds[i].revents) {
            suite_finish_entry(p->s, whose[i]);
            p->running--;
        }
}

bool suite_run(struct suite *s, int cancel, struct err *err)
{
    struct suite_pool p = {.s = s, .cancel = cancel};
    bool ok = suite_start_workers(&p, err);
    if (!ok)
        suite_terminate_all(&p);
    while (p.running) {
        suite_await_worker(&p);
        if (ok && !(ok = suite_start_workers(&p, err)))
            suite_terminate_all(&p);
    }
    return ok;
}

/* Summary ------------------------------------------------------------------------------------- */

static int suite_status_rank(const char *status)
{
    static const char *const order[] = {"passed", "failed", "errored", "canceled"};
    int i = 0;
    while (i < (int)ARRAY_LEN(order) - 1 && strcmp(order[i], status) != 0)
        i++;
    return i;
}

static const struct suite_entry *suite_worst_entry(const struct suite *s)
{
    const struct suite_entry *w = &s->entries[0];
    for (size_t i = 1; i < s->n; i++)
        if (suite_status_rank(s->entries[i].status) > suite_status_rank(w->status))
            w = &s->entries[i];
    return w;
}

int suite_status(const struct suite *s)
{
    return suite_worst_entry(s)->exit;
}

size_t suite_count(const struct suite *s, const char *status)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += strcmp(s->entries[i].status, status) == 0;
    return n;
}

json_t *suite_json(const struct suite *s)
{
    static const char *const statuses[] = {"passed", "failed", "errored", "canceled"};
    json_t *object = json_object(), *list = json_array(), *counts = json_object();
    json_put(object, "status", json_string(suite_worst_entry(s)->status));
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        json_put(counts, statuses[i], json_integer((json_int_t)suite_count(s, statuses[i])));
    json_put(object, "counts", counts);
    for (size_t i = 0; i < s->n; i++) {
        const struct suite_entry *e = &s->entries[i];
        json_t *entry = json_object(), *error = json_object_get(e->result, "error");
        json_put(entry, "name", json_text(str_z(e->name)));
        json_put(entry, "file", json_text(str_z(e->file)));
        json_put(entry, "status", json_string(e->status));
        json_put(entry, "exit", json_integer(e->exit));
        json_put(entry, "duration_ms", json_integer((json_int_t)e->ms));
        if (json_object_get(e->result, "run_id"))
            json_put(entry, "run_id", json_incref(json_object_get(e->result, "run_id")));
        if (error)
            json_put(entry, "error", json_incref(error));
        json_push(list, entry);
    }
    json_put(object, "scenarios", list);
    return object;
}
