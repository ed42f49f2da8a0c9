/* Interpreters of scripts, compared with what is inside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied_script.h"

#include "path/lexical.h"
#include "path/script_line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct script_needs {
    const struct denied_look *look;
    struct denied_verdict verdict;
    char *to;
    size_t n, size;
};

/* Adds a program if it is denied. */
static void script_judge(struct script_needs *s, const char *path)
{
    struct denied_look look = *s->look;
    look.path = path;
    if (!denied_path_judge(&look, &s->verdict))
        return;
    size_t n = strlen(s->verdict.target) + 1;
    if (n > s->size - s->n)
        return;
    memcpy(s->to + s->n, s->verdict.target, n);
    s->n += n;
}

/* The program that env(1) finds in PATH, with the user's: the command's is like it. */
static bool script_find_in_path(
    const struct denied_look *look, struct str name, char found[PATH_MAX])
{
    struct str dir, rest = str_z(getenv("PATH"));
    while (str_cut(rest, ':', &dir, &rest)) {
        struct stat st;
        if (!dir.n || dir.p[0] != '/' || dir.n + name.n + 2 > PATH_MAX)
            continue;
        snprintf(found, PATH_MAX, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(name));
        AUTO_FD int fd = denied_path_open(look, found, &st);
        if (fd >= 0 && S_ISREG(st.st_mode) && st.st_mode & 0111)
            return true;
    }
    return false;
}

/* Reads the first line of a program. It is a file, so that nothing waits. */
static bool script_read_line(const struct denied_look *look, const char *path,
    char head[SCRIPT_LINE_MAX], struct script_line *ret_line)
{
    char name[sizeof("/proc/self/fd/") + 16];
    struct stat st;
    AUTO_FD int fd = denied_path_open(look, path, &st);
    if (fd < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111))
        return false;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    AUTO_FD int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = file >= 0 ? read(file, head, SCRIPT_LINE_MAX) : -1;
    return n > 0 && script_split(str_n(head, (size_t)n), ret_line);
}

size_t denied_script_needs(const struct denied_look *look, bool denied, char *to, size_t size)
{
    struct script_needs s = {.look = look, .to = to, .size = size};
    char path[PATH_MAX], head[SCRIPT_LINE_MAX];
    struct script_line line;
    if (strlen(look->path) >= sizeof(path) || (!denied && !denied_path_is_inside(look, look->path)))
        return 0;
    memcpy(path, look->path, strlen(look->path) + 1);
    for (int i = 0; i < SCRIPT_DEPTH_MAX && script_read_line(look, path, head, &line); i++) {
        if (line.interpreter.p[0] != '/')
            break; /* relative to the working directory: rare */
        snprintf(path, sizeof(path), STR_FMT, STR_ARG(line.interpreter));
        script_judge(&s, path);
        struct str name = script_env_program(line.argument);
        if (!str_is(lexical_name(line.interpreter), "env") || !name.n || str_find(name, '/') >= 0 ||
            !script_find_in_path(look, name, path))
            continue;
        script_judge(&s, path);
    }
    return s.n;
}
