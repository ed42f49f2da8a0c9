/* Boxes on disk: names, metadata, layout, trash, directories. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "traced.h"
#include "tree.h"

#include "base/clock.h"
#include "box/box_dirs.h"
#include "box/dirty.h"
#include "box/layout.h"
#include "box/meta.h"
#include "box/name.h"
#include "box/state.h"
#include "box/trash.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum {
    ARENA_MAX = 16 << 20,
    STEPS_MAX = 2000,
    TRASH_MS = 60 * 1000,
};

#define A56 "a23456789b123456789c123456789d123456789e123456789f123456"

/* Names --------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *why; /* NULL: valid */
} name_rows[] = {
    {"a", NULL},
    {"fix-login", NULL},
    {"Fix_login.2", NULL},
    {"1", NULL},
    {A56, NULL},
    {A56 "x", "longer than 56"},
    {"", "empty"},
    {".", "must be single and between letters or digits"},
    {"..", "must be single and between letters or digits"},
    {".new", "must be single and between letters or digits"},
    {"-a", "must be single and between letters or digits"},
    {"a-", "must be single and between letters or digits"},
    {"a--b", "must be single and between letters or digits"},
    {"a._b", "must be single and between letters or digits"},
    {"a/b", "only letters"},
    {"a b", "only letters"},
    {"a\nb", "only letters"},
    {"\303\244", "only letters"},
    {"a~", "only letters"},
};

TEST(box_names)
{
    for (size_t i = 0; i < ARRAY_LEN(name_rows); i++) {
        AUTO_ERR struct err err = {0};
        test_row(i, name_rows[i].name);
        bool ok = box_name_check(str_z(name_rows[i].name), &err);
        CHECK_INT(ok, name_rows[i].why == NULL);
        if (name_rows[i].why)
            CHECK_ERR(&err, E_CLI_INVALID_ARG, name_rows[i].why);
    }
}

/* meta.json ----------------------------------------------------------------------------------- */

static struct box_meta sample_meta(void)
{
    return (struct box_meta){
        .cordon_version = STR("1.0"),
        .name = STR("fix"),
        .created_at = STR("2026-02-20T10:00:00Z"),
        .agent = STR("claude"),
        .workdir = {.host_path = STR("/home/u/p"), .mount_path = STR("/home/u/p")},
        .has_prompt = true,
    };
}

TEST(box_meta_is_the_schema)
{
    static const char plain[] =
        "{\n  \"cordon_version\": \"1.0\",\n  \"name\": \"fix\",\n  \"created_at\": "
        "\"2026-02-20T10:00:00Z\",\n  \"agent\": \"claude\",\n  \"workdir\": {\n    \"host_path\": "
        "\"/home/u/p\",\n    \"mount_path\": \"/home/u/p\",\n    \"mode\": \"copy\"\n  },\n  "
        "\"has_prompt\": true\n}\n";
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    AUTO_FD int dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct box_meta meta = sample_meta(), back;
    struct str ports[] = {STR("3000:3000"), STR("8080:80")};
    struct stat st;
    CHECK_OK(shape_check(&box_meta_shape, &err), &err);
    CHECK_OK(meta_save(dir, &meta, &err), &err);
    AUTO_FREE char *text = test_read(test_path("meta.json"));
    CHECK_Z(text, plain);
    CHECK(stat(test_path("meta.json"), &st) == 0 && (st.st_mode & 07777) == 0600);
    meta.model = STR("claude-opus-4-latest");
    meta.network_mode = BOX_NETWORK_ALLOW;
    meta.ports = (struct str_list){ports, 2};
    meta.workdir.mode = BOX_OVERLAY;
    meta.workdir.host_path = STR("/home/u/\377");
    meta.workdir.baseline_sha = STR("0123456789abcdef0123456789abcdef01234567");
    CHECK_OK(meta_save(dir, &meta, &err), &err);
    CHECK_OK(meta_load(dir, STR("fix"), &a, &back, &err), &err);
    CHECK_STR(back.model, meta.model);
    CHECK_STR(back.workdir.host_path, meta.workdir.host_path);
    CHECK_STR(back.workdir.baseline_sha, meta.workdir.baseline_sha);
    CHECK_INT(back.network_mode, BOX_NETWORK_ALLOW);
    CHECK_INT(back.workdir.mode, BOX_OVERLAY);
    CHECK(back.ports.n == 2 && str_is(back.ports.p[1], "8080:80"));
}

