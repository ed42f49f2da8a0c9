/* Upper layers, including hostile ones; manifests; apply. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "base/fnv.h"
#include "change/apply.h"
#include "change/copy.h"
#include "change/upper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static void make_dir(const char *path)
{
    BUG_ON(mkdir(path, 0777) != 0 && errno != EEXIST);
}

/* "kind path" of each change, "!path why" of each refused one, "-path why" if left out; or the
 * error. */
static char *changes(const struct upper_options *options)
{
    AUTO_FD int lower = tree_open(test_path("lower")), upper = tree_open(test_path("upper"));
    AUTO_DELTA struct delta d = DELTA_INIT;
    AUTO_ERR struct err err = {0};
    struct buf text = BUF_INIT(1 << 20);
    if (!upper_read(lower, upper, options, &d, &err))
        buf_printf(&text, "%s %s", err_name(err.code), err.message);
    for (size_t i = 0; i < d.n && err.code == ERR_NONE; i++)
        buf_printf(&text, "%s %s\n", delta_kind_name(d.items[i].kind), d.items[i].path.p);
    for (size_t i = 0; i < d.n_refused && err.code == ERR_NONE; i++)
        buf_printf(&text, "!%s %s\n", d.refused[i].path.p, d.refused[i].why);
    for (size_t i = 0; i < d.n_left_out && err.code == ERR_NONE; i++)
        buf_printf(&text, "-%s %s\n", d.left_out[i].path.p, d.left_out[i].why);
    if (text.n == 0)
        buf_add_z(&text, "\0");
    return text.p ? buf_take(&text) : strdup("");
}

static void check_changes(const char *want)
{
    AUTO_FREE char *got = changes(&(struct upper_options){0});
    CHECK_Z(got, want);
}

static void start_trees(void)
{
    make_dir(test_path("lower"));
    make_dir(test_path("upper"));
}

static void make_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    BUG_ON(bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0);
}

TEST(box_upper_gives_each_kind)
{
    start_trees();
    tree_file(test_path("lower/same"), "x", 0644);
    tree_file(test_path("upper/same"), "x", 0644);
    tree_file(test_path("lower/mode"), "x", 0644);
    tree_file(test_path("upper/mode"), "x", 0755);
    tree_file(test_path("lower/content"), "x", 0644);
    tree_file(test_path("upper/content"), "y", 0644);
    tree_file(test_path("lower/type"), "x", 0644);
    BUG_ON(symlink("x", test_path("upper/type")) != 0);
    tree_file(test_path("upper/new/file"), "", 0644);
    tree_file(test_path("lower/untouched"), "", 0644);
    check_changes("modified content\nmode mode\nadded new/file\ntype type\n");
}

TEST(box_upper_reads_whiteouts_and_opaque_directories)
{
    start_trees();
    tree_file(test_path("lower/d/a"), "", 0644);
    tree_file(test_path("lower/d/b"), "", 0644);
    tree_file(test_path("lower/o/kept"), "", 0644);
    tree_file(test_path("lower/o/gone/deep"), "", 0644);
    tree_file(test_path("lower/f/x"), "", 0644);
    tree_file(test_path("upper/d"), "", 0644);
    tree_file(test_path("upper/o/kept"), "", 0644);
    tree_file(test_path("upper/f"), "file", 0644);
    if (!tree_set_xattr(test_path("upper/d"), "user.overlay.whiteout", "y") ||
        !tree_set_xattr(test_path("upper/o"), "user.overlay.opaque", "y")) {
        test_skip("no attributes here");
        return;
    }
    check_changes("deleted d/a\ndeleted d/b\nadded f\ndeleted f/x\ndeleted o/gone/deep\n");
    AUTO_FREE char *whole = changes(&(struct upper_options){.opaque_root = true});
    /* In a second copy attributes have no meaning: the box sees an empty file. */
    CHECK_Z(
        whole, "added d\ndeleted d/a\ndeleted d/b\nadded f\ndeleted f/x\ndeleted o/gone/deep\n");
}

