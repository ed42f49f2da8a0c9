/* Undoing a session's changes to files: exactly, or not at all; killed at every step. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "traced.h"
#include "tree.h"

#include "agent/undo.h"
#include "path/journal.h"
#include "path/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct scene {
    char dir[200];
    char *old, *first; /* the tree before, and after the first turn */
};

static const char *in(const struct scene *s, const char *rel)
{
    static char paths[4][300];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, 300, "%s/%s", s->dir, rel);
    return path;
}

/* In memory if that has attributes like a disk: many cases, each of them synced. */
static void scene_init(struct scene *s)
{
    *s = (struct scene){.dir = "/dev/shm/cordon-undo-XXXXXX"};
    if (mkdtemp(s->dir) && tree_set_xattr(s->dir, "user.cordon", ""))
        return;
    rmdir(s->dir);
    snprintf(s->dir, sizeof(s->dir), "%s", test_path("scene"));
}

static void scene_done(struct scene *s)
{
    tree_remove(s->dir);
    free(s->old);
    free(s->first);
}

/* The tree, and the target of its symlink. */
static char *describe(const struct scene *s)
{
    char to[100] = {0};
    AUTO_FREE char *tree = tree_describe(in(s, "r"));
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    (void)!readlink(in(s, "r/link"), to, sizeof(to) - 1);
    buf_printf(&b, "%slink to %s\n", tree, to);
    return buf_take(&b);
}

static struct undo *open_undo(const struct scene *s)
{
    return undo_new(in(s, "undo"), "s1", in(s, "journal"));
}

