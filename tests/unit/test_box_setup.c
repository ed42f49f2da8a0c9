/* The settings of a box on disk, and the network that follows from them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "box/box.h"
#include "box/state.h"
#include "box/use.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    ARENA_MAX = 16 << 20,
};

/* A box "b" of the given agent, with a host/ directory. */
static bool make_box(const struct boxes *boxes, struct str agent, int *ret_host, struct err *err)
{
    AUTO_FD int lock = -1, box = -1;
    const struct box_meta meta = {
        .cordon_version = STR("1"),
        .name = STR("b"),
        .created_at = STR("2026-01-02T03:04:05.678Z"),
        .agent = agent,
        .workdir = {STR("/p"), STR("/p"), BOX_COPY},
    };
    if (!boxes_lock(boxes, meta.name, &lock, err) || !boxes_begin(boxes, meta.name, &box, err) ||
        !meta_save(box, &meta, err))
        return false;
    CHECK(mkdirat(box, "host", 0700) == 0 || faccessat(box, "host", F_OK, 0) == 0);
    *ret_host = openat(box, "host", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return boxes_finish(boxes, meta.name, BOXES_REPLACE, err);
}

TEST(box_setup_reads_back)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int host = -1;
    struct box_extra extras[] = {
        {.path = STR("/usr/share/plain")},
        {.path = STR("/tmp/\377\376 bytes"), .writable = true},
        {.path = STR("/tmp/日本")},
    };
    struct str hosts[] = {STR("a.example"), STR("b.example")}, args[] = {STR("--yes")};
    const struct box_setup setup = {
        .layering = BOX_LAYERS_SECOND_COPY,
        .extras = extras,
        .n_extras = ARRAY_LEN(extras),
        .hosts = {hosts, 2},
        .args = {args, 1},
        .limits = {.memory_bytes = 1 << 30, .processes = 7, .disk_bytes = 5},
        .include_ignored = true,
    };
    CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err);
    CHECK_OK(make_box(&boxes, STR("claude"), &host, &err), &err);
    CHECK_OK(box_save_setup(host, &setup, &err), &err);
    if (!CHECK_OK(box_open(&boxes, STR("b"), &(struct agent_rows){0}, &a, &box, &err), &err))
        return;
    CHECK_INT(box.setup.layering, setup.layering);
    if (CHECK_INT(box.setup.n_extras, ARRAY_LEN(extras)))
        for (size_t i = 0; i < ARRAY_LEN(extras); i++) {
            CHECK_STR(box.setup.extras[i].path, extras[i].path);
            CHECK_INT(box.setup.extras[i].writable, extras[i].writable);
        }
    CHECK(box.setup.hosts.n == 2 && str_is(box.setup.hosts.p[1], "b.example"));
    CHECK(box.setup.args.n == 1 && str_is(box.setup.args.p[0], "--yes"));
    CHECK_INT(box.setup.limits.memory_bytes, 1 << 30);
    CHECK_INT(box.setup.limits.processes, 7);
    CHECK_INT(box.setup.limits.cpu_seconds, 0);
    CHECK_INT(box.setup.limits.disk_bytes, 5);
    CHECK(box.setup.include_ignored && !box.setup.inexact_limits);
    CHECK_STR(box.agent->name, STR("claude"));
}

static const struct {
    const char *name, *text, *part; /* text NULL: no file */
    enum err_code code;             /* 0: E_CONFIG */
} setup_rows[] = {
    {"right", "{\"layering\":\"none\"}", NULL},
    {"missing", NULL, "cannot open 'setup.json'"},
    {"not JSON", "{", "setup.json"},
    {"no layering", "{}", "layering"},
    {"a relative directory", "{\"layering\":\"none\",\"dirs\":[{\"path\":\"p\"}]}",
        "dirs[0]: its path must be absolute"},
    {"a relative directory in bytes",
        "{\"layering\":\"none\",\"dirs\":[{\"path\":\"/a\"},{\"path\":\"/p\",\"encoded\":\"p\"}]}",
        "dirs[1]: its path must be absolute"},
    {"bytes that are not encoded",
        "{\"layering\":\"none\",\"dirs\":[{\"path\":\"/p\",\"encoded\":\"^\"}]}",
        "setup.json: dirs[0].encoded", E_CONFIG},
};

