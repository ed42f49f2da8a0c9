/* io/replace: modes, existing files, and every step failing or being the last one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/dir.h"
#include "io/replace.h"
#include "test.h"
#include "traced.h"

static const struct row {
    const char *name, *temp;
    const char *old;   /* content before; NULL: there is no file */
    const char *after; /* content after success */
    unsigned flags;
    mode_t mode, want;
    int errnum; /* 0: it works */
} rows[] = {
    {"new file", NULL, NULL, "new", 0, 0644, 0644, 0},
    {"existing file", NULL, "old", "new", 0, 0600, 0600, 0},
    {"umask", NULL, "old", "new", 0, 0666, 0644, 0},
    {"exact mode", NULL, "old", "new", REPLACE_EXACT_MODE, 0666, 0666, 0},
    {"mode of the old file", NULL, "old", "new", REPLACE_KEEP_MODE, 0600, 0640, 0},
    {"no old file to take a mode from", NULL, NULL, "new", REPLACE_KEEP_MODE, 0600, 0600, 0},
    {"durable", NULL, "old", "new", REPLACE_DURABLE, 0600, 0600, 0},
    {"named temporary file", "file.part", "old", "new", REPLACE_SYNC, 0600, 0600, 0},
    {"only new", NULL, NULL, "new", REPLACE_NEW | REPLACE_DURABLE, 0600, 0600, 0},
    {"only new, but it exists", NULL, "old", "old", REPLACE_NEW, 0600, 0640, EEXIST},
};

static int act_nothing(void *arg UNUSED)
{
    return 0;
}

static size_t current; /* row */