TEST(box_upper_never_shows_git)
{
    start_trees();
    tree_file(test_path("lower/.git/config"), "", 0644);
    tree_file(test_path("upper/.git/config"), "evil", 0644);
    tree_file(test_path("upper/sub/.git/hooks/x"), "evil", 0755);
    tree_file(test_path("upper/two/.git"), "gitdir: /", 0644);
    tree_file(test_path("upper/three/.GIT/config"), "evil", 0644);
    tree_file(test_path("upper/GIT~1/config"), "evil", 0644);
    tree_file(test_path("upper/four/.git. "), "evil", 0644);
    tree_file(test_path("upper/four/.git::$INDEX_ALLOCATION/config"), "evil", 0644);
    tree_file(test_path("upper/four/git~1x"), "", 0644);
    check_changes(
        "added four/git~1x\n"
        "!GIT~1 has a name that is equivalent to .git on some file systems\n"
        "!four/.git.  has a name that is equivalent to .git on some file systems\n"
        "!four/.git::$INDEX_ALLOCATION has a name that is equivalent to .git on some file systems\n"
        "!three/.GIT has a name that is equivalent to .git on some file systems\n");
}

TEST(box_upper_leaves_out_special_files)
{
    start_trees();
    BUG_ON(mkfifo(test_path("upper/fifo"), 0666) != 0);
    make_socket(test_path("upper/sock"));
    check_changes("-fifo is a named pipe\n-sock is a socket\n");
}

TEST(box_upper_refuses_redirects)
{
    static const char *const names[] = {"user.overlay.redirect", "user.overlay.metacopy"};
    start_trees();
    tree_file(test_path("upper/d/f"), "", 0644);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        test_row(i, names[i]);
        if (!tree_set_xattr(test_path(i ? "upper/d/f" : "upper/d"), names[i], "/etc")) {
            test_skip("no attributes here");
            return;
        }
        AUTO_FREE char *got = changes(&(struct upper_options){0});
        CHECK(strstr(got, "E_FS_VIOLATION '"));
    }
}

TEST(box_upper_follows_no_link)
{
    start_trees();
    tree_file(test_path("outside/secret"), "s", 0644);
    tree_file(test_path("lower/d/secret"), "s", 0644);
    BUG_ON(symlink("../outside", test_path("upper/d")) != 0);
    /* A symlink in place of a directory: its contents are deleted, and nothing is looked up behind
     * it. */
    check_changes("added d\ndeleted d/secret\n");
}

TEST(box_upper_has_limits)
{
    char path[4096];
    start_trees();
    for (int i = 0; i < 20; i++)
        tree_file(test_path("upper/f%02d", i), "", 0644);
    AUTO_FREE char *many = changes(&(struct upper_options){.entries_max = 10});
    CHECK(strstr(many, "E_IO cannot read the changes of the box: more than 10 entries"));
    tree_file(test_path("lower/f00"), "1", 0644);
    tree_file(test_path("upper/f00"), "2", 0644);
    AUTO_FREE char *large = changes(&(struct upper_options){.compare_max = 0});
    CHECK(strstr(large, "modified f00"));
    /* Deeper than the walk goes: reported, not left out. */
    AUTO_FD int fd = tree_open(test_path("upper"));
    for (int i = 0; i < 300; i++) {
        BUG_ON(mkdirat(fd, "d", 0777) != 0);
        int next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = next;
    }
    AUTO_FREE char *deep = changes(&(struct upper_options){0});
    CHECK(strstr(deep, "is nested too deeply"));
    snprintf(path, sizeof(path), "%s", test_path("upper"));
    tree_remove(path);
}

/* Manifests --------------------------------------------------------------------------------------
 */

