/* A box's changes applied to a project: killed at every step, and with concurrent changes there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "traced.h"
#include "tree.h"

#include "change/apply.h"
#include "change/upper.h"
#include "path/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct scene {
    char dir[200];
    char at[300];
    bool manifest; /* without a copy: the manifest is the baseline */
    bool goes_on;  /* the box writes more before the next apply */
    bool second;   /* the one before was also interrupted */
    const char *meddled;
    char *old, *new;
};

enum {
    CONFLICT = 1,
    FAILED,
    ALL_OLD = 10,
    ALL_NEW,
    MIXED,
};

static const char *in(const struct scene *s, const char *rel)
{
    static char paths[2][300];
    static unsigned turn;
    char *path = paths[turn++ % 2];
    snprintf(path, 300, "%s/%s", s->dir, rel);
    return path;
}

static void make_link(const struct scene *s, const char *tree, const char *to)
{
    char rel[40];
    snprintf(rel, sizeof(rel), "%s/link", tree);
    BUG_ON(symlink(to, in(s, rel)) != 0);
}

static void put(const struct scene *s, const char *tree, const char *name, const char *text)
{
    char rel[60];
    snprintf(rel, sizeof(rel), "%s/%s", tree, name);
    tree_file(in(s, rel), text, 0644);
}

