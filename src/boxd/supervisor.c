/* Daemonizes into the supervisor process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/supervisor.h"

#include "boxd/supervisor_loop.h"
#include "io/file.h"
#include "io/nodump.h"
#include "sandbox/limiter.h"
#include "sandbox/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    ANSWER_MAX = 64 * 1024,
    WORDS_MAX = 64 << 20,
    FD_FIRST = 3,
};

/* Isolation ----------------------------------------------------------------------------------- */

/* The memory of our argv may hold the prompt, and that of the environment holds keys. Copies are
 * made of the parts still needed; afterwards `ps` shows the box's name instead. */
static const char *const *copy_words(struct arena *a, const char *const *words)
{
    size_t n = 0;
    while (words && words[n])
        n++;
    const char **copy = ARENA_NEW(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(a, str_z(words[i]));
    return copy;
}

static void hide_words(struct str name)
{
    static char *none[] = {NULL};
    const struct machine *m = machine_get();
    environ = none;
    if (!m->secret || !m->secret_size)
        return;
    memset(m->secret, 0, m->secret_size);
    snprintf(m->secret, m->secret_size, STATE_PROCESS_NAME ": " STR_FMT, STR_ARG(name));
}

/* Closes all descriptors inherited from the caller except our own. */
static void keep_fds(int *const *keep, size_t n)
{
    int above = FD_FIRST + (int)n;
    for (size_t i = 0; i < n; i++)
        *keep[i] = fcntl(*keep[i], F_DUPFD_CLOEXEC, above);
    for (size_t i = 0; i < n; i++)
        *keep[i] = dup3(*keep[i], FD_FIRST + (int)i, O_CLOEXEC);
    syscall(SYS_close_range, above, ~0u, 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < FD_FIRST && null >= 0; fd++)
        (void)!dup2(null, fd);
    if (null >= FD_FIRST)
        close(null);
}

/* The caller may be any program that uses the library. Ignored signals stay ignored, except that we
 * wait for our children. */
static void drop_handlers(void)
{
    sigset_t none;
    for (int sig = 1; sig < NSIG; sig++) {
        struct sigaction now;
        if (sigaction(sig, NULL, &now) == 0 && (sig == SIGCHLD || now.sa_handler != SIG_IGN))
            signal(sig, SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

NORETURN static void supervise(const struct supervisor_options *options, int lock, int ready)
{
    static struct supervisor k;
    static struct box box;
    static struct supervisor_options own;
    static struct arena arena = ARENA_INIT(WORDS_MAX);
    box = *options->box;
    own = *options;
    box.name = arena_str(&arena, box.name);
    own.box = &box;
    own.environ = copy_words(&arena, options->environ);
    own.home = options->home ? arena_strdup(&arena, str_z(options->home)) : NULL;
    own.self = options->self ? arena_strdup(&arena, str_z(options->self)) : NULL;
    limiter_forked();
    drop_handlers();
    int *const keep[] = {&box.fd, &box.host, &lock, &ready};
    keep_fds(keep, ARRAY_LEN(keep));
    hide_words(box.name);
    prctl(PR_SET_NAME, STATE_PROCESS_NAME);
    nodump_set();
    /* A core dump would contain keys. The limit of 1 is too small for a file and also disables a
     * core_pattern pipe. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
    (void)!chdir("/");
    k.box_umask = umask(077); /* our files are private; the box uses the user's umask */
    k.options = &own;
    k.box = &box;
    k.lock = lock;
    k.ready = ready;
    supervisor_run(&k);
}

/* Starting ------------------------------------------------------------------------------------ */

/* The first child only orphans the second. The caller may ignore SIGCHLD or reap all of its
 * children: then only the pipe tells whether the supervisor runs. fork() and not clone(), because
 * it leaves memory allocation usable in the copy of a caller with threads. */
static bool fork_twice(
    const struct supervisor_options *options, int lock, int ready, struct err *err)
{
    int status = 0;
    pid_t pid = fork();
    if (pid < 0)
        return err_errno(err, E_IO, errno, "cannot start the box's supervisor");
    if (pid == 0) {
        setsid();
        pid_t second = fork();
        if (second == 0)
            supervise(options, lock, ready);
        _exit(second < 0);
    }
    pid_t got;
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    return got < 0 || status == 0 || err_set(err, E_IO, "cannot start the box's supervisor");
}

static bool await_answer(int from, struct str name, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * ANSWER_MAX);
    AUTO_ERR struct err ignored = {0};
    if (!file_read(from, ANSWER_MAX, "the supervisor's answer", &text, &ignored) || text.n == 0)
        return err_set(err, E_IO,
            "the supervisor of the box '" STR_FMT "' exited without a message", STR_ARG(name));
    return str_eq(buf_str(&text), STR("+")) || link_get_err(buf_str(&text), err);
}

static bool name_conflict(struct str name, struct err *err)
{
    if (err->code != E_CONFLICT)
        return false;
    err_set(err, E_CONFLICT, "the box '" STR_FMT "' is already running", STR_ARG(name));
    return err_ctx(err, "name", STR_FMT, STR_ARG(name));
}

bool supervisor_start(const struct supervisor_options *options, struct err *err)
{
    struct str name = options->box->name;
    int ends[2];
    AUTO_FD int lock = -1;
    if (!state_hold(options->box->host, &lock, err))
        return name_conflict(name, err);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, E_IO, errno, "cannot create a pipe");
    AUTO_FD int from = ends[0];
    bool ok = fork_twice(options, lock, ends[1], err);
    close(ends[1]);
    return ok && await_answer(from, name, err);
}