static char *drift(const struct manifest *m)
{
    AUTO_FD int root = tree_open(test_path("tree"));
    AUTO_DELTA struct delta d = DELTA_INIT;
    AUTO_ERR struct err err = {0};
    struct buf text = BUF_INIT(1 << 20);
    CHECK_OK(manifest_drift(m, root, &d, &err), &err);
    for (size_t i = 0; i < d.n; i++)
        buf_printf(&text, "%s %s\n", delta_kind_name(d.items[i].kind), d.items[i].path.p);
    return text.p ? buf_take(&text) : strdup("");
}

TEST(box_manifest_sees_every_drift)
{
    tree_file(test_path("tree/a"), "1", 0644);
    tree_file(test_path("tree/a.b"), "1", 0644);
    tree_file(test_path("tree/a-dir/f"), "1", 0644);
    tree_file(test_path("tree/mode"), "1", 0644);
    tree_file(test_path("tree/.git/index"), "1", 0644);
    AUTO_FD int root = tree_open(test_path("tree")), dir = tree_open(test_dir());
    AUTO_MANIFEST struct manifest taken = MANIFEST_INIT, m = MANIFEST_INIT;
    AUTO_ERR struct err err = {0};
    CHECK_OK(manifest_take(root, &taken, &err), &err);
    CHECK_OK(manifest_write(&taken, dir, "m", &err), &err);
    if (!CHECK_OK(manifest_read(dir, "m", &m, &err), &err))
        return;
    CHECK_INT(m.n, 4);
    AUTO_FREE char *none = drift(&m);
    CHECK_Z(none, "");
    /* The same size, and the time set back: the change time reveals it. */
    struct stat st;
    BUG_ON(stat(test_path("tree/a"), &st) != 0);
    test_write(test_path("tree/a"), "2");
    BUG_ON(utimensat(
               AT_FDCWD, test_path("tree/a"), (struct timespec[]){st.st_atim, st.st_mtim}, 0) != 0);
    BUG_ON(unlink(test_path("tree/a-dir/f")) != 0 || chmod(test_path("tree/mode"), 0600) != 0);
    test_write(test_path("tree/.git/index"), "2");
    test_write(test_path("tree/new"), "");
    AUTO_FREE char *all = drift(&m);
    CHECK_Z(all, "modified a\ndeleted a-dir/f\nmodified mode\nadded new\n");
}

/* One entry per path, except in the pending manifest of a box with a copy: an apply that follows an
 * interrupted one names both what a path is and what it will be. */
TEST(box_manifest_has_a_path_once)
{
    AUTO_FD int root = tree_open(test_dir()), dir = tree_open(test_dir());
    AUTO_MANIFEST struct manifest twice = MANIFEST_INIT, m = MANIFEST_INIT, next = MANIFEST_INIT;
    AUTO_ERR struct err err = {0};
    struct manifest_entry e = {.ino = 1, .mode = S_IFREG, .path_n = 1};
    manifest_keep(&twice, &e, STR("a"));
    e.ino = 2;
    manifest_keep(&twice, &e, STR("a"));
    CHECK_OK(manifest_write(&twice, dir, "m", &err), &err);
    CHECK(!manifest_read(dir, "m", &m, &err));
    CHECK_ERR(&err, E_CONFIG, "'m'");
    err_done(&err);
    CHECK_OK(manifest_write_next(&twice, dir, "m", &err), &err);
    CHECK_OK(manifest_read_next(dir, "m", root, &next, &err), &err);
    CHECK_INT(next.n, 2);
}

