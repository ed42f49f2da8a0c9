/* Creating, resetting and destroying boxes, interrupted at every step. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "traced.h"
#include "tree.h"

#include "box/applying.h"
#include "box/box.h"
#include "box/new.h"
#include "box/reset.h"
#include "box/state.h"
#include "box/trash.h"
#include "box/view.h"
#include "boxd/client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
    ARENA_MAX = 16 << 20,
    STEPS_MAX = 5000,
    TRASH_MS = 60 * 1000,
};

static char world[64]; /* in memory if possible: many cases, each of them synced */

static const char *path_of(const char *name)
{
    static char paths[4][300];
    static size_t next;
    char *path = paths[next++ % ARRAY_LEN(paths)];
    snprintf(path, sizeof(paths[0]), "%s/%s", world, name);
    return path;
}

/* Actions ------------------------------------------------------------------------------------- */

static bool yes(void *context, const struct dirty *dirty, struct err *err)
{
    (void)context, (void)dirty, (void)err;
    return true;
}

static bool make(struct boxes *boxes, enum box_mode mode, const char *prompt, struct err *err)
{
    AUTO(new_report_done) struct new_report report = NEW_REPORT_INIT;
    AUTO_FD int lock = -1;
    struct stat st;
    struct str project = str_z(path_of("p"));
    if (stat(project.p, &st) != 0)
        return false;
    const struct box_dir dir = {
        .path = project, .dev = st.st_dev, .ino = st.st_ino, .mode = st.st_mode};
    const struct new_input input = {
        .meta = {.name = STR("b"), .agent = STR("claude"), .workdir = {project, project, mode}},
        .prompt = str_z(prompt),
        .agent = &agent_builtin.p[0],
        .project = &dir,
        .state = path_of("s"),
        .replace = true,
        .go_on = yes,
    };
    return boxes_lock(boxes, STR("b"), &lock, err) && new_make(boxes, &input, &report, err);
}

static int make_as(enum box_mode mode, const char *prompt)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    return !(boxes_open(path_of("s/sandboxes"), BOXES_MAKE, &boxes, &err) &&
             make(&boxes, mode, prompt, &err));
}

static int act_copy(void *arg UNUSED)
{
    return make_as(BOX_COPY, "new");
}

static int act_overlay(void *arg UNUSED)
{
    return make_as(BOX_OVERLAY, "new");
}

static bool on_box(bool (*act)(const struct boxes *, const struct box *, struct err *))
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int lock = -1, hold = -1;
    return boxes_open(path_of("s/sandboxes"), BOXES_MAKE, &boxes, &err) &&
           boxes_lock(&boxes, STR("b"), &lock, &err) &&
           box_open(&boxes, STR("b"), &(struct agent_rows){0}, &a, &box, &err) &&
           client_halt(&box, &hold, &err) && act(&boxes, &box, &err);
}

static bool reset(const struct boxes *boxes, const struct box *box, struct err *err)
{
    return reset_box(boxes, box, &(struct reset_options){.clean = true}, err);
}

static bool destroy(const struct boxes *boxes, const struct box *box, struct err *err)
{
    return boxes_destroy(boxes, box->name, err);
}

static int act_reset(void *arg UNUSED)
{
    return !on_box(reset);
}

static int act_destroy(void *arg UNUSED)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    struct str_list names;
    if (!boxes_open(path_of("s/sandboxes"), BOXES_MAKE, &boxes, &err) ||
        !boxes_list(&boxes, &a, &names, &err))
        return 1;
    return names.n && !on_box(destroy); /* a second time is not an error */
}

static int nothing(void *arg UNUSED)
{
    return 0;
}

/* State --------------------------------------------------------------------------------------- */

static bool has_change(const struct box *box)
{
    AUTO_DELTA struct delta delta = DELTA_INIT;
    AUTO_ERR struct err err = {0};
    CHECK_OK(reset_unapplied(box, &delta, &err), &err);
    return delta.n > 0;
}

/* The box by its prompt, "+" for a change, "~" for a home that was used; "" without a box. */
static const char *look_at(struct arena *a)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err err = {0};
    struct str_list names;
    struct str prompt;
    if (!CHECK_OK(boxes_open(path_of("s/sandboxes"), BOXES_LOOK, &boxes, &err), &err) ||
        !CHECK_OK(boxes_list(&boxes, a, &names, &err), &err) || names.n == 0)
        return "";
    if (!CHECK_OK(box_open(&boxes, STR("b"), &(struct agent_rows){0}, a, &box, &err), &err) ||
        !CHECK_OK(box_prompt(&box, a, &prompt, &err), &err))
        return "damaged";
    bool used = faccessat(box.fd, "home/used", F_OK, 0) == 0;
    if (box.meta.workdir.mode == BOX_COPY) {
        AUTO_FREE char *base = tree_describe(box_part_path(&box, "base", NULL, a).p);
        AUTO_FREE char *project = tree_describe(path_of("p"));
        CHECK_Z(base, project);
    }
    return arena_printf(
        a, STR_FMT "%s%s", STR_ARG(prompt), has_change(&box) ? "+" : "", used ? "~" : "");
}

