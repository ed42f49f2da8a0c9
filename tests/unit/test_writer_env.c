/* The multi-file writer in adverse conditions: full and read-only file systems, missing
 * permissions, limits, and concurrent writers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "base/clock.h"
#include "path/journal.h"
#include "path/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    BIG = 1 << 20,
    LATEST_MS = 60 * 1000, /* for a first success on a busy machine */
    ROUNDS_MS = 2000,
    SKIPPED = 77,
};

/* An update, a file in a new directory, a deletion, and a file that is too big for the place. */
static bool try_change(const char *root, const char *journal, struct err *err)
{
    AUTO_FD int root_fd = tree_open(root);
    AUTO_WRITER struct writer *w = NULL;
    AUTO_FREE char *big = base_alloc(BIG);
    struct writer_result result;
    memset(big, 'b', BIG);
    return writer_new(root_fd, journal, &w, err) &&
           writer_put(w, STR("a"), STR("new a"), NULL, err) &&
           writer_put(w, STR("n/e/w"), STR("new"), NULL, err) &&
           writer_remove(w, STR("d"), NULL, err) &&
           writer_put(w, STR("z"), str_n(big, BIG), NULL, err) && writer_commit(w, &result, err);
}

static void make_root(const char *root)
{
    static const char *const names[] = {"a", "d", "z"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[400];
        snprintf(path, sizeof(path), "%s/%s", root, names[i]);
        tree_file(path, "old", 0644);
    }
}

/* Checks that the change fails with this, and that everything is as before. */
static int fails_cleanly(const char *root, const char *journal, const char *part)
{
    AUTO_ERR struct err err = {0};
    AUTO_FREE char *before = tree_describe(root);
    bool ok = CHECK(!try_change(root, journal, &err)) && CHECK_ERR(&err, E_IO, part);
    AUTO_FREE char *after = tree_describe(root);
    AUTO_FREE char *left = tree_describe(journal);
    ok = CHECK_Z(after, before) && ok;
    ok = CHECK_Z(left, "") && ok;
    return ok ? 0 : 1;
}

static void check_child(child_fn act)
{
    int answer = child_run(act, NULL);
    if (answer == SKIPPED)
        printf("# no private mounts here\n");
    else
        CHECK_INT(answer, 0);
}

static int act_full_disk(void *arg)
{
    (void)arg;
    const char *root = test_path("mnt");
    if (!child_private_mounts() || mount("none", root, "tmpfs", 0, "size=256k") != 0)
        return SKIPPED;
    make_root(root);
    return fails_cleanly(root, test_path("journal"), "cannot write 'z': No space left on device");
}

TEST(writer_on_a_full_disk_leaves_all_old)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    check_child(act_full_disk);
}

static int act_full_journal(void *arg)
{
    (void)arg;
    const char *mnt = test_path("mnt"), *root = test_path("root");
    if (!child_private_mounts() || mount("none", mnt, "tmpfs", 0, "size=16k") != 0)
        return SKIPPED;
    make_root(root);
    tree_file(test_path("mnt/filler"), "", 0644);
    AUTO_FD int fd = open(test_path("mnt/filler"), O_WRONLY | O_CLOEXEC);
    char page[4096] = "";
    while (write(fd, page, sizeof(page)) > 0)
        continue;
    BUG_ON(mkdir(test_path("mnt/journal"), 0700) != 0);
    return fails_cleanly(root, test_path("mnt/journal"), "No space left on device");
}

TEST(writer_with_a_full_journal_disk_leaves_all_old)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    check_child(act_full_journal);
}

/* Makes one call fail from now on, in this process. */
static void call_fails(int number, int errnum)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {ARRAY_LEN(code), code};
    BUG_ON(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0);
}

/* So many files that a file system is synced as a whole, if it is known to support that. */
static bool change_many(const char *root, const char *journal, struct err *err)
{
    AUTO_FD int root_fd = tree_open(root);
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    bool ok = writer_new(root_fd, journal, &w, err);
    for (int i = 0; ok && i <= CHANGE_SYNC_WHOLE; i++) {
        char name[32];
        snprintf(name, sizeof(name), "d/f%d", i);
        ok = writer_put(w, str_z(name), STR("text"), NULL, err);
    }
    return ok && writer_commit(w, &result, err);
}

static const struct sync_case {
    const char *type; /* of the file system */
    int call, errnum;
    const char *message; /* NULL: it succeeds */
} sync_cases[] = {
    {"tmpfs", SYS_syncfs, EINVAL, "cannot sync the directory of 'd/f0': Invalid argument"},
    {"tmpfs", SYS_syncfs, EIO, "cannot sync the directory of 'd/f0': Input/output error"},
    {"ramfs", SYS_syncfs, EIO, NULL}, /* an unknown one: not synced as a whole */
};

