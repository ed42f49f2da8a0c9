/* Attempts on whole trees: lists, walks, races, and filling a file system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum {
    ENTRIES_MAX = 400 * 1000,
    RACE_OPENS = 100 * 1000,
    CHUNK = 1 << 20,
    NAME_BYTES = 4096
};

static void do_list(int argc, char **argv)
{
    (void)argc;
    DIR *dir = opendir(argv[0]);
    if (!dir) {
        got("opendir");
        return;
    }
    did("opendir");
    for (const struct dirent *e; (e = readdir(dir));)
        data(e->d_name, strlen(e->d_name));
    closedir(dir);
}

static const char *const *skipped;
static int skipped_n, walked_n;

static bool is_skipped(const char *path)
{
    for (int i = 0; i < skipped_n; i++)
        if (!strcmp(path, skipped[i]))
            return true;
    return false;
}

static bool can_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool can_create_in(const char *path)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s/.probe", path);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    unlink(name);
    return true;
}

/* Executes the file with one argument; it reports that it runs. */
static bool can_run(const char *path)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        char *const args[] = {(char *)(uintptr_t)path, NULL};
        char *const env[] = {NULL};
        execve(path, args, env);
        _exit(write(ends[1], "x", 1) == 1 ? 126 : 127);
    }
    close(ends[1]);
    char failed;
    bool ran = child > 0 && read(ends[0], &failed, 1) == 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return ran;
}

static int survey_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)kind, (void)at;
    if (is_skipped(path))
        return FTW_SKIP_SUBTREE;
    if (++walked_n > ENTRIES_MAX)
        return FTW_STOP;
    char what[8] = "", *w = what;
    if (S_ISDIR(st->st_mode)) {
        if (can_open(path, O_RDONLY | O_DIRECTORY))
            *w++ = 'l';
        if (can_create_in(path))
            *w++ = 'c';
    } else if (S_ISREG(st->st_mode)) {
        if (can_open(path, O_RDONLY))
            *w++ = 'r';
        if (can_open(path, O_WRONLY))
            *w++ = 'w';
        if (st->st_mode & 0111 && can_run(path))
            *w++ = 'x';
    }
    printf("path %06o %s %s\n", st->st_mode, *what ? what : "-", path);
    fflush(stdout);
    return FTW_CONTINUE;
}

/* survey ROOT SKIP...: everything below ROOT that is visible, and what can be done with it */
static void do_survey(int argc, char **argv)
{
    skipped = (const char *const *)argv + 1;
    skipped_n = argc - 1;
    report("survey", nftw(argv[0], survey_one, 32, FTW_PHYS | FTW_ACTIONRETVAL));
}

static int open_flags;

static int open_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)kind, (void)at;
    if (is_skipped(path))
        return FTW_SKIP_SUBTREE;
    if (++walked_n > ENTRIES_MAX)
        return FTW_STOP;
    if (S_ISREG(st->st_mode) && can_open(path, open_flags)) {
        printf("opened %06o %s\n", st->st_mode, path);
        fflush(stdout);
    }
    return FTW_CONTINUE;
}

/* openall ROOT FLAGS SKIP...: which files below ROOT can be opened like that; nothing is written */
static void do_openall(int argc, char **argv)
{
    open_flags = (int)number(argv[1]);
    skipped = (const char *const *)argv + 2;
    skipped_n = argc - 2;
    report("openall", nftw(argv[0], open_one, 32, FTW_PHYS | FTW_ACTIONRETVAL));
}

static atomic_bool race_over;
static const char *race_dir, *race_link, *race_spare;

static void *race_swap(void *unused)
{
    (void)unused;
    while (!race_over) {
        renameat2(AT_FDCWD, race_dir, AT_FDCWD, race_link, RENAME_EXCHANGE);
        rename(race_dir, race_spare);
        rename(race_spare, race_dir);
    }
    return NULL;
}

/* race DIR LINK SPARE FILE: swaps DIR and LINK forever while FILE below DIR is opened */
static void do_race(int argc, char **argv)
{
    (void)argc;
    char name[NAME_BYTES], bytes[256], best[256] = "";
    race_dir = argv[0], race_link = argv[1], race_spare = argv[2];
    snprintf(name, sizeof name, "%s/%s", argv[0], argv[3]);
    pthread_t thread;
    int opened = 0;
    if (pthread_create(&thread, NULL, race_swap, NULL)) {
        got("pthread_create");
        return;
    }
    for (int i = 0; i < RACE_OPENS; i++) {
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        ssize_t n = read(fd, bytes, sizeof bytes - 1);
        close(fd);
        opened++;
        if (n > 0 && memcmp(bytes, "inside", 6) != 0)
            memcpy(best, bytes, (size_t)n);
    }
    race_over = true;
    pthread_join(thread, NULL);
    printf("opened %d of %d\n", opened, RACE_OPENS);
    fflush(stdout);
    data(best, strlen(best));
}

/* kept DIR READY GO PATH...: keeps DIR open while the host moves it, then looks at PATHs from
 * there. READY and GO are fifos. */
static void do_kept(int argc, char **argv)
{
    char byte = 'r', name[NAME_BYTES];
    int dir = open(argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int ready = dir < 0 ? -1 : open(argv[1], O_WRONLY | O_CLOEXEC);
    if (ready < 0 || write(ready, &byte, 1) != 1) {
        got("open");
        return;
    }
    close(ready);
    int go = open(argv[2], O_RDONLY | O_CLOEXEC);
    if (go < 0 || read(go, &byte, 1) != 1) {
        got("wait");
        return;
    }
    for (int i = 3; i < argc; i++) {
        int fd = openat(dir, argv[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            got("openat");
        else
            read_out("read", fd);
        snprintf(name, sizeof name, "/proc/self/fd/%d/%s", dir, argv[i]);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            got("open /proc");
        else
            read_out("read", fd);
    }
    report("fchdir", fchdir(dir));
    for (int i = 3; i < argc; i++) {
        int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            got("open");
        else
            read_out("read", fd);
    }
}

/* fill BYTES DIR...: files that together hold more than BYTES */
static void do_fill(int argc, char **argv)
{
    unsigned long want = number(argv[0]), total = 0;
    char *chunk = calloc(1, CHUNK), name[NAME_BYTES];
    memset(chunk, 'x', CHUNK);
    for (int i = 1; i < argc && total < want; i++) {
        snprintf(name, sizeof name, "%s/fill", argv[i]);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) {
            got(argv[i]);
            continue;
        }
        ssize_t n = 0;
        while (total < want && (n = write(fd, chunk, CHUNK)) > 0)
            total += (unsigned long)n;
        if (n < 0)
            got(argv[i]);
        close(fd);
    }
    printf("filled %lu\n", total);
    fflush(stdout);
    if (total >= want)
        did("fill");
    for (int i = 1; i < argc; i++) {
        snprintf(name, sizeof name, "%s/fill", argv[i]);
        unlink(name);
    }
}

const struct attempt probe_dir[] = {
    {"list", 1, do_list},
    {"survey", 1, do_survey},
    {"openall", 2, do_openall},
    {"race", 4, do_race},
    {"kept", 4, do_kept},
    {"fill", 2, do_fill},
    {0},
};
