/* libcordon: the functions of cordon(1) as a library: the path boundary, running commands and
 * scenarios under a policy, driving terminal programs.
 *
 *     struct cordon_error error = {0};
 *     const char *const argv[] = {"/usr/bin/env", NULL};
 *     const struct cordon_command command = {.size = sizeof(command), .argv = argv};
 *     struct cordon_result *r = cordon_run_exec(&command, NULL, &error);
 *     if (!r)
 *         fprintf(stderr, "%s (%s)\n", error.message, error.code);
 *     else
 *         printf("%s\n%s", cordon_result_status(r), cordon_result_screen(r));
 *     cordon_result_free(r);
 *     cordon_error_clear(&error);
 *
 * A call that can fail returns -1 (or NULL) and fills in the error, which may be NULL and must be
 * zeroed before its first use. On success the error is unchanged; on failure the outputs are. A
 * returned char * must be freed with free(); a returned const char * belongs to its object.
 * Messages and screens may contain untrusted bytes: make them printable before writing them to a
 * terminal. The library never prints, never exits, installs no signal handler and keeps no state
 * between calls; if out of memory, it aborts. An object must be used by only one thread at a time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORDON_H
#define CORDON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CORDON_API __attribute__((visibility("default")))

struct cordon_error {
    const char *code; /* "E_FS_VIOLATION"; NULL: no error */
    int exit_status;  /* exit status of cordon(1) for this error */
    char *message;
    char *json; /* {"code","message","context"} */
};

/* Frees the contents of an error, which can then be reused. */
CORDON_API void cordon_error_clear(struct cordon_error *error);

/* "0.1.0" */
CORDON_API const char *cordon_version(void);

/* Caret encoding, version 1: converts any bytes to a file name (NUL-terminated) and back. Decoding
 * rejects NUL, so the result is also a string. */
CORDON_API char *cordon_path_encode(const void *bytes, size_t n);
CORDON_API char *cordon_path_decode(const char *encoded, struct cordon_error *error);

/* Finds the project's root, searching upward from a directory. */
CORDON_API char *cordon_project_root(const char *start, struct cordon_error *error);

/* A boundary: a set of directories that paths must not leave. */
struct cordon_boundary;

enum cordon_access {
    CORDON_READ_ONLY = 1,
    CORDON_READ_WRITE = 2,
};

CORDON_API struct cordon_boundary *cordon_boundary_new(void);
CORDON_API void cordon_boundary_free(struct cordon_boundary *b);

/* Adds a directory. If several directories contain a path, the longest decides, or the first among
 * equals. Relative paths are relative to the first directory. */
CORDON_API int cordon_boundary_add(struct cordon_boundary *b, const char *dir,
    enum cordon_access access, struct cordon_error *error);

/* Resolves a path, following symbolic links; it need not exist yet. A path that leaves the boundary
 * is E_FS_VIOLATION. */
CORDON_API char *cordon_boundary_resolve(
    struct cordon_boundary *b, const char *path, struct cordon_error *error);

/* Opens an existing file (flags as for open(2), without O_CREAT and O_TMPFILE). Returns a file
 * descriptor with close-on-exec set. Opening a FIFO blocks until its other end is open, unless
 * O_NONBLOCK is given. */
CORDON_API int cordon_boundary_open(
    struct cordon_boundary *b, const char *path, int flags, struct cordon_error *error);

/* Calls found() for each file below root that matches, sorted by bytes, without files excluded by
 * ignore files; found() returns 0 to stop. */
CORDON_API int cordon_glob(const char *root, const char *pattern,
    int (*found)(void *context, const char *path, size_t n), void *context,
    struct cordon_error *error);

/* Runs ---------------------------------------------------------------------------------------
 *
 * A command runs under a policy (cordon-policy(1)) that the kernel enforces. The outcome of a
 * command is a result, even if it fails, exceeds a budget or is canceled. An error means that it
 * could not run: the policy denies it, this machine can't enforce the policy, or the scenario is
 * invalid.
 *
 * A command does not outlive the thread that started it, and leaves no processes behind. Different
 * threads may run different commands at the same time. An object must be used by only one thread at
 * a time, except that cordon_cancel_trigger() may be called from any thread or signal handler.
 *
 * Structures that a caller fills in begin with their size, so that later versions can add members:
 *
 *     const struct cordon_run_options options = {.size = sizeof(options), .artifacts = "record"};
 *
 * Members that are left out are zero, and zero means the default. A nonzero member that this
 * version does not know is an error (E_CLI_INVALID_ARG), never ignored.
 */
/* Cancels runs, from another thread or from a signal handler. Once triggered, it stays triggered.
 * It must outlive the runs that use it; several runs may share one. */
struct cordon_cancel;

CORDON_API struct cordon_cancel *cordon_cancel_new(struct cordon_error *error);
CORDON_API void cordon_cancel_trigger(struct cordon_cancel *cancel);
CORDON_API void cordon_cancel_free(struct cordon_cancel *cancel); /* accepts NULL */

