/* The test bed of `cordon self-test`: a temporary directory, and runs of this program in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json.h"
#include "doctor/self_test.h"
#include "io/dir.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    TOTAL_MS = 30 * 1000,
    ONE_MS = 10 * 1000, /* timeout of a single run */
    GRACE_MS = 1000,    /* between SIGTERM and SIGKILL, and for remaining processes at the end */
    OUTPUT_MAX = 1 << 20,
    FILE_MAX = 4096,
    DEPTH_MAX = 32,
    ORPHAN_MS = 5, /* polling interval for processes that are about to exit */
};

/* Directory ------------------------------------------------------------------------------------ */

static const char *try_base(struct bed *bed, const char *base)
{
    char *top = arena_printf(bed->arena, "%s/cordon-self-test-XXXXXX", base);
    return mkdtemp(top) ? top : NULL;
}

static bool choose_base(struct bed *bed, struct err *err)
{
    const char *wanted = getenv("TMPDIR");
    const char *const bases[] = {wanted && wanted[0] ? wanted : "/tmp", "/tmp", "/var/tmp"};
    for (size_t i = 0; !bed->top && i < ARRAY_LEN(bases); i++) {
        bed->base = bases[i];
        if (bases[i][0] == '/')
            bed->top = try_base(bed, bases[i]);
        else
            errno = EINVAL;
        if (!bed->top && !bed->base_why)
            bed->base_why = arena_printf(bed->arena, "'%s': %s", bases[i], strerror(errno));
    }
    if (bed->top)
        return true;
    err_set(err, E_IO, "cannot create a temporary directory: %s", bed->base_why);
    return err_ctx(err, "remedy", "set TMPDIR to a writable directory");
}

static bool make_places(struct bed *bed, struct err *err)
{
    bed->project = arena_printf(bed->arena, "%s/project", bed->top);
    bed->home = arena_printf(bed->arena, "%s/home", bed->top);
    bed->outside = arena_printf(bed->arena, "%s/outside", bed->top);
    const char *const dirs[] = {bed->project, bed->home, bed->outside};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdir(dirs[i], 0755) != 0)
            return err_errno(err, E_IO, errno, "cannot create the directory '%s'", dirs[i]);
    return true;
}

static bool find_self(struct bed *bed, struct err *err)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0) {
        err_errno(err, E_SANDBOX_UNAVAILABLE, errno, "cannot read /proc/self/exe");
        return err_ctx(err, "remedy", "mount -t proc proc /proc");
    }
    bed->self = arena_strdup(bed->arena, str_n(self, (size_t)n));
    return true;
}

bool bed_open(const struct bed_options *options, struct bed *ret_bed, struct err *err)
{
    struct bed bed = {.arena = options->arena,
        .state = options->state,
        .state_error = options->state_error,
        .until_ms = clock_mono_ms() + TOTAL_MS};
    const char *ignored[BED_WARNINGS_MAX];
    if (!find_self(&bed, err) || !choose_base(&bed, err))
        return false;
    bed.signals = interrupt_open(false, &bed.set);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!make_places(&bed, err)) {
        (void)bed_close(&bed, ignored);
        return false;
    }
    *ret_bed = bed;
    return true;
}

/* Also deletes directories without write permission, which boxes create. */
static void bed_drop_tree(int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || depth == DEPTH_MAX)
        return;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && fchmodat(dir, name, 0700, 0) == 0)
        fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        (void)!fchmod(fd, 0700);
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    bool listed = dir_take(&d, fd);
    while (listed && dir_next(&d))
        bed_drop_tree(d.fd, d.name, depth + 1);
    unlinkat(dir, name, AT_REMOVEDIR);
}

/* A box's supervisor exits shortly after the command that needed it; as subreaper we wait for
 * it. */
static bool wait_for_orphans(void)
{
    const uint64_t until = clock_mono_ms() + GRACE_MS;
    siginfo_t info;
    while (clock_mono_ms() < until) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0 && errno == ECHILD)
            return true;
        if (info.si_pid == 0)
            poll(NULL, 0, ORPHAN_MS);
    }
    return false;
}

size_t bed_close(struct bed *bed, const char *ret_warnings[BED_WARNINGS_MAX])
{
    size_t n = 0;
    if (bed->top && !wait_for_orphans())
        ret_warnings[n++] = "a process started by the self-test is still running";
    if (bed->top)
        bed_drop_tree(AT_FDCWD, bed->top, 0);
    if (bed->top && access(bed->top, F_OK) == 0)
        ret_warnings[n++] = arena_printf(bed->arena, "cannot remove '%s' completely", bed->top);
    if (bed->signals >= 0) {
        close(bed->signals);
        interrupt_close(&bed->set);
    }
    *bed = BED_INIT;
    return n;
}

bool bed_write(const char *path, struct str content)
{
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return fd >= 0 && file_write_all(fd, content);
}

struct str bed_read(struct bed *bed, const char *path)
{
    AUTO_BUF struct buf text = BUF_INIT((size_t)2 * FILE_MAX);
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || !file_read(fd, FILE_MAX, path, &text, &ignored))
        return str_z(NULL);
    return arena_str(bed->arena, buf_str(&text));
}

/* Runs ----------------------------------------------------------------------------------------- */

