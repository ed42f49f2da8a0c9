/* The writer and its recovery, killed at every step: the child runs under ptrace and dies at its
 * k-th stop before or after a system call, for every k. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "traced.h"
#include "tree.h"

#include "path/journal.h"
#include "path/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

struct scene {
    char dir[250];
    char root[300];
    char journal[300];
    bool old_kernel; /* no flags for renameat2 */
    bool disturbed;  /* another process writes a file before the recovery */
    bool many;       /* so many files that their file systems are synced as a whole */
    bool shapes;     /* directories become files, and the other way round */
    char *old;       /* the tree before */
    char *new;       /* and after */
    cpu_set_t cpus;  /* the CPUs that this process could use before */
};

enum {
    OLD_KERNEL = 1,
    DISTURBED = 2,
    MANY = 4,
    SHAPES = 8,
};

/* In memory if that has attributes like a disk: thousands of cases, each of them synced. */
static void scene_init(struct scene *s, unsigned flags)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    BUG_ON(sched_getaffinity(0, sizeof(s->cpus), &s->cpus) != 0);
    sched_setaffinity(0, sizeof(one), &one); /* two processes in turns: faster on one CPU */
    *s = (struct scene){
        .cpus = s->cpus,
        .dir = "/dev/shm/cordon-crash-XXXXXX",
        .old_kernel = flags & OLD_KERNEL,
        .many = flags & MANY,
        .shapes = flags & SHAPES,
    };
    bool quick = mkdtemp(s->dir) && tree_set_xattr(s->dir, "user.cordon", "");
    if (!quick) {
        rmdir(s->dir);
        snprintf(s->dir, sizeof(s->dir), "%s", test_path("scene"));
    }
    snprintf(s->root, sizeof(s->root), "%s/root", s->dir);
    snprintf(s->journal, sizeof(s->journal), "%s/journal", s->dir);
}

static void scene_done(struct scene *s)
{
    sched_setaffinity(0, sizeof(s->cpus), &s->cpus);
    tree_remove(s->dir);
    free(s->old);
    free(s->new);
}

static const char *in_root(const struct scene *s, const char *rel)
{
    static char path[400];
    snprintf(path, sizeof(path), "%s/%s", s->root, rel);
    return path;
}

static void reset_shapes(const struct scene *s)
{
    tree_file(in_root(s, "d2f/x"), "x", 0644);
    tree_file(in_root(s, "d2f/in/y"), "y", 0644);
    BUG_ON(mkdir(in_root(s, "d2f/empty"), 0777) != 0);
    tree_file(in_root(s, "f2d"), "file", 0644);
    BUG_ON(symlink("sub", in_root(s, "l2d")) != 0);
    tree_file(in_root(s, "old/only/z"), "z", 0644);
}

/* The tree before; the journal directory exists, so that only its files count. */
static void scene_reset(const struct scene *s)
{
    char path[400];
    tree_remove(s->root);
    tree_remove(s->journal);
    snprintf(path, sizeof(path), "%s/a.txt", s->root);
    tree_file(path, "one\r\ntwo\r\n", 0640);
    tree_set_xattr(path, "user.cordon", "kept");
    snprintf(path, sizeof(path), "%s/b.sh", s->root);
    tree_file(path, "#!/bin/sh\r\n", 0755);
    snprintf(path, sizeof(path), "%s/gone", s->root);
    tree_file(path, "to be deleted", 0600);
    snprintf(path, sizeof(path), "%s/sub/c", s->root);
    tree_file(path, "old c", 0644);
    snprintf(path, sizeof(path), "%s/sub/d", s->root);
    tree_file(path, "old d", 0644);
    if (s->shapes)
        reset_shapes(s);
    BUG_ON(mkdir(s->journal, 0700) != 0);
}

static bool put_many(const struct scene *s, struct writer *w, struct err *err)
{
    char path[20];
    for (int i = 0; s->many && i < CHANGE_SYNC_WHOLE; i++) {
        snprintf(path, sizeof(path), "many/%d", i);
        if (!writer_put(w, str_z(path), STR("one of many"), NULL, err))
            return false;
    }
    return true;
}