static int act_sync(void *arg)
{
    const struct sync_case *c = arg;
    AUTO_ERR struct err err = {0};
    const char *root = test_path("mnt");
    if (!child_private_mounts() || mount("none", root, c->type, 0, NULL) != 0)
        return SKIPPED;
    call_fails(c->call, c->errnum);
    bool ok = change_many(root, test_path("journal"), &err);
    return c->message ? !(CHECK(!ok) && CHECK_ERR(&err, E_IO, c->message)) : !CHECK(ok);
}

TEST(writer_syncs_whole_file_systems_only_where_safe)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    for (size_t i = 0; i < ARRAY_LEN(sync_cases); i++) {
        struct sync_case c = sync_cases[i];
        int answer = child_run(act_sync, &c);
        if (answer == SKIPPED)
            printf("# no private mounts here\n");
        else
            CHECK_INT(answer, 0);
    }
}

static int act_inodes(void *arg)
{
    (void)arg;
    const char *root = test_path("mnt");
    /* The root, three files, and one more. */
    if (!child_private_mounts() || mount("none", root, "tmpfs", 0, "nr_inodes=5") != 0)
        return SKIPPED;
    make_root(root);
    return fails_cleanly(root, test_path("journal"), "No space left on device");
}

TEST(writer_without_inodes_leaves_all_old)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    check_child(act_inodes);
}

static int act_read_only(void *arg)
{
    (void)arg;
    const char *root = test_path("mnt");
    if (!child_private_mounts() || mount("none", root, "tmpfs", 0, "size=4m") != 0)
        return SKIPPED;
    make_root(root);
    if (mount(NULL, root, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0)
        return SKIPPED;
    return fails_cleanly(root, test_path("journal"), "cannot write 'a': Read-only file system");
}

TEST(writer_on_a_read_only_file_system_leaves_all_old)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    check_child(act_read_only);
}

/* A new file in a root that is read-only from the start, or from the moment of the commit on. */
static int try_create(bool late)
{
    const char *root = test_path("mnt");
    AUTO_ERR struct err err = {0};
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
    if (!child_private_mounts() || mount("none", root, "tmpfs", 0, "size=4m") != 0)
        return SKIPPED;
    make_root(root);
    AUTO_FD int root_fd = tree_open(root);
    if (!late && mount(NULL, root, NULL, flags, NULL) != 0)
        return SKIPPED;
    BUG_ON(!writer_new(root_fd, test_path("home/journal"), &w, &err));
    bool put = writer_put(w, STR("x/y/new"), STR("new"), NULL, &err) &&
               writer_put(w, STR("other"), STR("new"), NULL, &err);
    bool ok = CHECK(put == late);
    if (late) {
        BUG_ON(mount(NULL, root, NULL, flags, NULL) != 0);
        ok = CHECK(!writer_commit(w, &result, &err)) && ok;
    }
    ok = CHECK_ERR(&err, E_IO, "Read-only file system") && ok;
    ok = CHECK(!strstr(err.message, "could not be undone")) && ok;
    return CHECK(access(test_path("home"), F_OK) != 0) && ok ? 0 : 1;
}

static int act_create_read_only(void *arg)
{
    (void)arg;
    return try_create(false);
}

static int act_create_read_only_late(void *arg)
{
    (void)arg;
    return try_create(true);
}

TEST(writer_creates_nothing_on_a_read_only_file_system)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    check_child(act_create_read_only);
    check_child(act_create_read_only_late);
}

/* The root comes from a lower layer, and is copied up by the first change below it. */
static int act_overlay(void *arg)
{
    (void)arg;
    char options[1200];
    struct rootid before, after;
    AUTO_ERR struct err err = {0};
    snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", test_path("mnt/low"),
        test_path("mnt/up"), test_path("mnt/work"));
    if (!child_private_mounts() || mount("none", test_path("mnt"), "tmpfs", 0, NULL) != 0)
        return SKIPPED;
    make_root(test_path("mnt/low/root"));
    BUG_ON(mkdir(test_path("mnt/up"), 0755) != 0 || mkdir(test_path("mnt/work"), 0755) != 0);
    BUG_ON(mkdir(test_path("mnt/all"), 0755) != 0);
    if (mount("none", test_path("mnt/all"), "overlay", 0, options) != 0)
        return SKIPPED;
    AUTO_FD int root_fd = tree_open(test_path("mnt/all/root"));
    BUG_ON(!rootid_look(root_fd, &before, &err));
    tree_file(test_path("mnt/all/root/new"), "new", 0644);
    BUG_ON(!rootid_look(root_fd, &after, &err));
    return CHECK(rootid_is(&before, &after, true)) ? 0 : 1;
}

