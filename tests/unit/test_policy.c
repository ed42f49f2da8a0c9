/* Policies. Most of it is data: tests/policy/NAME.yaml are lists of cases
 *
 *     {name: …, policy: {…}, command: $T/prog, cwd: $T/work,
 *      expect: {code: E_POLICY_DENIED, field: command, message: …, value, reason, fix,
 *               fields: […]}}
 *
 * `expect: {}` means allowed. `policy` gets policy_version 4 if it has none; with `reference: true`
 * it is read unchanged, as the part run.policy of a scenario; `text` is read as a document instead.
 * field, message, value, reason and fix are those of the first denial, or of the error; `fields`
 * are those of all denials. $T is the directory that make_tree() fills; $T/home is HOME.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/doc.h"
#include "base/yaml.h"
#include "policy/grants.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "policy/starter.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

enum {
    ARENA_MAX = 1 << 30,
    CASES_LEAST = 100,
};

static void make_file(const char *name, mode_t mode)
{
    const char *path = test_path("%s", name);
    test_write(path, name);
    CHECK_INT(chmod(path, mode), 0);
}

static void make_link(const char *target, const char *name)
{
    CHECK_INT(symlink(target, test_path("%s", name)), 0);
}

static void make_tree(void)
{
    static const char *const programs[] = {
        "prog", "copy", "binary", "run.sh", "bin/deep/tool", "bin/bash", "bin/busybox", "bin/odd"};
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        make_file(programs[i], 0755);
    static const char *const files[] = {
        "plain", "work/file", "work/sub/file", "workshop/file", "out/file", "home/project/file"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        make_file(files[i], 0644);
    static const struct {
        const char *target, *name;
    } links[] = {
        {"/etc", "link-etc"},
        {"/dev/null", "link-null"},
        {"/usr/bin", "link-bin"},
        {"home", "link-home"},
        {"work", "link-work"},
        {"prog", "link-prog"},
        {"nowhere", "dangling"},
        {"loop", "loop"},
        {"../out", "work/link-out"},
        {"../prog", "bin/link-out"},
        {"bash", "bin/not-a-shell"},
        {"odd", "bin/ksh"},
    };
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        make_link(links[i].target, links[i].name);
    CHECK_INT(link(test_path("prog"), test_path("hard-prog")), 0);
    CHECK_INT(mkfifo(test_path("fifo"), 0600), 0);
    test_write(test_path("good.json"), "{\"policy_version\":4}");
}

/* Text with $T replaced; a new reference. */
static json_t *fill_text(struct str text)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    for (size_t i = 0; i < text.n; i++) {
        if (str_starts_with(str_skip(text, i), STR("$T"))) {
            buf_add_z(&b, test_dir());
            i++;
        } else {
            buf_add_byte(&b, text.p[i]);
        }
    }
    return json_text(buf_str(&b));
}

static void fill(json_t *tree)
{
    const char *key;
    json_t *value;
    void *next;
    size_t i;
    json_object_foreach_safe(tree, next, key, value)
    {
        if (json_is_string(value))
            json_put(tree, key, fill_text(json_str(value)));
        else
            fill(value);
    }
    json_array_foreach(tree, i, value)
    {
        if (json_is_string(value))
            json_array_set_new(tree, i, fill_text(json_str(value)));
        else
            fill(value);
    }
}

