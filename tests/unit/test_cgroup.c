/* Cgroups and the other mechanisms for limits, before any are created: texts, and the choice. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/arena.h"
#include "policy/load.h"
#include "sandbox/cgroup.h"
#include "sandbox/launch.h"
#include "sandbox/limiter.h"
#include "sandbox/machine.h"
#include "sandbox/memory_watch.h"
#include "sandbox/mounts.h"
#include "sandbox/new_root.h"
#include "sandbox/process_count.h"
#include "sandbox/stage.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ARENA_MAX = 8 << 20,
    LEVELS = 4,
};

#define P CGROUP_PIDS
#define M CGROUP_MEMORY
#define C CGROUP_CPU

TEST(cgroup_own_is_the_line_of_version_2)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"alone", "0::/user.slice/a\n", "/user.slice/a"},
        {"the root", "0::/\n", "/"},
        {"after those of version 1", "4:memory:/x\n1:name=systemd:/\n0::/b\n", "/b"},
        {"version 1 only", "4:memory:/x\n", NULL},
        {"removed", "0::/a (deleted)\n", NULL},
        {"outside of the namespace", "0::/../a\n", NULL},
        {"nothing", "", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str path = {0};
        test_row(i, rows[i].name);
        CHECK(cgroup_parse_own(str_z(rows[i].text), &path) == (rows[i].want != NULL));
        if (rows[i].want)
            CHECK_STR(path, str_z(rows[i].want));
    }
}

TEST(machine_maps_root_by_any_line)
{
    static const struct {
        const char *name, *text;
        bool want;
    } rows[] = {
        {"the machine's own", "         0          0 4294967295\n", true},
        {"a container's", "0 100000 65536\n", false},
        {"of a user", "1000 1000 1\n", false},
        {"a user as root", "0 1000 1\n1 100000 65536\n", false},
        {"on a later line", "1 100000 65535\n0 0 1\n", true},
        {"the last of five", "5 5 1\n4 4 1\n3 3 1\n2 2 1\n         0          0          1", true},
        {"another on a later line", "1 0 1\n0 1 1\n", false},
        {"not mapped", "1 0 1\n", false},
        {"nothing", "", false},
        {"no numbers", "a b\n", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK(machine_maps_root(rows[i].text) == rows[i].want);
    }
}

TEST(cgroup_controllers_are_a_set)
{
    CHECK_INT(cgroup_controllers(STR("cpuset cpu io memory hugetlb pids rdma misc\n")), P | M | C);
    CHECK_INT(cgroup_controllers(STR("memory pids")), P | M);
    CHECK_INT(cgroup_controllers(STR("cpuset\n")), 0);
    CHECK_INT(cgroup_controllers(STR("")), 0);
}

TEST(cgroup_names_are_recognised)
{
    static const struct {
        const char *name;
        bool want;
    } rows[] = {
        {"cordon-12-0", true},
        {"cordon-1-4294967295", true},
        {"cordon-12-self", true},
        {"cordon-agent.service", false},
        {"cordon-12", false},
        {"cordon-12-", false},
        {"cordon--1", false},
        {"cordon-12-0.scope", false},
        {"cordon-12-selfish", false},
        {"cordon-", false},
        {"cordon", false},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK(cgroup_is_ours(rows[i].name) == rows[i].want);
    }
}

TEST(cgroup_mount_is_found)
{
    static const struct {
        const char *name, *text, *own, *at, *below;
    } rows[] = {
        {"where it mostly is", "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/a/b",
            "/sys/fs/cgroup", "a/b"},
        {"the root", "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/", "/sys/fs/cgroup",
            ""},
        {"beside version 1",
            "28 22 0:25 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
            "29 22 0:26 / /sys/fs/cgroup/unified rw shared:3 - cgroup2 c rw\n",
            "/", "/sys/fs/cgroup/unified", ""},
        {"a part of it, not ours, and then all",
            "28 22 0:26 /x /x rw - cgroup2 c rw\n"
            "29 22 0:26 / /y\\040z rw - cgroup2 c rw\n",
            "/a", "/y z", "a"},
        {"a part of it", "28 22 0:26 /a /x rw - cgroup2 c rw\n", "/a/b", "/x", "b"},
        {"a name that begins alike", "28 22 0:26 /a /x rw - cgroup2 c rw\n", "/ab", NULL, NULL},
        {"none", "22 1 254:0 / / rw - ext4 /dev/vda rw\n", "/", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        struct mounts_shown shown = {0};
        const struct mounts_wanted wanted = {STR("cgroup2"), str_z(rows[i].own)};
        test_row(i, rows[i].name);
        bool found = mounts_find(&a, str_z(rows[i].text), &wanted, &shown);
        CHECK(found == (rows[i].at != NULL));
        if (!found)
            continue;
        CHECK_STR(shown.at, str_z(rows[i].at));
        CHECK_STR(shown.below, str_z(rows[i].below));
    }
}

/* The first level is our own group, the last the highest that is mounted. */
static const struct {
    const char *name;
    struct cgroup_level levels[LEVELS];
    size_t n;
    unsigned wanted;
    enum cgroup_how how;
    size_t level;
    unsigned kept;
} places[] = {
    {"no group", {{0}}, 0, P, CGROUP_NOWHERE, 0, 0},
    {"root in the root group, nothing enabled yet", {{P | M | C, 0, true, true, false}}, 1, P | M,
        CGROUP_ENABLE, 0, P | M},
    {"root in the root group, enabled", {{P | M | C, P, true, true, false}}, 1, P, CGROUP_BESIDE, 0,
        P},
    {"root in a service: the slice around it",
        {{P | M, 0, true, false, false}, {P | M, P | M, true, false, false},
            {P | M | C, P | M | C, true, true, false}},
        3, P | M, CGROUP_BESIDE, 1, P | M},
    {"a controller that the slice has not: further up",
        {{P | M, 0, true, false, false}, {P | M, P | M, true, false, false},
            {P | M | C, P | M | C, true, true, false}},
        3, P | C, CGROUP_BESIDE, 2, P | C},
    {"a user's session: nothing that can be written",
        {{P | M, 0, false, false, false}, {P | M, P | M, false, false, false},
            {P | M | C, P | M, false, true, false}},
        3, P, CGROUP_NOWHERE, 0, 0},
    {"a user's application: the slice that is the user's",
        {{P | M, 0, true, false, false}, {P | M, P | M, true, false, false},
            {P | M, P | M, false, false, false}, {P | M | C, P | M, false, true, false}},
        4, M, CGROUP_BESIDE, 1, M},
    {"delegated, and nothing around it: leave it if we are alone",
        {{P | M | C, 0, true, false, true}, {P | M | C, P | M | C, false, true, false}}, 2,
        P | M | C, CGROUP_LEAVE, 0, P | M | C},
    {"the same with others in it",
        {{P | M | C, 0, true, false, false}, {P | M | C, P | M | C, false, true, false}}, 2,
        P | M | C, CGROUP_NOWHERE, 0, 0},
    {"a container's own root is not the top", {{P | M | C, 0, true, false, false}}, 1, P,
        CGROUP_NOWHERE, 0, 0},
    {"no controller of memory on this machine: processes at least", {{P | C, 0, true, true, false}},
        1, P | M, CGROUP_ENABLE, 0, P},
    {"neither: CPUs at least", {{C, C, true, true, false}}, 1, P | M | C, CGROUP_BESIDE, 0, C},
    {"all taken by version 1", {{0, 0, true, true, false}}, 1, P | M, CGROUP_NOWHERE, 0, 0},
    {"delegated, in a slice that is ours: a part of our own all the same",
        {{P | M, 0, true, false, true, .delegated = true}, {P | M, P | M, true, false, false}}, 2,
        P | M, CGROUP_LEAVE, 0, P | M},
    {"the same with others in it: beside it",
        {{P | M, 0, true, false, false, .delegated = true}, {P | M, P | M, true, false, false}}, 2,
        P | M, CGROUP_BESIDE, 1, P | M},
    {"a service that has filters is not left",
        {{P | M, 0, true, false, false, .filtered = true}, {P | M, P | M, true, false, false},
            {P | M | C, P | M, true, true, false}},
        3, P | M, CGROUP_NOWHERE, 0, 0},
    {"it is divided if we are alone",
        {{P | M, 0, true, false, true, .filtered = true}, {P | M, P | M, true, false, false}}, 2,
        P | M, CGROUP_LEAVE, 0, P | M},
    {"nor is the slice that has them",
        {{P | M, 0, true, false, false}, {P | M, P, true, false, false, .filtered = true},
            {P | M | C, P | M, true, true, false}},
        3, P | M, CGROUP_BESIDE, 1, P},
    {"filters above the new group hold for it as well",
        {{P | M, 0, true, false, false}, {P | M, P, true, false, false, .filtered = true}}, 2, P,
        CGROUP_BESIDE, 1, P},
    {"filters that can't be seen are said",
        {{P | M, 0, true, false, false, .unseen = true},
            {P | M, P, true, false, false, .unseen = true}},
        2, P, CGROUP_BESIDE, 1, P | CGROUP_UNSEEN},
    {"nothing is wanted", {{P | M, P | M, true, true, false}}, 1, 0, CGROUP_NOWHERE, 0, 0},
};