#define META(more, path)                                                                         \
    "{\"cordon_version\":\"1\",\"name\":\"fix\",\"created_at\":\"t\",\"agent\":\"claude\"," more \
    "\"workdir\":{\"host_path\":\"" path "\",\"mount_path\":\"/p\",\"mode\":\"copy\"},"          \
    "\"has_prompt\":false}"

#define A40 "0123456789abcdef0123456789abcdef01234567"
#define META_SHA(sha)                                                                       \
    "{\"cordon_version\":\"1\",\"name\":\"fix\",\"created_at\":\"t\",\"agent\":\"claude\"," \
    "\"workdir\":{\"host_path\":\"/p\",\"mount_path\":\"/p\",\"mode\":\"copy\","            \
    "\"baseline_sha\":\"" sha "\"},\"has_prompt\":false}"

static const struct {
    const char *name, *text, *part;
} meta_rows[] = {
    {"right", META("", "/p"), NULL},
    {"no JSON", "{", "meta.json"},
    {"a key too many", META("\"yoloai_version\":\"1\",", "/p"), "unknown key"},
    {"a key missing", "{\"name\":\"fix\"}", "cordon_version"},
    {"another box's",
        "{\"cordon_version\":\"1\",\"name\":\"other\",\"created_at\":\"t\",\"agent\":"
        "\"a\",\"workdir\":{\"host_path\":\"/p\",\"mount_path\":\"/p\",\"mode\":"
        "\"rw\"},\"has_prompt\":false}",
        "it belongs to the box 'other'"},
    {"a relative path", META("", "p"), "absolute"},
    {"a baseline", META_SHA(A40), NULL},
    {"a baseline of SHA-256", META_SHA(A40 "0123456789abcdef01234567"), NULL},
    {"a baseline that is too short", META_SHA("0123456789abcdef"), "baseline_sha"},
    {"a baseline that is too long", META_SHA(A40 "0"), "baseline_sha"},
    {"a baseline that is not hexadecimal", META_SHA("g" A40), "baseline_sha"},
    {"a path with an invalid encoding",
        "{\"cordon_version\":\"1\",\"name\":\"fix\",\"created_at\":\"t\",\"agent\":\"claude\","
        "\"workdir\":{\"host_path\":\"/p\",\"mount_path\":\"/p\",\"mode\":\"copy\","
        "\"inexact\":{\"host_path\":\"^\"}},\"has_prompt\":false}",
        "meta.json: workdir.inexact.host_path"},
    {"an invalid network", META("\"network_mode\":\"off\",", "/p"), "network_mode"},
    {"ports", META("\"ports\":[\"80\"],", "/p"), "HOST:BOX"},
    {"an invalid port", META("\"ports\":[\"0:80\"],", "/p"), "HOST:BOX"},
};

TEST(box_meta_is_checked)
{
    AUTO_FD int dir = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(meta_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        struct box_meta meta;
        test_row(i, meta_rows[i].name);
        test_write(test_path("meta.json"), meta_rows[i].text);
        bool ok = meta_load(dir, STR("fix"), &a, &meta, &err);
        CHECK_INT(ok, meta_rows[i].part == NULL);
        if (meta_rows[i].part)
            CHECK_ERR(&err, E_CONFIG, meta_rows[i].part);
    }
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct box_meta meta;
    unlink(test_path("meta.json"));
    CHECK_INT(symlink("/etc/passwd", test_path("meta.json")), 0);
    CHECK(!meta_load(dir, STR("fix"), &a, &meta, &err));
}

/* On disk ------------------------------------------------------------------------------------- */

static const char *quick_dir; /* NULL: the test's own */

static const char *boxes_dir(void)
{
    return quick_dir ? quick_dir : test_path("s");
}