static struct stamp stamp_at(const struct scene *s, const char *rel)
{
    struct stat st = {0};
    (void)!lstat(in_root(s, rel), &st);
    return stamp_of(&st);
}

static bool put_shapes(const struct scene *s, struct writer *w, struct err *err)
{
    struct stamp dir = stamp_at(s, "d2f"), link = stamp_at(s, "l2d");
    struct writer_options replace = {.expect = &dir}, as_link = {.link = true};
    if (!s->shapes)
        return true;
    writer_tidy(w);
    return writer_put(w, STR("d2f"), STR("now a file"), &replace, err) &&
           writer_remove(w, STR("d2f/x"), NULL, err) &&
           writer_remove(w, STR("d2f/in/y"), NULL, err) &&
           writer_remove(w, STR("f2d"), NULL, err) &&
           writer_put(w, STR("f2d/a"), STR("in a directory"), NULL, err) &&
           writer_put(w, STR("f2d/b/c"), STR("deep"), NULL, err) &&
           writer_put(w, STR("f2d/l"), STR("a"), &as_link, err) &&
           writer_remove(w, STR("l2d"), &link, err) &&
           writer_put(w, STR("l2d/in"), STR("was a link"), NULL, err) &&
           writer_remove(w, STR("old/only/z"), NULL, err);
}

static bool change(const struct scene *s, struct err *err)
{
    AUTO_FD int root_fd = tree_open(s->root);
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    struct writer_options eol = {.keep_eol = true};
    return writer_new(root_fd, s->journal, &w, err) && put_many(s, w, err) &&
           put_shapes(s, w, err) && writer_put(w, STR("a.txt"), STR("one\n2\n"), &eol, err) &&
           writer_put(w, STR("b.sh"), STR("#!/bin/bash\necho\n"), &eol, err) &&
           writer_put(w, STR("new/deep/er/e"), STR("new e"), NULL, err) &&
           writer_remove(w, STR("gone"), NULL, err) &&
           writer_put(w, STR("sub/c"), STR("new c"), NULL, err) &&
           writer_put(w, STR("sub/d"), STR("new d"), NULL, err) && writer_commit(w, &result, err);
}

/* Results of a change that did not succeed. */
enum {
    CONFLICT = 1,
    FAILED,
    UNKNOWN, /* it reports that the next command decides */
};

static int prepare_scene(void *arg)
{
    scene_reset(arg);
    return 0;
}

static int act_change(void *arg)
{
    const struct scene *s = arg;
    AUTO_ERR struct err err = {0};
    if ((!s->old_kernel || child_without_rename_flags()) && change(s, &err))
        return 0;
    if (err.message && strstr(err.message, "completes or undoes it"))
        return UNKNOWN;
    return err.code == E_CONFLICT ? CONFLICT : FAILED;
}

/* A user's file in the way of a pending step: then recovery has to undo. */
static int prepare_recovery(void *arg)
{
    const struct scene *s = arg;
    char path[400];
    struct stat st;
    bool in_dir = s->shapes && stat(in_root(s, "d2f"), &st) == 0 && S_ISDIR(st.st_mode);
    snprintf(path, sizeof(path), "%s/%s", s->root, in_dir ? "d2f/in/c" : "sub/c");
    if (s->disturbed)
        tree_file(path, "the user's own c", 0644);
    return 0;
}

static int act_recover(void *arg)
{
    const struct scene *s = arg;
    AUTO_ERR struct err err = {0};
    AUTO_FD int root_fd = tree_open(s->root);
    struct journal_report report;
    bool ok = (!s->old_kernel || child_without_rename_flags()) &&
              journal_recover(s->journal, root_fd, &report, &err);
    return ok ? 0 : 1;
}

enum verdict {
    ALL_OLD = 10,
    ALL_NEW,
    MIXED,
};