TEST(box_manifest_knows_damage)
{
    tree_file(test_path("tree/a"), "1", 0644);
    AUTO_FD int root = tree_open(test_path("tree")), dir = tree_open(test_dir());
    AUTO_MANIFEST struct manifest taken = MANIFEST_INIT;
    AUTO_ERR struct err err = {0};
    CHECK_OK(manifest_take(root, &taken, &err), &err);
    CHECK_OK(manifest_write(&taken, dir, "m", &err), &err);
    struct stat st;
    BUG_ON(fstatat(dir, "m", &st, 0) != 0);
    for (off_t i = 0; i < st.st_size; i++) {
        AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
        AUTO_ERR struct err damage = {0};
        AUTO_FD int fd = openat(dir, "m", O_RDWR | O_CLOEXEC);
        char byte;
        BUG_ON(pread(fd, &byte, 1, i) != 1);
        byte = (char)(byte ^ 1);
        BUG_ON(pwrite(fd, &byte, 1, i) != 1);
        test_row((size_t)i, "a changed byte");
        CHECK(!manifest_read(dir, "m", &m, &damage));
        CHECK_ERR(&damage, E_CONFIG, "damaged");
        byte = (char)(byte ^ 1);
        BUG_ON(pwrite(fd, &byte, 1, i) != 1);
    }
    BUG_ON(truncate(test_path("m"), st.st_size - 8) != 0);
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    CHECK(!manifest_read(dir, "m", &m, &err));
    CHECK_ERR(&err, E_CONFIG, "damaged");
}

/* Cut anywhere, with a header that fits. */
TEST(box_manifest_has_whole_entries)
{
    tree_file(test_path("tree/a"), "1", 0644);
    tree_file(test_path("tree/b"), "1", 0644);
    AUTO_FD int root = tree_open(test_path("tree"));
    AUTO_MANIFEST struct manifest taken = MANIFEST_INIT;
    AUTO_ERR struct err err = {0};
    CHECK_OK(manifest_take(root, &taken, &err), &err);
    size_t accepted = 0;
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    for (size_t n = taken.bytes.n + 1; n-- > 0;)
        for (uint64_t entries = 0; entries <= 2; entries++) {
            AUTO_BUF struct buf file = BUF_INIT(1 << 16);
            m.n = m.bytes.n = 0;
            buf_add_str(&m.bytes, buf_str(&taken.bytes)); /* its memory has the whole entries */
            m.bytes.n = 0;
            struct str cut = str_n(taken.bytes.p, n);
            const uint64_t numbers[] = {entries, n, fnv_add(FNV_START, cut)};
            buf_add_z(&file, "cordonM1");
            buf_add(&file, numbers, sizeof(numbers));
            buf_add_str(&file, cut);
            test_row(n, "bytes of entries");
            bool ok = manifest_parse(buf_str(&file), MANIFEST_OF_TREE, &m);
            CHECK(!ok || m.n == entries);
            accepted += ok;
        }
    CHECK_INT(accepted, 3); /* none, the first, both */
}

TEST(box_copy_names_omitted_files)
{
    AUTO_COPY struct copy_report report = COPY_REPORT_INIT;
    AUTO_ERR struct err err = {0};
    tree_file(test_path("project/a"), "12", 0640);
    tree_file(test_path("project/d/b"), "345", 0600);
    tree_file(test_path("project/secret"), "6", 0000);
    BUG_ON(mkfifo(test_path("project/pipe"), 0600) != 0);
    make_dir(test_path("copy"));
    AUTO_FD int from = tree_open(test_path("project")), to = tree_open(test_path("copy"));
    CHECK_OK(copy_project(from, to, &(struct copy_options){0}, &report, &err), &err);
    bool all = geteuid() == 0; /* root can read everything */
    CHECK_INT(report.files, all ? 3 : 2);
    CHECK_INT(report.bytes, all ? 6 : 5);
    if (!CHECK_INT(report.n_notes, all ? 1 : 2))
        return;
    for (size_t i = 0; i < report.n_notes; i++) {
        bool pipe = str_is(report.notes[i].path, "pipe");
        CHECK_STR(report.notes[i].path, pipe ? STR("pipe") : STR("secret"));
        CHECK(pipe || strcmp(report.notes[i].why, "cannot be read") == 0);
    }
    struct stat st;
    CHECK(stat(test_path("copy/a"), &st) == 0 && (st.st_mode & 07777) == 0640);
    CHECK_INT(stat(test_path("copy/secret"), &st) == 0, all);
}

