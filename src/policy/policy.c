/* The policy's field tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

const char *const policy_sandbox_names[] = {
    [POLICY_SEATBELT] = "seatbelt",
    [POLICY_NATIVE] = "native",
    [POLICY_LANDLOCK] = "landlock",
    [POLICY_NO_SANDBOX] = "none",
    [POLICY_NO_SANDBOX + 1] = NULL,
};

static const char *const network_names[] = {
    [POLICY_NETWORK_DISABLED] = "disabled",
    [POLICY_NETWORK_ENABLED] = "enabled",
};

static const char *const target_names[] = {
    [POLICY_TARGET_TRANSCRIPT] = "transcript",
    [POLICY_TARGET_SNAPSHOT_LINES] = "snapshot_lines",
};

const char *const policy_filters[] = {
    "snapshot_id",
    "run_id",
    "run_timestamps",
    "step_timestamps",
    "observation_timestamp",
    "session_id",
    NULL,
};

/* A list in the policy file. */
#define LIST .def = "[]", FIELD_RANGE(0, POLICY_LIST_MAX)

static const struct field fs_fields[] = {
    FIELD_STRS("allowed_read", struct policy_fs, allowed_read,
        "absolute paths of files and directories that may be read, in addition to the "
        "system's baseline",
        LIST),
    FIELD_STRS("allowed_write", struct policy_fs, allowed_write,
        "absolute paths of files and directories that may be read and written; needs "
        "fs_write_unsafe_ack",
        LIST),
    FIELD_STR("working_dir", struct policy_fs, working_dir,
        "working directory: an absolute path that may be read or written"),
};
static const struct shape fs_shape =
    SHAPE("fs", struct policy_fs, fs_fields, "files that may be accessed");

static const struct field exec_fields[] = {
    FIELD_STRS("allowed_executables", struct policy_exec, allowed_executables,
        "absolute paths of programs that may run; a directory allows every file below it", LIST),
    FIELD_BOOL("allow_shell", struct policy_exec, allow_shell,
        "whether the command itself may be a shell or a shell script", .def = "false"),
};
static const struct shape exec_shape =
    SHAPE("exec", struct policy_exec, exec_fields, "programs that may run");

static const struct field env_fields[] = {
    FIELD_STRS("allowlist", struct policy_env, allowlist,
        "names of the variables that inherit passes on", LIST),
    FIELD_MAP("set", struct policy_env, set,
        "variables and their values; these need no allowlist entry", .def = "{}",
        FIELD_RANGE(0, POLICY_LIST_MAX)),
    FIELD_BOOL("inherit", struct policy_env, inherit,
        "whether to pass on the caller's variables that are in the allowlist", .def = "false"),
};
static const struct shape env_shape =
    SHAPE("env", struct policy_env, env_fields, "the program's environment");

static const struct field budgets_fields[] = {
    FIELD_U64("max_runtime_ms", struct policy_budgets, max_runtime_ms,
        "duration of the whole run, in milliseconds", .def = "60000"),
    FIELD_U64("max_steps", struct policy_budgets, max_steps,
        "number of steps of a scenario or driver", .def = "10000"),
    FIELD_U64("max_output_bytes", struct policy_budgets, max_output_bytes,
        "size of the program's output, in bytes", .def = "8388608"),
    FIELD_U64("max_snapshot_bytes", struct policy_budgets, max_snapshot_bytes,
        "size of one snapshot of the screen", .def = "2097152"),
    FIELD_U64("max_wait_ms", struct policy_budgets, max_wait_ms,
        "duration of one wait, in milliseconds", .def = "10000"),
};
const struct shape policy_budgets_shape =
    SHAPE("budgets", struct policy_budgets, budgets_fields, "bounds that end a run when exceeded");

#define AT_LEAST_1 FIELD_RANGE(1, INT64_MAX)

