/* Directories private to the user. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool private_make_levels(char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return true;
    char *slash = strrchr(path, '/');
    if (errno != ENOENT || !slash || slash == path)
        return false;
    *slash = '\0';
    bool ok = private_make_levels(path);
    *slash = '/';
    return ok && (mkdir(path, 0700) == 0 || errno == EEXIST);
}

bool private_make(const char *path)
{
    char copy[PATH_MAX];
    errno = ENAMETOOLONG;
    return snprintf(copy, sizeof(copy), "%s", path) < (int)sizeof(copy) &&
           private_make_levels(copy);
}

bool private_is(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}
