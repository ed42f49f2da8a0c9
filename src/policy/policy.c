/* The policy's field tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

static const char *const sandbox_names[] = {
    [POLICY_SEATBELT] = "seatbelt",
    [POLICY_NATIVE] = "native",
    [POLICY_LANDLOCK] = "landlock",
    [POLICY_NO_SANDBOX] = "none",
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
        "absolute paths of files and directories that may be read, beside the system's baseline",
        LIST),
    FIELD_STRS("allowed_write", struct policy_fs, allowed_write,
        "absolute paths of files and directories that may be read and written; needs "
        "fs_write_unsafe_ack",
        LIST),
    FIELD_STR("working_dir", struct policy_fs, working_dir,
        "where the program starts: an absolute path inside what may be read or written"),
};
static const struct shape fs_shape =
    SHAPE("fs", struct policy_fs, fs_fields, "which files may be touched");

static const struct field exec_fields[] = {
    FIELD_STRS("allowed_executables", struct policy_exec, allowed_executables,
        "absolute paths of programs that may run; a directory allows every file below it", LIST),
    FIELD_BOOL("allow_shell", struct policy_exec, allow_shell,
        "may the command be a shell or a shell script, by its own name?", .def = "false"),
};
static const struct shape exec_shape =
    SHAPE("exec", struct policy_exec, exec_fields, "which programs may run");

static const struct field env_fields[] = {
    FIELD_STRS("allowlist", struct policy_env, allowlist,
        "names of the variables that inherit passes on", LIST),
    FIELD_MAP("set", struct policy_env, set, "variables and their values; need no allowlist entry",
        .def = "{}", FIELD_RANGE(0, POLICY_LIST_MAX)),
    FIELD_BOOL("inherit", struct policy_env, inherit,
        "pass on the caller's variables that the allowlist names?", .def = "false"),
};
static const struct shape env_shape =
    SHAPE("env", struct policy_env, env_fields, "the program's environment");

static const struct field budgets_fields[] = {
    FIELD_U64("max_runtime_ms", struct policy_budgets, max_runtime_ms,
        "the whole run, in milliseconds", .def = "60000"),
    FIELD_U64("max_steps", struct policy_budgets, max_steps, "steps of a scenario or driver",
        .def = "10000"),
    FIELD_U64("max_output_bytes", struct policy_budgets, max_output_bytes,
        "what the program may print", .def = "8388608"),
    FIELD_U64("max_snapshot_bytes", struct policy_budgets, max_snapshot_bytes,
        "one snapshot of the screen", .def = "2097152"),
    FIELD_U64("max_wait_ms", struct policy_budgets, max_wait_ms, "one wait, in milliseconds",
        .def = "10000"),
};
const struct shape policy_budgets_shape =
    SHAPE("budgets", struct policy_budgets, budgets_fields, "what ends a run when exceeded");

#define AT_LEAST_1 FIELD_RANGE(1, INT64_MAX)

static const struct field limits_fields[] = {
    FIELD_U64("processes", struct policy_limits, processes, "processes and threads at one time",
        .def = "512", AT_LEAST_1),
    FIELD_U64("memory_bytes", struct policy_limits, memory_bytes,
        "memory of one process, and of all together where a cgroup can be made; with less than "
        "1048576 not even a small program starts",
        .def = "4294967296", FIELD_RANGE(POLICY_MEMORY_MIN, INT64_MAX)),
    FIELD_U64("open_files", struct policy_limits, open_files, "open files of one process",
        .def = "1024", AT_LEAST_1),
    FIELD_U64("file_bytes", struct policy_limits, file_bytes, "the largest file that it may make",
        .def = "1073741824", AT_LEAST_1),
    FIELD_U64("tmp_bytes", struct policy_limits, tmp_bytes,
        "its private /tmp, in whole pages of memory", .def = "536870912", AT_LEAST_1),
};
const struct shape policy_limits_shape =
    SHAPE("limits", struct policy_limits, limits_fields, "what the kernel refuses beyond");

static const struct field artifacts_fields[] = {
    FIELD_BOOL(
        "enabled", struct policy_artifacts, enabled, "write a record of the run?", .def = "false"),
    FIELD_STR("dir", struct policy_artifacts, dir,
        "where to: an absolute path inside fs.allowed_write; needed when enabled"),
    FIELD_BOOL("overwrite", struct policy_artifacts, overwrite, "replace an earlier record there?",
        .def = "false"),
};
static const struct shape artifacts_shape =
    SHAPE("artifacts", struct policy_artifacts, artifacts_fields, "the record of a run");

static const struct field rule_fields[] = {
    FIELD_ENUM("target", struct policy_rule, target, target_names, "what the rule changes",
        .flags = FIELD_REQUIRED),
    FIELD_STR(
        "pattern", struct policy_rule, pattern, "a regular expression", .flags = FIELD_REQUIRED),
    FIELD_STR("replace", struct policy_rule, replace, "what stands there instead",
        .flags = FIELD_REQUIRED),
};
const struct shape policy_rule_shape = SHAPE(
    "normalization rule", struct policy_rule, rule_fields, "text that a replay does not compare");

static const struct field replay_fields[] = {
    FIELD_BOOL(
        "strict", struct policy_replay, strict, "compare everything as it is?", .def = "false"),
    FIELD_STRS("normalization_filters", struct policy_replay, normalization_filters,
        "fields that are not compared, instead of the default ones",
        FIELD_HAS(struct policy_replay, has_filters), FIELD_RANGE(0, POLICY_LIST_MAX)),
    FIELD_OBJECTS("normalization_rules", struct policy_replay, rules, n_rules, &policy_rule_shape,
        "replacements before texts are compared", FIELD_HAS(struct policy_replay, has_rules),
        FIELD_RANGE(0, POLICY_LIST_MAX)),
};
static const struct shape replay_shape =
    SHAPE("replay", struct policy_replay, replay_fields, "how a replay is compared");

static const struct field policy_fields[] = {
    FIELD_U32("policy_version", struct policy, version, "4; 3 is read as 4",
        .flags = FIELD_REQUIRED, FIELD_RANGE(POLICY_VERSION_OLDEST, POLICY_VERSION)),
    FIELD_ENUM("sandbox", struct policy, sandbox, sandbox_names,
        "seatbelt and native: the system's own sandbox; landlock: a weaker one; none: nothing is "
        "enforced",
        .def = "\"seatbelt\""),
    FIELD_BOOL("sandbox_unsafe_ack", struct policy, sandbox_unsafe_ack,
        "yes, the sandbox may be none or landlock", .def = "false"),
    FIELD_ENUM("network", struct policy, network, network_names, "may the program use the network?",
        .def = "\"disabled\""),
    FIELD_BOOL("network_unsafe_ack", struct policy, network_unsafe_ack,
        "yes, the network may be reached", .def = "false"),
    FIELD_OBJECT("fs", struct policy, fs, &fs_shape, "which files may be touched"),
    FIELD_BOOL("fs_write_unsafe_ack", struct policy, fs_write_unsafe_ack, "yes, files may change",
        .def = "false"),
    FIELD_BOOL("fs_strict_write", struct policy, fs_strict_write,
        "ask for fs_write_unsafe_ack for a record of the run, too", .def = "false"),
    FIELD_OBJECT("exec", struct policy, exec, &exec_shape, "which programs may run"),
    FIELD_OBJECT("env", struct policy, env, &env_shape, "the program's environment"),
    FIELD_BOOL("allow_unix_sockets", struct policy, allow_unix_sockets,
        "may it open Unix sockets? One of the host's could lie in whatever it sees; needs "
        "unix_sockets_unsafe_ack",
        .def = "false"),
    FIELD_BOOL("unix_sockets_unsafe_ack", struct policy, unix_sockets_unsafe_ack,
        "yes, Unix sockets of the host may be reached", .def = "false"),
    FIELD_OBJECT("budgets", struct policy, budgets, &policy_budgets_shape, "what ends a run"),
    FIELD_OBJECT("limits", struct policy, limits, &policy_limits_shape, "what the kernel refuses"),
    FIELD_BOOL("limits_inexact_ack", struct policy, limits_inexact_ack,
        "yes, limits.processes may be kept inexactly where this machine can't do better",
        .flags = FIELD_OMIT_EMPTY),
    FIELD_OBJECT("artifacts", struct policy, artifacts, &artifacts_shape, "the record of a run"),
    FIELD_OBJECT("replay", struct policy, replay, &replay_shape, "how a replay is compared"),
};
const struct shape policy_shape =
    SHAPE("policy", struct policy, policy_fields, "what a program may do; nothing by default");

const char *policy_sandbox_name(enum policy_sandbox sandbox)
{
    BUG_ON(sandbox >= ARRAY_LEN(sandbox_names));
    return sandbox_names[sandbox];
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