TEST(cgroup_place_is_the_nearest_that_keeps_most)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        test_row(i, places[i].name);
        const struct cgroup_choice c =
            cgroup_choose(places[i].levels, places[i].n, places[i].wanted);
        CHECK_INT(c.how, places[i].how);
        CHECK_INT(c.level, places[i].level);
        CHECK_INT(c.kept, places[i].kept);
    }
}

TEST(limiter_takes_the_best_way)
{
    static const struct {
        const char *name;
        struct limiter_facts facts;
        enum limiter_method want[LIMITER_WAYS];
    } rows[] = {
        {"root, 6.14", {true, true, true, true, false}, {LIMITER_PID_MAX}},
        {"a user, 6.14", {true, false, true, true, true}, {LIMITER_PID_MAX}},
        {"a user, 6.1", {true, false, false, true, true}, {LIMITER_NPROC}},
        {"root, 6.1", {true, true, false, true, false},
            {LIMITER_GROUP, LIMITER_UID, LIMITER_COUNT}},
        {"root, 5.13", {true, true, false, false, true}, {LIMITER_GROUP, LIMITER_COUNT}},
        {"without namespaces", {false, true, true, true, false}, {LIMITER_NOTHING}},
        {"without namespaces, asked for", {false, false, true, true, true},
            {LIMITER_GROUP, LIMITER_NOTHING}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum limiter_method ways[LIMITER_WAYS];
        size_t n = limiter_methods(&rows[i].facts, ways), wanted = 0;
        test_row(i, rows[i].name);
        while (rows[i].want[wanted])
            wanted++;
        CHECK_INT(n, wanted);
        for (size_t w = 0; w < MIN(n, wanted); w++)
            CHECK_INT(ways[w], rows[i].want[w]);
    }
}

/* Copies limits from the directories inner and outer to new, and checks the file there. */
static void check_carried(size_t row, const char *file, const char *want)
{
    const int left[] = {
        tree_open(test_path("c%zu/inner", row)), tree_open(test_path("c%zu/outer", row))};
    int group = tree_open(test_path("c%zu/new", row));
    char got[256] = "";
    CHECK(cgroup_limit(group, left, ARRAY_LEN(left), &(struct cgroup_limits){0}) == (want != NULL));
    int fd = openat(group, file, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0);
    if (want)
        CHECK_Z(got, want);
    close(fd);
    close(group);
    close(left[0]);
    close(left[1]);
}

/* Directories in place of groups: two that are left, and the new one with empty files. */
TEST(cgroup_carries_the_limits_of_groups_that_are_left)
{
    static const struct {
        const char *name, *file;
        const char *inner, *outer; /* NULL: no such file */
        const char *want;          /* NULL: refused */
    } rows[] = {
        {"no limit", "memory.high", "max\n", "max\n", ""},
        {"the only one", "memory.high", "max\n", "4096\n", "4096"},
        {"the least of two", "memory.high", "8192\n", "4096\n", "4096"},
        {"not where it is missing", "memory.swap.max", NULL, "0\n", "0"},
        {"memory in zswap", "memory.zswap.max", "4096\n", "max\n", "4096"},
        {"huge pages", "hugetlb.2MB.max", "max\n", "2097152\n", "2097152"},
        {"huge pages that are reserved", "hugetlb.1GB.rsvd.max", "0\n", "max\n", "0"},
        {"devices", "io.max", "8:0 rbps=1 wbps=max\n", "", "8:0 rbps=1 wbps=max"},
        {"devices of two groups", "io.max", "8:0 rbps=1\n", "8:0 rbps=2\n", NULL},
        /* The file is written from its start each time. */
        {"different devices of two groups", "io.max", "8:0 rbps=12345\n", "8:1 wbps=2\n",
            "8:1 wbps=22345"},
        {"the same device in two groups", "io.max", "8:0 rbps=1\n", "8:1 rbps=max\n8:0 rbps=1\n",
            "8:0 rbps=1"},
        {"devices without a limit", "io.max", "8:0 rbps=max wbps=max\n", "8:0 rbps=2\n",
            "8:0 rbps=2"},
        {"resources without a limit", "misc.max", "sev max\nsev_es max\n", "sev max\n", ""},
        {"resources", "misc.max", "sev max\n", "sev 3\n", "sev 3"},
        {"resources of two groups", "misc.max", "sev 4\n", "sev 3\n", NULL},
        {"the same in two groups", "misc.max", "sev 3\n", "sev 3\n", "sev 3"},
        {"fractions", "cpu.uclamp.max", "50.00\n", "12.34\n", "12.34"},
        {"fractions of which the inner one is less", "cpu.uclamp.max", "12.05\n", "12.34\n",
            "12.05"},
        {"equal fractions", "cpu.uclamp.max", "50.00\n", "50.00\n", "50.00"},
        {"not numbers", "new.max", "a\n", "b\n", NULL},
        {"an empty line", "new.max", "\n\n7\n", "max\n", "7"},
        {"devices for RDMA", "rdma.max", "mlx4_0 hca_handle=2 hca_object=max\n", "",
            "mlx4_0 hca_handle=2 hca_object=max"},
        {"a controller of the future", "dmem.max", "drm/0 4096\n", NULL, "drm/0 4096"},
        {"a limit of the future", "new.high", "7\n", "9\n", "7"},
        {"processes", "pids.max", "20\n", "max\n", "20"},
        {"processes of two groups", "pids.max", "20\n", "10\n", "10"},
        {"processes, not a number", "pids.max", "20\n", "some\n", NULL},
        {"memory", "memory.max", NULL, "4096\n", "4096"},
        {"memory, not a number", "memory.max", "-1\n", "4096\n", NULL},
        {"CPU time without a limit", "cpu.max", "max 100000\n", "max 50000\n", ""},
        {"CPU time", "cpu.max", "max 100000\n", "50000 100000\n", "50000 100000"},
        {"the least part of CPU time", "cpu.max", "30000 50000\n", "55000 100000\n",
            "55000 100000"},
        {"less CPU time than the least of another period", "cpu.max", "1000 1000000\n",
            "50000 100000\n", "1000 1000000"},
        {"CPU time, not numbers", "cpu.max", "1000\n", "max 100000\n", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        tree_file(test_path("c%zu/outer/other", i), "", 0600);
        tree_file(test_path("c%zu/inner/other", i), "", 0600);
        tree_file(test_path("c%zu/new/%s", i, rows[i].file), "", 0600);
        if (rows[i].inner)
            tree_file(test_path("c%zu/inner/%s", i, rows[i].file), rows[i].inner, 0600);
        if (rows[i].outer)
            tree_file(test_path("c%zu/outer/%s", i, rows[i].file), rows[i].outer, 0600);
        check_carried(i, rows[i].file, rows[i].want);
    }
}

/* A limit that can't be read is not the same as none. */
TEST(cgroup_with_an_unreadable_limit_is_not_left)
{
    static const char *const names[] = {
        "pids.max", "memory.max", "cpu.max", "cpuset.cpus.partition", "memory.high"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        test_row(i, names[i]);
        tree_file(test_path("c%zu/outer/other", i), "", 0600);
        tree_file(test_path("c%zu/inner/other", i), "", 0600);
        tree_file(test_path("c%zu/new/%s", i, names[i]), "", 0600);
        /* Links are not followed: ELOOP. */
        CHECK_INT(symlink("other", test_path("c%zu/outer/%s", i, names[i])), 0);
        check_carried(i, names[i], NULL);
    }
}

/* Child groups are not limits, whatever their names. */
TEST(cgroup_carries_no_child_groups)
{
    tree_file(test_path("c0/inner/memory.high"), "4096\n", 0600);
    tree_file(test_path("c0/inner/x.max/other"), "", 0600);
    tree_file(test_path("c0/outer/memory.high/other"), "", 0600);
    tree_file(test_path("c0/new/memory.high"), "", 0600);
    check_carried(0, "memory.high", "4096");
}

TEST(cgroup_carries_the_cpus_of_the_innermost_group_that_has_them)
{
    static const struct {
        const char *name;
        const char *inner, *outer, *own; /* effective; NULL: no such file */
        bool given;                      /* the written value becomes the effective one */
        const char *want;                /* NULL: refused */
    } rows[] = {
        {"no cpusets", NULL, NULL, "0-7\n", false, ""},
        {"the same", "0-7\n", "0-7\n", "0-7\n", false, ""},
        {"of the inner one", "2\n", "2-3\n", "7\n", true, "2\n"},
        {"of the outer one alone", NULL, "2-3\n", "0-7\n", true, "2-3\n"},
        {"none", "\n", "2-3\n", "0-7\n", true, NULL},
        {"not given", "2\n", "2-3\n", "0-7\n", false, NULL},
        {"nothing to compare with", "2\n", NULL, NULL, false, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *const dirs[] = {"inner", "outer", "new"}, *const texts[] = {rows[i].inner,
                                                                  rows[i].outer, rows[i].own};
        test_row(i, rows[i].name);
        for (size_t d = 0; d < ARRAY_LEN(dirs); d++) {
            tree_file(test_path("c%zu/%s/other", i, dirs[d]), "", 0600);
            if (texts[d])
                tree_file(test_path("c%zu/%s/cpuset.cpus.effective", i, dirs[d]), texts[d], 0600);
        }
        if (!rows[i].given)
            tree_file(test_path("c%zu/new/cpuset.cpus", i), "", 0600);
        else
            CHECK(link(test_path("c%zu/new/cpuset.cpus.effective", i),
                      test_path("c%zu/new/cpuset.cpus", i)) == 0);
        check_carried(i, "cpuset.cpus", rows[i].want);
    }
}

TEST(cgroup_of_a_cpu_partition_is_not_left)
{
    static const struct {
        const char *text, *want;
    } rows[] = {{"member\n", ""}, {"root\n", NULL}, {"isolated\n", NULL}, {"root invalid\n", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        tree_file(test_path("c%zu/inner/other", i), "", 0600);
        tree_file(test_path("c%zu/outer/cpuset.cpus.partition", i), rows[i].text, 0600);
        tree_file(test_path("c%zu/new/cpuset.cpus", i), "", 0600);
        check_carried(i, "cpuset.cpus", rows[i].want);
    }
}

/* A requested limit, after attempts that failed: the error keeps their reasons. */
TEST(limiter_names_the_failures_of_attempts)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    AUTO(limiter_tried_done) struct limiter_tried tried = {0};
    struct limiter limiter = LIMITER_NONE;
    const struct plan plan = {
        .mode = POLICY_LANDLOCK, .limits = {.processes = 10, .asked_processes = true}};
    err_set(&tried.failed[LIMITER_GROUP], E_SANDBOX_UNAVAILABLE, "first");
    err_set(&tried.failed[LIMITER_UID], E_IO, "second");
    CHECK(!limiter_open(&plan, &tried, &a, &limiter, &err));
    CHECK_INT(err.code, E_SANDBOX_UNAVAILABLE);
    CHECK(strstr(err.message, "cannot start a process in a separate cgroup: first"));
    CHECK(strstr(err.message,
        "cannot start a process with another user id of the kernel (second), and no cgroup"));
}

TEST(limiter_map_swaps_two_users_and_leaves_the_others)
{
    char text[LIMITER_MAP];
    limiter_map(text);
    CHECK_Z(text, "0 2147483646 1\n1 1 2147483645\n2147483646 0 1\n"
                  "2147483647 2147483647 2147483648\n");
}

TEST(limiter_group_has_room_for_the_sandbox_itself)
{
    struct plan plan = {.limits = {.processes = 10, .memory_bytes = 100}, .cpu_millis = 1500};
    struct cgroup_limits got = limiter_group_limits(&plan, true);
    CHECK_INT(got.processes, 11);
    CHECK_INT(got.memory_bytes, 0);
    CHECK_INT(got.cpu_millis, 1500);
    plan.limits.asked_memory = true;
    got = limiter_group_limits(&plan, false);
    CHECK_INT(got.processes, 0);
    CHECK(got.memory_bytes > 100);
    plan.limits.processes = INT64_MAX;
    CHECK_INT(limiter_group_limits(&plan, true).processes, INT64_MAX);
}

TEST(launch_blames_the_way_that_may_have_failed)
{
    static const struct {
        const char *name;
        int group, stage;
        enum limiter_method way, want;
    } rows[] = {
        {"a clone into a group", 3, STAGE_CLONE, LIMITER_GROUP, LIMITER_GROUP},
        {"the group", 3, STAGE_GROUP, LIMITER_UID, LIMITER_GROUP},
        {"later, in a group", 3, STAGE_ROOT, LIMITER_GROUP, LIMITER_UNKNOWN},
        {"a clone without a group", -1, STAGE_CLONE, LIMITER_COUNT, LIMITER_UNKNOWN},
        {"another user's map", -1, STAGE_MAP, LIMITER_UID, LIMITER_UID},
        {"another user's directory", 3, STAGE_CWD, LIMITER_UID, LIMITER_UID},
        {"another user's clone", -1, STAGE_CLONE, LIMITER_UID, LIMITER_UNKNOWN},
        {"a map without another user", -1, STAGE_MAP, LIMITER_COUNT, LIMITER_UNKNOWN},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct limiter limiter = LIMITER_NONE;
        limiter.group.fd = rows[i].group;
        limiter.kept.processes = rows[i].way;
        test_row(i, rows[i].name);
        CHECK_INT(launch_way_to_blame(&limiter, rows[i].stage), rows[i].want);
    }
}

static int probe_without_cgroups(void *arg)
{
    machine_disable(MACHINE_CGROUPS);
    return (int)limiter_probe(arg).processes;
}

/* With Landlock only, and no cgroup. */
TEST(limiter_probe_offers_no_group_that_is_missing)
{
    struct plan plan = {
        .mode = POLICY_LANDLOCK, .limits = {.processes = 10, .asked_processes = true}};
    CHECK_INT(child_run(probe_without_cgroups, &plan), LIMITER_NOTHING);
}

static void make_group(const char *name, const char *controllers, const char *enabled)
{
    tree_file(test_path("%s/cgroup.controllers", name), controllers, 0600);
    tree_file(test_path("%s/cgroup.subtree_control", name), enabled, 0600);
    tree_file(test_path("%s/cgroup.procs", name), "", 0600);
}

/* Directories with the files of groups. */
TEST(cgroup_levels_are_inspected)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(cgroup_levels_done) struct cgroup_levels l = {0};
    make_group("top", "cpu memory pids\n", "memory pids\n");
    make_group("top/a", "memory pids\n", "pids\n");
    make_group("top/a/own", "pids\n", "\n");
    tree_file(test_path("top/a/cgroup.type"), "domain\n", 0600);
    tree_file(test_path("top/a/own/cgroup.type"), "domain\n", 0600);
    bool has_attributes = tree_set_xattr(test_path("top/a"), "user.delegate", "1") &&
                          tree_set_xattr(test_path("top/a/own"), "user.delegate", "0");
    tree_file(test_path("top/a/own/cgroup.procs"), arena_printf(&a, "%d\n", getpid()), 0600);
    if (!CHECK(cgroup_open_levels(str_z(test_path("top")), STR("a/own"), &a, &l)) ||
        !CHECK_INT(l.n, 3))
        return;
    static const struct cgroup_level want[] = {
        {.available = P, .alone = true},
        {.available = P | M, .enabled = P, .delegated = true},
        {.available = P | M | C, .enabled = P | M, .top = true},
    };
    CHECK_INT(l.errnum, 0);
    for (size_t i = 0; i < l.n; i++) {
        test_row(i, "level");
        CHECK_INT(l.p[i].available, want[i].available);
        CHECK_INT(l.p[i].enabled, want[i].enabled);
        CHECK_INT(l.p[i].alone, want[i].alone);
        CHECK_INT(l.p[i].top, want[i].top);
        CHECK_INT(l.p[i].delegated, want[i].delegated && has_attributes);
        CHECK(l.p[i].writable && !l.p[i].filtered);
    }
    AUTO(cgroup_levels_done) struct cgroup_levels none = {0};
    CHECK(!cgroup_open_levels(str_z(test_path("top")), STR("a/missing"), &a, &none));
}

static int inspect_without_programs(void *arg)
{
    const int *errnum = arg;
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(cgroup_levels_done) struct cgroup_levels l = {0};
    BUG_ON(!child_without_call(SYS_bpf, *errnum));
    if (!cgroup_open_levels(STR("/"), STR(""), &a, &l) || l.n != 1)
        return 10;
    return l.p[0].unseen + 2 * l.p[0].filtered;
}

TEST(cgroup_programs_of_an_unknown_kind_are_ignored)
{
    static const struct {
        const char *name;
        int errnum, want;
    } rows[] = {
        {"no such kind", EINVAL, 0},
        {"no such call", ENOSYS, 0},
        {"not permitted", EPERM, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int errnum = rows[i].errnum;
        test_row(i, rows[i].name);
        CHECK_INT(child_run(inspect_without_programs, &errnum), rows[i].want);
    }
}

/* Only the owner of a pipe is changed. */
TEST(limiter_gives_pipes_to_the_other_user)
{
    int ends[2];
    tree_file(test_path("file"), "", 0600);
    AUTO_FD int file = open(test_path("file"), O_RDONLY | O_CLOEXEC);
    BUG_ON(pipe2(ends, O_CLOEXEC) != 0);
    AUTO_FD int in = ends[0];
    AUTO_FD int out = ends[1];
    const struct {
        const char *name;
        enum limiter_method way;
        int fd;
        bool want;
    } rows[] = {
        {"a file", LIMITER_UID, file, true},
        {"a pipe, with another way", LIMITER_GROUP, in, true},
        {"a pipe", LIMITER_UID, out, geteuid() == 0},
        {"none", LIMITER_UID, -1, true},
        {"closed", LIMITER_UID, 1 << 20, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stat st;
        test_row(i, rows[i].name);
        CHECK(limiter_give_pipe(rows[i].way, rows[i].fd) == rows[i].want);
        if (fstat(rows[i].fd, &st) == 0)
            CHECK_INT(st.st_uid != geteuid(), rows[i].fd == out && rows[i].want);
    }
}

static int act_disable(void *arg)
{
    const unsigned *part = arg;
    const unsigned others = (MACHINE_PID_MAX | MACHINE_CGROUPS | MACHINE_ID_MAPS) & ~*part;
    bool before = machine_is_disabled(*part), more = machine_get()->pid_max_in_namespace;
    machine_disable(*part);
    return !before && machine_is_disabled(*part) && !machine_is_disabled(others) &&
                   machine_get()->pid_max_in_namespace == (more && *part != MACHINE_PID_MAX)
               ? 0
               : 1;
}

TEST(machine_lacks_only_parts_that_were_disabled)
{
    unsigned parts[] = {MACHINE_PID_MAX, MACHINE_CGROUPS, MACHINE_ID_MAPS};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        test_row(i, "part");
        CHECK_INT(child_run(act_disable, &parts[i]), 0);
    }
}

/* Unless it may vanish, a source that is gone is an error. */
TEST(root_maps_no_source_that_vanished)
{
    for (int may = 0; may < 2; may++) {
        int tree = 0;
        const struct plan_step step = {.kind = PLAN_BIND,
            .at = STR("/x"),
            .text = str_z(test_path("missing")),
            .may_vanish = may};
        test_row((size_t)may, may ? "may vanish" : "must be there");
        CHECK_INT(root_map_step(&step, -1, &tree), may);
        CHECK_INT(tree, ROOT_VANISHED);
    }
}

TEST(policy_knows_which_limits_were_asked_for)
{
    static const struct {
        const char *name, *limits;
        bool processes, memory, after_processes, after_memory;
    } rows[] = {
        {"none", "{}", false, false, false, false},
        {"others", "{\"open_files\": 10}", false, false, false, false},
        {"processes", "{\"processes\": 40}", true, false, true, false},
        {"memory", "{\"memory_bytes\": 2097152}", false, true, false, true},
        {"the defaults, written out", "{\"processes\": 512, \"memory_bytes\": 4294967296}", true,
            true, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        struct policy policy;
        const char *text =
            arena_printf(&a, "{\"policy_version\": 4, \"limits\": %s}", rows[i].limits);
        test_row(i, rows[i].name);
        CHECK(policy_parse(str_z(text), "policy", &a, &policy, &err));
        CHECK_INT(policy.limits.asked_processes, rows[i].processes);
        CHECK_INT(policy.limits.asked_memory, rows[i].memory);
        policy_forget_defaults(&policy);
        CHECK_INT(policy.limits.asked_processes, rows[i].after_processes);
        CHECK_INT(policy.limits.asked_memory, rows[i].after_memory);
    }
}

/* A directory like /proc: process 1 is not counted, threads are, and other names are not. */
TEST(tally_counts_no_further_than_it_must)
{
    static const char *const threads[] = {
        "1/task/1", "2/task/2", "3/task/3", "3/task/4", "3/task/5", "6/task/6", "self/task/7"};
    static const struct {
        uint64_t most, want;
    } rows[] = {{100, 5}, {5, 5}, {4, 5}, {0, 1}};
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        tree_file(test_path("p/%s/comm", threads[i]), "", 0600);
    int processes = tree_open(test_path("p"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "");
        uint64_t got = process_count(processes, rows[i].most);
        /* The process with three threads is counted as one step. */
        CHECK(got >= rows[i].want && got <= rows[i].want + (rows[i].want < 5 ? 2 : 0));
    }
    close(processes);
}

TEST(memory_watch_counts_memory_and_not_files)
{
    static const struct {
        const char *name, *text;
        uint64_t want;
    } rows[] = {
        {"none", "", 0},
        {"a process that has ended", "Name:\tx\nState:\tZ (zombie)\n", 0},
        {"each kind",
            "Name:\tx\nVmSize:\t  900000 kB\nRssAnon:\t     100 kB\nRssFile:\t  5000 kB\n"
            "RssShmem:\t    20 kB\nVmPTE:\t 3 kB\nVmSwap:\t       4 kB\nHugetlbPages:\t 1 kB\n",
            128 * 1024},
        {"a name that looks like one", "Name:\tRssAnon: 7 kB\nRssAnon:\t1 kB\n", 1024},
        {"cut off", "RssAnon:\t 1", 1024},
        {"no number", "RssAnon:\t kB\n", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK_INT(memory_watch_parse(str_z(rows[i].text)), rows[i].want);
    }
}

TEST(memory_watch_samples_sooner_near_the_limit)
{
    static const struct {
        uint64_t most, largest, want;
    } rows[] = {
        {UINT64_C(4) << 30, 0, MEMORY_WATCH_MAX_MS},
        {UINT64_C(4) << 30, UINT64_C(2) << 30, 128},
        {UINT64_C(4) << 30, UINT64_C(4) << 30, MEMORY_WATCH_MIN_MS},
        {UINT64_C(4) << 30, UINT64_C(5) << 30, MEMORY_WATCH_MIN_MS},
        {64 << 20, 0, MEMORY_WATCH_MIN_MS},
        {UINT64_MAX, 0, MEMORY_WATCH_MAX_MS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "");
        CHECK_INT(memory_watch_interval(rows[i].most, rows[i].largest), rows[i].want);
    }
}

/* A directory like /proc: the largest process is found, also by a thread; nothing is killed. */
TEST(memory_watch_finds_the_largest_process)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"1/statm", "900000000 1 1"},
        {"2/statm", "2 1 1"},
        {"3/statm", "0 0 0"},
        {"3/task/3/statm", "0 0 0"},
        {"3/task/4/statm", "600000 1 1"},
        {"3/task/4/status", "RssAnon:\t 300 kB\n"},
        {"self/statm", "900000000 1 1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        tree_file(test_path("w/%s", files[i].name), files[i].text, 0600);
    struct memory_watch watch = {.processes = tree_open(test_path("w")), .most = 1 << 20};
    CHECK_INT(memory_watch_timeout(&watch, 1000), 0);
    memory_watch_sample(&watch, 1000);
    CHECK_INT(watch.largest, 300 * 1024);
    CHECK_INT(watch.kills, 0);
    CHECK_INT(memory_watch_timeout(&watch, 1000), MEMORY_WATCH_MIN_MS);
    CHECK_INT(memory_watch_timeout(&watch, 1000 + MEMORY_WATCH_MIN_MS), 0);
    watch.largest = 7;
    memory_watch_sample(&watch, 1001);
    CHECK_INT(watch.largest, 7); /* not due yet */
    close(watch.processes);
    watch.processes = tree_open(test_path("w/3/task/4"));
    memory_watch_sample(&watch, 2000);
    CHECK_INT(memory_watch_timeout(&watch, 2000), -1); /* nothing to sample */
    memory_watch_started(&watch);
    CHECK_INT(memory_watch_timeout(&watch, 2000), MEMORY_WATCH_MIN_MS);
    close(watch.processes);
}