static const struct field limits_fields[] = {
    FIELD_U64("processes", struct policy_limits, processes, "processes and threads at one time",
        .def = "512", AT_LEAST_1),
    FIELD_U64("memory_bytes", struct policy_limits, memory_bytes,
        "memory of one process, and of all together if a cgroup can be created; with less "
        "than 1048576 not even a small program starts",
        .def = "4294967296", FIELD_RANGE(POLICY_MEMORY_MIN, INT64_MAX)),
    FIELD_U64("open_files", struct policy_limits, open_files, "open files of one process",
        .def = "1024", AT_LEAST_1),
    FIELD_U64("file_bytes", struct policy_limits, file_bytes,
        "size of the largest file that it may create", .def = "1073741824", AT_LEAST_1),
    FIELD_U64("tmp_bytes", struct policy_limits, tmp_bytes,
        "size of its private /tmp, in whole pages of memory", .def = "536870912", AT_LEAST_1),
};
const struct shape policy_limits_shape =
    SHAPE("limits", struct policy_limits, limits_fields, "limits that the kernel enforces");

static const struct field artifacts_fields[] = {
    FIELD_BOOL("enabled", struct policy_artifacts, enabled, "whether to write a record of the run",
        .def = "false"),
    FIELD_STR("dir", struct policy_artifacts, dir,
        "directory of the record: an absolute path inside fs.allowed_write; required if "
        "enabled"),
    FIELD_BOOL("overwrite", struct policy_artifacts, overwrite,
        "whether to replace an earlier record there", .def = "false"),
};
static const struct shape artifacts_shape =
    SHAPE("artifacts", struct policy_artifacts, artifacts_fields, "the record of a run");

static const struct field rule_fields[] = {
    FIELD_ENUM("target", struct policy_rule, target, target_names, "text that the rule applies to",
        .flags = FIELD_REQUIRED),
    FIELD_STR(
        "pattern", struct policy_rule, pattern, "a regular expression", .flags = FIELD_REQUIRED),
    FIELD_STR("replace", struct policy_rule, replace, "replacement text", .flags = FIELD_REQUIRED),
};
const struct shape policy_rule_shape = SHAPE(
    "normalization rule", struct policy_rule, rule_fields, "text that a replay does not compare");

static const struct field replay_fields[] = {
    FIELD_BOOL("strict", struct policy_replay, strict, "whether to compare everything exactly",
        .def = "false"),
    FIELD_STRS("normalization_filters", struct policy_replay, normalization_filters,
        "fields that are not compared; replaces the default",
        FIELD_HAS(struct policy_replay, has_filters), FIELD_RANGE(0, POLICY_LIST_MAX)),
    FIELD_OBJECTS("normalization_rules", struct policy_replay, rules, n_rules, &policy_rule_shape,
        "replacements made before texts are compared", FIELD_HAS(struct policy_replay, has_rules),
        FIELD_RANGE(0, POLICY_LIST_MAX)),
};
static const struct shape replay_shape =
    SHAPE("replay", struct policy_replay, replay_fields, "how a replay is compared");