static bool shapes_agree(const char *now, bool old)
{
    static const char *const before[] = {
        "d2f/x 1", "d2f/in/y 1", "f2d 1", "l2d 12", "old/only/z 1"};
    static const char *const after[] = {"d2f 1", "f2d/a 1", "f2d/b/c 1", "f2d/l 12", "l2d/in 1"};
    bool agree = true;
    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        agree = agree && old == (strstr(now, before[i]) != NULL) && old == !strstr(now, after[i]);
    return agree && (old || !strstr(now, "old"));
}

static int judge_disturbed(const struct scene *s, const char *now)
{
    bool old = strstr(now, "gone") != NULL;
    bool good = strstr(now, "[the user's own c]") && old == !strstr(now, "new/deep/er/e") &&
                old == !strstr(now, "[one\r\n2\r\n]") && !strstr(now, ".tmp") &&
                !strstr(now, ".old") && (!s->shapes || shapes_agree(now, old));
    return !good ? MIXED : old ? ALL_OLD : ALL_NEW;
}

/* Recovers, and returns the resulting state. In a child, like everything that allocates: the
 * sanitizer keeps freed memory, and a process that has grown is slow to fork. */
static int act_judge(void *arg)
{
    const struct scene *s = arg;
    if (prepare_recovery(arg) != 0 || act_recover(arg) != 0)
        return MIXED;
    AUTO_FREE char *now = tree_describe(s->root);
    AUTO_FREE char *journal = tree_describe(s->journal);
    if (!CHECK_Z(journal, ""))
        return MIXED;
    if (s->disturbed)
        return judge_disturbed(s, now);
    if (strcmp(now, s->old) == 0)
        return ALL_OLD;
    return CHECK_Z(now, s->new) ? ALL_NEW : MIXED;
}

/* Determines the trees before and after, and the number of stops. */
static struct watch scene_measure(struct scene *s)
{
    struct watch watch = {.journal_dir = s->journal};
    scene_reset(s);
    s->old = tree_describe(s->root);
    struct act act = {prepare_scene, act_change, s};
    CHECK(trace(&act, SIZE_MAX, &watch));
    s->new = tree_describe(s->root);
    CHECK(strcmp(s->old, s->new) != 0);
    CHECK(strstr(s->new, "a.txt 100640"));
    CHECK(strstr(s->new, "[one\r\n2\r\n]"));
    CHECK(strstr(s->new, "new/deep/er/e"));
    CHECK(!strstr(s->new, "gone"));
    CHECK(!strstr(s->new, ".cordon-"));
    return watch;
}

static size_t stride(void)
{
    return trace_stride(1, 5, 29);
}

struct outcome {
    size_t cases, old, new;
};

static void judge(struct scene *s, struct outcome *outcome)
{
    int verdict = child_run(act_judge, s);
    outcome->cases++;
    outcome->old += verdict == ALL_OLD;
    outcome->new += verdict == ALL_NEW;
    CHECK(verdict == ALL_OLD || verdict == ALL_NEW);
}

static void outcome_check(const struct outcome *outcome, size_t at_least)
{
    printf("# %zu cases: %zu times all old, %zu times all new\n", outcome->cases, outcome->old,
        outcome->new);
    CHECK(outcome->cases >= at_least / stride());
    CHECK_INT(outcome->old + outcome->new, outcome->cases);
}

static void crash_everywhere(unsigned flags)
{
    struct scene s;
    struct outcome outcome = {0};
    scene_init(&s, flags);
    scene_measure(&s);
    s.disturbed = flags & DISTURBED;
    struct act act = {prepare_scene, act_change, &s};
    bool ended = false;
    for (size_t k = 1; !ended; k += stride()) {
        test_row(k, "killed at this stop");
        ended = trace(&act, k, NULL);
        judge(&s, &outcome);
    }
    outcome_check(&outcome, 200);
    CHECK(outcome.old > 100 / stride());
    CHECK(outcome.new > 100 / stride());
    scene_done(&s);
}

