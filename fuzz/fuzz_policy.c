/* A policy's text: if it is read, it is checked, explained, written, and must read back as the
 * same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"
#include "policy/grants.h"
#include "policy/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const struct policy *policy)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(64 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(64 << 20);
    AUTO_JSON json_t *first = policy_to_json(policy);
    struct policy again;
    json_add_pretty(&b, first);
    bool ok = policy_parse(buf_str(&b), "p.json", &arena, &again, &err);
    BUG_ON(!ok);
    AUTO_JSON json_t *second = policy_to_json(&again);
    BUG_ON(!json_equal(first, second));
}

/* A denied policy grants nothing, and every denial has a place, a reason and a remedy. */
static void explain(const struct policy *policy, struct arena *arena)
{
    const struct policy_host host = {.home = "/home/me"};
    struct verdict v;
    policy_validate(policy, &host, arena, &v);
    policy_validate_command(&v, &(struct policy_command){.path = "/usr/bin/env", .cwd = "/tmp"});
    AUTO_JSON json_t *explained = policy_explain(&v);
    size_t granted = json_object_size(json_object_get(explained, "grants"));
    BUG_ON(json_is_true(json_object_get(explained, "allowed")) != (granted > 0));
    for (size_t i = 0; i < v.denials.n; i++)
        BUG_ON(!v.denials.p[i].field[0] || !v.denials.p[i].reason[0] || !v.denials.p[i].fix[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 30);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    if (policy_parse(text, "policy", &arena, &policy, &err)) {
        explain(&policy, &arena);
        read_back(&policy);
    } else {
        BUG_ON(err.code != E_PROTOCOL && err.code != E_PROTOCOL_VERSION_MISMATCH);
    }
    return 0;
}
