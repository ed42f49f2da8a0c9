/* libcordon: what cordon(1) does, as a library: the path boundary, commands and scenarios under a
 * policy, terminal programs that are driven.
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
 * A call that can fail gives -1 (or NULL) and fills in the error; on success the error is
 * untouched, on failure the outputs are. The error may be NULL. What is handed out as char * is for
 * free(), as const char * it belongs to its object. Messages and screens may hold bytes that a
 * stranger chose: make them printable before a terminal sees them. The library never prints, never
 * exits, sets no signal handler and keeps no state between calls; out of memory it aborts. An
 * object belongs to one thread at a time.
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
    int exit_status;  /* what cordon(1) exits with for it */
    char *message;
    char *json; /* {"code","message","context"} */
};

/* Frees what an error holds; it can be used again. */
CORDON_API void cordon_error_clear(struct cordon_error *error);

/* "0.1.0" */
CORDON_API const char *cordon_version(void);

/* Caret encoding, version 1: any bytes as one file name (NUL-terminated), and back. Decoding
 * refuses NUL, so the result is a string, too. */
CORDON_API char *cordon_path_encode(const void *bytes, size_t n);
CORDON_API char *cordon_path_decode(const char *encoded, struct cordon_error *error);

/* The project's root, from a directory upward. */
CORDON_API char *cordon_project_root(const char *start, struct cordon_error *error);

/* A boundary: a set of directories, and paths that must stay inside them. */
struct cordon_boundary;

enum cordon_access {
    CORDON_READ_ONLY = 1,
    CORDON_READ_WRITE = 2,
};

CORDON_API struct cordon_boundary *cordon_boundary_new(void);
CORDON_API void cordon_boundary_free(struct cordon_boundary *b);

/* Adds a directory; the longest one that holds a path decides, the first of equals. Relative paths
 * start in the first. */
CORDON_API int cordon_boundary_add(struct cordon_boundary *b, const char *dir,
    enum cordon_access access, struct cordon_error *error);

/* Where a path leads, links followed; also one that is not there yet. Leaving is E_FS_VIOLATION. */
CORDON_API char *cordon_boundary_resolve(
    struct cordon_boundary *b, const char *path, struct cordon_error *error);

/* Opens what is there (flags as for open(2), without O_CREAT and O_TMPFILE): a descriptor,
 * close-on-exec. A FIFO waits for its other end unless O_NONBLOCK is given. */
CORDON_API int cordon_boundary_open(
    struct cordon_boundary *b, const char *path, int flags, struct cordon_error *error);

/* Calls found() for each file below root that matches, sorted by bytes, without what ignore files
 * leave out; found() returns 0 to stop. */
CORDON_API int cordon_glob(const char *root, const char *pattern,
    int (*found)(void *context, const char *path, size_t n), void *context,
    struct cordon_error *error);

/* Runs ---------------------------------------------------------------------------------------
 *
 * A command runs under a policy (cordon-policy(1)) that the kernel enforces. What it does is a
 * result: also that it fails, exceeds a budget, or is canceled. An error is what kept it from
 * running: a policy that denies it, a machine that can't enforce it, a scenario that is wrong.
 *
 * It ends with the thread that started it, and nothing of it is left. Different threads may run
 * different commands at the same time; an object belongs to one thread at a time, except that
 * cordon_cancel_trigger() may be called from anywhere.
 *
 * Structures that a caller fills in begin with their size, so that later versions can have more
 * members:
 *
 *     const struct cordon_run_options options = {.size = sizeof(options), .artifacts = "record"};
 *
 * Members that are left out are zero, and zero means the default. A member that this version does
 * not know and that is not zero is an error (E_CLI_INVALID_ARG), never ignored.
 */
/* Something that can end runs from outside: from another thread, or from a signal handler. Once
 * triggered it stays so. It must outlive what uses it; several runs may share one. */
struct cordon_cancel;

CORDON_API struct cordon_cancel *cordon_cancel_new(struct cordon_error *error);
CORDON_API void cordon_cancel_trigger(struct cordon_cancel *cancel);
CORDON_API void cordon_cancel_free(struct cordon_cancel *cancel); /* accepts NULL */

/* A step that begins, or has ended; valid during the call. Later versions may add members at the
 * end. */
struct cordon_progress {
    size_t index, count; /* of the step; how many there are */
    const char *step_id, *name;
    const char *status; /* NULL: it begins; otherwise "passed", "failed", "errored" */
    uint64_t duration_ms;
    const char *error_code, *error_message; /* NULL: none */
};