static void make_tree(const struct scene *s)
{
    static const char *const parts[] = {"r", "undo", "journal"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        tree_remove(in(s, parts[i]));
    tree_file(in(s, "r/a"), "a\r\n", 0640);
    tree_file(in(s, "r/gone"), "to be deleted", 0750);
    tree_set_xattr(in(s, "r/gone"), "user.cordon", "kept");
    tree_file(in(s, "r/mode"), "mode", 0600);
    tree_file(in(s, "r/f2d"), "file", 0644);
    tree_file(in(s, "r/d2f/x"), "x", 0644);
    tree_file(in(s, "r/caf\xe9 \n"), "any name", 0644);
    BUG_ON(symlink("a", in(s, "r/link")) != 0 || mkdir(in(s, "r/empty"), 0755) != 0 ||
           mkdir(in(s, "journal"), 0700) != 0);
}

static struct stamp stamp_at(const struct scene *s, const char *rel)
{
    struct stat st = {0};
    (void)!lstat(in(s, rel), &st);
    return stamp_of(&st);
}

static bool commit(struct undo *u, struct writer *w, struct err *err)
{
    struct toolbox_backup backup = undo_backup(u);
    struct writer_result result;
    writer_when_staged(w, backup.begin, backup.context);
    bool ok = writer_commit(w, &result, err);
    backup.end(backup.context, ok);
    return ok;
}

/* Every kind of change to a file. */
static bool first_turn(const struct scene *s, struct undo *u, struct err *err)
{
    AUTO_FD int root = tree_open(in(s, "r"));
    AUTO_WRITER struct writer *w = NULL;
    struct stamp dir = stamp_at(s, "r/d2f"), link = stamp_at(s, "r/link");
    const struct writer_options to_file = {.expect = &dir},
                                relink = {.link = true, .expect = &link},
                                mode = {.set_mode = true, .mode = 0755};
    undo_begin_turn(u, 0);
    return writer_new(root, in(s, "journal"), &w, err) &&
           writer_put(w, STR("a"), STR("changed\n"), NULL, err) &&
           writer_remove(w, STR("gone"), NULL, err) &&
           writer_put(w, STR("mode"), STR("mode"), &mode, err) &&
           writer_put(w, STR("link"), STR("mode"), &relink, err) &&
           writer_put(w, STR("caf\xe9 \n"), STR("name"), NULL, err) &&
           writer_put(w, STR("empty/new"), STR("new"), NULL, err) &&
           writer_put(w, STR("new/deep/n"), STR("n"), NULL, err) &&
           writer_remove(w, STR("f2d"), NULL, err) &&
           writer_put(w, STR("f2d/in/z"), STR("z"), NULL, err) &&
           writer_put(w, STR("d2f"), STR("now a file"), &to_file, err) &&
           writer_remove(w, STR("d2f/x"), NULL, err) && commit(u, w, err);
}

/* Two changes, of files that the first turn created and changed. */
static bool second_turn(const struct scene *s, struct undo *u, struct err *err)
{
    AUTO_FD int root = tree_open(in(s, "r"));
    AUTO_WRITER struct writer *w = NULL, *more = NULL;
    undo_begin_turn(u, 4);
    return writer_new(root, in(s, "journal"), &w, err) &&
           writer_put(w, STR("a"), STR("changed again\n"), NULL, err) &&
           writer_remove(w, STR("new/deep/n"), NULL, err) &&
           writer_put(w, STR("gone"), STR("is there again"), NULL, err) && commit(u, w, err) &&
           writer_new(root, in(s, "journal"), &more, err) &&
           writer_put(more, STR("a"), STR("and again\n"), NULL, err) &&
           writer_put(more, STR("new/deep/m"), STR("m"), NULL, err) && commit(u, more, err);
}

static void both_turns(struct scene *s, struct undo *u)
{
    AUTO_ERR struct err err = {0};
    make_tree(s);
    s->old = describe(s);
    CHECK_OK(first_turn(s, u, &err), &err);
    s->first = describe(s);
    CHECK(strcmp(s->old, s->first) != 0);
    CHECK_OK(second_turn(s, u, &err), &err);
}

static void check_tree(const struct scene *s, const char *want)
{
    AUTO_FREE char *now = describe(s);
    CHECK_Z(now, want);
}

static void take_back(struct undo *u, size_t turn, size_t files)
{
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    CHECK_OK(undo_back(u, &list, &err), &err);
    CHECK_INT(list.turn, turn);
    CHECK_INT(list.n, files);
}

TEST(undo_is_exact_turn_by_turn)
{
    struct scene s;
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    scene_init(&s);
    struct undo *u = open_undo(&s);
    both_turns(&s, u);
    take_back(u, 4, 4);
    check_tree(&s, s.first);
    /* Another process sees the same. */
    undo_free(u);
    u = open_undo(&s);
    take_back(u, 0, 11);
    check_tree(&s, s.old);
    CHECK(!undo_back(u, &list, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "all changes were undone");
    undo_free(u);
    scene_done(&s);
}

TEST(undo_continues_after_an_undo)
{
    struct scene s;
    AUTO_ERR struct err err = {0};
    scene_init(&s);
    struct undo *u = open_undo(&s);
    both_turns(&s, u);
    take_back(u, 4, 4);
    CHECK_OK(second_turn(&s, u, &err), &err); /* with the same number */
    take_back(u, 4, 4);
    check_tree(&s, s.first);
    undo_free(u);
    scene_done(&s);
}

static void write_it(const struct scene *s)
{
    tree_file(in(s, "r/a"), "and again\n", 0640); /* the same text, but not our file */
}

static void chmod_it(const struct scene *s)
{
    BUG_ON(chmod(in(s, "r/new/deep/m"), 0600) != 0);
}

static void remove_it(const struct scene *s)
{
    BUG_ON(unlink(in(s, "r/gone")) != 0);
}

static void link_it(const struct scene *s)
{
    BUG_ON(unlink(in(s, "r/gone")) != 0 || symlink("a", in(s, "r/gone")) != 0);
}

static void make_dir(const struct scene *s)
{
    BUG_ON(unlink(in(s, "r/a")) != 0 || mkdir(in(s, "r/a"), 0755) != 0);
}

static void make_it(const struct scene *s)
{
    tree_file(in(s, "r/new/deep/n"), "somebody's", 0644);
}

static void link_parent(const struct scene *s)
{
    BUG_ON(rename(in(s, "r/new"), in(s, "r/elsewhere")) != 0 ||
           symlink("elsewhere", in(s, "r/new")) != 0);
}

TEST(undo_refuses_files_changed_otherwise)
{
    static const struct {
        const char *name;
        void (*act)(const struct scene *s);
        const char *part;
    } rows[] = {
        {"written", write_it, "changed 'a' after that turn"},
        {"mode", chmod_it, "changed 'new/deep/m' after"},
        {"removed", remove_it, "changed 'gone' after"},
        {"a link", link_it, "changed 'gone' after"},
        {"a directory", make_dir, "changed 'a' after"},
        {"made", make_it, "changed 'new/deep/n' after"},
        {"parent", link_parent, "'new/deep/m'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scene s;
        AUTO_UNDO_LIST struct undo_list list = {0};
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].name);
        scene_init(&s);
        struct undo *u = open_undo(&s);
        both_turns(&s, u);
        rows[i].act(&s);
        AUTO_FREE char *before = describe(&s);
        CHECK(!undo_back(u, &list, &err));
        CHECK_ERR(&err, E_CONFLICT, rows[i].part);
        check_tree(&s, before);
        undo_free(u);
        scene_done(&s);
    }
}

TEST(undo_restores_the_state_before_a_turn)
{
    struct scene s;
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    scene_init(&s);
    struct undo *u = open_undo(&s);
    make_tree(&s);
    CHECK_OK(first_turn(&s, u, &err), &err);
    tree_file(in(&s, "r/a"), "the user's own\n", 0640);
    AUTO_FREE char *users = describe(&s);
    CHECK_OK(second_turn(&s, u, &err), &err);
    take_back(u, 4, 4);
    check_tree(&s, users); /* the user's text between two turns is back */
    CHECK(!undo_back(u, &list, &err));
    CHECK_ERR(&err, E_CONFLICT, "'a'");
    check_tree(&s, users);
    undo_free(u);
    scene_done(&s);
}

TEST(undo_lists_the_changes_of_a_session)
{
    struct scene s;
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf text = BUF_INIT(1000);
    scene_init(&s);
    struct undo *u = open_undo(&s);
    both_turns(&s, u);
    if (CHECK_OK(undo_changes(u, &list, &err), &err) && CHECK_INT(list.n, 12)) {
        CHECK_STR(list.items[0].path, STR("a"));
        CHECK_OK(undo_read(u, &list.items[0], &text, &err), &err);
        CHECK_STR(buf_str(&text), STR("a\r\n"));
    }
    undo_free(u);
    scene_done(&s);
}

TEST(undo_is_private_and_goes_with_its_session)
{
    struct scene s;
    struct stat st;
    scene_init(&s);
    struct undo *u = open_undo(&s);
    both_turns(&s, u);
    CHECK(stat(in(&s, "undo/s1"), &st) == 0 && (st.st_mode & 0777) == 0700);
    undo_remove(in(&s, "undo"), "s1"); /* in use: it stays */
    CHECK(stat(in(&s, "undo/s1/log"), &st) == 0);
    undo_free(u);
    undo_remove(in(&s, "undo"), "s1");
    CHECK(stat(in(&s, "undo/s1"), &st) != 0);
    scene_done(&s);
}

TEST(undo_does_not_keep_old_sessions_for_ever)
{
    struct scene s;
    struct stat st;
    AUTO_ERR struct err err = {0};
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    scene_init(&s);
    make_tree(&s);
    tree_file(in(&s, "undo/old/log"), "", 0600);
    tree_file(in(&s, "undo/old/1.0"), "x", 0600);
    tree_file(in(&s, "undo/young/log"), "", 0600);
    tree_file(in(&s, "undo/huge/log"), "", 0600);
    tree_file(in(&s, "undo/huge/1.0"), "", 0600);
    BUG_ON(utimensat(AT_FDCWD, in(&s, "undo/old/log"), long_ago, 0) != 0 ||
           truncate(in(&s, "undo/huge/1.0"), (off_t)UNDO_ALL_MAX + 1) != 0);
    struct undo *u = open_undo(&s);
    CHECK_OK(first_turn(&s, u, &err), &err);
    CHECK(stat(in(&s, "undo/old"), &st) != 0);
    CHECK(stat(in(&s, "undo/huge"), &st) != 0);
    CHECK(stat(in(&s, "undo/s1/log"), &st) == 0);
    undo_free(u);
    scene_done(&s);
}

/* Killed -------------------------------------------------------------------------------------- */

static int prepare_change(void *arg)
{
    make_tree(arg);
    return 0;
}

static int run_change(void *arg)
{
    AUTO_ERR struct err err = {0};
    struct undo *u = open_undo(arg);
    bool ok = first_turn(arg, u, &err);
    undo_free(u);
    return ok ? 0 : 1;
}

static int prepare_back(void *arg)
{
    make_tree(arg);
    return run_change(arg);
}

static int run_back(void *arg)
{
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    struct undo *u = open_undo(arg);
    bool ok = undo_back(u, &list, &err);
    undo_free(u);
    return ok || err.code == E_NOT_FOUND ? 0 : 1;
}

/* After any interruption: undone now, the tree is as before. */
static int settle(void *arg)
{
    AUTO_FD int root = tree_open(in(arg, "r"));
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    if (!journal_recover(in(arg, "journal"), root, &report, &err) || report.lost || report.kept)
        return 2;
    return run_back(arg);
}

static void killed_everywhere(child_fn prepare, child_fn run)
{
    struct scene s;
    struct act act = {prepare, run, &s, 0};
    size_t stride = trace_stride(1, 7, 31);
    bool ended = false;
    scene_init(&s);
    make_tree(&s);
    s.old = describe(&s);
    AUTO_FREE char *journal = strdup(in(&s, "journal"));
    for (size_t k = 1; !ended && k < 20000; k += stride) {
        struct watch watch = {.journal_dir = journal};
        ended = trace(&act, k, &watch);
        test_row(k, "killed");
        CHECK_INT(child_run(settle, &s), 0);
        check_tree(&s, s.old);
    }
    CHECK(ended);
    scene_done(&s);
}

TEST(undo_survives_being_killed_while_files_change)
{
    killed_everywhere(prepare_change, run_change);
}

TEST(undo_survives_being_killed_on_the_way_back)
{
    killed_everywhere(prepare_back, run_back);
}
