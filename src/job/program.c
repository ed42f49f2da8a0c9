/* Searches for programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/program.h"

#include "io/file.h"
#include "path/lexical.h"

#include <errno.h>
#include <sys/stat.h>

/* Reports why a name is not that of a program: `path` is the name as an absolute path. */
static bool program_refuse(struct str name, const char *path, struct err *err)
{
    struct stat st;
    const char *why = "is not executable";
    if (str_find(name, '/') < 0)
        why = "was not found in PATH";
    else if (stat(path, &st) != 0)
        why = errno == ENOENT || errno == ENOTDIR ? "does not exist" : strerror(errno);
    else if (S_ISDIR(st.st_mode))
        why = "is a directory";
    return err_set(err, E_CLI_INVALID_ARG, "the program '" STR_FMT "' %s", STR_ARG(name), why);
}

bool program_find(
    struct arena *a, struct str name, struct str cwd, struct str *ret_path, struct err *err)
{
    struct str dir, rest = str_z(getenv("PATH"));
    struct str path = lexical_absolute(a, cwd, name);
    bool found = str_find(name, '/') >= 0 && file_is_program(path.p);
    while (!found && name.n && str_find(name, '/') < 0 && str_cut(rest, ':', &dir, &rest)) {
        if (dir.n == 0 || dir.p[0] != '/')
            continue;
        path = lexical_absolute(a, dir, name);
        found = file_is_program(path.p);
    }
    if (!found)
        return program_refuse(name, path.p, err);
    *ret_path = path;
    return true;
}