static bool make_box(const struct boxes *boxes, enum boxes_finish how, const char *mark)
{
    AUTO_ERR struct err err = {0};
    AUTO_FD int lock = -1, box = -1;
    bool ok = boxes_lock(boxes, STR("b"), &lock, &err) &&
              boxes_begin(boxes, STR("b"), &box, &err) &&
              box_make_layers(box, STR("/p"), 0755, &err);
    struct box_meta meta = sample_meta();
    meta.name = STR("b");
    meta.agent = str_z(mark);
    return ok && meta_save(box, &meta, &err) && boxes_finish(boxes, STR("b"), how, &err);
}

/* The box's agent, "+" if it has changes; "" without a box, "?" on errors. */
static const char *look_at(struct arena *a)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int box = -1;
    struct box_meta meta;
    if (!boxes_open(boxes_dir(), BOXES_LOOK, &boxes, &err))
        return "?";
    if (!boxes_find(&boxes, STR("b"), &box, &err))
        return err.code == E_NOT_FOUND ? "" : "?";
    if (!meta_load(box, STR("b"), a, &meta, &err) ||
        faccessat(box, "work/^2Fp/upper", W_OK, 0) != 0 ||
        faccessat(box, "work/^2Fp/work", W_OK, 0) != 0)
        return "?";
    bool changed = faccessat(box, "work/^2Fp/upper/change", F_OK, 0) == 0;
    return arena_printf(a, STR_FMT "%s", STR_ARG(meta.agent), changed ? "+" : "");
}

TEST(box_layout)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int first = -1, second = -1, box = -1;
    struct str_list names;
    struct stat st;
    CHECK_Z(look_at(&a), "");
    CHECK(stat(boxes_dir(), &st) != 0);
    if (!CHECK_OK(boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err), &err))
        return;
    CHECK(make_box(&boxes, BOXES_NEW, "one"));
    CHECK_Z(look_at(&a), "one");
    CHECK(!make_box(&boxes, BOXES_NEW, "two"));
    CHECK_Z(look_at(&a), "one");
    CHECK(make_box(&boxes, BOXES_REPLACE, "two"));
    CHECK_Z(look_at(&a), "two");
    CHECK_OK(boxes_list(&boxes, &a, &names, &err), &err);
    CHECK(names.n == 1 && str_is(names.p[0], "b"));
    CHECK(stat(test_path("s/b"), &st) == 0 && (st.st_mode & 07777) == 0700);
    CHECK_OK(boxes_lock(&boxes, STR("b"), &first, &err), &err);
    CHECK(!boxes_lock(&boxes, STR("b"), &second, &err));
    CHECK_ERR(&err, E_CONFLICT, "another command is using the box 'b'");
    CHECK(!boxes_find(&boxes, STR("c"), &box, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "no such box 'c'");
    CHECK(!boxes_find(&boxes, STR("../b"), &box, &err));
    CHECK_ERR(&err, E_CLI_INVALID_ARG, "is not a valid box name");
    CHECK_OK(boxes_destroy(&boxes, STR("b"), &err), &err);
    CHECK_Z(look_at(&a), "");
}

static int make_one(void *arg)
{
    char byte;
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    bool begun = read(*(int *)arg, &byte, 1) == 0; /* the start: the other end was closed */
    return !(begun && boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err) &&
             make_box(&boxes, BOXES_NEW, "one"));
}

/* Many processes at once: one creates it, the others get an error. */
TEST(box_made_by_many)
{
    enum {
        MANY = 8
    };
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    pid_t pids[MANY];
    int ends[2], made = 0;
    CHECK(boxes_dir() && pipe2(ends, O_CLOEXEC) == 0);
    for (int i = 0; i < MANY; i++) {
        pids[i] = fork();
        BUG_ON(pids[i] < 0);
        if (pids[i] == 0) {
            close(ends[1]);
            _exit(make_one(&ends[0]));
        }
    }
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < MANY; i++) {
        int status = 0;
        CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
        CHECK(WIFEXITED(status));
        made += status == 0;
    }
    CHECK_INT(made, 1);
    CHECK_Z(look_at(&a), "one");
}

TEST(box_layout_of_others)
{
    AUTO_ERR struct err err = {0};
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    CHECK_INT(mkdir(test_path("s"), 0700), 0);
    CHECK_INT(chmod(test_path("s"), 0777), 0);
    CHECK(!boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err));
    CHECK_ERR(&err, E_CONFIG, "others can write to it");
}