struct bed_worker {
    pid_t pid;
    int pidfd, out, words;
};

static NORETURN void bed_become_worker(
    const struct bed *bed, const struct bed_worker *w, const char *const *argv)
{
    const char *path = getenv("PATH");
    const char *const envp[] = {arena_printf(bed->arena, "HOME=%s", bed->home),
        arena_printf(bed->arena, "CORDON_HOME=%s/.cordon", bed->home),
        arena_printf(bed->arena, "PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin"),
        "TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (setsid() < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(w->out, STDOUT_FILENO) < 0 || dup2(w->words, STDERR_FILENO) < 0 ||
        chdir(bed->project) != 0)
        _exit(err_status(E_IO));
    execve("/proc/self/exe", (char *const *)argv, (char *const *)envp);
    _exit(err_status(E_INTERNAL));
}

/* Returns 0 if the process has exited, 1 on a timeout or signal. */
static int bed_await_worker(struct bed *bed, const struct bed_worker *w, uint64_t until_ms)
{
    struct pollfd fds[] = {{.fd = w->pidfd, .events = POLLIN},
        {.fd = bed->interrupted ? -1 : bed->signals, .events = POLLIN}};
    for (;;) {
        uint64_t now = clock_mono_ms();
        int n = poll(fds, ARRAY_LEN(fds), now < until_ms ? (int)(until_ms - now) : 0);
        if (fds[0].revents)
            return 0;
        bed->interrupted = bed->interrupted || (n > 0 && fds[1].revents);
        if (bed->interrupted || (n == 0 && clock_mono_ms() >= until_ms))
            return 1;
    }
}

static void bed_finish_worker(
    struct bed *bed, const struct bed_worker *w, struct self_test_answer *a)
{
    siginfo_t info = {0};
    uint64_t now = clock_mono_ms();
    if (bed_await_worker(bed, w, MIN(now + ONE_MS, bed->until_ms)) != 0) {
        a->late = !bed->interrupted;
        kill(w->pid, SIGTERM);
        if (bed_await_worker(bed, w, clock_mono_ms() + GRACE_MS) != 0)
            kill(-w->pid, SIGKILL);
    }
    while (waitid(P_PID, (id_t)w->pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    a->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static struct str bed_read_output(struct bed *bed, int fd)
{
    AUTO_BUF struct buf text = BUF_INIT((size_t)2 * OUTPUT_MAX);
    AUTO_ERR struct err ignored = {0};
    (void)!lseek(fd, 0, SEEK_SET);
    if (!file_read(fd, OUTPUT_MAX, "output", &text, &ignored))
        buf_truncate(&text, MIN(text.n, (size_t)OUTPUT_MAX));
    return arena_str(bed->arena, buf_str(&text));
}

static const char *bed_json_member(struct bed *bed, const json_t *object, const char *key)
{
    struct str text = json_member(object, key);
    return text.n ? arena_strdup(bed->arena, text) : NULL;
}

/* The error is in the JSON of the last line, or in the first line on stderr. */
static void bed_find_error(struct bed *bed, struct self_test_answer *a)
{
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err ignored = {0};
    struct str out = str_trim_end(a->out, '\n'), line;
    ptrdiff_t cut = str_find_last(out, '\n');
    out = str_skip(out, (size_t)(cut + 1));
    if (out.n && json_parse(out, "output", E_INTERNAL, &tree, &ignored)) {
        const json_t *error = json_object_get(tree, "error");
        a->error = bed_json_member(bed, error, "message");
        a->remedy = bed_json_member(bed, json_object_get(error, "context"), "remedy");
    }
    if (!a->error && str_cut(a->words, '\n', &line, &(struct str){0})) {
        if (str_starts_with(line, STR("cordon: ")))
            line = str_skip(line, strlen("cordon: "));
        a->error = arena_strdup(bed->arena, line);
    }
    if (a->late)
        a->error = "timeout";
    if (bed->interrupted)
        a->error = "interrupted";
    if (!a->error || !a->error[0])
        a->error = arena_printf(bed->arena, "exit status %d", a->status);
}

void bed_ask(struct bed *bed, const char *const *words, struct self_test_answer *ret_answer)
{
    const char *argv[24] = {"cordon"};
    size_t n = 0;
    for (; words[n]; n++) {
        BUG_ON(n + 2 >= ARRAY_LEN(argv));
        argv[n + 1] = words[n];
    }
    struct bed_worker w = {.pidfd = -1, .out = file_nameless(), .words = file_nameless()};
    *ret_answer =
        (struct self_test_answer){.status = err_status(E_IO), .error = "cannot start a process"};
    if (w.out >= 0 && w.words >= 0)
        w.pid = fork();
    if (w.out >= 0 && w.words >= 0 && w.pid == 0)
        bed_become_worker(bed, &w, argv);
    if (w.pid > 0) {
        w.pidfd = (int)syscall(SYS_pidfd_open, w.pid, 0);
        *ret_answer = (struct self_test_answer){0};
        bed_finish_worker(bed, &w, ret_answer);
        ret_answer->out = bed_read_output(bed, w.out);
        ret_answer->words = bed_read_output(bed, w.words);
        bed_find_error(bed, ret_answer);
    }
    const int fds[] = {w.pidfd, w.out, w.words};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}
