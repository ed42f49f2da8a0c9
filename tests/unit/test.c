/* The test framework: runs the registered tests, prints TAP. `unit [PART…]` runs the tests whose
 * names contain one of the parts. A test that crashes fails, and the others run (isolate.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    TESTS_MAX = 1000,
    PATHS_LIVE = 16,
    SHOWN_MAX = 4096,
    SLOW_MS = 1000, /* tests that take this long show their time */
};

static struct {
    const char *name;
    test_fn run;
} tests[TESTS_MAX];
static size_t n_tests;

static struct {
    size_t failures;
    size_t row;
    const char *row_name;
    const char *skipped;
    pid_t runner; /* not one of its children */
    char paths[PATHS_LIVE][4096];
    size_t next_path;
} now;

static struct isolated *progress;
static int words_n;
static char **words;

void test_register(const char *name, test_fn run)
{
    BUG_ON(n_tests == TESTS_MAX);
    tests[n_tests].name = name;
    tests[n_tests++].run = run;
}

void test_row(size_t index, const char *name)
{
    now.row = index;
    now.row_name = name;
}

void test_skip(const char *why)
{
    now.skipped = why;
}

static void fail_at(const char *file, int line)
{
    now.failures++;
    printf("# %s:%d", file, line);
    if (now.row_name)
        printf(" (row %zu: %s)", now.row, now.row_name);
    printf(": ");
}

static void show(struct str s)
{
    AUTO_BUF struct buf b = BUF_INIT(8 * SHOWN_MAX);
    if (!s.p)
        buf_add_z(&b, "(none)");
    else
        utf8_add_printable(&b, str_head(s, SHOWN_MAX));
    fputs(buf_z(&b), stdout);
}

bool check_true(bool ok, const char *file, int line, const char *what)
{
    if (!ok) {
        fail_at(file, line);
        printf("not so: %s\n", what);
    }
    return ok;
}

bool check_int(int64_t got, int64_t want, const char *file, int line, const char *what)
{
    if (got == want)
        return true;
    fail_at(file, line);
    printf("%s is %lld, not %lld\n", what, (long long)got, (long long)want);
    return false;
}

bool check_str(struct str got, struct str want, const char *file, int line, const char *what)
{
    if (!got.p == !want.p && str_eq(got, want))
        return true;
    fail_at(file, line);
    printf("%s is\n#   '", what);
    show(got);
    printf("', not\n#   '");
    show(want);
    printf("'\n");
    return false;
}

bool check_err(
    const struct err *err, enum err_code code, const char *part, const char *file, int line)
{
    const char *message = err->message ? err->message : "";
    if (code != ERR_NONE && err->code == code && strstr(message, part))
        return true;
    fail_at(file, line);
    if (code == ERR_NONE)
        printf("%s failed: ", part);
    else
        printf("wanted %s with '%s', got ", err_name(code), part);
    printf("%s: ", err_name(err->code));
    show(str_z(message));
    printf("\n");
    return false;
}

const char *test_dir(void)
{
    if (progress->dir[0])
        return progress->dir;
    BUG_ON(getpid() != now.runner); /* only the runner removes it */
    const char *base = getenv("TMPDIR");
    char name[128];
    snprintf(
        name, sizeof(name), "%s/cordon-unit-XXXXXX", base && strlen(base) < 100 ? base : "/tmp");
    BUG_ON(!mkdtemp(name));
    char *real = realpath(name, NULL);
    BUG_ON(!real || strlen(real) >= sizeof(progress->dir));
    snprintf(progress->dir, sizeof(progress->dir), "%s", real);
    free(real);
    return progress->dir;
}

const char *test_path(const char *format, ...)
{
    char *path = now.paths[now.next_path++ % PATHS_LIVE];
    int n = snprintf(path, sizeof(now.paths[0]), "%s/", test_dir());
    va_list args;
    va_start(args, format);
    vsnprintf(path + n, sizeof(now.paths[0]) - (size_t)n, format, args);
    va_end(args);
    return path;
}

static void make_parents(const char *path)
{
    char copy[4096];
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *at = strchr(copy + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        BUG_ON(mkdir(copy, 0777) != 0 && errno != EEXIST);
        *at = '/';
    }
}

void test_write(const char *path, const char *content)
{
    make_parents(path);
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    BUG_ON(fd < 0);
    size_t n = strlen(content);
    BUG_ON(write(fd, content, n) != (ssize_t)n);
}

char *test_read(const char *path)
{
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    for (;;) {
        char *room = buf_reserve(&b, 4096);
        BUG_ON(!room);
        ssize_t n = read(fd, room, 4096);
        BUG_ON(n < 0);
        if (n == 0)
            return buf_take(&b);
        buf_grown(&b, (size_t)n);
    }
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

bool test_env(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool test_sampled(void)
{
    return SANITIZED || test_env("CORDON_SAMPLE") || test_env("QUICK");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int unlock_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    if (type == FTW_DNR || type == FTW_D)
        (void)!chmod(path, 0700);
    return 0;
}

static void remove_dir(struct isolated *state)
{
    if (!state->dir[0])
        return;
    BUG_ON(chdir("/") != 0);
    nftw(state->dir, unlock_entry, 32, FTW_PHYS);
    nftw(state->dir, remove_entry, 32, FTW_PHYS | FTW_DEPTH);
    state->dir[0] = '\0';
}

static bool wanted(const char *name)
{
    for (int i = 0; i < words_n; i++)
        if (strstr(name, words[i]))
            return true;
    return words_n == 0;
}

static void run_one(size_t index)
{
    now.failures = 0;
    now.row_name = NULL;
    now.skipped = NULL;
    uint64_t start = clock_mono_ms();
    isolate_begin(progress, index, tests[index].name);
    tests[index].run();
    remove_dir(progress);
    progress->failed += now.failures > 0;
    printf("%s %zu - %s", now.failures ? "not ok" : "ok", progress->ran, tests[index].name);
    uint64_t took_ms = clock_mono_ms() - start;
    if (took_ms >= SLOW_MS)
        printf(" (%.1f s)", (double)took_ms / 1000);
    if (now.skipped)
        printf(" # SKIP %s", now.skipped);
    printf("\n");
}

static void run_all(struct isolated *state)
{
    progress = state;
    now.runner = getpid();
    for (size_t i = state->next; i < n_tests; i++)
        if (wanted(tests[i].name))
            run_one(i);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    words_n = argc - 1;
    words = argv + 1;
    return isolate_run(run_all, remove_dir);
}