/* Trees that are hard to delete. */
TEST(box_trash)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    struct trash_left left;
    if (!CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err))
        return;
    tree_file(test_path("outside"), "kept", 0600);
    tree_file(test_path("s/.trash/x/a/b/c/file"), "x", 0400);
    CHECK_INT(symlink(test_dir(), test_path("s/.trash/x/link")), 0);
    CHECK_INT(symlink(test_dir(), test_path("s/.trash/top")), 0);
    int dir = openat(boxes.trash, "x", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 300; i++) { /* deeper than the limits of descriptors and path lengths */
        CHECK_INT(mkdirat(dir, "deeper-and-deeper-and-deeper", 0700), 0);
        int inner = openat(dir, "deeper-and-deeper-and-deeper", O_RDONLY | O_CLOEXEC);
        close(dir);
        dir = inner;
    }
    close(dir);
    CHECK_INT(chmod(test_path("s/.trash/x/a/b/c"), 0), 0);
    CHECK_INT(chmod(test_path("s/.trash/x/a/b"), 0500), 0);
    CHECK_INT(chmod(test_path("s/.trash/x/a"), 0), 0);
    CHECK_OK(trash_empty(&boxes, 0, &left, &err), &err);
    CHECK(left.left > 0);
    CHECK_OK(trash_empty(&boxes, TRASH_MS, &left, &err), &err);
    CHECK_INT(left.left, 0);
    CHECK_INT(rmdir(test_path("s/.trash")), 0);
    AUTO_FREE char *kept = test_read(test_path("outside"));
    CHECK_Z(kept, "kept");
}

TEST(box_trash_in_use_is_left)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    struct trash_left left;
    if (!CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err))
        return;
    tree_file(test_path("s/.trash/used/inner/file"), "x", 0600);
    tree_file(test_path("s/.trash/unused/file"), "x", 0600);
    int user = tree_open(test_path("s/.trash/used"));
    CHECK_INT(flock(user, LOCK_SH | LOCK_NB), 0);
    CHECK_OK(trash_empty(&boxes, TRASH_MS, &left, &err), &err);
    CHECK_INT(left.left, 1);
    CHECK_INT(access(test_path("s/.trash/used/inner/file"), F_OK), 0);
    close(user);
    CHECK_OK(trash_empty(&boxes, TRASH_MS, &left, &err), &err);
    CHECK_INT(rmdir(test_path("s/.trash")), 0);
}

static bool is_empty_soon(const char *dir)
{
    uint64_t end = clock_mono_ms() + TRASH_MS;
    while (clock_mono_ms() < end) {
        AUTO_FREE char *left = tree_describe(dir);
        if (*left == '\0')
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return false;
}

/* By a process that outlives us, and holds none of our file descriptors. */
TEST(box_trash_later)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err))
        return;
    trash_empty_later(&boxes); /* nothing to do */
    for (int round = 0; round < 20; round++) {
        AUTO_FD int lock = -1, again = -1;
        for (int i = 0; i < 50; i++)
            tree_file(test_path("x/a/b/%d", i), "x", 0400);
        CHECK_INT(rename(test_path("x"), test_path("s/.trash/x%d", round)), 0);
        CHECK_OK(boxes_lock(&boxes, STR("box"), &lock, &err), &err);
        trash_empty_later(&boxes);
        close(lock);
        lock = -1;
        if (!CHECK_OK(boxes_lock(&boxes, STR("box"), &again, &err), &err))
            return;
    }
    CHECK_INT(wait(NULL), -1); /* it is not our child */
    /* The last one may have been added while another process was about to exit. */
    AUTO_FD int busy = open(test_path("s/.trash"), O_RDONLY | O_CLOEXEC);
    CHECK_INT(flock(busy, LOCK_EX), 0);
    close(busy);
    busy = -1;
    trash_empty_later(&boxes);
    CHECK(is_empty_soon(test_path("s/.trash")));
}

/* The number of processes that were left to delete the rest. */
static int empty_soon(void *boxes)
{
    int n = 0;
    BUG_ON(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0);
    trash_empty_soon(boxes);
    while (wait(NULL) > 0)
        n++;
    return n;
}

