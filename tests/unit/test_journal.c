/* The journal: its format, and recovery from each state, from damage and from forgery. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "base/fnv.h"
#include "path/journal.h"
#include "path/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define ID "0123456789abcdef"

/* A change in a root, as a writer that died would have left it. */
struct relic {
    int root_fd;
    char root[300];
    struct change change;
    struct change_op ops[3];
    struct change_dir dirs[1];
    struct buf text;
    uint64_t hash;
};

static void relic_done(struct relic *r)
{
    buf_done(&r->text);
    close(r->root_fd);
}

#define AUTO_RELIC AUTO(relic_done)

static struct stamp stamp_at(const char *path)
{
    struct stat st;
    BUG_ON(lstat(path, &st) != 0);
    return stamp_of(&st);
}

static const char *temp_path(size_t i)
{
    return test_path("root/.cordon-" ID "-%zu.tmp", i);
}

/* One update (a), one create (b), one delete (c); all staged, nothing replaced. */
static void relic_init(struct relic *r)
{
    AUTO_ERR struct err err = {0};
    struct rootid id;
    tree_remove(test_path("root"));
    tree_file(test_path("root/a"), "old a", 0644);
    tree_file(test_path("root/c"), "old c", 0644);
    tree_file(temp_path(0), "new a", 0644);
    tree_file(temp_path(1), "new b", 0644);
    *r = (struct relic){.root_fd = tree_open(test_path("root")), .text = BUF_INIT(RECORD_MAX)};
    snprintf(r->root, sizeof(r->root), "%s", test_path("root"));
    BUG_ON(!rootid_look(r->root_fd, &id, &err));
    r->ops[0] = (struct change_op){
        CHANGE_UPDATE, STR("a"), stamp_at(test_path("root/a")), stamp_at(temp_path(0))};
    r->ops[1] = (struct change_op){CHANGE_CREATE, STR("b"), {0}, stamp_at(temp_path(1))};
    r->ops[2] = (struct change_op){CHANGE_DELETE, STR("c"), stamp_at(test_path("root/c")), {0}};
    r->change =
        (struct change){.root = str_z(r->root), .root_id = id, .id = ID, .ops = r->ops, .n_ops = 3};
}

static void relic_write(struct relic *r, enum record_state state)
{
    buf_reset(&r->text);
    record_add_staging(&r->text, &r->hash, &r->change);
    record_add_made(&r->text, &r->hash, &r->change);
    if (state >= RECORD_COMMIT)
        record_add_commit(&r->text, &r->hash, &r->change);
    if (state >= RECORD_DONE)
        record_add_done(&r->text, &r->hash);
    test_write(test_path("journal/" ID ".journal"), buf_z(&r->text));
}

static bool relic_recover(struct relic *r, struct journal_report *report, struct err *err)
{
    return journal_recover(test_path("journal"), r->root_fd, report, err);
}

static void check_tree(const char *want)
{
    AUTO_FREE char *now = tree_describe(test_path("root"));
    CHECK_Z(now, want);
}

static void check_journals(const char *want)
{
    AUTO_FREE char *now = tree_describe(test_path("journal"));
    CHECK_Z(now, want);
}

static const char all_old[] = "a 100644 [old a]\nc 100644 [old c]\n";
static const char all_new[] = "a 100644 [new a]\nb 100644 [new b]\n";

TEST(journal_states_decide)
{
    static const struct {
        const char *name;
        enum record_state state;
        const char *want;
    } rows[] = {
        {"staging is undone", RECORD_STAGING, all_old},
        {"commit is finished", RECORD_COMMIT, all_new},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        relic_init(&r);
        relic_write(&r, rows[i].state);
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.finished, rows[i].want == all_new);
        CHECK_INT(report.undone, rows[i].want == all_old);
        check_tree(rows[i].want);
        check_journals("");
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.finished + report.undone, 0);
    }
}

TEST(journal_in_state_done_only_tidies_up)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    relic_write(&r, RECORD_DONE);
    tree_file(test_path("root/a"), "edited since", 0644);
    tree_file(test_path("root/c"), "made again since", 0644);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    check_tree("a 100644 [edited since]\nc 100644 [made again since]\n");
}