TEST(writer_killed_at_every_step_leaves_all_old_or_all_new)
{
    crash_everywhere(0);
}

TEST(writer_killed_at_every_step_without_exchange)
{
    crash_everywhere(OLD_KERNEL);
}

TEST(writer_killed_at_every_step_and_then_edited)
{
    crash_everywhere(DISTURBED);
}

TEST(writer_with_many_files_killed_at_every_step)
{
    crash_everywhere(MANY);
}

TEST(writer_that_exchanges_files_and_directories_killed_at_every_step)
{
    crash_everywhere(SHAPES);
    crash_everywhere(SHAPES | DISTURBED);
    crash_everywhere(SHAPES | MANY);
}

static int act_change_one(void *arg)
{
    const struct scene *s = arg;
    AUTO_ERR struct err err = {0};
    AUTO_FD int root_fd = tree_open(s->root);
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    bool ok = writer_new(root_fd, s->journal, &w, &err) &&
              writer_put(w, STR("sub/c"), STR("new c"), NULL, &err) &&
              writer_commit(w, &result, &err);
    return ok ? 0 : FAILED;
}

/* For one file fewer things are synced: after a power failure its temporary name, which nothing
 * else records, may be missing, and the record may end with "commit". */
static void lose_temporary(const struct scene *s, const char *named)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/sub", s->root);
    DIR *dir = opendir(path);
    BUG_ON(!dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, ".cordon-", 8) == 0)
            BUG_ON(unlinkat(dirfd(dir), entry->d_name, 0) != 0);
    closedir(dir);
    snprintf(path, sizeof(path), "%s/sub/c", s->root);
    if (named)
        tree_file(path, named, 0644);
}

static void lose_power_everywhere(const char *named)
{
    struct scene s;
    scene_init(&s, 0);
    struct act act = {prepare_scene, act_change_one, &s};
    size_t seen[2] = {0};
    const size_t step = trace_stride(1, 1, 5);
    bool ended = false;
    for (size_t k = 1; !ended; k += step) {
        test_row(k, "killed at this stop");
        ended = trace(&act, k, NULL);
        lose_temporary(&s, named);
        CHECK_INT(child_run(act_recover, &s), 0);
        AUTO_FREE char *now = tree_describe(s.root);
        AUTO_FREE char *journal = tree_describe(s.journal);
        CHECK_Z(journal, "");
        CHECK(!strstr(now, ".cordon-"));
        seen[0] += strstr(now, "[old c]") != NULL;
        seen[1] += strstr(now, "[new c]") != NULL;
        CHECK(named ? strstr(now, "[the user's]") != NULL
                    : strstr(now, "[old c]") || strstr(now, "[new c]"));
    }
    CHECK(named ? seen[0] + seen[1] == 0 : seen[0] > 20 / step && seen[1] > 20 / step);
    scene_done(&s);
}

TEST(writer_of_one_file_that_loses_power_leaves_it_old_or_new)
{
    lose_power_everywhere(NULL);
    lose_power_everywhere("the user's");
}

TEST(writer_syncs_its_journal_before_it_touches_anything)
{
    struct scene s;
    scene_init(&s, 0);
    struct watch watch = scene_measure(&s);
    CHECK(!watch.early_create);
    CHECK(!watch.early_rename);
    CHECK(watch.renames >= 5);
    CHECK_INT(watch.journal_syncs, 4);
    CHECK_INT(watch.dir_syncs, 1);  /* its removal at the end need not be durable */
    CHECK(watch.parent_syncs >= 2); /* temporary names */
    scene_done(&s);
}

/* Concurrent changes to a file: an editor that renames, one that writes in place, a file that
 * appears where one is to be created, one in a new directory. */
static void meddle_rename(const struct scene *s)
{
    char path[400], temp[400];
    snprintf(path, sizeof(path), "%s/sub/c", s->root);
    snprintf(temp, sizeof(temp), "%s/sub/c~", s->root);
    tree_file(temp, "meddled", 0644);
    BUG_ON(rename(temp, path) != 0);
}

