/* Project root detection. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/root.h"

#include "path/beneath.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* In order of precedence; the caller's own come before the last. */
static const char *const markers[] = {
    ".git",
    "package.json",
    "pyproject.toml",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
};
static const char last_marker[] = ".cordon";

bool root_marker_valid(struct str marker)
{
    return marker.n > 0 && marker.n <= 255 && str_find(marker, '/') < 0 &&
           str_find(marker, '\0') < 0 && !str_is(marker, ".") && !str_is(marker, "..");
}

struct root_search {
    struct str start;
    struct stat home;
    bool has_home;
    int up; /* descriptor of the start */
};

static bool root_is_top(const struct root_search *s, int dir_fd, struct str dir)
{
    struct stat st;
    if (dir.n <= 1)
        return true;
    return s->has_home && fstat(dir_fd, &st) == 0 && st.st_dev == s->home.st_dev &&
           st.st_ino == s->home.st_ino;
}

static bool has_marker(int dir_fd, const char *marker)
{
    struct stat st;
    if (fstatat(dir_fd, marker, &st, 0) != 0)
        return false;
    return strcmp(marker, ".git") != 0 || S_ISDIR(st.st_mode) || S_ISREG(st.st_mode);
}

static struct str root_parent(struct str dir)
{
    ptrdiff_t slash = str_find_last(dir, '/');
    return str_head(dir, slash <= 0 ? 1 : (size_t)slash);
}

/* Walks upward from the start; returns the directory, or no value. */
static struct str find_up(const struct root_search *s, const char *marker)
{
    struct str dir = s->start;
    int fd = fcntl(s->up, F_DUPFD_CLOEXEC, 0);
    while (fd >= 0) {
        bool top = root_is_top(s, fd, dir);
        bool found = has_marker(fd, marker) && (!top || dir.n == s->start.n);
        int parent = top || found ? -1 : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        if (found)
            return dir;
        fd = parent;
        dir = root_parent(dir);
    }
    return (struct str){0};
}

static bool try_marker(
    const struct root_search *s, struct str marker, struct arena *a, struct root_found *ret)
{
    struct str dir = find_up(s, arena_strdup(a, marker));
    if (!dir.p)
        return false;
    *ret = (struct root_found){arena_str(a, dir), arena_str(a, marker)};
    return true;
}

bool root_detect(const char *start, const struct root_options *options, struct arena *a,
    struct root_found *ret_root, struct err *err)
{
    AUTO_FD int fd = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        err_errno(err, E_IO, errno, "cannot use '%s' as a directory", start);
        return err_ctx(err, "path", "%s", start);
    }
    AUTO_FREE char *name = beneath_name(fd);
    if (!name)
        return err_set(err, E_IO,
            "cannot determine the path of '%s' (was it removed, or is /proc not mounted?)", start);
    struct root_search s = {.start = str_z(name), .up = fd};
    s.has_home = options->home && stat(options->home, &s.home) == 0;
    for (size_t i = 0; i < ARRAY_LEN(markers); i++)
        if (try_marker(&s, str_z(markers[i]), a, ret_root))
            return true;
    for (size_t i = 0; i < options->n_extra; i++)
        if (try_marker(&s, options->extra_markers[i], a, ret_root))
            return true;
    if (!try_marker(&s, str_z(last_marker), a, ret_root))
        *ret_root = (struct root_found){arena_str(a, s.start), STR("")};
    return true;
}
