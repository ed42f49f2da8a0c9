/* Runs git in a sandbox, without write access or a network: a repository may name programs
 * (filters, a monitor, a way to fetch missing objects), and a box may have written it. The output
 * is untrusted.
 *
 *     struct git_run run = {.argv = argv, .dir = dir, .root = top, .env = env, .n_env = n,
 *         .runtime_ms = 5000, .output_bytes = 1 << 20, .output = {-1, -1}, .signals = -1,
 *         .seen = read_output};
 *     if (!git_run(&run, &arena, &result, err)) return false;
 *     ... result.exit ...
 *     err_done(&result.error);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_GIT_RUN_H
#define BOX_GIT_RUN_H

#include "session/exec.h"

struct git_run {
    const char *const *argv; /* of /bin/sh, which starts git; NULL-terminated */
    const char *dir;         /* working directory, absolute */
    struct str root;         /* readable beside the system; no value: only the binds */
    const struct plan_bind *binds;
    size_t n_binds;
    struct str_pair *env; /* complete */
    size_t n_env;
    uint64_t runtime_ms, output_bytes; /* UINT64_MAX: not limited */
    int output[2], signals;            /* as in exec_options */
    void (*seen)(void *context, struct str bytes);
    void *context;
};

/* Returns false if it could not be started. */
MUST_USE bool git_run(const struct git_run *run, struct arena *arena,
    struct exec_result *ret_result, struct err *err);

#endif