static void use_box(void)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(boxes_open(path_of("s/sandboxes"), BOXES_LOOK, &boxes, &err), &err) ||
        !CHECK_OK(box_open(&boxes, STR("b"), &(struct agent_rows){0}, &a, &box, &err), &err))
        return;
    tree_file(arena_printf(&a, "%s/change", box_part_path(&box, "work", "upper", &a).p), "x", 0600);
    tree_file(arena_printf(&a, "%s/home/used", box.path.p), "x", 0600);
}

struct row {
    const char *name;
    child_fn act;
    enum box_mode mode; /* of the box that exists before */
    const char *before, *after;
    const char *between; /* a state that is also possible, and gone when the command is repeated */
};

static const struct row rows[] = {
    {"new, copy", act_copy, BOX_COPY, "", "new", NULL},
    {"new, overlay", act_overlay, BOX_COPY, "", "new", NULL},
    {"replace", act_copy, BOX_OVERLAY, "old+~", "new", NULL},
    {"reset of a copy", act_reset, BOX_COPY, "old+~", "old", "old~"},
    {"reset of an overlay", act_reset, BOX_OVERLAY, "old+~", "old", "old~"},
    {"destroy", act_destroy, BOX_COPY, "old+~", "", NULL},
};

static void begin_world(const struct row *row)
{
    tree_remove(path_of("s"));
    BUG_ON(mkdir(path_of("s"), 0700) != 0);
    if (!row->before[0])
        return;
    CHECK_INT(make_as(row->mode, "old"), 0);
    use_box();
}

/* A sandbox that was tried ends with the process that tried it, but not at the same moment. */
static void wait_for_lock(void)
{
    AUTO_FD int lock = open(path_of("s/sandboxes/.locks/b"), O_RDWR | O_CLOEXEC);
    if (lock >= 0)
        CHECK_INT(flock(lock, LOCK_EX), 0);
}

/* Afterwards the same command works, and cleaning up leaves nothing. */
static void go_on(const struct row *row)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    struct trash_left left;
    size_t swept;
    wait_for_lock();
    CHECK_INT(row->act(NULL), 0);
    CHECK_Z(look_at(&a), row->after);
    CHECK_OK(boxes_open(path_of("s/sandboxes"), BOXES_MAKE, &boxes, &err), &err);
    CHECK_OK(trash_sweep(&boxes, &swept, &err), &err);
    CHECK_OK(trash_empty(&boxes, TRASH_MS, &left, &err), &err);
    CHECK_INT(left.left, 0);
    CHECK_INT(unlinkat(boxes.fd, ".new", AT_REMOVEDIR), 0);
}

static bool is_right(const struct row *row, struct str got, bool ended)
{
    return str_is(got, row->after) ||
           (!ended && (str_is(got, row->before) || (row->between && str_is(got, row->between))));
}

static bool judge(const struct row *row, const char *project, bool ended)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_FREE char *now = tree_describe(path_of("p"));
    CHECK_Z(now, project);
    struct str got = str_z(look_at(&a));
    if (!CHECK(is_right(row, got, ended))) {
        CHECK_STR(got, str_z(row->after));
        return false;
    }
    return true;
}

static void kill_all(const char *project)
{
    /* Stops are before and after a call: it is enough to kill before each. */
    const size_t stride = trace_stride(2, 6, 22);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct act act = {.prepare = nothing, .run = rows[i].act};
        bool ended = false;
        size_t k;
        for (k = 1; !ended && k < STEPS_MAX; k += stride) {
            struct watch watch = {.journal_dir = "/nowhere"};
            begin_world(&rows[i]);
            ended = trace(&act, k, &watch);
            test_row(k, rows[i].name);
            if (!judge(&rows[i], project, ended))
                return;
            if (ended || k % (8 * stride) == 1)
                go_on(&rows[i]);
        }
        CHECK(ended && k > 2 * stride);
    }
}