/* Acknowledgements, as cordon(1) has them as --ack-unsafe-NAME and --ack-inexact-limits. */
enum cordon_ack {
    CORDON_ACK_SANDBOX = 1 << 0, /* no sandbox, or a weaker one */
    CORDON_ACK_NETWORK = 1 << 1, /* the network */
    CORDON_ACK_WRITE = 1 << 2,   /* directories that may be written */
    CORDON_ACK_SOCKETS = 1 << 3, /* Unix sockets of the host */
    CORDON_ACK_ENV = 1 << 4,     /* variables of the environment that are inherited */
    CORDON_ACK_LIMITS = 1 << 5,  /* limits that this machine can't keep exactly */
};

/* What is wished of a run. NULL instead of it means the defaults. */
struct cordon_run_options {
    size_t size;
    const char *policy;         /* JSON or YAML; goes before a scenario's own */
    const char *artifacts;      /* a directory for the record; it is made if it is not there */
    const char *cwd;            /* where the command starts; goes before a scenario's own */
    const char *const *environ; /* what the policy may inherit from, ends in NULL; NULL: our own */
    struct cordon_cancel *cancel;
    /* Each step of a scenario; what the command prints, as it comes. They must not use the run. */
    void (*progress)(void *context, const struct cordon_progress *progress);
    void (*output)(void *context, const void *bytes, size_t n);
    void *context;
    int cells; /* not 0: snapshots have every cell, with its style */
    /* Bits of enum cordon_ack. They count for the policy above, beside its own acknowledgements. Of
     * a scenario's own policy (or one that it names by path) only these count, except that
     * fs_write_unsafe_ack stands for directories at or below the scenario's file and the current
     * directory. What is missing is E_POLICY_DENIED; its context names the flags. `cordon trust` is
     * not consulted. */
    uint64_t ack_unsafe;
};

/* A command. Without a policy it is allowed itself and the current directory to read, and a bare
 * name is looked up in PATH; under a policy argv[0] is an absolute path that it allows. */
struct cordon_command {
    size_t size;
    const char *const *argv;   /* ends in NULL */
    unsigned short rows, cols; /* of the terminal; 0: 24 and 80; at most 500 */
    int pipes;                 /* cordon_run_exec(): on pipes, and without a screen */
};

/* What became of a run: the RunResult. What accessors give lives as long as it does. */
struct cordon_result;

/* A scenario (JSON or YAML, cordon-run(1)) from a text or a file, step by step; a file's goldens
 * are compared, and never written. Under the scenario's own policy git repositories are protected as
 * cordon(1) does it; the RunResult's "held" names files that were set aside. $CORDON_HOME, the
 * user's settings and the scenario itself are not read-only inside, and nothing is kept for a run
 * whose process is killed. */
CORDON_API struct cordon_result *cordon_run_scenario(
    const char *text, const struct cordon_run_options *options, struct cordon_error *error);
CORDON_API struct cordon_result *cordon_run_scenario_file(
    const char *path, const struct cordon_run_options *options, struct cordon_error *error);

/* One command, without input, until it ends. */
CORDON_API struct cordon_result *cordon_run_exec(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error);

CORDON_API void cordon_result_free(struct cordon_result *result); /* accepts NULL */

/* The RunResult as JSON. */
CORDON_API const char *cordon_result_json(struct cordon_result *result);
CORDON_API const char *cordon_result_run_id(const struct cordon_result *result);
CORDON_API const char *cordon_result_status(const struct cordon_result *result); /* "passed", … */
CORDON_API uint64_t cordon_result_duration_ms(const struct cordon_result *result);

/* Unless it passed; otherwise NULL. */
CORDON_API const char *cordon_result_error_code(const struct cordon_result *result);
CORDON_API const char *cordon_result_error_message(const struct cordon_result *result);

/* How the command ended: code -1 and signal 0 mean that there is none. */
struct cordon_exit {
    int code;
    int signal;
    int terminated_by_harness; /* not 0: we ended it */
    int reserved[5];           /* 0 */
};
CORDON_API struct cordon_exit cordon_result_exit(const struct cordon_result *result);

/* The last screen, its lines each with a newline; NULL: there is none. */
CORDON_API const char *cordon_result_screen(struct cordon_result *result);

/* The end of what it printed (since the last observation), as UTF-8. */
CORDON_API const char *cordon_result_output(const struct cordon_result *result);