/* Edits that a user may have made between the crash and the next command. */
static void user_edits_a(void)
{
    tree_file(test_path("root/a"), "user's a", 0644);
}

static void user_creates_b(void)
{
    tree_file(test_path("root/b"), "user's b", 0644);
}

static void user_edits_c(void)
{
    tree_file(test_path("root/c"), "user's c", 0644);
}

static void user_deletes_c(void)
{
    BUG_ON(unlink(test_path("root/c")) != 0);
}

static void user_tidies_up(void)
{
    BUG_ON(unlink(temp_path(0)) != 0 || unlink(temp_path(1)) != 0);
}

/* The first file was already replaced, then edited; and the second is in the way. */
static void user_edits_new_a_and_creates_b(void)
{
    BUG_ON(renameat2(AT_FDCWD, temp_path(0), AT_FDCWD, test_path("root/a"), 2) != 0);
    tree_file(test_path("root/a"), "user's a", 0644);
    user_creates_b();
}

static void user_edits_new_a(void)
{
    BUG_ON(renameat2(AT_FDCWD, temp_path(0), AT_FDCWD, test_path("root/a"), 2) != 0);
    tree_file(test_path("root/a"), "user's a", 0644);
}

TEST(journal_recovery_never_loses_an_edit)
{
    static const struct {
        const char *name;
        void (*act)(void);
        const char *want;
        size_t kept;
    } rows[] = {
        {"a edited", user_edits_a, "a 100644 [user's a]\nc 100644 [old c]\n", 0},
        {"b created", user_creates_b, "a 100644 [old a]\nb 100644 [user's b]\nc 100644 [old c]\n",
            0},
        {"c edited", user_edits_c, "a 100644 [old a]\nc 100644 [user's c]\n", 0},
        {"c deleted", user_deletes_c, all_new, 0},
        {"temporary files removed", user_tidies_up, all_old, 0},
        {"new a edited", user_edits_new_a, "a 100644 [user's a]\nb 100644 [new b]\n", 0},
        {"new a edited, b in the way", user_edits_new_a_and_creates_b,
            ".cordon-" ID "-0.kept 100644 [old a]\n"
            "a 100644 [user's a]\nb 100644 [user's b]\nc 100644 [old c]\n",
            1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        relic_init(&r);
        relic_write(&r, RECORD_COMMIT);
        rows[i].act();
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.kept, rows[i].kept);
        CHECK_Z(report.first_kept, rows[i].kept ? ".cordon-" ID "-0.kept" : "");
        check_tree(rows[i].want);
        check_journals("");
    }
}

static int recover_without_ftruncate(void *arg)
{
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    BUG_ON(!child_without_call(SYS_ftruncate, EIO));
    return !relic_recover(arg, &report, &err) && err.code == E_IO &&
                   strstr(err.message, "cannot truncate the journal")
               ? 0
               : 1;
}

/* A line after half of one could not be read: nothing is changed before that half is removed. */
TEST(journal_that_cannot_be_cut_is_kept)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    relic_write(&r, RECORD_COMMIT);
    AUTO_FREE char *before = tree_describe(test_path("root"));
    AUTO_FREE char *journals = tree_describe(test_path("journal"));
    CHECK_INT(child_run(recover_without_ftruncate, &r), 0);
    check_tree(before);
    check_journals(journals);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    check_tree(all_new);
}

TEST(journal_of_a_living_writer_is_left_alone)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    relic_write(&r, RECORD_COMMIT);
    AUTO_FREE char *before = tree_describe(test_path("root"));
    AUTO_FD int fd = open(test_path("journal/" ID ".journal"), O_RDONLY | O_CLOEXEC);
    BUG_ON(flock(fd, LOCK_EX) != 0);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.live, 1);
    check_tree(before);
    BUG_ON(flock(fd, LOCK_UN) != 0);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    check_tree(all_new);
}