TEST(journal_root_of_an_overlay_stays_the_same)
{
    BUG_ON(mkdir(test_path("mnt"), 0777) != 0);
    check_child(act_overlay);
}

static int act_no_locks(void *arg)
{
    (void)arg;
    AUTO_ERR struct err err = {0};
    struct journal_report report;
    AUTO_FD int root_fd = tree_open(test_path("root"));
    BUG_ON(!child_without_call(SYS_flock, ENOLCK));
    bool ok = CHECK(!journal_recover(test_path("journal"), root_fd, &report, &err)) &&
              CHECK_ERR(&err, E_IO, "No locks available");
    return fails_cleanly(test_path("root"), test_path("other"), "No locks available") == 0 && ok
               ? 0
               : 1;
}

TEST(writer_without_locks_reports_it)
{
    make_root(test_path("root"));
    tree_file(test_path("journal/0123456789abcdef.journal"), "", 0600);
    CHECK_INT(child_run(act_no_locks, NULL), 0);
}

static int act_file_limit(void *arg)
{
    (void)arg;
    struct rlimit limit = {BIG / 2, BIG / 2};
    make_root(test_path("root"));
    signal(SIGXFSZ, SIG_IGN);
    BUG_ON(setrlimit(RLIMIT_FSIZE, &limit) != 0);
    return fails_cleanly(
        test_path("root"), test_path("journal"), "cannot write 'z': File too large");
}

TEST(writer_past_the_file_size_limit_leaves_all_old)
{
    BUG_ON(mkdir(test_path("root"), 0777) != 0); /* here: a child's would not be removed */
    CHECK_INT(child_run(act_file_limit, NULL), 0);
}

static int act_no_rights(void *arg)
{
    (void)arg;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return SKIPPED;
    make_root(test_path("free/root"));
    tree_file(test_path("free/root/closed/f"), "old", 0644);
    BUG_ON(chmod(test_path("free/root/closed"), 0555) != 0);
    AUTO_ERR struct err err = {0};
    AUTO_FREE char *before = tree_describe(test_path("free/root"));
    AUTO_FD int root_fd = tree_open(test_path("free/root"));
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    bool ok = writer_new(root_fd, test_path("free/journal"), &w, &err) &&
              writer_put(w, STR("a"), STR("new"), NULL, &err) &&
              writer_put(w, STR("closed/f"), STR("new"), NULL, &err);
    ok = CHECK(ok) && CHECK(!writer_commit(w, &result, &err)) &&
         CHECK_ERR(&err, E_IO, "cannot write next to 'closed/f': Permission denied");
    AUTO_FREE char *after = tree_describe(test_path("free/root"));
    ok = CHECK_Z(after, before) && ok;
    return CHECK(access(test_path("free/journal"), F_OK) != 0) && ok ? 0 : 1;
}

TEST(writer_in_a_read_only_directory_leaves_all_old)
{
    BUG_ON(mkdir(test_path("free"), 0777) != 0 || chmod(test_path("free"), 0777) != 0);
    BUG_ON(chmod(test_dir(), 0777) != 0);
    CHECK_INT(child_run(act_no_rights, NULL), 0);
}

static int act_journal_rights(void *arg)
{
    (void)arg;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return SKIPPED;
    make_root(test_path("free/root"));
    BUG_ON(mkdir(test_path("free/home"), 0555) != 0);
    return fails_cleanly(test_path("free/root"), test_path("free/home/journal"),
        "cannot create the journal directory");
}

TEST(writer_without_a_place_for_its_journal_leaves_all_old)
{
    BUG_ON(mkdir(test_path("free"), 0777) != 0 || chmod(test_path("free"), 0777) != 0);
    BUG_ON(chmod(test_dir(), 0777) != 0);
    CHECK_INT(child_run(act_journal_rights, NULL), 0);
}

/* One of two processes that change the same files all the time. Every file contains "<who>
 * <number>" twice. */
struct rival {
    char who;
    const char *root;
    const char *journal;
};