/* A scenario's steps; an index that is too large gives NULL or 0. */
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
 * A command on a terminal of its own, driven call by call. Its output is taken only while a call
 * waits: one that prints much stops until then.
 */
struct cordon_session;
struct cordon_observation;

/* Starts it. Of the options, progress is not used. */
CORDON_API struct cordon_session *cordon_session_spawn(const struct cordon_command *command,
    const struct cordon_run_options *options, struct cordon_error *error);

/* Ends what is left of it. Without cordon_session_finish() a record stays as it is, without
 * run.json. Accepts NULL. */
CORDON_API void cordon_session_free(struct cordon_session *session);

/* A UUID; lives as long as the session. */
CORDON_API const char *cordon_session_id(const struct cordon_session *session);

/* Performs an action, as JSON (cordon-protocol-help(1)): {"type":"key","payload":{"key":"Ctrl+x"}}.
 * A wait waits for its condition, 5 s at most and not longer than the policy's max_wait_ms
 * (E_TIMEOUT with the screen); a terminate for the end; others only put into the terminal's queue.
 * After the command's end they are E_PROCESS_EXIT. */
CORDON_API int cordon_session_send(
    struct cordon_session *session, const char *action, struct cordon_error *error);

/* The same for the two most frequent ones: a key or a chord, and text as it is. */
CORDON_API int cordon_session_send_key(
    struct cordon_session *session, const char *key, struct cordon_error *error);
CORDON_API int cordon_session_send_text(
    struct cordon_session *session, const char *text, struct cordon_error *error);

/* Waits for a condition with a time of one's own: {"type":"cursor_at","payload":{"row":0,"col":2}};
 * and for a text on the screen, which is the most frequent one. */
CORDON_API int cordon_session_wait_for(struct cordon_session *session, const char *condition,
    uint64_t timeout_ms, struct cordon_error *error);
CORDON_API int cordon_session_wait_for_text(struct cordon_session *session, const char *text,
    uint64_t timeout_ms, struct cordon_error *error);

enum cordon_screen {
    CORDON_SCREEN_FULL = 0,  /* the lines */
    CORDON_SCREEN_CELLS = 1, /* with every cell */
    CORDON_SCREEN_DELTA = 2, /* only the lines that differ from the observation before */
};

/* What is to be seen, what was printed and what happened since the last time. Waits until the
 * screen has changed since the last action or observation, until the command has ended, or until
 * time is up, which is no error. A budget that was exceeded is one, and so is a cancellation. */
CORDON_API struct cordon_observation *cordon_session_observe(struct cordon_session *session,
    enum cordon_screen screen, uint64_t timeout_ms, struct cordon_error *error);

/* 1: it has ended, and how; 0: time is up; -1: an error. */
CORDON_API int cordon_session_wait_for_exit(struct cordon_session *session, uint64_t timeout_ms,
    struct cordon_exit *ret_exit, struct cordon_error *error);

/* Asks everything in it to end (SIGTERM), kills what has not after 200 ms (or after the grace time
 * that is given), and waits for the end; also processes that left its process group. The session
 * can still be observed. */
CORDON_API int cordon_session_terminate(struct cordon_session *session, struct cordon_error *error);
CORDON_API int cordon_session_terminate_process_group(struct cordon_session *session,
    uint64_t grace_ms, struct cordon_exit *ret_exit, struct cordon_error *error);

/* Ends it, and its record; gives the RunResult. Only once. */
CORDON_API struct cordon_result *cordon_session_finish(
    struct cordon_session *session, struct cordon_error *error);

CORDON_API void cordon_observation_free(struct cordon_observation *observation); /* or NULL */
CORDON_API const char *cordon_observation_json(struct cordon_observation *observation);

/* Lines each with a newline; NULL: a delta has none. */
CORDON_API const char *cordon_observation_screen(struct cordon_observation *observation);

/* What was printed since the last observation, as UTF-8. */
CORDON_API const char *cordon_observation_output(const struct cordon_observation *observation);

/* Counted from 0; -1 without a screen. */
CORDON_API int cordon_observation_cursor_row(const struct cordon_observation *observation);
CORDON_API int cordon_observation_cursor_col(const struct cordon_observation *observation);

/* What happened: "title", "bell", "exit", …; an index that is too large gives NULL. */
CORDON_API size_t cordon_observation_events(const struct cordon_observation *observation);
CORDON_API const char *cordon_observation_event_type(
    const struct cordon_observation *observation, size_t index);

#ifdef __cplusplus
}
#endif

#endif