TEST(journal_belongs_to_one_root)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    AUTO_FREE char *before = tree_describe(test_path("root"));
    r.change.root_id.ino++;
    relic_write(&r, RECORD_COMMIT);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.elsewhere, 1);
    check_tree(before);
    r.change.root_id.ino--;
    r.change.root_id.dev++;
    r.change.root = STR("/somewhere/else");
    relic_write(&r, RECORD_COMMIT);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.elsewhere, 1);
    check_tree(before);
    /* The machine was rebooted, and its disks have other numbers. */
    r.change.root = str_z(r.root);
    relic_write(&r, RECORD_COMMIT);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.finished, 1);
    check_tree(all_new);
}

TEST(journal_that_is_unreadable_is_counted_and_kept)
{
    static const char *const rows[] = {
        "garbage",
        "garbage\nwith lines\n",
        "cordon-journal 2 0123456789abcdef\n",
        "cordon-journal 1 0123456789abcdef\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i]);
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        relic_init(&r);
        relic_write(&r, RECORD_COMMIT);
        test_write(test_path("journal/1111111111111111.journal"), rows[i]);
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.damaged, 1);
        CHECK_Z(report.first_damaged, "1111111111111111.journal");
        check_tree(all_new); /* the intact one was recovered */
        AUTO_FREE char *kept = test_read(test_path("journal/1111111111111111.journal"));
        CHECK_Z(kept, rows[i]);
    }
}

TEST(journal_names_that_are_not_ours_are_ignored)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    test_write(test_path("journal/notes.journal"), "mine");
    test_write(test_path("journal/" ID ".journal~"), "mine");
    test_write(test_path("journal/" ID), "mine");
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    BUG_ON(symlink("notes.journal", test_path("journal/2222222222222222.journal")) != 0);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.damaged, 1);
    CHECK_Z(report.first_damaged, "2222222222222222.journal");
    BUG_ON(unlink(test_path("journal/2222222222222222.journal")) != 0);
    BUG_ON(mkdir(test_path("journal/3333333333333333.journal"), 0700) != 0);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_Z(report.first_damaged, "3333333333333333.journal");
    AUTO_FREE char *notes = test_read(test_path("journal/notes.journal"));
    CHECK_Z(notes, "mine");
}

TEST(journal_of_another_user_is_not_obeyed)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    relic_write(&r, RECORD_COMMIT);
    if (chown(test_path("journal/" ID ".journal"), 12345, 12345) != 0)
        return;
    AUTO_FREE char *before = tree_describe(test_path("root"));
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.damaged, 1);
    CHECK_Z(report.why_damaged, "it belongs to user 12345");
    check_tree(before);
}

TEST(journal_recovery_without_a_journal_does_nothing)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.finished + report.undone + report.live + report.elsewhere, 0);
    CHECK(access(test_path("journal"), F_OK) != 0);
}

/* A directory of the change was replaced by a symlink to another place. */
TEST(journal_recovery_never_follows_a_link)
{
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    for (int state = RECORD_STAGING; state <= RECORD_DONE; state++) {
        test_row((size_t)state, "state");
        AUTO_RELIC struct relic r;
        relic_init(&r);
        tree_remove(test_path("outside"));
        tree_file(test_path("outside/a"), "outside", 0644);
        tree_file(test_path("outside/.cordon-" ID "-0.tmp"), "outside", 0644);
        BUG_ON(mkdir(test_path("outside/d"), 0755) != 0);
        BUG_ON(symlink(test_path("outside"), test_path("root/sub")) != 0);
        r.ops[0].rel = STR("sub/a");
        r.ops[0].old = stamp_at(test_path("outside/a"));
        r.ops[0].new = stamp_at(test_path("outside/.cordon-" ID "-0.tmp"));
        r.dirs[0] = (struct change_dir){STR("sub/d"), stamp_at(test_path("outside/d")).ino};
        r.change.dirs = r.dirs;
        r.change.n_dirs = 1;
        AUTO_FREE char *before = tree_describe(test_path("outside"));
        relic_write(&r, (enum record_state)state);
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        AUTO_FREE char *after = tree_describe(test_path("outside"));
        CHECK_Z(after, before);
    }
}