static bool rival_round(struct rival *r, int round, struct err *err)
{
    char text[64], own[16];
    AUTO_FD int root_fd = tree_open(r->root);
    AUTO_WRITER struct writer *w = NULL;
    struct writer_result result;
    snprintf(text, sizeof(text), "%c %d\n%c %d\n", r->who, round, r->who, round);
    snprintf(own, sizeof(own), "own/%c/f", r->who);
    struct stat st;
    bool there = fstatat(root_fd, "new/c", &st, 0) == 0;
    return writer_new(root_fd, r->journal, &w, err) &&
           writer_put(w, STR("a"), str_z(text), NULL, err) &&
           writer_put(w, STR("sub/b"), str_z(text), NULL, err) &&
           (there ? writer_remove(w, STR("new/c"), NULL, err)
                  : writer_put(w, STR("new/c"), str_z(text), NULL, err)) &&
           writer_put(w, str_z(own), str_z(text), NULL, err) && writer_commit(w, &result, err);
}

static bool is_whole(const char *text)
{
    size_t half = strlen(text) / 2;
    return text[0] && strlen(text) % 2 == 0 && memcmp(text, text + half, half) == 0;
}

static int act_rival(void *arg)
{
    struct rival *r = arg;
    int won = 0;
    bool ok = true;
    uint64_t end = clock_mono_ms() + ROUNDS_MS, latest = end + LATEST_MS;
    for (int i = 0; ok && clock_mono_ms() < (won ? end : latest); i++) {
        AUTO_ERR struct err err = {0};
        bool done = rival_round(r, i, &err);
        won += done;
        ok = done || CHECK_ERR(&err, E_CONFLICT, "");
        char path[400];
        snprintf(path, sizeof(path), "%s/a", r->root);
        AUTO_FREE char *text = test_read(path);
        ok = ok && CHECK(text && is_whole(text));
    }
    return ok && CHECK(won > 0) ? 0 : 1;
}

TEST(writer_and_rival_never_mix)
{
    tree_file(test_path("root/a"), "= 0\n= 0\n", 0644);
    tree_file(test_path("root/sub/b"), "= 0\n= 0\n", 0644);
    char root[300], journal[300];
    snprintf(root, sizeof(root), "%s", test_path("root"));
    snprintf(journal, sizeof(journal), "%s", test_path("home/journal"));
    struct rival rivals[] = {{'x', root, journal}, {'y', root, journal}, {'z', root, journal}};
    pid_t pids[ARRAY_LEN(rivals)];
    for (size_t i = 0; i < ARRAY_LEN(rivals); i++) {
        pids[i] = fork();
        BUG_ON(pids[i] < 0);
        if (pids[i] == 0)
            _exit(act_rival(&rivals[i]));
    }
    for (size_t i = 0; i < ARRAY_LEN(rivals); i++) {
        int status;
        BUG_ON(waitpid(pids[i], &status, 0) != pids[i]);
        CHECK_INT(status, 0);
    }
    AUTO_FREE char *a = test_read(test_path("root/a"));
    AUTO_FREE char *b = test_read(test_path("root/sub/b"));
    CHECK(is_whole(a));
    CHECK_Z(a, b);
    AUTO_FREE char *tree = tree_describe(root);
    CHECK(!strstr(tree, ".cordon-"));
    AUTO_FREE char *left = tree_describe(journal);
    CHECK_Z(left, "");
}

/* Removes the journal's directories when they are empty, as the writer that created them does: less
 * often than a writer retries. */
static int act_remover(void *arg)
{
    (void)arg;
    char deep[300], home[300];
    snprintf(deep, sizeof(deep), "%s", test_path("home/deep"));
    snprintf(home, sizeof(home), "%s", test_path("home"));
    int removed = 0;
    for (uint64_t end = clock_mono_ms() + LATEST_MS; removed < 50 && clock_mono_ms() < end;) {
        removed += rmdir(deep) == 0;
        removed += rmdir(home) == 0;
    }
    return 0;
}

TEST(writer_creates_its_journal_while_directories_vanish)
{
    char root[300], journal[300];
    snprintf(root, sizeof(root), "%s", test_path("root"));
    snprintf(journal, sizeof(journal), "%s", test_path("home/deep/journal"));
    tree_file(test_path("root/a"), "= 0\n= 0\n", 0644);
    struct rival rival = {'x', root, journal};
    pid_t remover = fork();
    BUG_ON(remover < 0);
    if (remover == 0)
        _exit(act_remover(NULL));
    bool ok = true;
    uint64_t end = clock_mono_ms() + ROUNDS_MS;
    for (int i = 0; ok && clock_mono_ms() < end; i++) {
        AUTO_ERR struct err err = {0};
        ok = CHECK_OK(rival_round(&rival, i, &err), &err);
    }
    kill(remover, SIGKILL);
    BUG_ON(waitpid(remover, NULL, 0) != remover);
    CHECK(ok);
}
