/* Tables of blocked paths and shells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/blocked.h"

#include "path/lexical.h"

#define BELOW_IT "list only the directory below it that is needed"
#define LEAVE    "remove it; the sandbox provides the parts of it that programs need"
#define NO_WRITE "allow only reading it, and let the program write elsewhere"
#define SYSTEM   "it belongs to the system"

/* Only the directory itself: paths below it are allowed. */
static const struct blocked exactly[] = {
    {"/", "it is the whole file system", BELOW_IT},
    {"/home", "it holds every home directory", BELOW_IT},
    {"/root", "it is a home directory", BELOW_IT},
    {"/etc", "it holds the system's settings and secrets", BELOW_IT},
    {"/usr", SYSTEM, BELOW_IT},
    {"/var", SYSTEM, BELOW_IT},
    {"/opt", SYSTEM, BELOW_IT},
    {"/srv", SYSTEM, BELOW_IT},
    {"/run", "it holds the sockets of the system's services", BELOW_IT},
    {"/mnt", "other file systems are mounted there", BELOW_IT},
    {"/media", "other file systems are mounted there", BELOW_IT},
};

/* The directory and everything below it. */
static const struct blocked below[] = {
    {"/proc", "it gives access to other processes", LEAVE},
    {"/sys", "it gives access to the kernel", LEAVE},
    {"/dev", "it gives access to devices", LEAVE},
    {"/boot", "it holds the kernel", LEAVE},
    {"/System", SYSTEM, LEAVE},
    {"/Library", SYSTEM, LEAVE},
    {"/Users", "it holds every home directory", LEAVE},
    {"/private", SYSTEM, LEAVE},
    {"/Volumes", "other file systems are mounted there", LEAVE},
};

/* The same, for writing only. */
static const struct blocked below_to_write[] = {
    {"/etc", "writing there changes the system", NO_WRITE},
    {"/usr", "writing there changes the system's programs", NO_WRITE},
    {"/bin", "writing there changes the system's programs", NO_WRITE},
    {"/sbin", "writing there changes the system's programs", NO_WRITE},
    {"/lib*", "writing there changes the system's libraries", NO_WRITE},
};

static const char *const shells[] = {
    "sh", "dash", "bash", "zsh", "ksh", "fish", "tcsh", "csh", "busybox"};

/* At or below, by path components; a '*' at the end of the row matches the rest of the first
 * one. */
static bool is_below(struct str row, struct str path)
{
    if (!str_ends_with(row, STR("*")))
        return lexical_is_below(row, path);
    return str_starts_with(path, str_head(row, row.n - 1));
}

static const struct blocked *find_below(const struct blocked *rows, size_t n, struct str path)
{
    for (size_t i = 0; i < n; i++)
        if (is_below(str_z(rows[i].name), path))
            return &rows[i];
    return NULL;
}

const struct blocked *blocked_path(struct str path, enum blocked_use use)
{
    for (size_t i = 0; i < ARRAY_LEN(exactly); i++)
        if (str_is(path, exactly[i].name))
            return &exactly[i];
    const struct blocked *row = find_below(below, ARRAY_LEN(below), path);
    if (!row && use == BLOCKED_WRITE)
        row = find_below(below_to_write, ARRAY_LEN(below_to_write), path);
    return row;
}

bool blocked_shell(struct str base_name)
{
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (str_is(base_name, shells[i]))
            return true;
    return str_ends_with(base_name, STR(".sh"));
}
