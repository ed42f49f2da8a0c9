/* The directory for temporary files where nothing can be mounted: its removal, while another
 * process puts symlinks in the place of entries that are being deleted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "sandbox/tmpdir.h"
#include "traced.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STOPS_MAX = 200, /* at system calls */
};

struct scene {
    char *top, *inner, *aside, *victim, *kept;
    struct tmpdir dir;
    int status;
};

static char *place(const char *name)
{
    char *path = strdup(test_path("%s", name));
    BUG_ON(!path);
    return path;
}

static void scene_done(struct scene *s)
{
    char *const all[] = {s->top, s->inner, s->aside, s->victim, s->kept};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i]);
}

/* Directories that can't be emptied before their modes are changed. */
static void make(struct scene *s)
{
    struct stat st;
    tree_remove(test_path("tmpdir"));
    tree_file(s->kept, "text", 0600);
    BUG_ON(chmod(s->victim, 0500) != 0);
    tree_file(test_path("tmpdir/top/a/b/c"), "text", 0600);
    BUG_ON(chmod(test_path("tmpdir/top/a/b"), 0500) != 0 || chmod(s->inner, 0500) != 0);
    BUG_ON(chmod(s->top, 0500) != 0 || stat(s->top, &st) != 0);
    s->dir = (struct tmpdir){s->top, st.st_dev, st.st_ino};
}

static int prepare(void *arg)
{
    (void)arg;
    return 0;
}

static int run(void *arg)
{
    const struct scene *s = arg;
    tmpdir_remove(&s->dir);
    return 0;
}

static void replace(const char *path, const struct scene *s)
{
    if (rename(path, s->aside) == 0)
        BUG_ON(symlink(s->victim, path) != 0);
}

static void replace_top(const struct scene *s)
{
    replace(s->top, s);
}

static void replace_inner(const struct scene *s)
{
    BUG_ON(chmod(s->top, 0700) != 0 && errno != ENOENT);
    replace(s->inner, s);
}

TEST(tmpdir_is_new_and_private)
{
    AUTO_ERR struct err err = {0};
    struct tmpdir dir = {0}, again;
    struct stat st;
    mode_t mask = umask(0);
    setenv("TMPDIR", test_dir(), 1);
    CHECK_OK(tmpdir_choose(&dir, &err), &err);
    CHECK(str_starts_with(str_z(dir.path), str_z(test_dir())) && dir.ino == 0);
    CHECK(tmpdir_make(&dir));
    CHECK(stat(dir.path, &st) == 0 && st.st_mode == (S_IFDIR | 0700) && st.st_ino == dir.ino);
    again = (struct tmpdir){.path = dir.path};
    CHECK(!tmpdir_make(&again) && errno == EEXIST && again.ino == 0);
    tmpdir_remove(&dir);
    CHECK(access(dir.path, F_OK) != 0);
    tmpdir_done(&dir);
    CHECK(dir.path == NULL);
    unsetenv("TMPDIR");
    umask(mask);
}

TEST(tmpdir_remove_changes_no_target_of_a_link)
{
    static void (*const meddles[])(const struct scene *) = {replace_top, replace_inner};
    struct scene s = {place("tmpdir/top"), place("tmpdir/top/a"), place("tmpdir/aside"),
        place("tmpdir/victim"), place("tmpdir/victim/kept"), {0}, 0};
    const struct act act = {prepare, run, &s, 0};
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(meddles); i++) {
        size_t stops = 1;
        for (size_t k = 1; k <= stops && k < STOPS_MAX; k++) {
            struct watch watch = {.journal_dir = "/", .act_at = k, .act = meddles[i]};
            make(&s);
            CHECK(trace(&act, SIZE_MAX, &watch));
            stops = watch.stops;
            test_row(k, i ? "inner" : "top");
            CHECK(stat(s.victim, &st) == 0 && (st.st_mode & 07777) == 0500);
            CHECK(access(s.kept, F_OK) == 0);
        }
        CHECK(stops > 5);
    }
    make(&s);
    tmpdir_remove(&s.dir);
    CHECK(access(s.top, F_OK) != 0);
    tree_remove(test_path("tmpdir"));
    scene_done(&s);
}