static void put_old(const struct scene *s, const char *tree)
{
    static const char *const names[] = {"a", "gone/only", "d2f/x", "d2f/in/y", "f2d", "keep"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(s, tree, names[i], names[i]);
    make_link(s, tree, "a");
    BUG_ON(mkdir(in(s, tree[0] == 'p' ? "project/l2d" : "lower/l2d"), 0777) != 0);
    put(s, tree, "l2d/file", "was a link's place");
}

/* Here the box has a whole tree, not a layer. */
static void put_new(const struct scene *s)
{
    static const char *const names[] = {"a", "d2f", "f2d/in/z", "f2d/y", "new/n"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(s, "upper", names[i], "new");
    put(s, "upper", "keep", "keep");
    BUG_ON(chmod(in(s, "upper/keep"), 0755) != 0);
    make_link(s, "upper", "keep");
    BUG_ON(symlink("new", in(s, "upper/l2d")) != 0);
}

static void take_manifest(const struct scene *s)
{
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    AUTO_ERR struct err err = {0};
    AUTO_FD int dir = tree_open(s->dir), project = tree_open(in(s, "project"));
    BUG_ON(!manifest_take(project, &m, &err) || !manifest_write(&m, dir, "m", &err));
}

static int prepare(void *arg)
{
    const struct scene *s = arg;
    static const char *const parts[] = {"project", "lower", "upper", "journal"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        tree_remove(in(s, parts[i]));
    unlink(in(s, "m.next"));
    put_old(s, "project");
    if (s->manifest)
        take_manifest(s);
    else
        put_old(s, "lower");
    put_new(s);
    BUG_ON(mkdir(in(s, "journal"), 0700) != 0);
    return 0;
}

struct opened {
    int dir, project, lower, upper;
    struct manifest manifest;
    struct delta delta;
    struct apply apply;
};

static void opened_done(struct opened *o)
{
    int fds[] = {o->dir, o->project, o->lower, o->upper};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        auto_fd(&fds[i]);
    apply_done(&o->apply);
    delta_done(&o->delta);
    manifest_done(&o->manifest);
}

/* As a command does it: recovers an interrupted change first. */
static bool open_all(const struct scene *s, struct opened *o, struct err *err)
{
    struct journal_report report;
    *o = (struct opened){
        .dir = tree_open(s->dir),
        .project = tree_open(in(s, "project")),
        .lower = s->manifest ? -1 : tree_open(in(s, "lower")),
        .upper = tree_open(in(s, "upper")),
        .manifest = MANIFEST_INIT,
        .delta = DELTA_INIT,
        .apply = APPLY_INIT,
    };
    if (!journal_recover(in(s, "journal"), o->project, &report, err) || report.lost)
        return false;
    return s->manifest ? manifest_load(o->dir, "m", o->project, &o->manifest, err)
                       : journal_recover(in(s, "journal"), o->lower, &report, err) &&
                             manifest_read_next(o->dir, "m", o->project, &o->manifest, err);
}

static bool check(struct opened *o, struct err *err)
{
    struct upper_options whole = {.opaque_root = true};
    struct apply_options options = {.allow_executed = true};
    struct apply_trees trees = {
        o->project, o->lower, o->upper, &o->manifest, o->dir, "m", o->dir, {0}};
    return upper_read(o->lower < 0 ? o->project : o->lower, o->upper, &whole, &o->delta, err) &&
           apply_check(&o->apply, &trees, &o->delta, &options, err);
}

static bool commit(const struct scene *s, struct opened *o, struct err *err)
{
    AUTO_MANIFEST struct manifest moved = MANIFEST_INIT;
    if (!apply_commit(&o->apply, in(s, "journal"), err))
        return false;
    return !s->manifest || (apply_move_manifest(&o->apply, &o->manifest, &moved, err) &&
                               manifest_write(&moved, o->dir, "m", err));
}

/* The project has all changes, the baseline none; and the box continues. */
static int prepare_second(void *arg)
{
    const struct scene *s = arg;
    AUTO(opened_done) struct opened o;
    AUTO_ERR struct err err = {0};
    prepare(arg);
    BUG_ON(!open_all(s, &o, &err) || !check(&o, &err));
    if (!s->manifest)
        put(s, "lower", "new", "in the way");
    BUG_ON(apply_commit(&o.apply, in(s, "journal"), &err) != s->manifest);
    if (!s->manifest)
        BUG_ON(unlink(in(s, "lower/new")) != 0);
    static const char *const names[] = {"a", "f2d/in/z", "f2d/y", "new/n", "keep"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(s, "upper", names[i], "second");
    return 0;
}

static int act_apply(void *arg)
{
    const struct scene *s = arg;
    AUTO(opened_done) struct opened o;
    AUTO_ERR struct err err = {0};
    if (open_all(s, &o, &err) && check(&o, &err) && commit(s, &o, &err))
        return 0;
    return err.code == E_CONFLICT ? CONFLICT : FAILED;
}

/* No change is left to show, and only the project and its baseline exist. */
static bool is_settled(const struct scene *s)
{
    AUTO(opened_done) struct opened o;
    AUTO_ERR struct err err = {0};
    AUTO_DELTA struct delta drift = DELTA_INIT;
    AUTO_FREE char *journal = tree_describe(in(s, "journal"));
    if (!CHECK_OK(open_all(s, &o, &err) && check(&o, &err), &err) || !CHECK_Z(journal, ""))
        return false;
    if (!CHECK_INT(o.delta.n, 0) || !CHECK(access(in(s, "m.next"), F_OK) != 0))
        return false;
    if (s->manifest)
        return CHECK_OK(manifest_drift(&o.manifest, o.project, &drift, &err), &err) &&
               CHECK_INT(drift.n, 0);
    AUTO_FREE char *lower = tree_describe(in(s, "lower"));
    return CHECK_Z(lower, s->new);
}

static bool edit_again(const struct scene *s)
{
    put(s, "upper", "a", "again");
    put(s, "upper", "new/n", "again");
    if (!CHECK_INT(act_apply((void *)s), 0))
        return false;
    AUTO_FREE char *now = tree_describe(in(s, "project"));
    return CHECK(strstr(now, "a 100644 [again]")) && CHECK(strstr(now, "new/n 100644 [again]")) &&
           CHECK(!strstr(now, "gone"));
}

static int act_judge(void *arg)
{
    const struct scene *s = arg;
    AUTO_ERR struct err err = {0};
    {
        AUTO(opened_done) struct opened o;
        if (!CHECK_OK(open_all(s, &o, &err), &err))
            return MIXED;
    }
    AUTO_FREE char *now = tree_describe(in(s, "project"));
    if (s->second)
        return !edit_again(s) ? MIXED : strcmp(now, s->new) == 0 ? ALL_OLD : ALL_NEW;
    bool old = strcmp(now, s->old) == 0;
    if (!old && !CHECK_Z(now, s->new))
        return MIXED;
    if (s->goes_on)
        return edit_again(s) ? old ? ALL_OLD : ALL_NEW : MIXED;
    if (!CHECK_INT(act_apply(arg), 0))
        return MIXED;
    AUTO_FREE char *after = tree_describe(in(s, "project"));
    return CHECK_Z(after, s->new) && is_settled(s) ? old ? ALL_OLD : ALL_NEW : MIXED;
}

static void scene_open(struct scene *s, bool manifest)
{
    *s = (struct scene){.dir = "/dev/shm/cordon-apply-XXXXXX", .manifest = manifest};
    BUG_ON(!mkdtemp(s->dir));
    prepare(s);
    s->old = tree_describe(in(s, "project"));
    CHECK_INT(child_run(act_apply, s), 0);
    s->new = tree_describe(in(s, "project"));
    CHECK(strstr(s->new, "d2f 100644 [new]"));
    CHECK(strstr(s->new, "f2d/in/z 100644 [new]"));
    CHECK(strstr(s->new, "l2d 120777"));
    CHECK(!strstr(s->new, "gone"));
    CHECK(is_settled(s));
}

static void scene_close(struct scene *s)
{
    tree_remove(s->dir);
    free(s->old);
    free(s->new);
}

/* Both transactions and the steps between them have some thousand stops. */
static size_t step(void)
{
    return trace_stride(5, 17, 37);
}

static void kill_everywhere(bool manifest, bool goes_on, bool second)
{
    struct scene s;
    size_t n[2] = {0}, cases = 0;
    scene_open(&s, manifest);
    s.goes_on = goes_on;
    s.second = second;
    struct act act = {second ? prepare_second : prepare, act_apply, &s};
    bool ended = false;
    for (size_t k = 1 + goes_on; !ended; k += step()) {
        test_row(k, "killed at this stop");
        ended = trace(&act, k, NULL);
        int verdict = child_run(act_judge, &s);
        cases++;
        if (CHECK(verdict == ALL_OLD || verdict == ALL_NEW))
            n[verdict - ALL_OLD]++;
    }
    printf("# %zu cases: %zu times old, %zu times new\n", cases, n[0], n[1]);
    CHECK(n[0] > 5 && n[1] > 5);
    scene_close(&s);
}

TEST(apply_killed_at_every_step)
{
    kill_everywhere(false, false, false);
}

TEST(apply_without_a_copy_killed_at_every_step)
{
    kill_everywhere(true, false, false);
}

/* Applied changes are not drift for the next apply, even if the process died before it could record
 * that. */
TEST(apply_without_a_copy_killed_while_the_box_runs)
{
    kill_everywhere(true, true, false);
}

TEST(apply_killed_while_the_box_runs)
{
    kill_everywhere(false, true, false);
}

/* The changes of the first apply are neither in the baseline nor among those of the second. */
TEST(apply_killed_a_second_time)
{
    kill_everywhere(false, true, true);
}

TEST(apply_without_a_copy_killed_a_second_time)
{
    kill_everywhere(true, true, true);
}

/* The state after an apply that was undone: it was to change one file, and to delete one. */
static void note_undone(const struct scene *s)
{
    const struct str changed = STR("a"), deleted = STR("gone/only");
    AUTO_MANIFEST struct manifest old = MANIFEST_INIT, next = MANIFEST_INIT;
    AUTO_ERR struct err err = {0};
    AUTO_FD int dir = tree_open(s->dir);
    struct manifest_entry e = {
        .ino = 1, .ctime_ns = MANIFEST_ANY_CTIME, .mode = S_IFREG, .path_n = (uint32_t)changed.n};
    manifest_keep(&next, &e, changed);
    BUG_ON(s->manifest && !manifest_read(dir, "m", &old, &err));
    for (size_t i = 0; i < old.n; i++) {
        struct str path;
        const struct manifest_entry *was = manifest_get(&old, i, &path);
        if (!str_eq(path, changed) && !str_eq(path, deleted))
            manifest_keep(&next, was, path);
    }
    e = (struct manifest_entry){.path_n = (uint32_t)deleted.n};
    if (!s->manifest)
        manifest_keep(&next, &e, deleted);
    BUG_ON(!manifest_write_next(&next, dir, "m", &err));
}

TEST(apply_that_was_undone_deleted_nothing)
{
    for (int manifest = 0; manifest < 2; manifest++) {
        struct scene s;
        AUTO_ERR struct err err = {0};
        scene_open(&s, manifest);
        prepare(&s);
        test_row((size_t)manifest, manifest ? "without a copy" : "with a copy");
        note_undone(&s);
        BUG_ON(unlink(in(&s, "project/gone/only")) != 0);
        put(&s, "upper", "gone/only", "again");
        {
            AUTO(opened_done) struct opened o;
            CHECK_OK(open_all(&s, &o, &err), &err);
            CHECK(!check(&o, &err));
            CHECK_ERR(&err, E_CONFLICT, "'gone/only' was");
        }
        scene_close(&s);
    }
}

/* Concurrent changes -------------------------------------------------------------------------- */

static void meddle(const struct scene *s)
{
    put(s, "project", s->meddled, "meddled");
}

/* The other files are not in conflict, though they may have been changed and restored. */
static bool one_conflicts(const struct scene *s)
{
    AUTO(opened_done) struct opened o;
    AUTO_ERR struct err err = {0};
    bool ok = CHECK_OK(open_all(s, &o, &err), &err) && CHECK(!check(&o, &err)) &&
              CHECK_ERR(&err, E_CONFLICT, s->meddled);
    return ok && CHECK_INT(o.apply.n_conflicts, 1);
}

static int act_judge_meddled(void *arg)
{
    const struct scene *s = arg;
    AUTO_FREE char *now = tree_describe(in(s, "project"));
    AUTO_FREE char *journal = tree_describe(in(s, "journal"));
    bool old = strstr(now, "gone/only") != NULL;
    char meddled[40];
    snprintf(meddled, sizeof(meddled), "%s 100644 [meddled]", s->meddled);
    bool ok = CHECK(strstr(now, meddled)) && CHECK(old == !strstr(now, "f2d/y")) &&
              CHECK(!strstr(now, ".cordon-")) && CHECK_Z(journal, "");
    if (!ok || (old && !one_conflicts(s)))
        return MIXED;
    return old ? ALL_OLD : ALL_NEW;
}

TEST(apply_never_loses_concurrent_writes)
{
    const size_t stride = trace_stride(10, 34, 37);
    for (int manifest = 0; manifest < 2; manifest++) {
        struct scene s;
        size_t n[2] = {0};
        scene_open(&s, manifest);
        struct act act = {prepare, act_apply, &s, CONFLICT};
        for (size_t k = 1;; k += stride) {
            test_row(k, manifest ? "without a copy" : "with a copy");
            /* Some files were already moved before the concurrent change. */
            s.meddled = k / stride % 2 ? "keep" : "a";
            struct watch watch = {.journal_dir = s.dir, .act_at = k, .act = meddle};
            trace(&act, SIZE_MAX, &watch);
            if (watch.stops < k)
                break;
            int verdict = child_run(act_judge_meddled, &s);
            if (!CHECK(verdict == ALL_OLD || verdict == ALL_NEW))
                continue;
            n[verdict - ALL_OLD]++;
            CHECK_INT(WEXITSTATUS(watch.status), verdict == ALL_OLD ? CONFLICT : 0);
        }
        CHECK(n[0] > 5 && n[1] > 5);
        scene_close(&s);
    }
}

static void change_file(const struct scene *s)
{
    put(s, "project", "a", "theirs");
}

static void remove_file(const struct scene *s)
{
    BUG_ON(unlink(in(s, "project/f2d")) != 0);
}

static void create_file(const struct scene *s)
{
    put(s, "project", "new/n", "theirs");
}

static void fill_dir(const struct scene *s)
{
    put(s, "project", "d2f/in/theirs", "theirs");
}

static void edit_in_dir(const struct scene *s)
{
    put(s, "project", "d2f/x", "theirs");
}

static void replace_dir(const struct scene *s)
{
    BUG_ON(rename(in(s, "project/d2f"), in(s, "project/moved")) != 0);
    put(s, "project", "d2f/x", "d2f/x");
}

static void replace_link(const struct scene *s)
{
    BUG_ON(unlink(in(s, "project/link")) != 0 || symlink("else", in(s, "project/link")) != 0);
}

static void change_in_box(const struct scene *s)
{
    put(s, "upper", "f2d/in/z", "later");
}

static void link_in_box(const struct scene *s)
{
    BUG_ON(unlink(in(s, "upper/a")) != 0 || symlink("/etc/passwd", in(s, "upper/a")) != 0);
}

/* Changes between the check and the commit: everything is refused. */
TEST(apply_refuses_changes_after_the_check)
{
    static const struct {
        const char *name;
        void (*act)(const struct scene *s);
        const char *part;
    } rows[] = {
        {"a file is changed", change_file, "'a' was changed in the meantime"},
        {"a file is removed", remove_file, "'f2d' does not exist"},
        {"a file is created", create_file, "'new/n' already exists"},
        {"a file comes into a directory that goes", fill_dir,
            "the directory 'd2f' also contains other files"},
        {"a file is changed in a directory that goes", edit_in_dir, "'d2f/x' was changed"},
        {"a directory that goes is another", replace_dir, "'d2f' was changed"},
        {"a link is another", replace_link, "'link' was changed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scene s;
        AUTO_ERR struct err err = {0};
        scene_open(&s, false);
        prepare(&s);
        test_row(i, rows[i].name);
        {
            AUTO(opened_done) struct opened o;
            CHECK_OK(open_all(&s, &o, &err) && check(&o, &err), &err);
            rows[i].act(&s);
            AUTO_FREE char *before = tree_describe(in(&s, "project"));
            CHECK(!commit(&s, &o, &err));
            AUTO_FREE char *after = tree_describe(in(&s, "project"));
            CHECK_ERR(&err, E_CONFLICT, rows[i].part);
            CHECK_Z(after, before);
        }
        scene_close(&s);
    }
}

/* The same size, and the old modification time. */
static void backdate_in_box(const struct scene *s)
{
    struct stat st;
    const char *path = in(s, "upper/a");
    BUG_ON(stat(path, &st) != 0);
    put(s, "upper", "a", "EVL");
    BUG_ON(utimensat(AT_FDCWD, path, (struct timespec[2]){st.st_atim, st.st_mtim}, 0) != 0);
}

static char *mapping;

static void map_in_box(const struct scene *s)
{
    AUTO_FD int fd = open(in(s, "upper/a"), O_RDWR | O_CLOEXEC);
    mapping = mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    BUG_ON(mapping == MAP_FAILED);
    memcpy(mapping, "new", 3); /* dirty from now on: later writes do not change the mtime */
}

static void write_mapping(const struct scene *s UNUSED)
{
    memcpy(mapping, "EVL", 3);
    BUG_ON(munmap(mapping, 3) != 0);
}

static void remove_in_box(const struct scene *s)
{
    BUG_ON(unlink(in(s, "upper/a")) != 0);
}

static void retarget_in_box(const struct scene *s)
{
    BUG_ON(unlink(in(s, "upper/link")) != 0 || symlink("/etc", in(s, "upper/link")) != 0);
}

/* After the check the box has no influence: the content that was read is applied. */
TEST(apply_writes_the_captured_changes)
{
    static const struct {
        const char *name;
        void (*before)(const struct scene *s);
        void (*act)(const struct scene *s);
    } rows[] = {
        {"the box writes", NULL, change_in_box},
        {"the box writes, and sets the time back", NULL, backdate_in_box},
        {"the box writes through a mapping", map_in_box, write_mapping},
        {"the box makes a link of a file", NULL, link_in_box},
        {"the box leads a link elsewhere", NULL, retarget_in_box},
        {"the box removes a file", NULL, remove_in_box},
    };
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        struct scene s;
        AUTO_ERR struct err err = {0};
        scene_open(&s, i % 2);
        prepare(&s);
        test_row(i / 2, rows[i / 2].name);
        if (rows[i / 2].before)
            rows[i / 2].before(&s);
        {
            AUTO(opened_done) struct opened o;
            CHECK_OK(open_all(&s, &o, &err) && check(&o, &err), &err);
            rows[i / 2].act(&s);
            CHECK_OK(commit(&s, &o, &err), &err);
            AUTO_FREE char *after = tree_describe(in(&s, "project"));
            CHECK_Z(after, s.new);
        }
        scene_close(&s);
    }
}

/* Files that do not fit in memory: a large one, and a sparse one. */
TEST(apply_takes_large_files_and_keeps_holes)
{
    struct scene s;
    struct stat st;
    char byte = 0;
    AUTO_ERR struct err err = {0};
    scene_open(&s, false);
    prepare(&s);
    AUTO_FREE char *text = base_alloc((3 << 20) + 1);
    memset(text, 'x', 3 << 20);
    put(&s, "upper", "large", text);
    put(&s, "upper", "holes", "begin");
    BUG_ON(truncate(in(&s, "upper/holes"), (off_t)20 << 30) != 0);
    {
        AUTO(opened_done) struct opened o;
        CHECK_OK(open_all(&s, &o, &err) && check(&o, &err), &err);
        put(&s, "upper", "large", "small");
        CHECK_OK(commit(&s, &o, &err), &err);
    }
    static const char *const trees[] = {"project", "lower"};
    for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
        char rel[40];
        test_row(i, trees[i]);
        snprintf(rel, sizeof(rel), "%s/large", trees[i]);
        CHECK(stat(in(&s, rel), &st) == 0 && st.st_size == 3 << 20);
        AUTO_FD int fd = open(in(&s, rel), O_RDONLY | O_CLOEXEC);
        CHECK(pread(fd, &byte, 1, (3 << 20) - 1) == 1 && byte == 'x');
        snprintf(rel, sizeof(rel), "%s/holes", trees[i]);
        CHECK(stat(in(&s, rel), &st) == 0 && st.st_size == (off_t)20 << 30);
        CHECK(st.st_blocks < 1000);
    }
    /* The next check does not read holes that both sides have. */
    {
        AUTO(opened_done) struct opened o;
        CHECK_OK(open_all(&s, &o, &err) && check(&o, &err), &err);
        CHECK_INT(o.delta.n, 1);
    }
    scene_close(&s);
}

struct without {
    struct scene *scene;
    int errnum;
};

static int apply_without_unnamed_files(void *arg)
{
    const struct without *w = arg;
    AUTO(opened_done) struct opened o;
    AUTO_ERR struct err err = {0};
    BUG_ON(!child_without_unnamed_files(w->errnum));
    if (open_all(w->scene, &o, &err) && check(&o, &err) && commit(w->scene, &o, &err))
        return 0;
    return strstr(err.message, "cannot store a temporary copy of 'large'") ? CONFLICT : FAILED;
}

/* A named file, unlinked at once, where the file system has no unnamed ones. */
TEST(apply_saves_large_files_without_unnamed_files)
{
    static const struct {
        const char *name;
        int errnum, want;
    } rows[] = {
        {"not supported", EOPNOTSUPP, 0},
        {"a kernel that does not know them", EISDIR, 0},
        {"a file system that does not know them", EINVAL, 0},
        {"no access", EACCES, CONFLICT},
    };
    AUTO_FREE char *text = base_alloc((3 << 20) + 1);
    memset(text, 'x', 3 << 20);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scene s;
        struct stat st;
        scene_open(&s, false);
        prepare(&s);
        put(&s, "upper", "large", text);
        test_row(i, rows[i].name);
        CHECK_INT(child_run(apply_without_unnamed_files, &(struct without){&s, rows[i].errnum}),
            rows[i].want);
        CHECK_INT(
            stat(in(&s, "project/large"), &st) == 0 && st.st_size == 3 << 20, rows[i].want == 0);
        CHECK(access(in(&s, ".snapshot"), F_OK) != 0);
        scene_close(&s);
    }
}

static int same_without_open(void *arg)
{
    const struct scene *s = arg;
    AUTO(opened_done) struct opened o;
    AUTO_ERR struct err err = {0};
    AUTO_MANIFEST struct manifest none = MANIFEST_INIT, same = MANIFEST_INIT;
    if (!open_all(s, &o, &err) || !check(&o, &err) || !commit(s, &o, &err))
        return FAILED;
    BUG_ON(!child_without_call(SYS_openat2, EIO));
    return !apply_same(&o.apply, &none, &same, &err) && err.code == E_IO ? 0 : MIXED;
}

TEST(apply_reports_files_that_cannot_be_read)
{
    struct scene s;
    scene_open(&s, false);
    prepare(&s);
    CHECK_INT(child_run(same_without_open, &s), 0);
    scene_close(&s);
}

/* Only the execute bit of a box's file modes is applied. */
TEST(apply_takes_modes_as_git_does)
{
    static const struct {
        const char *name;
        mode_t old, box, want; /* 0: missing */
    } rows[] = {
        {"m1", 0, 0777, 0755},
        {"m2", 0, 0666, 0644},
        {"m3", 0, 0600, 0644},
        {"m4", 0, 0700, 0755},
        {"m5", 0640, 0666, 0640},
        {"m6", 0640, 0777, 0750},
        {"m7", 0755, 0666, 0644},
        {"m8", 0664, 0600, 0664},
        {"m9", 0600, 0755, 0700},
        {"m10", 0, 01777, 0755},
    };
    struct scene s;
    struct stat st;
    AUTO_ERR struct err err = {0};
    mode_t mask = umask(022);
    scene_open(&s, false);
    prepare(&s);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct {
            const char *tree;
            mode_t mode;
        } places[] = {{"project", rows[i].old}, {"lower", rows[i].old}, {"upper", rows[i].box}};
        for (size_t k = 0; k < ARRAY_LEN(places); k++) {
            char rel[40];
            if (!places[k].mode)
                continue;
            put(&s, places[k].tree, rows[i].name, k == 2 ? "new" : "old");
            snprintf(rel, sizeof(rel), "%s/%s", places[k].tree, rows[i].name);
            BUG_ON(chmod(in(&s, rel), places[k].mode) != 0);
        }
    }
    BUG_ON(chmod(in(&s, "upper/new"), 0777) != 0);
    {
        AUTO(opened_done) struct opened o;
        CHECK_OK(open_all(&s, &o, &err) && check(&o, &err) && commit(&s, &o, &err), &err);
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char rel[40];
        test_row(i, rows[i].name);
        snprintf(rel, sizeof(rel), "project/%s", rows[i].name);
        CHECK(stat(in(&s, rel), &st) == 0);
        CHECK_INT(st.st_mode & 07777, rows[i].want);
    }
    CHECK(stat(in(&s, "project/new"), &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0755);
    umask(mask);
    scene_close(&s);
}

/* The contents of the project decide, not only those of the change. */
TEST(apply_replaces_only_directories_that_it_empties)
{
    static const struct {
        const char *extra; /* only in the project */
        const char *part;
    } rows[] = {
        {"d2f/theirs", "has a directory with other files there"},
        {"d2f/in/theirs", "has a directory with other files there"},
        {"d2f/.git/config", "has a directory with other files there"},
        {"d2f/.hidden", "has a directory with other files there"},
        {"new", "has a file or link where a directory is needed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scene s;
        AUTO_ERR struct err err = {0};
        scene_open(&s, false);
        prepare(&s);
        test_row(i, rows[i].extra);
        put(&s, "project", rows[i].extra, "theirs");
        {
            AUTO(opened_done) struct opened o;
            CHECK_OK(open_all(&s, &o, &err), &err);
            CHECK(!check(&o, &err));
            CHECK_ERR(&err, E_CONFLICT, rows[i].part);
        }
        scene_close(&s);
    }
}

/* Applied changes are still in the box's layer, and are not read again. */
TEST(apply_reports_identical_files)
{
    struct scene s;
    AUTO_ERR struct err err = {0};
    scene_open(&s, false);
    prepare(&s);
    {
        AUTO(opened_done) struct opened o;
        AUTO_MANIFEST struct manifest none = MANIFEST_INIT, same = MANIFEST_INIT;
        bool any = true;
        CHECK_OK(open_all(&s, &o, &err) && check(&o, &err) && commit(&s, &o, &err), &err);
        CHECK_OK(apply_same(&o.apply, &none, &same, &err), &err);
        struct upper_options options = {.opaque_root = true, .compare_max = 1};
        CHECK(!upper_any(o.lower, o.upper, &options, &any, &err));
        CHECK_ERR(&err, E_IO, "too large to compare");
        err_done(&err);
        options.same = &same;
        CHECK_OK(upper_any(o.lower, o.upper, &options, &any, &err), &err);
        CHECK_INT(any, false);
        put(&s, "upper", "new/n", "eww");
        options.compare_max = 0;
        CHECK_OK(upper_any(o.lower, o.upper, &options, &any, &err), &err);
        CHECK_INT(any, true);
    }
    scene_close(&s);
}

/* Only some paths --------------------------------------------------------------------------------
 */

TEST(delta_only_also_filters_refused_files)
{
    static const struct {
        const char *paths[3];
        size_t idle, n, refused;
    } rows[] = {
        {{"a"}, 0, 1, 0},
        {{"dir"}, 0, 2, 1},
        {{"dir/x"}, 0, 1, 0},
        {{"dir/fifo"}, 0, 0, 1},
        {{"di"}, 1, 0, 0},
        {{"a", "nothing", "dir/x"}, 1, 2, 0},
        {{"no", "nothing"}, 2, 0, 0},
        {{""}, 0, 3, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_DELTA struct delta d = DELTA_INIT;
        AUTO_ERR struct err err = {0};
        struct stat st = {.st_mode = S_IFREG | 0644, .st_ino = 1};
        struct str paths[3];
        size_t n = 0;
        static const char *const names[] = {"a", "dir/x", "dir/y"};
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            CHECK_OK(delta_add(&d, str_z(names[k]), DELTA_ADDED, NULL, &st, &err), &err);
        delta_refuse(&d, STR("dir/fifo"), "is a named pipe");
        delta_refuse(&d, STR("socket"), "is a socket");
        while (n < ARRAY_LEN(paths) && rows[i].paths[n]) {
            paths[n] = str_z(rows[i].paths[n]);
            n++;
        }
        test_row(i, rows[i].paths[0]);
        CHECK_INT(delta_only(&d, paths, n), rows[i].idle);
        CHECK_INT(d.n, rows[i].n);
        CHECK_INT(d.n_refused, rows[i].refused);
    }
}

TEST(delta_only_keeps_unnamed_refusals)
{
    AUTO_DELTA struct delta d = DELTA_INIT;
    struct str path = STR("x");
    for (size_t i = 0; i < DELTA_REFUSED_MAX + 5; i++)
        delta_refuse(&d, STR("pipe"), "is a named pipe");
    CHECK_INT(delta_only(&d, &path, 1), 1);
    CHECK_INT(d.n_refused, 1);
}

TEST(upper_any_stops_at_the_first)
{
    static const struct {
        const char *name;
        const char *lower, *upper; /* files */
        bool pipe, opaque, any;
    } rows[] = {
        {"nothing", "a", NULL, false, false, false},
        {"the same", "a", "a", false, false, false},
        {"one more", NULL, "a", false, false, true},
        {"a pipe", "a", "a", true, false, false},
        {"one fewer in a whole tree", "a", NULL, false, true, true},
        {"the same whole tree", "a", "a", false, true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        bool any = !rows[i].any;
        tree_remove(test_path("l"));
        tree_remove(test_path("u"));
        BUG_ON(mkdir(test_path("l"), 0777) != 0 || mkdir(test_path("u"), 0777) != 0);
        if (rows[i].lower)
            tree_file(test_path("l/%s", rows[i].lower), "x", 0644);
        if (rows[i].upper)
            tree_file(test_path("u/%s", rows[i].upper), "x", 0644);
        BUG_ON(rows[i].pipe && mkfifo(test_path("u/pipe"), 0600) != 0);
        AUTO_FD int l = tree_open(test_path("l")), u = tree_open(test_path("u"));
        struct upper_options options = {.opaque_root = rows[i].opaque};
        test_row(i, rows[i].name);
        CHECK_OK(upper_any(l, u, &options, &any, &err), &err);
        CHECK_INT(any, rows[i].any);
    }
}
