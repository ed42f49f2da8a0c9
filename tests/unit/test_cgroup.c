/* Cgroups and the other mechanisms for limits, before any are created: texts, and the choice. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/arena.h"
#include "policy/load.h"
#include "sandbox/cgroup.h"
#include "sandbox/limiter.h"
#include "sandbox/machine.h"
#include "sandbox/mounts.h"
#include "sandbox/tally.h"
#include "tree.h"

#include <fcntl.h>
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
        CHECK(cgroup_own(str_z(rows[i].text), &path) == (rows[i].want != NULL));
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
        enum limiter_way want[LIMITER_WAYS];
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
        enum limiter_way ways[LIMITER_WAYS];
        size_t n = limiter_ways(&rows[i].facts, ways), wanted = 0;
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
    CHECK(strstr(err.message, "in a cgroup of its own: first"));
    CHECK(strstr(err.message, "as another user of the kernel's (second), and no group"));
}

TEST(limiter_map_swaps_two_users_and_leaves_the_others)
{
    char text[LIMITER_MAP];
    limiter_map(text);
    CHECK_Z(text, "0 2147483646 1\n1 1 2147483645\n2147483646 0 1\n"
                  "2147483647 2147483647 2147483648\n");
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
        uint64_t got = tally_count(processes, rows[i].most);
        /* The process with three threads is counted as one step. */
        CHECK(got >= rows[i].want && got <= rows[i].want + (rows[i].want < 5 ? 2 : 0));
    }
    close(processes);
}