static const char *get(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void judge(const struct verdict *v, const json_t *expect)
{
    const json_t *fields = json_object_get(expect, "fields");
    AUTO_ERR struct err err = {0};
    if (!get(expect, "code")) {
        CHECK_OK(verdict_ok(v, &err), &err);
        return;
    }
    if (!CHECK(!verdict_ok(v, &err)))
        return;
    const struct denial *first = &v->denials.p[0];
    CHECK_Z(err_name(err.code), get(expect, "code"));
    CHECK_Z(first->field, get(expect, "field"));
    CHECK_Z(first->message, get(expect, "message"));
    if (get(expect, "value"))
        CHECK_STR(first->value, str_z(get(expect, "value")));
    if (get(expect, "reason"))
        CHECK_Z(first->reason, get(expect, "reason"));
    if (get(expect, "fix"))
        CHECK_Z(first->fix, get(expect, "fix"));
    CHECK(first->reason[0] && first->fix[0]);
    if (fields && CHECK_INT(v->denials.n, json_array_size(fields)))
        for (size_t i = 0; i < v->denials.n; i++)
            CHECK_Z(v->denials.p[i].field, json_string_value(json_array_get(fields, i)));
}

static bool load_case(const json_t *c, struct arena *a, struct policy *ret_policy, struct err *err)
{
    json_t *policy = json_object_get(c, "policy");
    if (!policy)
        return policy_parse(json_str(json_object_get(c, "text")), "policy", a, ret_policy, err);
    if (json_object_get(c, "reference"))
        return policy_from_json(
            policy, "run.policy", a, ret_policy, &(struct policy_reference){0}, err);
    if (!json_object_get(policy, "policy_version"))
        json_object_set_new(policy, "policy_version", json_integer(POLICY_VERSION));
    return policy_from_json(policy, "", a, ret_policy, NULL, err);
}

static void run_case(const json_t *c)
{
    const json_t *expect = json_object_get(c, "expect");
    const struct policy_host host = {.home = test_path("home")};
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    struct verdict v;
    if (!load_case(c, &a, &policy, &err)) {
        const struct err_pair *field = err_ctx_get(&err, "field");
        CHECK_Z(err_name(err.code), get(expect, "code"));
        if (get(expect, "message"))
            CHECK_Z(err.message, get(expect, "message"));
        if (get(expect, "field"))
            CHECK_Z(field ? field->text : "", get(expect, "field"));
        return;
    }
    policy_validate(&policy, &host, &a, &v);
    if (get(c, "command"))
        policy_validate_command(
            &v, &(struct policy_command){.path = get(c, "command"), .cwd = get(c, "cwd")});
    judge(&v, expect);
}

static size_t run_file(const char *path)
{
    AUTO_FREE char *text = test_read(path);
    AUTO_JSON json_t *cases = NULL;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(yaml_parse(str_z(text), path, E_CONFIG, &cases, &err), &err))
        return 0;
    fill(cases);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        test_row(i, get(c, "name"));
        if (CHECK(json_is_object(json_object_get(c, "expect"))))
            run_case(c);
    }
    return json_array_size(cases);
}

TEST(policy_cases)
{
    glob_t found;
    size_t n = 0;
    make_tree();
    CHECK_INT(glob(TESTS_DIR "/policy/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        n += run_file(found.gl_pathv[i]);
    globfree(&found);
    test_row(0, NULL);
    CHECK(n >= CASES_LEAST);
}

/* Shape, round trip, prefixes ----------------------------------------------------------------- */

static const char full[] =
    "{\"policy_version\":3,\"sandbox\":\"landlock\",\"sandbox_unsafe_ack\":true,"
    "\"network\":\"enabled\",\"network_unsafe_ack\":true,\"allowed_hosts\":[\"a.example\"],"
    "\"fs\":{\"allowed_read\":[\"/a\"],\"allowed_write\":[\"/b\",\"/c\"],\"working_dir\":\"/a\"},"
    "\"fs_write_unsafe_ack\":true,\"fs_strict_write\":true,"
    "\"exec\":{\"allowed_executables\":[\"/bin/cat\"],\"allow_shell\":true},"
    "\"env\":{\"allowlist\":[\"TERM\"],\"set\":{\"A\":\"1\"},\"inherit\":true},"
    "\"developer\":true,\"allow_unix_sockets\":true,\"unix_sockets_unsafe_ack\":true,\"budgets\":{"
    "\"max_steps\":7},"
    "\"limits\":{\"processes\":9},"
    "\"artifacts\":{\"enabled\":true,\"dir\":\"/b/x\",\"overwrite\":true},"
    "\"replay\":{\"strict\":true,\"normalization_filters\":[],\"normalization_rules\":"
    "[{\"target\":\"snapshot_lines\",\"pattern\":\"\\\\d+\",\"replace\":\"<n>\"}]}}";

TEST(policy_table_is_right)
{
    AUTO_ERR struct err err = {0};
    CHECK_OK(shape_check(&policy_shape, &err), &err);
    AUTO_JSON json_t *schema = policy_schema();
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    json_add_compact(&b, schema);
    const char *text = buf_z(&b);
    CHECK(strstr(text, "\"required\":[\"policy_version\"]"));
    CHECK(strstr(text, "\"additionalProperties\":false"));
    CHECK(strstr(text, "\"enum\":[\"seatbelt\",\"native\",\"landlock\",\"none\"]"));
    CHECK(strstr(text, "\"items\":{\"type\":\"string\",\"enum\":[\"snapshot_id\","));
    CHECK(strstr(text, "\"maxItems\":10000"));
}

TEST(policy_defaults)
{
    static const char want[] =
        "{\"policy_version\":4,\"sandbox\":\"seatbelt\",\"sandbox_unsafe_ack\":false,"
        "\"network\":\"disabled\",\"network_unsafe_ack\":false,\"allowed_hosts\":[],"
        "\"fs\":{\"allowed_read\":[],\"allowed_write\":[]},"
        "\"fs_write_unsafe_ack\":false,\"fs_strict_write\":false,"
        "\"exec\":{\"allowed_executables\":[],\"allow_shell\":false},"
        "\"env\":{\"allowlist\":[],\"set\":{},\"inherit\":false},\"developer\":false,\"allow_unix_"
        "sockets\":false,"
        "\"unix_sockets_unsafe_ack\":false,"
        "\"budgets\":{\"max_runtime_ms\":60000,\"max_steps\":10000,\"max_output_bytes\":8388608,"
        "\"max_snapshot_bytes\":2097152,\"max_wait_ms\":10000},"
        "\"limits\":{\"processes\":512,\"memory_bytes\":4294967296,\"open_files\":1024,"
        "\"file_bytes\":1073741824,\"tmp_bytes\":536870912},"
        "\"artifacts\":{\"enabled\":false,\"overwrite\":false},\"replay\":{\"strict\":false}}";
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(1 << 16);
    struct policy policy;
    CHECK_OK(policy_parse(STR("policy_version: 3"), "p", &a, &policy, &err), &err);
    AUTO_JSON json_t *json = policy_to_json(&policy);
    json_add_compact(&b, json);
    CHECK_STR(buf_str(&b), str_z(want));
}

static json_t *round_trip(const json_t *first)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    struct policy policy;
    json_add_pretty(&b, first);
    if (!CHECK_OK(policy_parse(buf_str(&b), "p.json", &a, &policy, &err), &err))
        return NULL;
    return policy_to_json(&policy);
}

TEST(policy_written_is_read_back)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    CHECK_OK(json_parse(str_z(full), "full", E_PROTOCOL, &tree, &err), &err);
    AUTO_JSON json_t *first = round_trip(tree);
    AUTO_JSON json_t *second = round_trip(first);
    CHECK(first && json_equal(first, second));
    CHECK_INT(json_integer_value(json_object_get(first, "policy_version")), 4);
    /* Except for the version, the original contents are still there. */
    json_object_set_new(tree, "policy_version", json_integer(4));
    json_t *budgets = json_object_get(first, "budgets"), *limits = json_object_get(first, "limits");
    CHECK_INT(json_integer_value(json_object_get(budgets, "max_steps")), 7);
    CHECK_INT(json_integer_value(json_object_get(limits, "processes")), 9);
    json_object_set(tree, "budgets", budgets);
    json_object_set(tree, "limits", limits);
    CHECK(json_equal(tree, first));
}

