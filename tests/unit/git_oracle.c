/* Runs git for comparison. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "git_oracle.h"

#include "io/file.h"
#include "test.h"

#include <fcntl.h>
#include <sys/wait.h>

/* Runs git with words that need no quoting; the test directory has no blanks in it. */
static int run_git(const char *dir, const char *words)
{
    AUTO_BUF struct buf b = BUF_INIT(16 * 1024);
    buf_printf(&b,
        "cd '%s' && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null LC_ALL=C git %s", dir,
        words);
    BUG_ON(!buf_ok(&b));
    int status = system(buf_z(&b));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool git_oracle_init(const char *dir)
{
    return run_git(dir, "init -q . 2>/dev/null") == 0;
}

bool git_oracle_run(const char *dir, const char *words)
{
    return run_git(dir, words) == 0;
}

static void write_bytes(const char *path, struct str bytes)
{
    AUTO_ERR struct err err = {0};
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    BUG_ON(fd < 0 || !file_write(fd, bytes, path, &err));
}

static char *read_bytes(const char *path, size_t *ret_n)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    BUG_ON(fd < 0 || !file_read(fd, 32 << 20, path, &b, &err));
    *ret_n = b.n;
    buf_add_byte(&b, '\0');
    return buf_take(&b);
}

static struct str next_field(struct str *rest)
{
    struct str field;
    BUG_ON(!str_cut(*rest, '\0', &field, rest));
    return field;
}

void git_oracle_ask(const char *dir, struct str paths, size_t n, bool *ignored)
{
    const char *in = test_path("oracle-in"), *out = test_path("oracle-out");
    char words[600];
    size_t size;
    write_bytes(in, paths);
    snprintf(words, sizeof(words), "check-ignore --no-index --stdin -z -v -n <'%s' >'%s'", in, out);
    int status = run_git(dir, words);
    BUG_ON(status != 0 && status != 1);
    AUTO_FREE char *answer = read_bytes(out, &size);
    struct str rest = str_n(answer, size);
    for (size_t i = 0; i < n; i++) {
        struct str source = next_field(&rest);
        next_field(&rest); /* the line */
        struct str pattern = next_field(&rest);
        next_field(&rest); /* the path */
        ignored[i] = source.n > 0 && !str_starts_with(pattern, STR("!"));
    }
}

char *git_oracle_list(const char *dir, const char *options, size_t *ret_n)
{
    const char *out = test_path("oracle-out");
    char words[600];
    snprintf(words, sizeof(words), "ls-files -z %s >'%s'", options, out);
    BUG_ON(run_git(dir, words) != 0);
    return read_bytes(out, ret_n);
}
