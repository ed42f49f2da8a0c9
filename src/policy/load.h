/* A policy from a text, a file, or a part of a scenario.
 *
 *     if (!policy_load("policy.yaml", &arena, &policy, err)) return false;
 *     if (!policy_from_json(run_policy, "run.policy", &arena, &policy, err)) return false;
 *
 * What is not a policy is E_PROTOCOL with its place (policy.yaml:7:3: fs.allowed_raed: unknown key;
 * did you mean 'allowed_read'?). A version other than POLICY_VERSION, or the one that is read as
 * it, is E_PROTOCOL_VERSION_MISMATCH and is looked at before any other key, so that a newer policy
 * is said to be newer. The result is in the arena; nothing is looked up in the file system.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_LOAD_H
#define POLICY_LOAD_H

#include "base/sha256.h"
#include "policy/policy.h"

enum {
    POLICY_TEXT_MAX = 10 * 1000 * 1000, /* bytes; YAML ends at YAML_SIZE_MAX, which is less */
};

/* From JSON or YAML; the name is for messages, and its end may tell which it is. */
MUST_USE bool policy_parse(struct str text, const char *name, struct arena *arena,
    struct policy *ret_policy, struct err *err);

/* From a file. One that can't be read is E_IO. */
MUST_USE bool policy_load(
    const char *path, struct arena *arena, struct policy *ret_policy, struct err *err);

/* A policy that a document names by path, and the hash of the bytes that were read from there. */
struct policy_reference {
    struct str path; /* no value: the document holds the policy itself */
    char sha256[SHA256_HEX];
};

/* From a part of another document, where `place` is: a policy, or {"path": "/abs/policy.json"},
 * which must be absolute (E_POLICY_DENIED) and a regular file. Without a place for the reference
 * (NULL) such a path is an unknown key: no file is read. */
MUST_USE bool policy_from_json(const json_t *json, const char *place, struct arena *arena,
    struct policy *ret_policy, struct policy_reference *ret_reference, struct err *err);

#endif