TEST(policy_every_prefix_is_refused_with_a_place)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct policy policy;
    for (size_t n = 0; n < sizeof(full) - 1; n++) {
        AUTO_ERR struct err err = {0};
        AUTO_FREE char *text = base_alloc(n + 1);
        memcpy(text, full, n);
        test_row(n, "prefix");
        CHECK(!policy_parse(str_n(text, n), "p.json", &a, &policy, &err));
        CHECK_INT(err.code, E_PROTOCOL);
    }
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    struct starter_path ls = {.path = STR("/bin/ls")};
    starter_write(&b, &(struct starter){.root = STR("/tmp"), .exec = {&ls, 1}});
    for (size_t n = 0; n <= b.n; n++) {
        AUTO_ERR struct err err = {0};
        struct str text = str_n(b.p, n);
        if (!policy_parse(text, "p.yaml", &a, &policy, &err))
            CHECK(err.code == E_PROTOCOL || err.code == E_PROTOCOL_VERSION_MISMATCH);
    }
}

/* Sizes --------------------------------------------------------------------------------------- */

static void add_list(struct buf *b, size_t n, const char *entry)
{
    buf_add_z(b, "{\"policy_version\":4,\"fs\":{\"allowed_read\":[");
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s\"%s\"", i ? "," : "", entry);
    buf_add_z(b, "]}}");
}

TEST(policy_long_lists)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    const struct policy_host host = {0};
    struct policy policy;
    struct verdict v;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf most = BUF_INIT(16 << 20), more = BUF_INIT(16 << 20);
    add_list(&most, POLICY_LIST_MAX, "relative");
    CHECK_OK(policy_parse(buf_str(&most), "p", &a, &policy, &err), &err);
    policy_validate(&policy, &host, &a, &v);
    CHECK_INT(v.denials.n, POLICY_LIST_MAX);
    CHECK_Z(v.denials.p[POLICY_LIST_MAX - 1].field, "fs.allowed_read[9999]");
    add_list(&more, 100 * 1000, "/tmp");
    CHECK(!policy_parse(buf_str(&more), "p", &a, &policy, &err));
    CHECK_ERR(&err, E_PROTOCOL, "fs.allowed_read: 100000 entries, at most 10000 are allowed");
}