/* Files that can't be opened, or are gone since they were listed. */
static int copy_without_open(void *arg)
{
    const int *errnum = arg;
    AUTO_COPY struct copy_report report = COPY_REPORT_INIT;
    AUTO_ERR struct err err = {0};
    AUTO_FD int from = tree_open(test_path("project")), to = tree_open(test_path("copy"));
    BUG_ON(!child_without_call(SYS_openat2, *errnum));
    if (!copy_project(from, to, &(struct copy_options){0}, &report, &err))
        return 10;
    for (size_t i = 0; i < report.n_notes; i++)
        if (strcmp(report.notes[i].why, "cannot be read") != 0)
            return 11;
    return report.files == 0 ? (int)report.n_notes : 12;
}

TEST(box_copy_continues_without_a_file)
{
    static const struct {
        const char *name;
        int errnum, notes;
    } rows[] = {
        {"not permitted", EPERM, 1},
        {"no access", EACCES, 1},
        {"gone", ENOENT, 0},
        {"an error of the disk", EIO, 10},
    };
    tree_file(test_path("project/a"), "12", 0640);
    make_dir(test_path("copy"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int errnum = rows[i].errnum;
        test_row(i, rows[i].name);
        CHECK_INT(child_run(copy_without_open, &errnum), rows[i].notes);
    }
}

/* Apply ------------------------------------------------------------------------------------------
 */

struct applied {
    struct apply a;
    struct delta d;
    struct err err;
    bool ok;
};

static void applied_done(struct applied *x)
{
    apply_done(&x->a);
    delta_done(&x->d);
    err_done(&x->err);
}

#define AUTO_APPLIED AUTO(applied_done)

/* lower is the baseline, project the project. */
static void run_apply(struct applied *x, bool executed)
{
    AUTO_FD int lower = tree_open(test_path("lower")), upper = tree_open(test_path("upper"));
    AUTO_FD int project = tree_open(test_path("project"));
    struct apply_trees trees = {
        .project_fd = project, .baseline_fd = lower, .upper_fd = upper, .stage_dir = project};
    struct apply_options options = {.allow_executed = executed};
    *x = (struct applied){.a = APPLY_INIT, .d = DELTA_INIT};
    x->ok = upper_read(lower, upper, &(struct upper_options){0}, &x->d, &x->err) &&
            apply_check(&x->a, &trees, &x->d, &options, &x->err) &&
            apply_commit(&x->a, test_path("journal"), &x->err);
}

static void put(const char *trees, const char *name, const char *content, mode_t mode)
{
    for (; *trees; trees++)
        tree_file(test_path("%s/%s",
                      *trees == 'p'   ? "project"
                      : *trees == 'l' ? "lower"
                                      : "upper",
                      name),
            content, mode);
}

TEST(box_apply_writes_all_and_moves_the_baseline)
{
    put("pl", "a", "1", 0644);
    put("u", "a", "2", 0755);
    put("u", "new/file", "n", 0640);
    put("pl", "other", "o", 0644);
    BUG_ON(symlink("a", test_path("upper/link")) != 0);
    AUTO_APPLIED struct applied x = {0};
    run_apply(&x, false);
    if (!CHECK_OK(x.ok, &x.err))
        return;
    AUTO_FREE char *project = tree_describe(test_path("project"));
    AUTO_FREE char *lower = tree_describe(test_path("lower"));
    CHECK_Z(project, lower);
    char target[16] = "";
    CHECK_INT(readlink(test_path("project/link"), target, sizeof(target) - 1), 1);
    CHECK_Z(target, "a");
    check_changes("");
}

TEST(box_apply_conflicts_change_nothing)
{
    put("pl", "ok", "1", 0644);
    put("u", "ok", "2", 0644);
    put("pl", "both", "1", 0644);
    put("u", "both", "2", 0644);
    put("p", "both", "3", 0644);
    put("u", "added", "2", 0644);
    put("p", "added", "3", 0644);
    put("l", "gone", "1", 0644);
    put("u", "gone", "2", 0644);
    put("pl", "same", "1", 0644);
    put("pu", "same", "2", 0644);
    AUTO_FREE char *before = tree_describe(test_path("project"));
    AUTO_APPLIED struct applied x = {0};
    run_apply(&x, false);
    AUTO_FREE char *after = tree_describe(test_path("project"));
    CHECK_ERR(&x.err, E_CONFLICT,
        "'added' was added in the box, but the project already has a different one");
    CHECK_Z(after, before);
    static const struct {
        const char *path;
        enum apply_state state;
        const char *project;
    } rows[] = {
        {"added", APPLY_CONFLICT, "already has a different one"},
        {"both", APPLY_CONFLICT, "has a different version"},
        {"gone", APPLY_CONFLICT, "no longer has it"},
        {"ok", APPLY_FITS, ""},
        {"same", APPLY_DONE, ""},
    };
    CHECK_INT(x.a.n, ARRAY_LEN(rows));
    for (size_t i = 0; i < MIN(x.a.n, ARRAY_LEN(rows)); i++) {
        test_row(i, rows[i].path);
        CHECK_Z(x.a.rows[i].item->path.p, rows[i].path);
        CHECK_INT(x.a.rows[i].state, rows[i].state);
        CHECK_Z(x.a.rows[i].project, rows[i].project);
    }
}

TEST(box_apply_refuses_forbidden_files)
{
    static const struct {
        const char *name;
        mode_t mode;
        enum err_code code;
        const char *part;
    } rows[] = {
        {"tool", 04755, E_FS_VIOLATION, "set-user-id"},
        {"tool", 02755, E_FS_VIOLATION, "set-user-id"},
        {".envrc", 0644, E_APPROVAL_REQUIRED, "a shell reads it"},
        {".github/workflows/ci.yml", 0644, E_APPROVAL_REQUIRED, "runs in CI"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        put("pl", "a", "1", 0644);
        put("u", rows[i].name, "x", rows[i].mode);
        AUTO_APPLIED struct applied x = {0};
        run_apply(&x, false);
        CHECK_ERR(&x.err, rows[i].code, rows[i].part);
        CHECK(access(test_path("project/%s", rows[i].name), F_OK) != 0);
        if (rows[i].code == E_APPROVAL_REQUIRED) {
            AUTO_APPLIED struct applied again = {0};
            run_apply(&again, true);
            CHECK_OK(again.ok, &again.err);
        }
        tree_remove(test_path("upper"));
        tree_remove(test_path("project"));
        tree_remove(test_path("lower"));
    }
    put("pl", "a", "1", 0644);
    put("u", "b", "1", 0644);
    BUG_ON(mkfifo(test_path("upper/fifo"), 0666) != 0);
    AUTO_APPLIED struct applied x = {0};
    run_apply(&x, true);
    CHECK_OK(x.ok, &x.err);
    CHECK(access(test_path("project/b"), F_OK) == 0);
    CHECK(access(test_path("project/fifo"), F_OK) != 0);
}

TEST(box_apply_stays_inside)
{
    make_dir(test_path("outside"));
    put("pl", "a", "1", 0644);
    put("u", "d/evil", "x", 0644);
    BUG_ON(symlink("../outside", test_path("project/d")) != 0);
    AUTO_APPLIED struct applied x = {0};
    run_apply(&x, true);
    CHECK_ERR(&x.err, E_CONFLICT, "has a file or link where a directory is needed");
    CHECK(access(test_path("outside/evil"), F_OK) != 0);
}