TEST(box_setup_is_checked)
{
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_FD int host = -1;
    CHECK_OK(boxes_open(test_path("s"), BOXES_MAKE, &boxes, &err), &err);
    CHECK_OK(make_box(&boxes, STR("claude"), &host, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(setup_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO(box_close) struct box box = BOX_NONE;
        AUTO_ERR struct err wrong = {0};
        test_row(i, setup_rows[i].name);
        unlinkat(host, "setup.json", 0);
        if (setup_rows[i].text)
            test_write(test_path("s/b/host/setup.json"), setup_rows[i].text);
        bool ok = box_open(&boxes, STR("b"), &(struct agent_rows){0}, &a, &box, &wrong);
        CHECK_INT(ok, setup_rows[i].part == NULL);
        if (setup_rows[i].part)
            CHECK_ERR(
                &wrong, setup_rows[i].code ? setup_rows[i].code : E_CONFIG, setup_rows[i].part);
    }
}

TEST(box_network_follows_from_setup_and_agent)
{
    struct str of_setup[] = {STR("setup.example")}, of_agent[] = {STR("agent.example")};
    static const struct {
        enum box_network mode;
        bool setup_hosts, agent_hosts;
        enum box_network want;
        const char *host; /* NULL: none */
    } rows[] = {
        {BOX_NETWORK_DEFAULT, false, false, BOX_NETWORK_NONE, NULL},
        {BOX_NETWORK_DEFAULT, false, true, BOX_NETWORK_ALLOW, "agent.example"},
        {BOX_NETWORK_DEFAULT, true, true, BOX_NETWORK_ALLOW, "setup.example"},
        {BOX_NETWORK_ALLOW, false, true, BOX_NETWORK_ALLOW, "agent.example"},
        {BOX_NETWORK_NONE, true, true, BOX_NETWORK_NONE, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct box_agent agent = {.hosts = {of_agent, rows[i].agent_hosts}};
        const struct box box = {
            .agent = &agent,
            .meta.network_mode = rows[i].mode,
            .setup.hosts = {of_setup, rows[i].setup_hosts},
        };
        struct str_list hosts;
        test_row(i, rows[i].host);
        CHECK_INT(box_network(&box, &hosts), rows[i].want);
        if (CHECK_INT(hosts.n, rows[i].host != NULL) && hosts.n)
            CHECK_STR(hosts.p[0], str_z(rows[i].host));
    }
}

TEST(box_runs_while_its_agent_does)
{
    AUTO_FD int host = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct box_state state = {0};
    bool runs = true;
    CHECK_OK(state_runs(host, &a, &state, &runs, &err), &err);
    CHECK(!runs && state.status == BOX_STOPPED);
    const struct box_state idle = {.status = BOX_IDLE, .exit_code = -1};
    CHECK_OK(state_hold(host, &lock, &err), &err);
    CHECK_OK(state_save(host, &idle, &err), &err);
    CHECK_OK(state_runs(host, &a, &state, &runs, &err), &err);
    CHECK(runs && state.status == BOX_IDLE);
    close(TAKE_FD(lock));
    CHECK_OK(state_runs(host, &a, &state, &runs, &err), &err);
    CHECK(!runs && state.status == BOX_STOPPED);
    test_write(test_path("state.json"), "{");
    CHECK(!state_runs(host, &a, &state, &runs, &err));
    CHECK_ERR(&err, E_CONFIG, "state.json");
}

TEST(box_proxy_ends_are_counted)
{
    static const struct {
        uint64_t ends;
        const char *want;
    } rows[] = {
        {0, NULL},
        {1, "the proxy exited unexpectedly 1 time and was restarted"},
        {2, "the proxy exited unexpectedly 2 times and was restarted"},
        {STATE_PROXY_RESTARTS, "the proxy exited unexpectedly 3 times and was restarted"},
        {STATE_PROXY_RESTARTS + 1,
            "the proxy exited unexpectedly 4 times and was not restarted: the box has no network "
            "until you restart the box"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        test_row(i, rows[i].want);
        CHECK_Z(
            box_use_proxy_ended(&(struct box_state){.proxy_ends = rows[i].ends}, &a), rows[i].want);
    }
}

TEST(box_agents_not_found_are_listed)
{
    const struct box_agent mine[] = {
        {.name = STR("mine"), .command = STR("x")}, {.name = STR("claude"), .command = STR("x")}};
    const struct box_agent *got = NULL;
    static const struct {
        const char *name, *part;
    } rows[] = {
        {"min", "did you mean 'mine'?"},
        {"nothing-like-it", "mine"},
        {"nothing-like-it", "no such agent 'nothing-like-it'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].name);
        CHECK(!agent_find(str_z(rows[i].name), &(struct agent_rows){mine, 2}, &got, &err));
        CHECK_ERR(&err, E_NOT_FOUND, rows[i].part);
        const char *list = strstr(err.message, "available: "), *first = NULL;
        first = list ? strstr(list, "claude") : NULL;
        CHECK(first && !strstr(first + 1, "claude")); /* once, although two rows have the name */
    }
}
