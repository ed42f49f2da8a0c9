/* Loads a policy from a text, a file, or a part of a scenario.
 *
 *     if (!policy_load("policy.yaml", &arena, &policy, err)) return false;
 *     if (!policy_from_json(run_policy, "run.policy", &arena, &policy, err)) return false;
 *
 * An invalid policy is E_PROTOCOL with its place (policy.yaml:7:3: fs.allowed_raed: unknown key;
 * did you mean 'allowed_read'?). A version outside POLICY_VERSION_OLDEST to POLICY_VERSION is
 * E_PROTOCOL_VERSION_MISMATCH and is checked before any other key, so that a newer policy is
 * reported as newer. The result is in the arena; nothing is looked up in the file system.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_LOAD_H
#define POLICY_LOAD_H

#include "base/sha256.h"
#include "policy/policy.h"

enum {
    POLICY_TEXT_MAX = 10 * 1000 * 1000, /* bytes; the YAML limit YAML_SIZE_MAX is lower */
};

/* Parses JSON or YAML; the name is for messages, and its suffix may select the format. */
MUST_USE bool policy_parse(struct str text, const char *name, struct arena *arena,
    struct policy *ret_policy, struct err *err);

/* Loads a file; a read error is E_IO. */
MUST_USE bool policy_load(
    const char *path, struct arena *arena, struct policy *ret_policy, struct err *err);

/* A policy that a document refers to by path, and the hash of the bytes that were read. */
struct policy_reference {
    struct str path; /* no value: the document contains the policy itself */
    char sha256[SHA256_HEX];
};

/* Reads a part of another document, at `place`: a policy, or {"path": "/abs/policy.json"}, which
 * must be absolute (E_POLICY_DENIED) and a regular file. If ret_reference is NULL, such a path is
 * an unknown key and no file is read. */
MUST_USE bool policy_from_json(const json_t *json, const char *place, struct arena *arena,
    struct policy *ret_policy, struct policy_reference *ret_reference, struct err *err);

#endif