/* Every call that writes fails once: then the state is as before, or complete. */
static void fail_all(const char *project)
{
    for (size_t i = 0; CAN_FAIL && i < ARRAY_LEN(rows); i++) {
        const struct act act = {.prepare = nothing, .run = rows[i].act, .worst = 1};
        struct watch all = {.journal_dir = "/nowhere"};
        begin_world(&rows[i]);
        CHECK(trace(&act, SIZE_MAX, &all));
        for (size_t k = 0; k < all.n_calls; k += trace_stride(1, 1, 5)) {
            struct watch watch = {
                .journal_dir = "/nowhere", .fail_at = {all.calls[k]}, .skip = true};
            begin_world(&rows[i]);
            CHECK(trace(&act, SIZE_MAX, &watch));
            test_row(k, rows[i].name);
            if (!judge(&rows[i], project, false))
                return;
        }
    }
}

static void in_world(void (*run)(const char *project))
{
    snprintf(world, sizeof(world), "/dev/shm/cordon-new-XXXXXX");
    if (!mkdtemp(world))
        snprintf(world, sizeof(world), "%s", test_dir());
    tree_file(path_of("p/a"), "a", 0640);
    tree_file(path_of("p/run"), "#!/bin/sh\n", 0755);
    tree_file(path_of("p/d/b"), "b", 0600);
    CHECK_INT(symlink("a", path_of("p/link")), 0);
    AUTO_FREE char *project = tree_describe(path_of("p"));
    run(project);
    tree_remove(world);
}

TEST(box_new_killed_at_every_step)
{
    in_world(kill_all);
}

TEST(box_new_fails_at_every_call)
{
    in_world(fail_all);
}

/* A box that is used ------------------------------------------------------------------------- */

static bool open_box(struct boxes *boxes, struct box *box, struct arena *a)
{
    AUTO_ERR struct err err = {0};
    CHECK_INT(make_as(BOX_COPY, "old"), 0);
    use_box();
    return CHECK_OK(boxes_open(path_of("s/sandboxes"), BOXES_LOOK, boxes, &err) &&
                        box_open(boxes, STR("b"), &(struct agent_rows){0}, a, box, &err),
        &err);
}

/* The note of files that are the same is only written while nothing runs in the box: a file could
 * be changed after it was compared. */
static void apply_held(bool held)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int lock = -1;
    test_row(held, held ? "runs" : "stopped");
    tree_remove(path_of("s"));
    unlink(path_of("p/change"));
    BUG_ON(mkdir(path_of("s"), 0700) != 0 || mkdir(path_of("s/journal"), 0700) != 0);
    if (!open_box(&boxes, &box, &a))
        return;
    AUTO(applying_done) struct applying x = APPLYING_INIT;
    CHECK_OK(applying_open(&x, &box, &err) && applying_read(&x, NULL, 0, &a, &err) &&
                 applying_check(&x, &(struct apply_options){0}, &err),
        &err);
    if (held)
        CHECK_OK(state_hold(box.host, &lock, &err), &err);
    CHECK_OK(applying_commit(&x, path_of("s/journal"), &a, &err), &err);
    CHECK(access(path_of("p/change"), F_OK) == 0);
    CHECK_INT(faccessat(box.host, BOX_SAME, F_OK, 0) == 0, !held);
}

static void apply_both(const char *project UNUSED)
{
    apply_held(false);
    apply_held(true);
}

TEST(box_apply_notes_nothing_while_the_box_runs)
{
    in_world(apply_both);
}

/* The program of our own agent is this executable, wherever it is. */
static void find_own_program(const char *project UNUSED)
{
    static const struct {
        const char *program, *self, *want;
    } rows_of_programs[] = {
        {"cordon", "/usr/bin/env", "/usr/bin/env"},
        {"/usr/bin/env", "/usr/bin/true", "/usr/bin/env"},
        {"cordon", "", NULL},
    };
    AUTO_ARENA struct arena a = ARENA_INIT(4 * ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    const char *const environ_of_user[] = {arena_printf(&a, "PATH=%s", path_of("none")), NULL};
    BUG_ON(mkdir(path_of("s"), 0700) != 0);
    if (!open_box(&boxes, &box, &a))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows_of_programs); i++) {
        AUTO_ERR struct err err = {0};
        struct box_view view = {0};
        const struct view_input input = {.environ = environ_of_user,
            .home = path_of("home"),
            .program = rows_of_programs[i].program,
            .self = rows_of_programs[i].self};
        test_row(i, rows_of_programs[i].program);
        if (!rows_of_programs[i].want)
            CHECK(!view_make(&box, &input, &a, &view, &err) && err.code == E_NOT_FOUND);
        else if (CHECK_OK(view_make(&box, &input, &a, &view, &err), &err))
            CHECK_Z(view.program, rows_of_programs[i].want);
    }
}

TEST(box_view_finds_our_own_program)
{
    in_world(find_own_program);
}
