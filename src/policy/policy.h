/* The policy: what a child process may access, as data. Deny by default: an absent key grants
 * nothing.
 *
 *     struct policy policy;
 *     if (!policy_parse(text, "policy.yaml", &arena, &policy, err)) return false;   policy/load.h
 *     AUTO_JSON json_t *effective = policy_to_json(&policy);
 *
 * The tables behind policy_shape drive reading, writing and the JSON Schema. They cover only the
 * format; policy/validate.h decides whether the policy may be used.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/field.h"

enum {
    POLICY_VERSION = 4,
    POLICY_VERSION_OLDEST = 3, /* read as the current one */
    POLICY_LIST_MAX = 10 * 1000,
    POLICY_MEMORY_MIN = 1 << 20, /* with less, the kernel kills a program before it starts */
};

/* `seatbelt` and `native` both select the system's own sandbox; the spelling is preserved. */
enum policy_sandbox {
    POLICY_SEATBELT,
    POLICY_NATIVE,
    POLICY_LANDLOCK, /* weaker: needs an acknowledgement */
    POLICY_NO_SANDBOX,
};

enum policy_network {
    POLICY_NETWORK_DISABLED,
    POLICY_NETWORK_ENABLED,
};

enum policy_target {
    POLICY_TARGET_TRANSCRIPT,
    POLICY_TARGET_SNAPSHOT_LINES,
};

struct policy_fs {
    struct str_list allowed_read;
    struct str_list allowed_write;
    struct str working_dir; /* may have no value */
};

struct policy_exec {
    struct str_list allowed_executables;
    bool allow_shell;
};

struct policy_env {
    struct str_list allowlist; /* the variables that inherit passes on */
    struct str_map set;
    bool inherit;
};

struct policy_budgets {
    uint64_t max_runtime_ms;
    uint64_t max_steps;
    uint64_t max_output_bytes;
    uint64_t max_snapshot_bytes;
    uint64_t max_wait_ms;
};

struct policy_limits {
    uint64_t processes;
    uint64_t memory_bytes;
    uint64_t open_files;
    uint64_t file_bytes;
    uint64_t tmp_bytes;
    bool asked_processes, asked_memory; /* set explicitly in the policy, not the default */
};

struct policy_artifacts {
    bool enabled;
    struct str dir; /* may have no value */
    bool overwrite;
};

struct policy_rule {
    enum policy_target target;
    struct str pattern;
    struct str replace;
};

struct policy_replay {
    bool strict;
    struct str_list normalization_filters;
    bool has_filters; /* an empty list differs from an absent one */
    struct policy_rule *rules;
    size_t n_rules;
    bool has_rules;
};

struct policy {
    uint32_t version;
    enum policy_sandbox sandbox;
    bool sandbox_unsafe_ack;
    enum policy_network network;
    bool network_unsafe_ack;
    struct str_list allowed_hosts; /* reached by a proxy, though the network is disabled */
    struct policy_fs fs;
    bool fs_write_unsafe_ack;
    bool fs_strict_write;
    struct policy_exec exec;
    struct policy_env env;
    bool developer;
    bool allow_unix_sockets;
    bool unix_sockets_unsafe_ack;
    struct policy_budgets budgets;
    struct policy_limits limits;
    bool limits_inexact_ack;
    struct policy_artifacts artifacts;
    struct policy_replay replay;
};

extern const struct shape policy_shape;
extern const struct shape policy_budgets_shape;
extern const struct shape policy_limits_shape;
extern const struct shape policy_rule_shape;

/* The names of the replay's normalization filters; NULL-terminated. */
extern const char *const policy_filters[];

/* The names of the sandboxes by value, terminated by NULL; those that an option selects; the
 * sandbox of such an option, native for any other name. */
extern const char *const policy_sandbox_names[];
#define POLICY_SANDBOX_OPTIONS (policy_sandbox_names + POLICY_NATIVE)
enum policy_sandbox policy_sandbox_of(const char *name);

const char *policy_sandbox_name(enum policy_sandbox sandbox);
const char *policy_network_name(enum policy_network network);

/* Treats limits that equal the defaults as not requested: for a policy that was written by
 * policy_to_json(), which writes all of them. */
void policy_forget_defaults(struct policy *policy);

/* The effective policy: every key that has a value, in the order of the tables. */
MUST_USE json_t *policy_to_json(const struct policy *policy);

/* The policy's JSON Schema. */
MUST_USE json_t *policy_schema(void);

/* Restricts the schema of a list of filters to these names. */
void policy_name_filters(json_t *list_schema);

#endif