/* The update and the deletion are done. */
static void relic_replace(void)
{
    BUG_ON(renameat2(AT_FDCWD, temp_path(0), AT_FDCWD, test_path("root/a"), 2) != 0);
    BUG_ON(rename(test_path("root/c"), temp_path(2)) != 0);
}

TEST(journal_marked_for_undo_is_undone)
{
    for (int state = RECORD_STAGING; state <= RECORD_DONE; state++) {
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        test_row((size_t)state, "state");
        relic_init(&r);
        relic_write(&r, (enum record_state)state);
        if (state > RECORD_STAGING)
            relic_replace();
        CHECK(r.text.p[RECORD_WAY_AT] == '+');
        r.text.p[RECORD_WAY_AT] = '-';
        test_write(test_path("journal/" ID ".journal"), buf_z(&r.text));
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.undone, 1);
        check_tree(all_old);
        check_journals("");
    }
}

/* Part of it was lost after files were replaced: the old contents still exist, somewhere. */
TEST(journal_that_was_cut_off_later_loses_nothing)
{
    AUTO_RELIC struct relic r;
    relic_init(&r);
    relic_write(&r, RECORD_COMMIT);
    relic_replace();
    AUTO_FREE char *replaced = tree_describe(test_path("root"));
    size_t refused = 0;
    for (size_t n = 0; n < r.text.n; n++) {
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        test_row(n, "bytes");
        test_write(test_path("journal/" ID ".journal"), buf_z(&r.text));
        BUG_ON(truncate(test_path("journal/" ID ".journal"), (off_t)n) != 0);
        bool ok = relic_recover(&r, &report, &err);
        CHECK(ok ? report.damaged == 1 : err.code == E_CONFIG);
        CHECK(access(test_path("journal/" ID ".journal"), F_OK) == 0);
        check_tree(replaced);
        refused += !ok;
    }
    CHECK(refused > r.text.n / 2);
}

TEST(journal_that_is_damaged_stops_only_its_own_root)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    relic_write(&r, RECORD_COMMIT);
    AUTO_FREE char *before = tree_describe(test_path("root"));
    r.text.p[r.text.n - 2] ^= 1;
    test_write(test_path("journal/" ID ".journal"), buf_z(&r.text));
    CHECK(!relic_recover(&r, &report, &err));
    CHECK_ERR(&err, E_CONFIG, "journal/" ID ".journal' cannot be used");
    check_tree(before);
    r.change.root_id.ino++;
    relic_write(&r, RECORD_COMMIT);
    r.text.p[r.text.n - 2] ^= 1;
    test_write(test_path("journal/" ID ".journal"), buf_z(&r.text));
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.elsewhere, 1);
    check_tree(before);
}

TEST(journal_that_never_got_its_name_goes)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    AUTO_FREE char *before = tree_describe(test_path("root"));
    test_write(test_path("journal/" ID ".new"), "cordon-jour");
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    check_tree(before);
    check_journals("");
}

/* Another file system at the same path, with the same numbers. */
TEST(journal_belongs_to_one_file_system)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    relic_init(&r);
    AUTO_FREE char *before = tree_describe(test_path("root"));
    struct rootid id = r.change.root_id, rows[] = {id, id, id};
    rows[0].fsid += 1000;
    rows[1].birth_s++;
    rows[2].birth_ns++;
    rows[0].dev++;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "identity");
        if (i == 0 ? !id.fsid : !id.birth_s && !id.birth_ns)
            continue; /* this file system has none */
        r.change.root_id = rows[i];
        relic_write(&r, RECORD_COMMIT);
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.elsewhere, 1);
        check_tree(before);
    }
    /* Values that were not known when it was written can't differ. */
    r.change.root_id = (struct rootid){.dev = id.dev, .ino = id.ino};
    relic_write(&r, RECORD_COMMIT);
    CHECK_OK(relic_recover(&r, &report, &err), &err);
    CHECK_INT(report.finished, 1);
}