/* A step that begins or has ended; valid during the call. Later versions may add members at the
 * end. */
struct cordon_progress {
    size_t index, count; /* index of the step; number of steps */
    const char *step_id, *name;
    const char *status; /* NULL: it begins; otherwise "passed", "failed", "errored" */
    uint64_t duration_ms;
    const char *error_code, *error_message; /* NULL: none */
};

/* Acknowledgements: the options --ack-unsafe-NAME and --ack-inexact-limits of cordon(1). */
enum cordon_ack {
    CORDON_ACK_SANDBOX = 1 << 0, /* no sandbox, or a weaker one */
    CORDON_ACK_NETWORK = 1 << 1, /* network access */
    CORDON_ACK_WRITE = 1 << 2,   /* writable directories */
    CORDON_ACK_SOCKETS = 1 << 3, /* Unix sockets of the host */
    CORDON_ACK_ENV = 1 << 4,     /* inherited environment variables */
    CORDON_ACK_LIMITS = 1 << 5,  /* limits that this machine can't enforce exactly */
};

/* Options of a run. A NULL pointer means the defaults. */
struct cordon_run_options {
    size_t size;
    const char *policy;         /* JSON or YAML; overrides that of a scenario */
    const char *artifacts;      /* directory for the record; created if it does not exist */
    const char *cwd;            /* working directory of the command; overrides that of a scenario */
    const char *const *environ; /* source of inherited variables, ends with NULL; NULL: our own */
    struct cordon_cancel *cancel;
    /* Called for each step of a scenario, and for the command's output as it arrives. They must not
     * use the run. */
    void (*progress)(void *context, const struct cordon_progress *progress);
    void (*output)(void *context, const void *bytes, size_t n);
    void *context;
    int cells; /* not 0: snapshots include every cell, with its style */
    /* Bits of enum cordon_ack. They apply to the policy above, in addition to its own
     * acknowledgements. For a scenario's own policy (or one that it names by path) only these
     * count, except that its fs_write_unsafe_ack covers directories at or below the scenario file's
     * directory and the current directory. A missing acknowledgement is E_POLICY_DENIED; its
     * context names the flags. `cordon trust` is not consulted. */
    uint64_t ack_unsafe;
};

/* A command. Without a policy it may read itself and the current directory, and a bare name is
 * looked up in PATH; under a policy argv[0] must be an absolute path that the policy allows. */
struct cordon_command {
    size_t size;
    const char *const *argv;   /* ends with NULL */
    unsigned short rows, cols; /* of the terminal; 0: 24 and 80; at most 500 */
    int pipes;                 /* cordon_run_exec(): use pipes, without a screen */
};

/* The RunResult of a run. Strings returned by accessors are valid until it is freed. */
struct cordon_result;

/* Runs a scenario (JSON or YAML, cordon-run(1)) from a text or a file. A file's goldens are
 * compared, never written. Under the scenario's own policy git repositories are protected as by
 * cordon(1); "held" in the RunResult lists files that were set aside. Unlike with cordon(1),
 * $CORDON_HOME, the user's settings and the scenario itself are not read-only inside, and no state
 * is saved for the case that the process is killed. */
CORDON_API struct cordon_result *cordon_run_scenario(
    const char *text, const struct cordon_run_options *options, struct cordon_error *error);
CORDON_API struct cordon_result *cordon_run_scenario_file(
    const char *path, const struct cordon_run_options *options, struct cordon_error *error);

/* Runs one command without input until it ends. */
CORDON_API struct cordon_result *cordon_run_exec(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error);

CORDON_API void cordon_result_free(struct cordon_result *result); /* accepts NULL */

/* The RunResult as JSON. */
CORDON_API const char *cordon_result_json(struct cordon_result *result);
CORDON_API const char *cordon_result_run_id(const struct cordon_result *result);
CORDON_API const char *cordon_result_status(const struct cordon_result *result); /* "passed", … */
CORDON_API uint64_t cordon_result_duration_ms(const struct cordon_result *result);

/* NULL if it passed. */
CORDON_API const char *cordon_result_error_code(const struct cordon_result *result);
CORDON_API const char *cordon_result_error_message(const struct cordon_result *result);

/* Exit status of the command. code is -1 without an exit code, signal is 0 without a signal. */
struct cordon_exit {
    int code;
    int signal;
    int terminated_by_harness; /* not 0: terminated by the library */
    int reserved[5];           /* always 0 */
};
CORDON_API struct cordon_exit cordon_result_exit(const struct cordon_result *result);

/* The last screen, each line with a newline; NULL without a screen. */
CORDON_API const char *cordon_result_screen(struct cordon_result *result);

/* The end of the command's output (since the last observation), as UTF-8. */
CORDON_API const char *cordon_result_output(const struct cordon_result *result);