TEST(box_trash_that_is_left_is_tried_later)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err))
        return;
    CHECK_INT(child_run(empty_soon, &boxes), 0);
    tree_file(test_path("s/.trash/used/file"), "x", 0600);
    AUTO_FD int user = tree_open(test_path("s/.trash/used"));
    CHECK_INT(flock(user, LOCK_SH | LOCK_NB), 0);
    CHECK_INT(child_run(empty_soon, &boxes), 1);
    CHECK_INT(access(test_path("s/.trash/used/file"), F_OK), 0);
}

/* Asks the kernel: trying the lock would hold it for a moment. */
static bool is_locked_soon(const char *path)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    struct stat st;
    char text[64];
    BUG_ON(stat(path, &st) != 0);
    snprintf(text, sizeof(text), ":%llu ", (unsigned long long)st.st_ino);
    for (int i = 0; i < 2000; i++) {
        AUTO_BUF struct buf locks = BUF_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        AUTO_FD int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
        if (CHECK_OK(file_read(fd, 1 << 19, "locks", &locks, &err), &err) &&
            strstr(buf_z(&locks), text))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

TEST(box_trash_yields_to_creation)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err))
        return;
    tree_file(test_path("s/.trash/x/file"), "x", 0400);
    CHECK_INT(mkdir(test_path("s/.new/box"), 0700), 0);
    trash_empty_later(&boxes);
    CHECK(is_locked_soon(test_path("s/.trash")));
    CHECK_INT(access(test_path("s/.trash/x/file"), F_OK), 0);
    CHECK_INT(rmdir(test_path("s/.new/box")), 0);
    CHECK(is_empty_soon(test_path("s/.trash")));
}

/* Killed at every step ------------------------------------------------------------------------ */

static void begin_world(bool with_box)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    tree_remove(boxes_dir());
    BUG_ON(!boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err));
    BUG_ON(with_box && !make_box(&boxes, BOXES_NEW, "old"));
    if (with_box) {
        char path[400];
        snprintf(path, sizeof(path), "%s/b/work/^2Fp/upper/change", boxes_dir());
        tree_file(path, "x", 0600);
    }
}

static int act_new(void *arg UNUSED)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    return !(boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err) &&
             make_box(&boxes, BOXES_REPLACE, "new"));
}

static int act_reset(void *arg UNUSED)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int lock = -1, fresh = -1;
    return !(boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err) &&
             boxes_lock(&boxes, STR("b"), &lock, &err) &&
             box_begin_part(&boxes, STR("b"), 0755, &fresh, &err) &&
             box_swap_part(&boxes, STR("b"), "work", STR("/p"), &err));
}

static int act_destroy(void *arg UNUSED)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int lock = -1;
    return !(boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err) &&
             boxes_lock(&boxes, STR("b"), &lock, &err) && boxes_destroy(&boxes, STR("b"), &err));
}

static int nothing(void *arg UNUSED)
{
    return 0;
}

static const struct {
    const char *name;
    child_fn act;
    bool with_box;
    const char *before, *after;
} kill_rows[] = {
    {"new", act_new, false, "", "new"},
    {"replace", act_new, true, "old+", "new"},
    {"reset", act_reset, true, "old+", "old"},
    {"destroy", act_destroy, true, "old+", ""},
};

/* Afterwards the same command works, and nothing is left over. */
static void go_on(child_fn act, const char *after)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    struct trash_left left;
    size_t swept;
    CHECK_INT(act(NULL), 0);
    CHECK_Z(look_at(&a), after);
    CHECK_OK(boxes_open(boxes_dir(), BOXES_MAKE, &boxes, &err), &err);
    CHECK_OK(trash_sweep(&boxes, &swept, &err), &err);
    CHECK_OK(trash_empty(&boxes, TRASH_MS, &left, &err), &err);
    CHECK_INT(left.left, 0);
    CHECK_INT(unlinkat(boxes.fd, ".new", AT_REMOVEDIR), 0);
}