TEST(policy_large_texts)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(16 << 20);
    struct policy policy;
    add_list(&b, 1, "/tmp");
    char *blanks = buf_reserve(&b, POLICY_TEXT_MAX + 1 - b.n);
    memset(blanks, ' ', POLICY_TEXT_MAX + 1 - b.n);
    buf_grown(&b, POLICY_TEXT_MAX + 1 - b.n);
    test_write(test_path("large.json"), buf_z(&b));
    CHECK(!policy_parse(buf_str(&b), "p.json", &a, &policy, &err));
    CHECK_ERR(&err, E_PROTOCOL, "p.json: the policy is larger than 10000000 bytes");
    CHECK(!policy_load(test_path("large.json"), &a, &policy, &err));
    CHECK_ERR(&err, E_PROTOCOL, "larger than 10000000 bytes");
    buf_truncate(&b, POLICY_TEXT_MAX);
    CHECK_OK(policy_parse(buf_str(&b), "p.json", &a, &policy, &err), &err);
}

TEST(policy_version_context)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    CHECK(!policy_parse(STR("policy_version: 5"), "p.yaml", &a, &policy, &err));
    CHECK_INT(err_status(err.code), 8);
    CHECK_INT(err_ctx_get(&err, "provided_version")->number, 5);
    CHECK_INT(err_ctx_get(&err, "supported_version")->number, 4);
}

/* Presets, grants ----------------------------------------------------------------------------- */

TEST(policy_presets_are_valid)
{
    make_tree();
    const char *root = test_path("work");
    const struct policy_host host = {.home = test_path("home")};
    CHECK(n_presets == 6 && !preset_names[n_presets]);
    for (size_t i = 0; i < n_presets; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        struct policy policy;
        struct verdict v;
        test_row(i, presets[i].name);
        CHECK(presets[i].about[0] && !strchr(presets[i].about, '\n'));
        if (!CHECK_OK(preset_load(presets[i].name, str_z(root), &a, &policy, &err), &err))
            continue;
        policy_validate(&policy, &host, &a, &v);
        policy_validate_command(&v, &(struct policy_command){.path = "/usr/bin/env"});
        CHECK_OK(verdict_ok(&v, &err), &err);
        CHECK_STR(policy.fs.working_dir, str_z(root));
        bool writes = strcmp(presets[i].name, "readonly") != 0;
        CHECK_INT(v.write.n, writes ? 1 : 0);
        CHECK(policy.exec.allow_shell == writes);
        CHECK(verdict_holds(&v.exec, str_z(root)) == writes);
    }
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    CHECK(!preset_load("biuld", str_z(root), &a, &policy, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "did you mean 'build'?");
    CHECK(!preset_load("build", STR("/a\xff"), &a, &policy, &err));
    CHECK_ERR(&err, E_POLICY_DENIED, "not UTF-8");
}

TEST(policy_grants_show_both_spellings)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    struct verdict v;
    make_tree();
    const struct policy_host host = {.home = test_path("home")};
    CHECK_INT(mkdir(test_path("odd\xff"), 0755), 0);
    make_link("odd\xff", "even");
    const char *text = arena_printf(&a,
        "{\"policy_version\":4,\"fs\":{\"allowed_read\":[\"%s/link-work\",\"%s/even\"]},"
        "\"env\":{\"allowlist\":[\"TERM\"]}}",
        test_dir(), test_dir());
    CHECK_OK(policy_parse(str_z(text), "p", &a, &policy, &err), &err);
    policy_validate(&policy, &host, &a, &v);
    AUTO_JSON json_t *explained = policy_explain(&v);
    CHECK(json_is_true(json_object_get(explained, "allowed")));
    json_t *grants = json_object_get(explained, "grants");
    json_t *read = json_object_get(grants, "read"), *first = json_array_get(read, 0);
    CHECK_Z(get(first, "given"), test_path("link-work"));
    CHECK_Z(get(first, "resolved"), test_path("work"));
    CHECK_Z(get(first, "kind"), "directory");
    CHECK(!json_object_get(first, "inexact"));
    json_t *inexact = json_object_get(json_array_get(read, 1), "inexact");
    CHECK(str_ends_with(str_z(get(inexact, "resolved")), STR("odd^xFF")));
    /* Without inherit nothing is passed on. */
    json_t *env = json_object_get(grants, "env");
    CHECK_INT(json_array_size(json_object_get(env, "inherit")), 0);
}