static void meddle_write(const struct scene *s)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/sub/c", s->root);
    AUTO_FD int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    BUG_ON(fd < 0 || write(fd, "meddled", 7) != 7);
}

static void meddle_victim(const struct scene *s)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/gone", s->root);
    tree_file(path, "meddled", 0600);
}

static void meddle_create(const struct scene *s)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/new/deep/er/e", s->root);
    tree_file(path, "meddled", 0644);
}

static void meddle_beside(const struct scene *s)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/new/deep/beside", s->root);
    tree_file(path, "meddled", 0644);
}

/* The concurrent change is there, nothing of the writer's is, and a.txt and b.sh agree. */
static int act_judge_meddled(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(s->root);
    AUTO_FREE char *journal = tree_describe(s->journal);
    bool new = strstr(now, "[one\r\n2\r\n]") != NULL;
    bool ok = CHECK(strstr(now, "[meddled]")) && CHECK_Z(journal, "") &&
              CHECK(new == (strstr(now, "echo") != NULL)) && CHECK(!strstr(now, ".cordon-")) &&
              CHECK(new || strstr(now, "gone"));
    return !ok ? MIXED : new ? ALL_NEW : ALL_OLD;
}

static void meddle_with(void (*meddle)(const struct scene *s), child_fn judge_it, unsigned flags)
{
    struct scene s;
    struct outcome outcome = {0};
    scene_init(&s, flags);
    size_t begin = scene_measure(&s).begin_stop;
    struct act act = {prepare_scene, act_change, &s, 1};
    for (size_t k = begin;; k += stride()) {
        test_row(k, "meddled at this stop");
        struct watch watch = {.journal_dir = s.journal, .act_at = k, .act = meddle};
        trace(&act, SIZE_MAX, &watch);
        if (watch.stops < k)
            break;
        if (watch.begin_stop > k)
            continue;
        int verdict = child_run(judge_it, &s);
        outcome.cases++;
        outcome.old += verdict == ALL_OLD;
        outcome.new += verdict == ALL_NEW;
        CHECK(verdict == ALL_OLD || verdict == ALL_NEW);
    }
    outcome_check(&outcome, 200);
    CHECK(outcome.new > 0);
    scene_done(&s);
}

static void meddle_everywhere(void (*meddle)(const struct scene *s), unsigned flags)
{
    meddle_with(meddle, act_judge_meddled, flags);
}

TEST(writer_never_loses_concurrent_renames_of_an_editor)
{
    meddle_everywhere(meddle_rename, 0);
}

TEST(writer_never_loses_concurrent_writes)
{
    meddle_everywhere(meddle_write, 0);
}

TEST(writer_never_loses_writes_to_a_replaced_file)
{
    meddle_everywhere(meddle_victim, 0);
}

TEST(writer_never_loses_concurrently_created_files)
{
    meddle_everywhere(meddle_create, 0);
    meddle_everywhere(meddle_beside, 0);
}

/* A file in the directory that is to be removed, or in the new one; too late once that is a file.
 */