/* Returns 0 on success, 1 after an error. */
static int act_replace(void *arg UNUSED)
{
    const struct row *row = &rows[current];
    AUTO_FD int dir = open(test_path("d"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct replace_options o = {
        .dir = dir, .name = "file", .temp = row->temp, .mode = row->mode, .flags = row->flags};
    return replace_file(&o, STR("new")) ? 0 : 1;
}

static void begin_row(void)
{
    tree_remove(test_path("d"));
    CHECK_INT(mkdir(test_path("d"), 0755), 0);
    if (rows[current].old)
        tree_file(test_path("d/file"), rows[current].old, 0640);
}

/* Entries of the directory, without the file itself. */
static size_t count_temporary(void)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    size_t n = 0;
    CHECK(dir_open_path(&d, test_path("d")));
    while (dir_next(&d))
        n += strcmp(d.name, "file") != 0;
    return n;
}

static bool has_content(const char *want)
{
    AUTO_FREE char *now = test_read(test_path("d/file"));
    return now && want ? strcmp(now, want) == 0 : !now && !want;
}

TEST(replace_file_makes_the_file)
{
    mode_t mask = umask(022);
    for (current = 0; current < ARRAY_LEN(rows); current++) {
        struct stat st = {0};
        test_row(current, rows[current].name);
        begin_row();
        errno = 0;
        CHECK_INT(act_replace(NULL), rows[current].errnum != 0);
        CHECK(errno == rows[current].errnum || !rows[current].errnum);
        CHECK(has_content(rows[current].after));
        CHECK_INT(stat(test_path("d/file"), &st), 0);
        CHECK_INT(st.st_mode & 07777, rows[current].want);
        CHECK_INT(count_temporary(), 0);
    }
    umask(mask);
}

TEST(replace_killed_at_every_step_leaves_old_or_new)
{
    for (current = 0; current < ARRAY_LEN(rows); current++) {
        const struct act act = {.prepare = act_nothing, .run = act_replace, .worst = 1};
        bool ended = false;
        for (size_t k = 1; !ended && k < 400; k += trace_stride(1, 1, 5)) {
            struct watch watch = {.journal_dir = "/nowhere"};
            begin_row();
            ended = trace(&act, k, &watch);
            test_row(k, rows[current].name);
            if (!CHECK(
                    has_content(rows[current].after) || (!ended && has_content(rows[current].old))))
                return;
        }
        CHECK(ended);
        CHECK_INT(count_temporary(), 0);
        /* The next one works, and does not fail because of the leftovers of a named file. */
        CHECK_INT(act_replace(NULL), (rows[current].flags & REPLACE_NEW) != 0);
    }
}

TEST(replace_failing_at_every_call_leaves_old_or_new)
{
    for (current = 0; CAN_FAIL && current < ARRAY_LEN(rows); current++) {
        const struct act act = {.prepare = act_nothing, .run = act_replace, .worst = 1};
        struct watch all = {.journal_dir = "/nowhere"};
        begin_row();
        CHECK(trace(&act, SIZE_MAX, &all));
        CHECK(all.n_calls >= 2); /* at least write and rename */
        for (size_t k = 0; k < all.n_calls; k++) {
            struct watch watch = {
                .journal_dir = "/nowhere", .fail_at = {all.calls[k]}, .skip = true};
            begin_row();
            CHECK(trace(&act, SIZE_MAX, &watch));
            test_row(k, rows[current].name);
            bool failed = WEXITSTATUS(watch.status) != 0;
            /* The last call syncs the directory if that is asked for: then the file is there. */
            bool named = (rows[current].flags & REPLACE_SYNC_DIR) && k + 1 == all.n_calls;
            bool tidies = rows[current].errnum && k + 1 == all.n_calls; /* unlinkat() failed */
            bool stale = rows[current].temp && k == 0;                  /* the old temporary file */
            CHECK(failed || stale);
            CHECK(has_content(named || stale ? rows[current].after : rows[current].old));
            CHECK_INT(count_temporary(), tidies);
        }
    }
}

static int act_new_without_flags(void *arg UNUSED)
{
    return child_without_rename_flags() ? act_replace(arg) : 2;
}

TEST(replace_new_works_without_rename_flags)
{
    for (current = 0; current < ARRAY_LEN(rows); current++)
        if (rows[current].flags & REPLACE_NEW) {
            test_row(current, rows[current].name);
            begin_row();
            CHECK_INT(child_run(act_new_without_flags, NULL), rows[current].errnum != 0);
            CHECK(has_content(rows[current].after));
            CHECK_INT(count_temporary(), 0);
        }
}

TEST(replace_follows_no_link)
{
    CHECK_INT(mkdir(test_path("d"), 0755), 0);
    tree_file(test_path("target"), "kept", 0600);
    CHECK_INT(symlink("../target", test_path("d/part")), 0);
    CHECK_INT(symlink("../target", test_path("d/link")), 0);
    AUTO_FD int dir = tree_open(test_path("d"));
    AUTO_FD int top = tree_open(test_dir());
    struct replace_options o = {.dir = dir, .name = "link", .temp = "part", .mode = 0600};
    struct stat st;
    CHECK(replace_file(&o, STR("new")));
    CHECK(lstat(test_path("d/link"), &st) == 0 && S_ISREG(st.st_mode));
    AUTO_FREE char *kept = test_read(test_path("target"));
    CHECK_Z(kept, "kept");
    /* From another directory; a directory in the way of the temporary file stays. */
    o = (struct replace_options){
        .dir = dir, .name = "moved", .temp = "part", .temp_dir = &top, .mode = 0600};
    CHECK(replace_file(&o, STR("new")));
    CHECK(access(test_path("d/moved"), F_OK) == 0 && access(test_path("part"), F_OK) != 0);
    CHECK_INT(mkdir(test_path("part"), 0755), 0);
    CHECK(!replace_file(&o, STR("newer")) && errno == EEXIST);
    CHECK_INT(access(test_path("part"), F_OK), 0);
}

TEST(replace_path_reports_conflicts)
{
    AUTO_ERR struct err err = {0}, other = {0};
    CHECK_OK(replace_path(test_path("a"), STR("x"), REPLACE_NEW, &err), &err);
    CHECK(!replace_path(test_path("a"), STR("y"), REPLACE_NEW, &err));
    CHECK_ERR(&err, E_CONFLICT, "already exists");
    CHECK(!replace_path(test_path("none/a"), STR("y"), 0, &other));
    CHECK_ERR(&other, E_IO, "cannot open the directory");
    AUTO_FREE char *now = test_read(test_path("a"));
    CHECK_Z(now, "x");
}