TEST(journal_without_any_of_its_files_is_not_undone)
{
    static const enum record_state rows[] = {RECORD_COMMIT, RECORD_UNDO};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        test_row(i, "state");
        relic_init(&r);
        relic_write(&r, RECORD_COMMIT);
        if (rows[i] == RECORD_UNDO)
            r.text.p[RECORD_WAY_AT] = '-';
        test_write(test_path("journal/" ID ".journal"), buf_z(&r.text));
        user_tidies_up();
        user_edits_a();
        AUTO_FREE char *before = tree_describe(test_path("root"));
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.undone + report.finished, 0);
        CHECK_INT(report.damaged, 1);
        check_tree(before);
        CHECK(access(test_path("journal/" ID ".journal"), F_OK) == 0);
    }
}

/* A directory of the change was moved between the crash and the recovery. */
TEST(journal_with_a_directory_that_is_gone_is_kept_for_people)
{
    for (int state = RECORD_COMMIT; state <= RECORD_DONE; state++) {
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        test_row((size_t)state, "state");
        relic_init(&r);
        BUG_ON(mkdir(test_path("root/sub"), 0755) != 0);
        BUG_ON(rename(test_path("root/c"), test_path("root/sub/c")) != 0);
        r.ops[2].rel = STR("sub/c");
        relic_write(&r, (enum record_state)state);
        BUG_ON(renameat2(AT_FDCWD, temp_path(0), AT_FDCWD, test_path("root/a"), 2) != 0);
        BUG_ON(rename(test_path("root/sub/c"), test_path("root/sub/.cordon-" ID "-2.tmp")) != 0);
        BUG_ON(rename(test_path("root/sub"), test_path("root/moved")) != 0);
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.undone + report.finished, 0);
        CHECK_INT(report.lost, 1);
        CHECK_Z(report.first_lost, "sub/c");
        CHECK_Z(report.lost_journal, ID ".lost");
        AUTO_FREE char *kept = test_read(test_path("root/moved/.cordon-" ID "-2.tmp"));
        CHECK_Z(kept, "old c");
        AUTO_FREE char *a = test_read(test_path("root/a"));
        CHECK_Z(a, state == RECORD_COMMIT ? "old a" : "new a");
        CHECK(access(test_path("journal/" ID ".lost"), F_OK) == 0);
        /* It does not block later commands. */
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.lost + report.damaged + report.undone, 0);
        tree_remove(test_path("journal"));
    }
}

/* The old version was linked to the place where it is kept, but not unlinked at its old place. */
static int act_half_kept(void *arg)
{
    struct relic *r = arg;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    BUG_ON(!child_without_rename_flags());
    return CHECK_OK(relic_recover(r, &report, &err), &err) && CHECK_INT(report.kept, 1) &&
                   CHECK_Z(report.first_kept, ".cordon-" ID "-0.kept")
               ? 0
               : 1;
}

TEST(journal_recovery_of_a_version_that_is_half_kept)
{
    AUTO_RELIC struct relic r;
    for (int again = 0; again < 2; again++) {
        test_row((size_t)again, "unlinked");
        relic_init(&r);
        relic_write(&r, RECORD_COMMIT);
        user_edits_new_a_and_creates_b();
        BUG_ON(link(temp_path(0), test_path("root/.cordon-" ID "-0.kept")) != 0);
        if (again)
            BUG_ON(unlink(temp_path(0)) != 0);
        CHECK_INT(child_run(act_half_kept, &r), 0);
        check_tree(".cordon-" ID "-0.kept 100644 [old a]\n"
                   "a 100644 [user's a]\nb 100644 [user's b]\nc 100644 [old c]\n");
        check_journals("");
        if (!again)
            relic_done(&r);
    }
}

