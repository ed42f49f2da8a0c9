/* Removing a grant from a policy never allows more. A policy is a set of bits here, one per grant;
 * random valid sets are compared with the same sets less one bit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "policy/grants.h"

#include <sys/stat.h>

enum {
    VALID_WANTED = 150,
    TRIES_MAX = 20 * 1000,
    ARENA_MAX = 1 << 30,
};

static const char *const read_pool[] = {"work", "link-work", "work/sub", "out", "bin", "prog"};
static const char *const write_pool[] = {"out", "work/sub", "bin/deep"};
static const char *const exec_pool[] = {"prog", "bin", "link-prog", "run.sh", "out"};
static const char *const env_pool[] = {"TERM", "LANG", "USER"};
static const char *const command_pool[] = {
    "prog", "link-prog", "bin/deep/tool", "bin/bash", "run.sh", "out/built", "work/file"};

/* First bit of each kind of grant. */
enum {
    READ_AT = 0,
    WRITE_AT = READ_AT + ARRAY_LEN(read_pool),
    EXEC_AT = WRITE_AT + ARRAY_LEN(write_pool),
    ALLOW_AT = EXEC_AT + ARRAY_LEN(exec_pool),
    SET_AT = ALLOW_AT + ARRAY_LEN(env_pool),
    INHERIT = SET_AT + ARRAY_LEN(env_pool),
    SHELL,
    SOCKETS,
    NETWORK,
    NO_SANDBOX,
    ARTIFACTS,
    WORKING_DIR,
    SANDBOX_ACK,
    NETWORK_ACK,
    WRITE_ACK,
    BITS,
};

static bool has(uint64_t bits, unsigned at)
{
    return bits >> at & 1;
}

static struct str_list pick(
    struct arena *a, uint64_t bits, unsigned at, const char *const *pool, size_t n)
{
    struct str_list list = {.p = ARENA_NEW(a, struct str, n)};
    for (size_t i = 0; i < n; i++)
        if (has(bits, at + (unsigned)i))
            list.p[list.n++] =
                str_z(pool == env_pool ? pool[i] : arena_printf(a, "%s/%s", test_dir(), pool[i]));
    return list;
}

#define PICK(at, pool) pick(a, bits, at, pool, ARRAY_LEN(pool))

static void make_policy(struct arena *a, uint64_t bits, struct policy *p)
{
    struct str_list set = PICK(SET_AT, env_pool);
    *p = (struct policy){
        .version = POLICY_VERSION,
        .sandbox = has(bits, NO_SANDBOX) ? POLICY_NO_SANDBOX : POLICY_NATIVE,
        .sandbox_unsafe_ack = has(bits, SANDBOX_ACK),
        .network = has(bits, NETWORK) ? POLICY_NETWORK_ENABLED : POLICY_NETWORK_DISABLED,
        .network_unsafe_ack = has(bits, NETWORK_ACK),
        .fs = {.allowed_read = PICK(READ_AT, read_pool),
            .allowed_write = PICK(WRITE_AT, write_pool)},
        .fs_write_unsafe_ack = has(bits, WRITE_ACK),
        .exec = {PICK(EXEC_AT, exec_pool), has(bits, SHELL)},
        .env = {.allowlist = PICK(ALLOW_AT, env_pool), .inherit = has(bits, INHERIT)},
        .allow_unix_sockets = has(bits, SOCKETS),
        .unix_sockets_unsafe_ack = true,
    };
    if (has(bits, WORKING_DIR))
        p->fs.working_dir = str_z(arena_printf(a, "%s/work/sub", test_dir()));
    if (has(bits, ARTIFACTS))
        p->artifacts = (struct policy_artifacts){
            .enabled = true, .dir = str_z(arena_printf(a, "%s/out/new", test_dir()))};
    p->env.set = (struct str_map){ARENA_NEW(a, struct str_pair, set.n), set.n};
    for (size_t i = 0; i < set.n; i++)
        p->env.set.p[i] = (struct str_pair){set.p[i], STR("1")};
}

