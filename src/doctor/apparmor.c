/* Creating and installing the AppArmor profile. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/apparmor.h"

#include "io/file.h"
#include "io/replace.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* AppArmor reads the whole directory when the machine starts, but no names that end like these. */
#define NEW_FILE APPARMOR_FILE ".cordon.dpkg-new"
#define OLD_FILE APPARMOR_FILE ".cordon.dpkg-old"
#define DISABLED "/etc/apparmor.d/disable/cordon"
#define LOADED   "/sys/kernel/security/apparmor/profiles"

/* Every program that the profile applies to may use user namespaces, so only root may choose it.
 * For a path that does not exist, checks the directories in which it could be created. Returns the
 * part of the path that others can change, or NULL. */
static const char *changed_by_others(const char *path, struct arena *a)
{
    struct str at = str_z(path);
    struct stat st;
    for (;;) {
        const char *step = at.n ? arena_strdup(a, at) : "/";
        bool known = lstat(step, &st) == 0;
        if (known ? st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) : errno != ENOENT)
            return step;
        if (at.n <= 1)
            return NULL;
        at = str_head(at, (size_t)str_find_last(at, '/'));
    }
}

static bool apparmor_check_owner(const char *self, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const char *path = changed_by_others(self, &a);
    if (!path)
        return true;
    err_set(err, E_POLICY_DENIED,
        "'%s' can be changed by users other than root: a profile for '%s' would let any "
        "program use user namespaces",
        path, self);
    return err_ctx(
        err, "remedy", "install cordon in /usr/local/bin as root, and run it from there");
}

/* Characters with a meaning in a profile would have to be quoted. */
static bool apparmor_is_plain_path(const char *path)
{
    return path[0] == '/' &&
           strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-") ==
               strlen(path);
}

/* Adds the line of programs: those that only root can change, and this one. */
static void add_programs(struct buf *out, struct str programs, const char *self)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str word;
    bool named = false;
    while (programs.n && str_cut(programs, ' ', &word, &programs)) {
        if (!word.n || changed_by_others(arena_strdup(&a, word), &a))
            continue;
        named = named || str_is(word, self);
        buf_printf(out, " " STR_FMT, STR_ARG(word));
    }
    if (!named)
        buf_printf(out, " %s", self);
}

bool apparmor_make(const char *text, const char *self, struct apparmor *profile, struct err *err)
{
    const struct str start = STR("@{cordon} =");
    struct str line, rest = str_z(text);
    if (!apparmor_is_plain_path(self))
        return err_set(err, E_CONFIG,
            "cannot create a profile for '%s': install cordon in /usr/local/bin first", self);
    if (!apparmor_check_owner(self, err))
        return false;
    buf_reset(&profile->text);
    while (rest.n && str_cut(rest, '\n', &line, &rest)) {
        if (str_starts_with(line, start)) {
            buf_add_str(&profile->text, start);
            add_programs(&profile->text, str_skip(line, start.n), self);
        } else {
            buf_add_str(&profile->text, line);
        }
        buf_add_byte(&profile->text, '\n');
    }
    return true;
}

void apparmor_done(struct apparmor *profile)
{
    buf_done(&profile->text);
}

static bool apparmor_read_file(const char *path, struct buf *text)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd >= 0 && file_read(fd, (size_t)1 << 20, path, text, &ignored);
}

static bool is_loaded(void)
{
    AUTO_BUF struct buf list = BUF_INIT(2 << 20);
    struct str line, rest;
    if (!apparmor_read_file(LOADED, &list))
        return false;
    rest = buf_str(&list);
    while (rest.n && str_cut(rest, '\n', &line, &rest))
        if (str_starts_with(line, STR("cordon (")))
            return true;
    return false;
}

enum apparmor_file apparmor_look(const char *file, const struct apparmor *profile)
{
    AUTO_BUF struct buf text = BUF_INIT(2 << 20);
    struct stat st;
    if (lstat(file, &st) != 0 && errno == ENOENT)
        return APPARMOR_FILE_NONE;
    return apparmor_read_file(file, &text) && str_eq(buf_str(&text), buf_str(&profile->text))
               ? APPARMOR_FILE_SAME
               : APPARMOR_FILE_OTHER;
}