static void kill_all(void)
{
    for (size_t i = 0; i < ARRAY_LEN(kill_rows); i++) {
        const struct act act = {.prepare = nothing, .run = kill_rows[i].act};
        bool ended = false;
        size_t k;
        for (k = 1; !ended && k < STEPS_MAX; k++) {
            AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
            struct watch watch = {.journal_dir = "/nowhere"};
            begin_world(kill_rows[i].with_box);
            ended = trace(&act, k, &watch);
            struct str got = str_z(look_at(&a));
            test_row(k, kill_rows[i].name);
            if (!CHECK(str_is(got, kill_rows[i].after) ||
                       (!ended && str_is(got, kill_rows[i].before))))
                return;
            go_on(kill_rows[i].act, kill_rows[i].after);
        }
        CHECK(ended && k > 10);
    }
}

/* In memory if possible: hundreds of cases, each of them synced. */
TEST(box_killed_at_every_step)
{
    char memory[] = "/dev/shm/cordon-box-XXXXXX";
    if (mkdtemp(memory))
        quick_dir = memory;
    kill_all();
    if (quick_dir)
        tree_remove(quick_dir);
    quick_dir = NULL;
}

/* Directories --------------------------------------------------------------------------------- */

static const struct {
    const char *dirs; /* separated by blanks; those without '/' are below the test's directory */
    enum err_code code;
    const char *part; /* of the error, or else of the warning */
} dir_rows[] = {
    {"p", ERR_NONE, NULL},
    {"p q", ERR_NONE, NULL},
    {"p:rw q:rw", ERR_NONE, NULL},
    {"missing", E_IO, "cannot use"},
    {"file", E_IO, "Not a directory"},
    {"/", E_POLICY_DENIED, "whole file system"},
    {"/etc", E_POLICY_DENIED, "append ':force' to override"},
    {"/etc:force", ERR_NONE, "settings and secrets"},
    {"/usr/share:rw", E_POLICY_DENIED, "system's programs"},
    {"/usr/share", ERR_NONE, NULL},
    {"to-etc", E_POLICY_DENIED, "settings and secrets"},
    {"home", E_POLICY_DENIED, "home directory"},
    {"home:force", ERR_NONE, "home directory"},
    {"to-home", E_POLICY_DENIED, "home directory"},
    {"above", E_POLICY_DENIED, "cordon's own files, including boxes"},
    {"above:force", ERR_NONE, "cordon's own files, including boxes"},
    {"above:overlay:force", E_CLI_INVALID_ARG, "an overlay cannot contain itself"},
    {"above/state/x:force", E_CLI_INVALID_ARG, "where cordon stores its own files"},
    {"p p", E_CLI_INVALID_ARG, "twice"},
    {"p p/inner", E_CLI_INVALID_ARG, "contains"},
    {"p/inner:force p:force", E_CLI_INVALID_ARG, "contains"},
    {"p to-inner", E_CLI_INVALID_ARG, "contains"},
    {"p p-2", ERR_NONE, NULL},
};

