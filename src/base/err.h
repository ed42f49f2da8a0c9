/* The common error type: a code, a message for people, and context for machines.
 *
 *     if (!thing_open(path, &thing, err))
 *         return err_wrap(err, "cannot start");
 *     return err_set(err, E_FS_VIOLATION, "'%s' leaves the project", path);
 *
 * A fallible function returns bool and takes struct err * last. true: *err is untouched; false:
 * *err is set and the outputs are untouched. Library code never prints and never exits. Messages
 * may contain untrusted bytes: escape them before printing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/str.h"

/* Code, exit status, meaning. Every list of errors is generated from this table. */
#define ERR_CODES(X)                                                                            \
    X(E_INTERNAL, 1, "a bug in cordon itself, or a failure without a code of its own")          \
    X(E_POLICY_DENIED, 2, "the policy does not allow it")                                       \
    X(E_SANDBOX_UNAVAILABLE, 3, "this machine lacks a sandbox mechanism that the policy needs") \
    X(E_TIMEOUT, 4, "a budget was exceeded: run time, wait, step, output, turns or tokens")     \
    X(E_COMMAND_TIMEOUT, 4, "a tool's command ran longer than its timeout")                     \
    X(E_ASSERTION_FAILED, 5, "an assertion did not hold")                                       \
    X(E_PROCESS_EXIT, 6, "the program ended unexpectedly or unsuccessfully")                    \
    X(E_COMMAND_FAILED, 6, "a tool's command ended unsuccessfully")                             \
    X(E_TERMINAL_PARSE, 7, "terminal output that cannot be represented")                        \
    X(E_PROTOCOL_VERSION_MISMATCH, 8, "a version number that is not supported")                 \
    X(E_PROTOCOL, 9, "a malformed message, policy or scenario")                                 \
    X(E_IO, 10, "a file or stream could not be read or written")                                \
    X(E_REPLAY_MISMATCH, 11, "a replay differs from its recording")                             \
    X(E_CLI_INVALID_ARG, 12, "an invalid command line")                                         \
    X(E_FS_VIOLATION, 13, "a path leaves its boundary")                                         \
    X(E_PATCH_PARSE, 14, "a patch is malformed")                                                \
    X(E_PATCH_APPLY, 14, "a patch does not apply")                                              \
    X(E_TOOL_VALIDATION, 15, "an unknown tool, or bad arguments for one")                       \
    X(E_PROVIDER, 16, "the model's service failed")                                             \
    X(E_CONFIG, 17, "an invalid configuration, metadata or session file")                       \
    X(E_NOT_FOUND, 18, "something named does not exist: a box, session, agent, file or record") \
    X(E_CONFLICT, 19, "already exists, is running, would lose work, or the target changed")     \
    X(E_APPROVAL_REQUIRED, 20, "consent is required, and was refused or cannot be asked for")   \
    X(E_CANCELED, 130, "interrupted")

enum err_code {
    ERR_NONE,
#define ERR_ENUM(code, status, about) code,
    ERR_CODES(ERR_ENUM)
#undef ERR_ENUM
    ERR_COUNT
};

enum {
    ERR_CTX_MAX = 12,
    ERR_BYTES_MAX = 32 * 1024, /* a longer message or context is replaced by a note */
};

struct err_pair {
    char *key;
    char *text; /* NULL: the value is the number */
    int64_t number;
};

struct err {
    enum err_code code;
    char *message;
    struct err_pair ctx[ERR_CTX_MAX];
    size_t n_ctx;
};

#define AUTO_ERR AUTO(err_done)

void err_done(struct err *err);

/* Each returns false, so that a failure is one statement. err_set replaces any earlier error;
 * err_errno appends the text of the error number; err_wrap prefixes the message. */
bool err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);
bool err_errno(struct err *err, enum err_code code, int errnum, const char *format, ...)
    PRINTF_LIKE(4, 5);
bool err_wrap(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Sets one context value, replacing an earlier one; also returns false. */
bool err_ctx(struct err *err, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
bool err_ctx_int(struct err *err, const char *key, int64_t number);

/* Copies an error. */
void err_copy(struct err *to, const struct err *from);

/* Moves an error, replacing the one in *to; *from is empty afterwards. */
bool err_move(struct err *to, struct err *from);

/* A context value, or NULL. */
const struct err_pair *err_ctx_get(const struct err *err, const char *key);

const char *err_name(enum err_code code);  /* "E_IO" */
const char *err_about(enum err_code code); /* one line for the manual */
int err_status(enum err_code code);        /* exit status */

#endif