static const struct field policy_fields[] = {
    FIELD_U32("policy_version", struct policy, version, "version of the format: 4; 3 is read as 4",
        .flags = FIELD_REQUIRED, FIELD_RANGE(POLICY_VERSION_OLDEST, POLICY_VERSION)),
    FIELD_ENUM("sandbox", struct policy, sandbox, policy_sandbox_names,
        "seatbelt and native: the system's own sandbox; landlock: a weaker one; none: nothing is "
        "enforced",
        .def = "\"seatbelt\""),
    FIELD_BOOL("sandbox_unsafe_ack", struct policy, sandbox_unsafe_ack,
        "acknowledge that the sandbox is none or landlock", .def = "false"),
    FIELD_ENUM("network", struct policy, network, network_names,
        "whether the program may use the network", .def = "\"disabled\""),
    FIELD_BOOL("network_unsafe_ack", struct policy, network_unsafe_ack,
        "acknowledge network access", .def = "false"),
    FIELD_STRS("allowed_hosts", struct policy, allowed_hosts,
        "hosts that can be reached through a proxy while the network is disabled: example.com, "
        "*.example.com, example.com:8443, an address",
        .def = "[]", FIELD_RANGE(0, POLICY_LIST_MAX)),
    FIELD_OBJECT("fs", struct policy, fs, &fs_shape, "files that may be accessed"),
    FIELD_BOOL("fs_write_unsafe_ack", struct policy, fs_write_unsafe_ack,
        "acknowledge that files may be changed", .def = "false"),
    FIELD_BOOL("fs_strict_write", struct policy, fs_strict_write,
        "also require fs_write_unsafe_ack for a record of the run", .def = "false"),
    FIELD_OBJECT("exec", struct policy, exec, &exec_shape, "programs that may run"),
    FIELD_OBJECT("env", struct policy, env, &env_shape, "the program's environment"),
    FIELD_BOOL("developer", struct policy, developer,
        "whether the command sees the developer's machine: toolchains of PATH and of the home "
        "directory, read-only, and a private home directory; where it may run files that it "
        "writes, it may also run files in /tmp and trace its own processes",
        .def = "false"),
    FIELD_BOOL("allow_unix_sockets", struct policy, allow_unix_sockets,
        "whether it may open Unix sockets; sockets of the host in visible directories can "
        "then be reached; needs unix_sockets_unsafe_ack",
        .def = "false"),
    FIELD_BOOL("unix_sockets_unsafe_ack", struct policy, unix_sockets_unsafe_ack,
        "acknowledge access to Unix sockets of the host", .def = "false"),
    FIELD_OBJECT("budgets", struct policy, budgets, &policy_budgets_shape, "bounds that end a run"),
    FIELD_OBJECT(
        "limits", struct policy, limits, &policy_limits_shape, "limits that the kernel enforces"),
    FIELD_BOOL("limits_inexact_ack", struct policy, limits_inexact_ack,
        "acknowledge that this machine cannot enforce limits.processes exactly",
        .flags = FIELD_OMIT_EMPTY),
    FIELD_OBJECT("artifacts", struct policy, artifacts, &artifacts_shape, "the record of a run"),
    FIELD_OBJECT("replay", struct policy, replay, &replay_shape, "how a replay is compared"),
};
const struct shape policy_shape = SHAPE("policy", struct policy, policy_fields,
    "the resources that a program may use; none by default");

const char *policy_sandbox_name(enum policy_sandbox sandbox)
{
    BUG_ON(sandbox > POLICY_NO_SANDBOX);
    return policy_sandbox_names[sandbox];
}

enum policy_sandbox policy_sandbox_of(const char *name)
{
    enum policy_sandbox sandbox = POLICY_NO_SANDBOX;
    while (sandbox > POLICY_NATIVE && strcmp(policy_sandbox_names[sandbox], name) != 0)
        sandbox--;
    return sandbox;
}

const char *policy_network_name(enum policy_network network)
{
    BUG_ON(network >= ARRAY_LEN(network_names));
    return network_names[network];
}

static const struct field *limit_field(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(limits_fields); i++)
        if (strcmp(limits_fields[i].name, name) == 0)
            return &limits_fields[i];
    BUG_ON(true);
}

static bool is_default(const char *name, uint64_t value)
{
    int64_t number;
    return str_to_int(str_z(limit_field(name)->def), 0, INT64_MAX, &number) &&
           (uint64_t)number == value;
}

void policy_forget_defaults(struct policy *policy)
{
    struct policy_limits *l = &policy->limits;
    l->asked_processes &= !is_default("processes", l->processes);
    l->asked_memory &= !is_default("memory_bytes", l->memory_bytes);
}

json_t *policy_to_json(const struct policy *policy)
{
    return field_write(&policy_shape, policy);
}

static json_t *policy_schema_property(json_t *schema, const char *name)
{
    json_t *found = json_object_get(json_object_get(schema, "properties"), name);
    BUG_ON(!found);
    return found;
}

void policy_name_filters(json_t *list_schema)
{
    json_t *names = json_array();
    for (size_t i = 0; policy_filters[i]; i++)
        json_push(names, json_string(policy_filters[i]));
    json_put(json_object_get(list_schema, "items"), "enum", names);
}

json_t *policy_schema(void)
{
    json_t *schema = field_schema(&policy_shape);
    policy_name_filters(
        policy_schema_property(policy_schema_property(schema, "replay"), "normalization_filters"));
    return schema;
}