TEST(journal_recovery_leaves_directories_that_others_made)
{
    static const struct {
        const char *name;
        bool made;
        bool ours;
    } rows[] = {{"not made yet", false, false}, {"another", true, false}, {"ours", true, true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct journal_report report;
        test_row(i, rows[i].name);
        relic_init(&r);
        BUG_ON(mkdir(test_path("root/d"), 0755) != 0);
        BUG_ON(mkdir(test_path("root/.cordon-" ID "-d0.tmp"), 0755) != 0);
        ino_t ino = stamp_at(test_path("root/d")).ino;
        r.dirs[0] = (struct change_dir){STR("d"), rows[i].ours ? ino : ino + 1};
        r.change.dirs = r.dirs;
        r.change.n_dirs = 1;
        relic_write(&r, RECORD_STAGING);
        if (!rows[i].made) {
            buf_reset(&r.text);
            record_add_staging(&r.text, &r.hash, &r.change);
            test_write(test_path("journal/" ID ".journal"), buf_z(&r.text));
        }
        CHECK_OK(relic_recover(&r, &report, &err), &err);
        CHECK_INT(report.undone, 1);
        CHECK(rows[i].ours == (access(test_path("root/d"), F_OK) != 0));
        CHECK(access(test_path("root/.cordon-" ID "-d0.tmp"), F_OK) != 0);
    }
}

/* Parses the written form of a change. */
static bool parse(
    struct str text, struct record_tail *ret_tail, struct change *ret, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    return record_parse(text, &a, ret, ret_tail, err);
}

TEST(journal_form_gives_back_every_byte_of_a_path)
{
    AUTO_RELIC struct relic r;
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    static struct change back;
    struct record_tail tail;
    char name[256];
    size_t n = 0;
    for (int c = 1; c < 256; c++)
        if (c != '/')
            name[n++] = (char)c;
    relic_init(&r);
    r.ops[1].rel = str_n(name, n);
    relic_write(&r, RECORD_DONE);
    CHECK_OK(record_parse(buf_str(&r.text), &a, &back, &tail, &err), &err);
    CHECK_INT(tail.state, RECORD_DONE);
    CHECK_INT(tail.whole_n, r.text.n);
    CHECK(tail.hash == r.hash);
    CHECK_INT(back.n_ops, 3);
    CHECK_STR(back.ops[1].rel, r.ops[1].rel);
    CHECK_INT(back.ops[2].kind, CHANGE_DELETE);
    CHECK_INT(back.ops[0].new.mtime_ns, r.ops[0].new.mtime_ns);
    CHECK_STR(back.root, r.change.root);
}

TEST(journal_form_cut_anywhere_is_incomplete_not_invalid)
{
    AUTO_RELIC struct relic r;
    static struct change back;
    relic_init(&r);
    relic_write(&r, RECORD_DONE);
    enum record_state last = RECORD_CUT;
    for (size_t n = 0; n <= r.text.n; n++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf zeros = BUF_INIT(1 << 20);
        struct record_tail tail = {0}, with_zeros = {0};
        test_row(n, "bytes");
        if (!CHECK_OK(parse(str_n(r.text.p, n), &tail, &back, &err), &err))
            break;
        CHECK(tail.state >= last && tail.whole_n <= n);
        last = tail.state;
        /* A block that never reached the disk. */
        buf_add(&zeros, r.text.p, tail.whole_n);
        for (int i = 0; i < 100; i++)
            buf_add_byte(&zeros, '\0');
        CHECK_OK(parse(buf_str(&zeros), &with_zeros, &back, &err), &err);
        CHECK_INT(with_zeros.state, tail.state);
    }
    CHECK_INT(last, RECORD_DONE);
}

TEST(journal_form_shows_every_changed_byte)
{
    AUTO_RELIC struct relic r;
    static struct change back;
    relic_init(&r);
    relic_write(&r, RECORD_DONE);
    for (size_t i = 0; i < r.text.n; i++) {
        AUTO_ERR struct err err = {0};
        struct record_tail tail = {0};
        test_row(i, "byte");
        r.text.p[i] = (char)(r.text.p[i] ^ 1);
        if (parse(buf_str(&r.text), &tail, &back, &err))
            CHECK(i == r.text.n - 1 && tail.state == RECORD_COMMIT); /* its last line is cut */
        else
            CHECK_ERR(&err, E_CONFIG, "line");
        r.text.p[i] = (char)(r.text.p[i] ^ 1);
    }
}

TEST(journal_form_refuses_paths_that_are_not_plain)
{
    static const struct str rows[] = {STR("../x"), STR("/etc/x"), STR("a/../../x"), STR("a//b"),
        STR("."), STR("a/"), STR("a\0b"), STR("")};
    static struct change back;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].p);
        AUTO_RELIC struct relic r;
        AUTO_ERR struct err err = {0};
        struct record_tail tail;
        relic_init(&r);
        r.ops[1].rel = rows[i];
        relic_write(&r, RECORD_COMMIT);
        CHECK(!parse(buf_str(&r.text), &tail, &back, &err));
        CHECK_ERR(&err, E_CONFIG, "is unexpected");
        r.ops[1].rel = STR("b");
        r.dirs[0].rel = rows[i];
        r.change.dirs = r.dirs;
        r.change.n_dirs = 1;
        relic_write(&r, RECORD_COMMIT);
        CHECK(!parse(buf_str(&r.text), &tail, &back, &err));
    }
}

