/* The escape probe: `probe NAME ARG... [-- NAME ARG...]...` makes the named attempts, one after the
 * other in one process, and prints the result of each. It does not judge them: attacks_*.py
 * state what must not happen. It is static, so that it has no dependencies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdarg.h>

enum {
    LINE_MAX_BYTES = 8192,
    READ_MAX = 64 * 1024
};

static const struct attempt *const tables[] = {probe_fs, probe_dir, probe_mount, probe_proc,
    probe_priv, probe_exec, probe_net, probe_tty, probe_limit};

static void put(const char *line, size_t n)
{
    while (n) {
        ssize_t done = write(STDOUT_FILENO, line, n);
        if (done <= 0)
            _exit(3);
        line += done;
        n -= (size_t)done;
    }
}

static void put_line(const char *word, const char *text, size_t n)
{
    static char line[READ_MAX + 64];
    size_t at = 0;
    for (; *word; word++)
        line[at++] = *word;
    line[at++] = ' ';
    for (size_t i = 0; i < n && at < sizeof line - 1; i++) {
        unsigned char c = (unsigned char)text[i];
        line[at++] = c >= ' ' && c < 127 ? (char)c : '.';
    }
    line[at++] = '\n';
    put(line, at);
}

void did(const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_line("did", text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

void got(const char *what)
{
    char text[LINE_MAX_BYTES];
    int code = errno;
    const char *name = strerrorname_np(code);
    int n = snprintf(text, sizeof text, "%s errno=%d %s", what, code, name ? name : "?");
    put_line("got", text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

void data(const void *bytes, size_t n)
{
    put_line("data", bytes, n);
}

bool report(const char *what, long result)
{
    if (result == -1)
        got(what);
    else
        did("%s result=%ld", what, result);
    return result != -1;
}

void read_out(const char *what, int fd)
{
    static char bytes[READ_MAX];
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0) {
        got(what);
        return;
    }
    did("%s bytes=%zd", what, n);
    data(bytes, (size_t)n);
}

bool copy_into(const char *src, int fd)
{
    static char bytes[READ_MAX];
    int from = open(src, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        got("open source");
        return false;
    }
    ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0) {
        if (write(fd, bytes, (size_t)n) != n) {
            got("write copy");
            close(from);
            return false;
        }
    }
    close(from);
    return n == 0;
}

unsigned long number(const char *text)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 0);
    if (errno || *end || !*text) {
        fprintf(stderr, "probe: not a number: %s\n", text);
        _exit(2);
    }
    return value;
}

static const struct attempt *find(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct attempt *a = tables[i]; a->name; a++)
            if (!strcmp(a->name, name))
                return a;
    fprintf(stderr, "probe: no attempt is called %s\n", name);
    _exit(2);
}

int main(int argc, char **argv)
{
    put("start\n", 6);
    for (int at = 1; at < argc;) {
        int end = at + 1;
        while (end < argc && strcmp(argv[end], "--"))
            end++;
        const struct attempt *a = find(argv[at]);
        if (end - at - 1 < a->args) {
            fprintf(stderr, "probe: %s needs %d arguments\n", a->name, a->args);
            return 2;
        }
        a->run(end - at - 1, argv + at + 1);
        at = end + 1;
    }
    put("end\n", 4);
    return 0;
}