static void meddle_inside(const struct scene *s, const char *rel, const char *content)
{
    AUTO_FD int fd = open(in_root(s, rel), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        tree_file(in_root(s, "late"), content, 0644);
    else
        BUG_ON(write(fd, content, strlen(content)) < 0);
}

static void meddle_old_dir(const struct scene *s)
{
    meddle_inside(s, "d2f/in/mine", "meddled");
}

static void meddle_new_dir(const struct scene *s)
{
    meddle_inside(s, "f2d/mine", "meddled");
}

/* After that the change must be undone. */
static void meddle_new_dir_and_file(const struct scene *s)
{
    meddle_inside(s, "f2d/mine", "mine");
    meddle_write(s);
}

static int act_judge_shapes(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(s->root);
    AUTO_FREE char *journal = tree_describe(s->journal);
    bool new = strstr(now, "[one\r\n2\r\n]") != NULL;
    bool ok = CHECK(strstr(now, "[meddled]")) && CHECK_Z(journal, "") &&
              CHECK(!strstr(now, ".tmp")) && CHECK(shapes_agree(now, !new));
    return !ok ? MIXED : new ? ALL_NEW : ALL_OLD;
}

/* A file in the way of the undo is kept. */
static int act_judge_shapes_kept(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(s->root);
    return CHECK(strstr(now, "[mine]")) ? act_judge_shapes(arg) : MIXED;
}

static int act_judge_shapes_clean(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(s->root);
    return CHECK(!strstr(now, ".cordon-")) ? act_judge_shapes(arg) : MIXED;
}

TEST(writer_never_loses_files_put_into_changing_directories)
{
    meddle_with(meddle_old_dir, act_judge_shapes_clean, SHAPES);
    meddle_with(meddle_new_dir, act_judge_shapes_clean, SHAPES);
    meddle_with(meddle_new_dir_and_file, act_judge_shapes_kept, SHAPES);
}

/* Kills the change at a sample of stops after the commit line, and then its recovery at every
 * stop. */
static void crash_recovery(unsigned flags, size_t samples)
{
    struct scene s;
    struct outcome outcome = {0};
    scene_init(&s, flags);
    struct watch watch = scene_measure(&s);
    BUG_ON(watch.commit_stop == 0 || watch.commit_stop + samples >= watch.stops);
    s.disturbed = flags & DISTURBED;
    struct act first = {prepare_scene, act_change, &s};
    struct act second = {prepare_recovery, act_recover, &s};
    for (size_t i = 0; i < samples; i++) {
        size_t k = watch.commit_stop + i * (watch.stops - watch.commit_stop) / samples;
        bool ended = false;
        for (size_t j = 1; !ended; j += stride()) {
            test_row(k * 1000 + j, "change and recovery killed at these stops");
            trace(&first, k, NULL);
            ended = trace(&second, j, NULL);
            judge(&s, &outcome);
        }
    }
    outcome_check(&outcome, 200);
    CHECK(outcome.new > 0);
    CHECK(!s.disturbed || outcome.old > 0);
    scene_done(&s);
}

TEST(journal_recovery_killed_at_every_step_recovers)
{
    crash_recovery(0, 3);
}

TEST(journal_recovery_that_undoes_killed_at_every_step)
{
    crash_recovery(DISTURBED, 3);
}

TEST(journal_recovery_killed_at_every_step_without_exchange)
{
    crash_recovery(OLD_KERNEL, 2);
}

TEST(journal_recovery_that_undoes_killed_without_exchange)
{
    crash_recovery(OLD_KERNEL | DISTURBED, 2);
}

TEST(journal_recovery_of_exchanged_directories_killed_at_every_step)
{
    crash_recovery(SHAPES, 3);
    crash_recovery(SHAPES | DISTURBED, 3);
}

/* If it reported a failure: all old, at the latest after the next command. If it did not: new. */
static void judge_told(struct scene *s, const struct watch *watch, struct outcome *outcome)
{
    size_t old = outcome->old, new = outcome->new;
    judge(s, outcome);
    int told = WEXITSTATUS(watch->status);
    CHECK(told != 0 || outcome->new > new);
    CHECK(told == 0 || told == UNKNOWN || outcome->old > old);
}

static size_t count_faults(const struct watch *watch)
{
    size_t n = 0;
    while (n < ARRAY_LEN(watch->fail_at) && watch->fail_at[n])
        n++;
    return n;
}

/* Every call that can fail does so with EIO, once without having been done and once after it was
 * done, as over a network. If others are to fail already, each call after them. */
static void fail_everywhere(struct scene *s, const struct watch *others, struct outcome *outcome)
{
    size_t n = count_faults(others);
    struct act act = {prepare_scene, act_change, s, n < 2 ? FAILED : UNKNOWN};
    for (int skip = 0; skip < 2; skip++) {
        struct watch all = *others;
        all.skip = skip;
        CHECK(trace(&act, SIZE_MAX, &all));
        for (size_t i = 0; i < all.n_calls; i += stride()) {
            struct watch watch = *others;
            watch.skip = skip;
            watch.fail_at[n] = all.calls[i];
            if (n && watch.fail_at[n] <= watch.fail_at[n - 1])
                continue;
            test_row(watch.fail_at[n], skip ? "not done" : "done");
            CHECK(trace(&act, SIZE_MAX, &watch));
            CHECK_INT(watch.failed, n + 1);
            judge_told(s, &watch, outcome);
        }
    }
}

/* The n-th call after a stop that can fail. */
static size_t call_after(struct scene *s, struct watch all, size_t stop, size_t n)
{
    struct act act = {prepare_scene, act_change, s, FAILED};
    CHECK(trace(&act, SIZE_MAX, &all));
    for (size_t i = 0; i < all.n_calls; i++)
        if (all.calls[i] > stop && n-- == 0)
            return all.calls[i];
    BUG_ON(true);
}

static void fail_scene(unsigned flags)
{
    struct scene s;
    struct outcome outcome = {0};
    if (!CAN_FAIL) {
        test_skip("calls can be made to fail on x86-64 and arm64 only");
        return;
    }
    scene_init(&s, flags);
    struct watch measured = scene_measure(&s);
    struct watch watch = {.journal_dir = s.journal};
    fail_everywhere(&s, &watch, &outcome);
    watch.fail_at[0] = measured.commit_stop - 1;
    fail_everywhere(&s, &watch, &outcome);
    watch.fail_at[0] = measured.done_stop;
    fail_everywhere(&s, &watch, &outcome);
    /* The mark can't be set, or not be made durable. */
    for (size_t i = 0; i < 2; i++) {
        watch.fail_at[1] = 0;
        watch.fail_at[1] = call_after(&s, watch, measured.done_stop, i);
        fail_everywhere(&s, &watch, &outcome);
    }
    outcome_check(&outcome, 300);
    scene_done(&s);
}

TEST(writer_with_any_call_failing_leaves_all_old_or_all_new)
{
    fail_scene(0);
}

TEST(writer_with_any_call_failing_without_exchange)
{
    fail_scene(OLD_KERNEL);
}

TEST(writer_that_exchanges_files_and_directories_with_any_call_failing)
{
    fail_scene(SHAPES);
}

/* Impossible without the kernel's exchange: nothing is changed. */
TEST(writer_that_cannot_exchange_files_and_directories)
{
    struct scene s;
    scene_init(&s, SHAPES | OLD_KERNEL);
    scene_reset(&s);
    s.old = tree_describe(s.root);
    CHECK_INT(child_run(act_change, &s), FAILED);
    AUTO_FREE char *now = tree_describe(s.root);
    CHECK_Z(now, s.old);
    scene_done(&s);
}

/* The last line may be on disk or not: killed at every step of the undo. */
TEST(writer_killed_while_it_undoes_a_change)
{
    struct scene s;
    struct outcome outcome = {0};
    if (!CAN_FAIL) {
        test_skip("calls can be made to fail on x86-64 and arm64 only");
        return;
    }
    scene_init(&s, 0);
    size_t done = scene_measure(&s).done_stop;
    struct act act = {prepare_scene, act_change, &s, FAILED};
    bool ended = false;
    for (size_t k = done + 1; !ended; k += stride()) {
        test_row(k, "killed at this stop");
        struct watch watch = {.journal_dir = s.journal, .fail_at = {done}};
        ended = trace(&act, k, &watch);
        judge(&s, &outcome);
    }
    outcome_check(&outcome, 50);
    CHECK(outcome.old > 50 / stride());
    scene_done(&s);
}

static void meddle_move(const struct scene *s)
{
    char from[400], to[400];
    snprintf(from, sizeof(from), "%s/sub", s->root);
    snprintf(to, sizeof(to), "%s/moved", s->root);
    BUG_ON(rename(from, to) != 0);
}

/* The file in the moved directory agrees with the others, and nothing else is there. */
static int act_judge_moved(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(s->root);
    AUTO_FREE char *journal = tree_describe(s->journal);
    bool new = strstr(now, "[one\r\n2\r\n]") != NULL;
    const char *c = new ? "moved/c 100644 [new c]" : "moved/c 100644 [old c]";
    bool ok = CHECK_Z(journal, "") && CHECK(strstr(now, c)) && CHECK(!strstr(now, ".cordon-")) &&
              CHECK(new == !strstr(now, "gone"));
    return !ok ? MIXED : new ? ALL_NEW : ALL_OLD;
}

TEST(writer_finds_a_directory_that_is_moved_while_it_writes)
{
    meddle_with(meddle_move, act_judge_moved, 0);
    meddle_with(meddle_move, act_judge_moved, OLD_KERNEL);
}

static void meddle_move_many(const struct scene *s)
{
    char from[400], to[400];
    snprintf(from, sizeof(from), "%s/many", s->root);
    snprintf(to, sizeof(to), "%s/moved", s->root);
    BUG_ON(rename(from, to) != 0 || mkdir(from, 0777) != 0);
}

static int act_judge_none(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(s->root);
    AUTO_FREE char *journal = tree_describe(s->journal);
    bool ok = CHECK_Z(journal, "") && CHECK(!strstr(now, "one of many")) &&
              CHECK(!strstr(now, ".cordon-")) && CHECK(strstr(now, "gone"));
    return ok ? ALL_OLD : MIXED;
}

/* The directory that gets new files is replaced by another one while they are created: they are not
 * where the change says, so the change fails. */
TEST(writer_creates_only_in_the_directory_at_its_path)
{
    enum {
        CHANGES = CHANGE_SYNC_WHOLE + 6
    };
    struct scene s;
    scene_init(&s, MANY);
    struct watch measured = scene_measure(&s);
    struct act act = {prepare_scene, act_change, &s, CONFLICT};
    for (size_t k = measured.rename_stops[0]; k <= measured.rename_stops[CHANGES - 1]; k++) {
        test_row(k, "moved at this stop");
        struct watch watch = {.journal_dir = s.journal, .act_at = k, .act = meddle_move_many};
        CHECK(trace(&act, SIZE_MAX, &watch));
        CHECK_INT(WEXITSTATUS(watch.status), CONFLICT);
        CHECK_INT(child_run(act_judge_none, &s), ALL_OLD);
    }
    scene_done(&s);
}

/* Another process creates a directory that the change is to create, and the change dies. */
static void meddle_mkdir(const struct scene *s)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/new", s->root);
    int made = mkdir(path, 0700);
    BUG_ON(made != 0 && errno != EEXIST);
}

/* A directory with that mode is not the writer's. */
static int act_judge_mkdir(void *arg)
{
    const struct scene *s = arg;
    char path[400];
    struct stat st;
    snprintf(path, sizeof(path), "%s/new", s->root);
    bool theirs = stat(path, &st) == 0 && (st.st_mode & 07777) == 0700;
    bool ok = act_recover(arg) == 0;
    return ok && (!theirs || stat(path, &st) == 0) ? theirs : 2;
}

TEST(writer_that_dies_never_removes_directories_of_others)
{
    struct scene s;
    size_t n[2] = {0};
    scene_init(&s, 0);
    struct watch measured = scene_measure(&s);
    struct act act = {prepare_scene, act_change, &s, CONFLICT};
    for (size_t k = measured.begin_stop; k < measured.commit_stop; k += stride()) {
        test_row(k, "made at this stop");
        struct watch watch = {.journal_dir = s.journal, .act_at = k, .act = meddle_mkdir};
        trace(&act, k + 4, &watch);
        int theirs = child_run(act_judge_mkdir, &s);
        if (CHECK(theirs == 0 || theirs == 1))
            n[theirs]++;
    }
    CHECK(n[0] > 0 && n[1] > 0);
    scene_done(&s);
}