#define HEAD "cordon-journal 1|way +|root 1 2 3 4 5 /x|id " ID "|"
#define NONE "0 0 0 0 0 0 0"
#define SOME "9 9 9 9 9 9 9"

/* Lines with correct checksums but wrong contents. */
TEST(journal_form_refuses_lines_out_of_place)
{
    static const char *const rows[] = {
        "done",
        "commit",
        "root 1 2 3 4 5 /x",
        "cordon-journal 1|cordon-journal 1",
        "cordon-journal 1|id " ID,
        "cordon-journal 1|way +|root 1 2 3 4 5 /x|id 0123",
        "cordon-journal 1|bad",
        "cordon-journal 1|way +|root 1 2 3 4 5 /x|id 0123456789ABCDEF",
        "cordon-journal 1|root 1 2 3 4 5 /x",
        "cordon-journal 1|way *",
        "cordon-journal 1|way",
        "cordon-journal 1|way +|root 1 2 3 4 5",
        "cordon-journal 1|way +|root 1 2 3 4 5 /x y",
        "cordon-journal 1|way +|root 1  2 3 4 5 /x",
        HEAD "op create 0 a|dir d",
        HEAD "staging 0 0",
        HEAD "op create 0 a|staging 0 2",
        HEAD "op rename 0 a",
        HEAD "op create 0 %41",
        HEAD "op create 0 %0a",
        HEAD "op create 0 a%2",
        HEAD "op create 5 a",
        HEAD "op update 0 a",
        HEAD "op create 0 a|staging 0 1|commit",
        HEAD "op create 0 a|staging 0 1|file 1 " NONE " " SOME,
        HEAD "op create 0 a|staging 0 1|file 0 " SOME " " SOME,
        HEAD "op create 0 a|staging 0 1|file 0 " NONE " 9 9 9 9 9 9 -1",
        HEAD "op create 0 a|staging 0 1|made 0 5",
        HEAD "op update 9 a|staging 0 1|file 0 " NONE " " SOME,
        HEAD "op delete 9 a|staging 0 1|file 0 " SOME " " SOME,
        HEAD "dir d|op create 0 a|staging 1 1|made 0 0",
        HEAD "dir d|op create 0 a|staging 1 1|made 1 5",
        HEAD "dir d|op create 0 a|staging 1 1|made 0 5|made 0 5",
        HEAD "dir d|op create 0 a|staging 1 1|file 0 " NONE " " SOME,
    };
    static struct change back;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i]);
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf text = BUF_INIT(4096);
        struct record_tail tail;
        uint64_t hash = FNV_START;
        struct str line, rest = str_z(rows[i]);
        while (str_cut(rest, '|', &line, &rest)) {
            size_t start = text.n;
            char hex[FNV_HEX];
            buf_printf(&text, STR_FMT " ", STR_ARG(line));
            hash = fnv_add(hash, str_skip(buf_str(&text), start));
            fnv_hex(hash, hex);
            buf_printf(&text, "%s\n", hex);
        }
        CHECK(!parse(buf_str(&text), &tail, &back, &err));
        CHECK_ERR(&err, E_CONFIG, "is unexpected");
    }
}