static void make_dirs(void)
{
    static const char *const files[] = {"p/inner/f", "p-2/f", "q/f", "home/f", "above/state/x/f"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        tree_file(test_path("%s", files[i]), "x", 0600);
    tree_file(test_path("file"), "x", 0600);
    CHECK_INT(symlink("/etc", test_path("to-etc")), 0);
    CHECK_INT(symlink("home", test_path("to-home")), 0);
    CHECK_INT(symlink("p/inner", test_path("to-inner")), 0);
}

TEST(box_dirs)
{
    make_dirs();
    for (size_t i = 0; i < ARRAY_LEN(dir_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        struct dirarg args[4];
        struct box_dir dirs[4];
        size_t n = 0;
        struct str rest = str_z(dir_rows[i].dirs), word;
        test_row(i, dir_rows[i].dirs);
        while (str_cut(rest, ' ', &word, &rest))
            CHECK_OK(dirarg_parse(word, str_z(test_dir()), &a, &args[n++], &err), &err);
        const struct dirs_host host = {test_path("home"), test_path("above/state")};
        bool ok = dirs_check(args, n, &host, &a, dirs, &err);
        CHECK_INT(ok, dir_rows[i].code == ERR_NONE);
        if (!ok)
            CHECK_ERR(&err, dir_rows[i].code, dir_rows[i].part);
        else
            CHECK(dir_rows[i].part
                      ? dirs[0].danger && strstr(dirs[0].danger->reason, dir_rows[i].part)
                      : !dirs[0].danger);
    }
}

/* git ----------------------------------------------------------------------------------------- */

static bool git(const char *command)
{
    const char *line = test_path("%s", "g");
    char text[4096];
    snprintf(text, sizeof(text),
        "cd '%s' && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git -c user.name=t -c "
        "user.email=t@t %s >/dev/null 2>&1",
        line, command);
    return system(text) == 0;
}

TEST(box_dirty)
{
    AUTO_ERR struct err err = {0};
    struct dirty d;
    tree_file(test_path("g/a"), "1", 0600);
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK(!d.is_git);
    if (!git("init"))
        return test_skip("there is no git");
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK(d.is_git && d.untracked == 1 && d.changed == 0 && !d.head[0]);
    CHECK(git("add a") && git("commit -m 1"));
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK(d.is_git && d.untracked == 0 && d.changed == 0 && strlen(d.head) == 40);
    /* A renamed file counts as one, whatever its names begin with; ignored files do not count. */
    CHECK(git("mv a '? b'"));
    tree_file(test_path("g/.gitignore"), "*.o\n", 0600);
    tree_file(test_path("g/x.o"), "1", 0600);
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK_INT(d.changed, 1);
    CHECK_INT(d.untracked, 1);
    /* No program that the repository names is run. */
    CHECK(git("config core.fsmonitor 'touch ran'"));
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    struct stat st;
    CHECK(stat(test_path("g/ran"), &st) != 0);
    CHECK(git("config filter.x.clean 'touch ran; cat'"));
    tree_file(test_path("g/.git/info/attributes"), "* filter=x\n", 0600);
    tree_file(test_path("g/? b"), "1", 0600); /* the same as before, but git has to read it */
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK_INT(d.changed, 1);
    CHECK(stat(test_path("g/ran"), &st) != 0);
    tree_remove(test_path("g/.git/refs"));
    CHECK(!dirty_ask(test_path("g"), &d, &err));
    CHECK_ERR(&err, E_IO, "git cannot determine whether");
}

TEST(box_dirty_as_the_user_has_set_git)
{
    AUTO_ERR struct err err = {0};
    AUTO_FREE char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    struct dirty d;
    tree_file(test_path("g/a.log"), "1", 0600);
    if (!git("init"))
        return test_skip("there is no git");
    setenv("HOME", test_path("home"), 1);
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK_INT(d.untracked, 1);
    tree_file(test_path("home/.config/git/ignore"), "*.log\n", 0600);
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK_INT(d.untracked, 0);
    tree_file(test_path("home/.config/git/none"), "", 0600);
    tree_file(test_path("home/.gitconfig"), "[core]\n\texcludesFile = ~/.config/git/none\n", 0600);
    CHECK_OK(dirty_ask(test_path("g"), &d, &err), &err);
    CHECK_INT(d.untracked, 1);
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
}

/* State --------------------------------------------------------------------------------------- */

TEST(box_state_is_only_believed_while_a_process_runs_it)
{
    AUTO_FD int host = tree_open(test_path("."));
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0}, taken = {0};
    struct box_state state;
    bool held;
    CHECK(shape_check(&box_state_shape, &err));
    CHECK(state_load(host, &a, &state, &held, &err));
    CHECK(state.status == BOX_STOPPED && state.exit_code == -1 && !held);
    {
        AUTO_FD int lock = -1;
        int other = -1;
        const struct box_state runs = {.status = BOX_IDLE,
            .exit_code = -1,
            .prompt = BOX_PROMPT_DELIVERED,
            .started_at = STR("2026-01-02T03:04:05.678Z"),
            .run = 7,
            .agent = true};
        CHECK(state_hold(host, &lock, &err) && state_save(host, &runs, &err));
        CHECK(state_load(host, &a, &state, &held, &err));
        CHECK(state.status == BOX_IDLE && held && state.run == 7 && state.agent);
        CHECK(!state_hold(host, &other, &taken) && taken.code == E_CONFLICT);
        CHECK(other == -1);
    }
    CHECK(state_load(host, &a, &state, &held, &err));
    CHECK(state.status == BOX_STOPPED && !held && state.prompt == BOX_PROMPT_DELIVERED);
}