bool apparmor_is_there(const struct apparmor *profile)
{
    return apparmor_look(APPARMOR_FILE, profile) == APPARMOR_FILE_SAME && is_loaded();
}

static bool apparmor_write_new_file(
    const struct apparmor *profile, struct replace *r, struct err *err)
{
    const struct replace_options o = {.dir = AT_FDCWD,
        .name = APPARMOR_FILE,
        .temp = NEW_FILE,
        .mode = 0644,
        .flags = REPLACE_EXACT_MODE};
    return (replace_open(r, &o) && replace_write(r, buf_str(&profile->text)) &&
               fsync(r->fd) == 0) ||
           err_errno(err, E_IO, errno, "cannot write '%s'", NEW_FILE);
}

/* -QTK: only to see whether it can; -r: into the kernel. */
static bool run_parser(const char *option, const char *file, struct err *err)
{
    static char program[] = "/usr/sbin/apparmor_parser",
                path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char *const argv[] = {program, (char *)option, (char *)file, NULL}, *const envp[] = {
                                                                            path, NULL};
    pid_t pid;
    int status = -1, failed = posix_spawn(&pid, program, NULL, NULL, argv, envp);
    if (failed)
        return err_errno(err, E_IO, failed, "cannot run '%s'", program);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    err_set(err, E_IO, "apparmor_parser %s did not load '%s'; '%s' is unchanged", option, file,
        APPARMOR_FILE);
    return err_ctx(
        err, "remedy", "see its messages above; the profile requires AppArmor 4 or newer");
}

/* Keeps the old file, if there is one, under another name: also under its own name, unless the file
 * system has no hard links. */
static bool keep_old(bool *ret_had)
{
    unlink(OLD_FILE);
    *ret_had = linkat(AT_FDCWD, APPARMOR_FILE, AT_FDCWD, OLD_FILE, 0) == 0;
    if (!*ret_had && errno != ENOENT)
        *ret_had = rename(APPARMOR_FILE, OLD_FILE) == 0;
    return *ret_had || errno == ENOENT;
}

static bool apparmor_put_back(bool had)
{
    bool ok = (had ? rename(OLD_FILE, APPARMOR_FILE) : unlink(APPARMOR_FILE)) == 0;
    if (ok)
        unlink(OLD_FILE); /* the same file: rename() leaves both names */
    return ok;
}

/* The new file in place of the old one, which is kept beside it if there is one. */
static bool apparmor_replace_file(struct replace *r, bool *ret_had, struct err *err)
{
    if (keep_old(ret_had) && replace_commit(r))
        return true;
    err_errno(err, E_IO, errno, "cannot replace '%s'", APPARMOR_FILE);
    if (*ret_had && !apparmor_put_back(true))
        err_wrap(err, "the old profile is now '%s'", OLD_FILE);
    return false;
}

/* The parser skips a profile that is disabled, and reports success. */
static bool check_loaded(struct err *err)
{
    if (is_loaded())
        return true;
    err_set(err, E_IO, "apparmor_parser -r did not load '%s'; the previous state was restored",
        APPARMOR_FILE);
    return err_ctx(err, "remedy", "if it is disabled, enable it: rm %s", DISABLED);
}

static bool apparmor_load_profile(struct replace *r, struct err *err)
{
    bool had;
    if (!apparmor_replace_file(r, &had, err))
        return false;
    if (run_parser("-r", APPARMOR_FILE, err) && check_loaded(err))
        return true;
    if (!apparmor_put_back(had))
        return err_errno(err, E_IO, errno, "cannot restore '%s'", APPARMOR_FILE);
    return false;
}

bool apparmor_install(const struct apparmor *profile, struct err *err)
{
    AUTO_REPLACE struct replace r = REPLACE_NONE;
    if (!apparmor_write_new_file(profile, &r, err))
        return false;
    bool ok = run_parser("-QTK", NEW_FILE, err) && apparmor_load_profile(&r, err);
    if (ok)
        unlink(OLD_FILE);
    return ok;
}
