/* A directory of files made from one input: its parts, separated by 0x1E. A file with an empty or
 * missing part does not exist. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    FILES_PATH_MAX = 128,
    FILES_SEPARATOR = 0x1E,
};

static char files_dir[] = "/tmp/fuzz-files-XXXXXX";
static const char *const *files_names;  /* of the files, in the order of the parts */
static const char *const *files_places; /* of the directories, NULL at the end of both */

static const char *files_path(const char *name)
{
    static char path[FILES_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", files_dir, name);
    return path;
}

static void files_clean(void)
{
    for (size_t i = 0; files_names[i]; i++)
        unlink(files_path(files_names[i]));
    for (size_t i = 0; files_places[i]; i++)
        rmdir(files_path(files_places[i]));
    rmdir(files_dir);
}

static void files_open(const char *const *names, const char *const *places)
{
    if (files_names)
        return;
    files_names = names;
    files_places = places;
    BUG_ON(!mkdtemp(files_dir));
    atexit(files_clean);
    for (size_t i = 0; places[i]; i++)
        BUG_ON(mkdir(files_path(places[i]), 0700) != 0);
}

static void files_write(struct str rest)
{
    struct str part;
    for (size_t i = 0; files_names[i]; i++) {
        unlink(files_path(files_names[i]));
        if (!str_cut(rest, FILES_SEPARATOR, &part, &rest) || part.n == 0)
            continue;
        AUTO_FD int fd =
            open(files_path(files_names[i]), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        BUG_ON(fd < 0 || !file_write_all(fd, part));
    }
}

#endif