struct judged {
    struct policy policy;
    struct verdict v;
    json_t *grants; /* NULL: denied */
    bool may_run[ARRAY_LEN(command_pool)];
};

static void judged_done(struct judged *j)
{
    json_decref(j->grants);
}

static void judge(struct arena *a, uint64_t bits, struct judged *j)
{
    const struct policy_host host = {.home = "/nonexistent"};
    *j = (struct judged){0};
    make_policy(a, bits, &j->policy);
    policy_validate(&j->policy, &host, a, &j->v);
    if (j->v.denials.n)
        return;
    j->grants = policy_grants(&j->v);
    for (size_t i = 0; i < ARRAY_LEN(command_pool); i++) {
        struct verdict with = j->v;
        const char *path = arena_printf(a, "%s/%s", test_dir(), command_pool[i]);
        policy_validate_command(&with, &(struct policy_command){.path = path});
        j->may_run[i] = with.denials.n == 0;
    }
}

static bool is_in(const json_t *value, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(value, json_array_get(list, i)))
            return true;
    return false;
}

static void check_lists(const json_t *less, const json_t *more, const char *key)
{
    const json_t *small = json_object_get(less, key), *large = json_object_get(more, key);
    CHECK(json_is_array(small) && json_is_array(large));
    for (size_t i = 0; i < json_array_size(small); i++)
        CHECK(is_in(json_array_get(small, i), large));
}

static void check_less(const struct judged *less, const struct judged *more)
{
    static const char *const lists[] = {"read", "write", "exec", "gaps"};
    static const char *const flags[] = {"allow_shell", "unix_sockets"};
    if (!less->grants)
        return;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        check_lists(less->grants, more->grants, lists[i]);
    const json_t *small = json_object_get(less->grants, "env");
    const json_t *large = json_object_get(more->grants, "env");
    check_lists(small, large, "inherit");
    check_lists(small, large, "set");
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        CHECK(!json_is_true(json_object_get(less->grants, flags[i])) ||
              json_is_true(json_object_get(more->grants, flags[i])));
    CHECK(less->policy.network <= more->policy.network);
    CHECK(json_is_null(json_object_get(less->grants, "artifacts")) ||
          !json_is_null(json_object_get(more->grants, "artifacts")));
    for (size_t i = 0; i < ARRAY_LEN(command_pool); i++)
        CHECK(!less->may_run[i] || more->may_run[i]);
}

/* xorshift: the same policies every time. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void make_tree(void)
{
    static const char *const files[] = {
        "work/file", "work/sub/file", "prog", "run.sh", "bin/bash", "bin/deep/tool", "out/built"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        test_write(test_path("%s", files[i]), "x");
        CHECK_INT(chmod(test_path("%s", files[i]), 0755), 0);
    }
    CHECK_INT(symlink("work", test_path("link-work")), 0);
    CHECK_INT(symlink("prog", test_path("link-prog")), 0);
}

TEST(policy_with_less_allows_less)
{
    uint64_t state = 0x9E3779B97F4A7C15;
    size_t valid = 0, ran = 0, still = 0;
    make_tree();
    for (size_t i = 0; valid < VALID_WANTED && i < TRIES_MAX; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        uint64_t bits = next_random(&state) >> 8 & ((1ULL << BITS) - 1);
        bits |= i % 4 ? 7ULL << SANDBOX_ACK : 0; /* mostly acknowledged: valid more often */
        AUTO(judged_done) struct judged more;
        judge(&a, bits, &more);
        if (!more.grants)
            continue;
        valid++;
        test_row(i, "policy");
        for (size_t j = 0; j < ARRAY_LEN(command_pool); j++)
            ran += more.may_run[j];
        for (unsigned at = 0; at < BITS; at++) {
            if (!has(bits, at))
                continue;
            AUTO(judged_done) struct judged less;
            judge(&a, bits & ~(1ULL << at), &less);
            still += less.grants != NULL;
            check_less(&less, &more);
        }
    }
    test_row(0, NULL);
    CHECK_INT(valid, VALID_WANTED);
    CHECK(ran > VALID_WANTED); /* otherwise nothing was compared */
    CHECK(still > VALID_WANTED);
}