/* A scenario's steps; an index out of range returns NULL or 0. */
CORDON_API size_t cordon_result_steps(const struct cordon_result *result);
CORDON_API const char *cordon_result_step_id(const struct cordon_result *result, size_t index);
CORDON_API const char *cordon_result_step_name(const struct cordon_result *result, size_t index);
CORDON_API const char *cordon_result_step_status(const struct cordon_result *result, size_t index);
CORDON_API uint64_t cordon_result_step_duration_ms(
    const struct cordon_result *result, size_t index);
CORDON_API const char *cordon_result_step_error_code(
    const struct cordon_result *result, size_t index);
CORDON_API const char *cordon_result_step_error_message(
    const struct cordon_result *result, size_t index);

/* Sessions -----------------------------------------------------------------------------------
 *
 * A command on its own terminal, driven call by call. Its output is read only while a call waits: a
 * command that prints a lot blocks until then.
 */
struct cordon_session;
struct cordon_observation;

/* Starts a session. The option `progress` is not used. */
CORDON_API struct cordon_session *cordon_session_spawn(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error);

/* Kills remaining processes and frees the session. Without cordon_session_finish() a record stays
 * as it is, without run.json. Accepts NULL. */
CORDON_API void cordon_session_free(struct cordon_session *session);

/* A UUID; valid until the session is freed. */
CORDON_API const char *cordon_session_id(const struct cordon_session *session);

/* Performs an action, as JSON (cordon-protocol-help(1)): {"type":"key","payload":{"key":"Ctrl+x"}}.
 * A wait action waits for its condition, for at most 5 s and at most the policy's max_wait_ms
 * (E_TIMEOUT with the screen); a terminate action waits for the end; others are only queued for the
 * terminal. After the command's end, these fail with E_PROCESS_EXIT. */
CORDON_API int cordon_session_send(
    struct cordon_session *session, const char *action, struct cordon_error *error);

/* The same for the two most frequent actions: a key or chord, and literal text. */
CORDON_API int cordon_session_send_key(
    struct cordon_session *session, const char *key, struct cordon_error *error);
CORDON_API int cordon_session_send_text(
    struct cordon_session *session, const char *text, struct cordon_error *error);

/* Waits for a condition with a given timeout, at most the policy's max_wait_ms:
 * {"type":"cursor_at","payload":{"row":0,"col":2}}; or for a text on the screen, the most frequent
 * condition. */
CORDON_API int cordon_session_wait_for(struct cordon_session *session, const char *condition,
    uint64_t timeout_ms, struct cordon_error *error);
CORDON_API int cordon_session_wait_for_text(struct cordon_session *session, const char *text,
    uint64_t timeout_ms, struct cordon_error *error);

enum cordon_screen {
    CORDON_SCREEN_FULL = 0,  /* the lines */
    CORDON_SCREEN_CELLS = 1, /* with every cell */
    CORDON_SCREEN_DELTA = 2, /* only the lines that differ from the previous observation */
};

/* Returns the screen, and the output and events since the last observation. Waits until the screen
 * has changed since the last action or observation, until the command has ended, or until the
 * timeout expires, which is not an error. An exceeded budget or a cancellation is an error. */
CORDON_API struct cordon_observation *cordon_session_observe(struct cordon_session *session,
    enum cordon_screen screen, uint64_t timeout_ms, struct cordon_error *error);

/* Returns 1 if it has ended, with its exit status; 0 on timeout; -1 on error. */
CORDON_API int cordon_session_wait_for_exit(struct cordon_session *session, uint64_t timeout_ms,
    struct cordon_exit *ret_exit, struct cordon_error *error);

/* Sends SIGTERM to all processes of the session, kills those still running after 200 ms (or after
 * the given grace time), and waits for their end, including processes that left its process group.
 * The session can still be observed. */
CORDON_API int cordon_session_terminate(struct cordon_session *session, struct cordon_error *error);
CORDON_API int cordon_session_terminate_process_group(struct cordon_session *session,
    uint64_t grace_ms, struct cordon_exit *ret_exit, struct cordon_error *error);

/* Ends the session and its record; returns the RunResult. Can be called only once. */
CORDON_API struct cordon_result *cordon_session_finish(
    struct cordon_session *session, struct cordon_error *error);

CORDON_API void cordon_observation_free(struct cordon_observation *observation); /* or NULL */
CORDON_API const char *cordon_observation_json(struct cordon_observation *observation);

/* The screen, each line with a newline; NULL for a delta. */
CORDON_API const char *cordon_observation_screen(struct cordon_observation *observation);

/* Output since the last observation, as UTF-8. */
CORDON_API const char *cordon_observation_output(const struct cordon_observation *observation);

/* Zero-based; -1 without a screen. */
CORDON_API int cordon_observation_cursor_row(const struct cordon_observation *observation);
CORDON_API int cordon_observation_cursor_col(const struct cordon_observation *observation);

/* Events: "title", "bell", "exit", …; an index out of range returns NULL. */
CORDON_API size_t cordon_observation_events(const struct cordon_observation *observation);
CORDON_API const char *cordon_observation_event_type(
    const struct cordon_observation *observation, size_t index);

#ifdef __cplusplus
}
#endif

#endif
