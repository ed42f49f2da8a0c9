/* libcordon: the functions of cordon(1) as a library: the path boundary, running commands and
 * scenarios under a policy, driving terminal programs, the tools of a model, agents, boxes.
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
 * zeroed before its first use. On success the error is unchanged; on failure the outputs are. An
 * argument that must not be NULL but is, is E_CLI_INVALID_ARG (objects are not checked). A returned
 * char * must be freed with free(); a returned const char * belongs to its object.
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

/* Frees the contents of an error, which can then be reused. Accepts NULL. */
CORDON_API void cordon_error_clear(struct cordon_error *error);

/* "0.1.0" */
CORDON_API const char *cordon_version(void);

/* Caret encoding, version 1: converts any bytes to a file name (NUL-terminated) and back. Decoding
 * rejects NUL, so the result is also a string. Encoding more than 64 MiB returns NULL. */
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
    /* A built-in policy instead of `policy`, by its name (cordon_preset_names()), for this working
     * root; NULL: the current directory. */
    const char *preset, *root;
};

/* A command. Without a policy it may read itself and the current directory, and a bare name is
 * looked up in PATH; under a policy argv[0] must be an absolute path that the policy allows. */
struct cordon_command {
    size_t size;
    const char *const *argv;   /* ends with NULL; words below 128 KiB, 6 MiB in total */
    unsigned short rows, cols; /* of the terminal; 0: 24 and 80; at most 500 */
    int pipes;                 /* cordon_run_exec(): use pipes, without a screen */
    /* cordon_run_exec(): standard input, either bytes, or a descriptor that is read to its end and
     * stays open; both NULL: none. On a terminal it is a pipe beside it. */
    const void *input;
    size_t input_size; /* at most 256 MiB */
    const int *input_fd;
};

/* Names of the built-in policies, ends with NULL; static. */
CORDON_API const char *const *cordon_preset_names(void);

/* A built-in policy for a working root (NULL: the current directory) as JSON, to be changed and
 * passed as a policy. An unknown name is E_NOT_FOUND. */
CORDON_API char *cordon_preset_policy(
    const char *name, const char *root, struct cordon_error *error);

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

/* Runs one command until it ends. */
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

/* For the caller's own event loop: a descriptor to poll for reading, valid until the session is
 * freed. When it is readable, call cordon_session_process(). It takes input, output, budgets and
 * cancellation into account, and works beside the other calls. */
CORDON_API int cordon_session_descriptor(
    struct cordon_session *session, struct cordon_error *error);

enum cordon_session_news {
    CORDON_SESSION_CHANGED = 1 << 0, /* the screen, since the last call or observation */
    CORDON_SESSION_ENDED = 1 << 1, /* the command has ended; the descriptor is no longer readable */
};

/* Processes the events at hand without waiting. Returns bits of enum cordon_session_news; -1 for an
 * exceeded budget (everything is killed) or a cancellation. */
CORDON_API int cordon_session_process(struct cordon_session *session, struct cordon_error *error);

/* Ends the session and its record; returns the RunResult. Can be called only once. Afterwards the
 * session can still be observed, without an effect on the record; actions fail with
 * E_PROCESS_EXIT. */
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

/* Emulator -----------------------------------------------------------------------------------
 *
 * A terminal without a command: takes output, maintains a screen. It makes no system calls, and any
 * input is valid. The result does not depend on how the output is split across calls.
 */
struct cordon_emulator;

struct cordon_emulator_options {
    size_t size;
    unsigned rows, cols; /* 0: 24 and 80; at most 1000 */
    int scrollback;      /* lines above the screen; 0: 1000; -1: none; at most 100000 */
    int wcwidth;         /* not 0: each code point counts by itself, not the grapheme cluster */
    int onlcr;           /* not 0: LF implies CR, as in the output of a tty */
    int reserved;        /* 0 */
};

CORDON_API struct cordon_emulator *cordon_emulator_new(
    const struct cordon_emulator_options *options, struct cordon_error *error);
CORDON_API void cordon_emulator_free(struct cordon_emulator *emulator); /* accepts NULL */

CORDON_API void cordon_emulator_feed(struct cordon_emulator *emulator, const void *bytes, size_t n);
CORDON_API int cordon_emulator_resize(
    struct cordon_emulator *emulator, unsigned rows, unsigned cols, struct cordon_error *error);

/* Answers to queries in the output, which a terminal would send to the program. *ret_bytes is valid
 * until the next call that changes the emulator; ret_bytes may be NULL. At most 64 KiB are kept:
 * drop those that were written. */
CORDON_API size_t cordon_emulator_replies(
    const struct cordon_emulator *emulator, const void **ret_bytes);
CORDON_API void cordon_emulator_drop_replies(struct cordon_emulator *emulator, size_t n);

/* The screen, each line with a newline; or as JSON: a ScreenSnapshot with "events" (title, bell,
 * …), as printed by `cordon render --json`. */
CORDON_API char *cordon_emulator_text(const struct cordon_emulator *emulator);
CORDON_API char *cordon_emulator_json(struct cordon_emulator *emulator, enum cordon_screen screen,
    struct cordon_error *error); /* not for CORDON_SCREEN_DELTA */

/* Changes whenever something visible changes. */
CORDON_API uint64_t cordon_emulator_hash(const struct cordon_emulator *emulator);

/* Encodes input for the modes that the output has set: an action of type key, text or mouse, as for
 * cordon_session_send(), or a key or chord. *ret_n is the number of bytes; a zero byte follows. */
CORDON_API char *cordon_emulator_encode(struct cordon_emulator *emulator, const char *action,
    size_t *ret_n, struct cordon_error *error);
CORDON_API char *cordon_emulator_encode_key(
    struct cordon_emulator *emulator, const char *key, size_t *ret_n, struct cordon_error *error);

/* Tools ----------------------------------------------------------------------------------------
 *
 * The tools that a model may call (cordon-tool(1)), with their boundary, sandbox and approval.
 * Settings, journal and logs are the user's, as for cordon(1).
 */
/* The specifications of all tools for a model, as `cordon tools --json` prints them. */
CORDON_API char *cordon_tools_specs(void);

/* Answers to a question whether a call may proceed. */
enum cordon_answer {
    CORDON_ANSWER_NO = 0,
    CORDON_ANSWER_YES = 1,
    CORDON_ANSWER_CANCELED = 2, /* no answer: the call is canceled */
    CORDON_ANSWER_ALWAYS = 3,   /* yes, and add the question's rule, if it has one, until the tools
                                 * are closed */
};

struct cordon_tools_options {
    size_t size;
    const char *dir;       /* working directory; NULL: the current one */
    const char *mode;      /* "restricted" (the default), "workspace", "unrestricted" */
    const char *workspace; /* its name, in workspace mode; NULL: "cordon" */
    const char *policy;    /* for commands, JSON or YAML; NULL: derived from the mode */
    const char *preset;    /* or a built-in one, for `dir` */
    const char *approval;  /* "never", "on-request", "always"; NULL: the user's setting, or never */
    const char *sandbox;   /* "native", "landlock", "none"; NULL: the user's setting, or native */
    uint64_t ack_unsafe;   /* CORDON_ACK_SANDBOX, CORDON_ACK_NETWORK */
    const char *box;       /* run the tools in this box; its project is the working directory. They
                            * are a process, which ends when they are closed or, after the call in
                            * progress, when the caller has ended */
    const char *program;   /* with a box: path of cordon(1); NULL: looked up in PATH */
    /* Callbacks, all from the thread that makes the call; any may be NULL. They must not use the
     * tools. approve() gets {"tool","kind","subject","why","warning","diff","rule","arguments"},
     * where "warning", "diff" and "rule" may be absent; without it, a call that needs approval
     * fails with E_APPROVAL_REQUIRED. event() gets start, end, error and truncation of each call,
     * as in `cordon tool --events`. */
    enum cordon_answer (*approve)(void *context, const char *question);
    void (*event)(void *context, const char *event);
    void (*warning)(void *context, const char *text);
    void *context;
};

struct cordon_tools;

CORDON_API struct cordon_tools *cordon_tools_open(
    const struct cordon_tools_options *options, struct cordon_error *error);
/* Ends running sessions of exec_command. Accepts NULL. */
CORDON_API void cordon_tools_close(struct cordon_tools *tools);

/* Calls a tool; the arguments are a JSON object. Returns the result as JSON, also for mistakes in
 * the name or the arguments: {"status","code","message","truncated","content","details","changes"}.
 * NULL with an error: a NULL argument, or E_CANCELED if `cancel`, which may be NULL, was triggered
 * before; a call that is canceled while it runs is a result with E_CANCELED. */
CORDON_API char *cordon_tools_call(struct cordon_tools *tools, const char *name,
    const char *arguments, struct cordon_cancel *cancel, struct cordon_error *error);

/* Sessions of exec_command stay alive between calls. A descriptor to poll for reading, valid until
 * the tools are closed: when it is readable, cordon_tools_process() reads their output, so that
 * they do not block. */
CORDON_API int cordon_tools_descriptor(const struct cordon_tools *tools);
CORDON_API void cordon_tools_process(struct cordon_tools *tools);

/* Agents ---------------------------------------------------------------------------------------
 *
 * A model that works with tools (cordon-agent(1)) in a conversation of several turns, stored in
 * $CORDON_HOME/sessions. Keys come from the environment or the user's settings; they are masked in
 * events and errors. A process that holds keys should call prctl(PR_SET_DUMPABLE, 0) first, as
 * cordon(1) does. The user's key_command runs without standard input, and its standard error is
 * discarded; it fails (E_CONFIG) if the process ignores SIGCHLD or waits for all of its children.
 */
struct cordon_agent_options {
    size_t size;
    const struct cordon_tools_options *tools; /* NULL: the defaults; approval is asked through it */
    const char *provider; /* "anthropic", "openai", "scripted"; NULL: by settings and keys */
    const char *model, *base_url;
    const char *script;  /* file with the answers of the scripted provider; NULL: a built-in one */
    const char *session; /* resume this conversation: an id, a unique prefix, or a file, which is
                          * created if it does not exist */
    const char *fork;   /* start with a copy of another: "ID", or "ID@N" for its first N messages */
    int latest;         /* not 0: resume the newest conversation of the working directory */
    const char *system; /* system prompt, or @FILE; NULL: the default one */
    const char *temperature, *max_retries; /* numbers as text; NULL: the default */
    uint64_t max_turns;                    /* requests in one turn; 0: 500 */
    uint64_t max_tokens;                   /* of one answer; 0: the provider's limit */
    uint64_t max_total_tokens;             /* of one turn; 0: no limit */
    uint64_t context_window; /* tokens; 0: known for the model, or from the settings */
    /* Gets each event as a JSON object, as `cordon agent --json` prints it: text_delta,
     * tool_call_end, tool_result, message, …. The last event of a turn that began is done or error;
     * one that is refused before that, for example because it is already canceled, may have none.
     * Returns 0 to stop the turn (E_CANCELED). Called from the thread of the turn; must not use the
     * agent. May be NULL. */
    int (*event)(void *context, const char *event);
    void *context;
};

/* One turn of the conversation. */
struct cordon_turn {
    size_t size;
    const char *prompt;
    const char *const *images; /* names of files, ends with NULL; may be NULL */
    uint64_t max_time_ms;      /* 0: no limit */
    struct cordon_cancel *cancel;
};

struct cordon_agent;

CORDON_API struct cordon_agent *cordon_agent_open(
    const struct cordon_agent_options *options, struct cordon_error *error);
/* Completes the conversation's file, and ends running sessions of tools. A failure to write it is
 * only reported by cordon_agent_close(); both free the agent. cordon_agent_free() accepts NULL. */
CORDON_API int cordon_agent_close(struct cordon_agent *agent, struct cordon_error *error);
CORDON_API void cordon_agent_free(struct cordon_agent *agent);

/* Id of the conversation, to resume it later; and the model in use. Valid until the agent is freed
 * or the model is set. */
CORDON_API const char *cordon_agent_session(const struct cordon_agent *agent);
CORDON_API const char *cordon_agent_model(const struct cordon_agent *agent);
/* Switches to another model of the same provider; on failure the current one is kept. */
CORDON_API int cordon_agent_set_model(
    struct cordon_agent *agent, const char *model, struct cordon_error *error);

/* Sends the prompt and runs the tools that the model calls, until it gives a final answer. Returns
 * the done event: {"type","session_id","stop_reason","turns","usage",…}. However it ends, the
 * conversation holds everything received so far. E_CANCELED, E_TIMEOUT (context.budget),
 * E_PROVIDER, E_IO. */
CORDON_API char *cordon_agent_turn(
    struct cordon_agent *agent, const struct cordon_turn *turn, struct cordon_error *error);

/* As cordon_tools_descriptor() and cordon_tools_process(), between turns. */
CORDON_API int cordon_agent_descriptor(const struct cordon_agent *agent);
CORDON_API void cordon_agent_process(struct cordon_agent *agent);

/* All stored conversations, newest first, as `cordon sessions list --json` prints them; and one
 * with its messages, by its id, a unique prefix of it, or a file. */
CORDON_API char *cordon_conversations(struct cordon_error *error);
CORDON_API char *cordon_conversation(const char *session, struct cordon_error *error);

/* Boxes ----------------------------------------------------------------------------------------
 *
 * Agents on a copy of a project, whose changes are reviewed and applied (cordon-box(1)). A box is
 * stored in $CORDON_HOME/sandboxes and known by its name; different threads may use different boxes
 * at the same time. A running box has a supervisor process, forked from the caller and detached: it
 * does not end with the caller, and has none of its descriptors and signal handlers. Results are
 * JSON, as the command prints it with --json.
 *
 * cordon_box_new() with `start`, cordon_box_start() and cordon_box_exec() use fork(), and the
 * supervisor continues in the copy. The caller may have threads, since memory allocation of the C
 * library works there; a replacement of malloc(), and handlers of pthread_atfork(), must also
 * support this. The copy has the caller's memory, so a large program, or one that holds secrets,
 * should run cordon(1) instead. The caller gets SIGCHLD for a short-lived child; it may ignore the
 * signal, and may wait for all of its children.
 */
struct cordon_box_options {
    size_t size;
    const char *name;
    const char *dir;   /* DIR[:copy|:overlay|:rw][:force]; an empty DIR is the current directory */
    const char *agent; /* NULL: "claude" */
    const char *model, *prompt; /* UTF-8 */
    const char *const *args;  /* further arguments for the agent; this and the next end with NULL */
    const char *const *dirs;  /* additional directories: DIR[:rw][:force] */
    const char *network;      /* "none", "on"; NULL: the hosts of the agent, if any */
    const char *const *hosts; /* allow only these */
    const char *const *ports; /* forward: HOST:BOX */
    const char *memory, *disk; /* "512M", "10G" */
    const char *cpus;          /* "2", "0.5" */
    uint64_t processes, cpu_seconds;
    uint64_t ack_unsafe;   /* CORDON_ACK_LIMITS */
    int start;             /* not 0: start the agent */
    int uncommitted;       /* not 0: include uncommitted changes; otherwise E_APPROVAL_REQUIRED */
    int include_ignored;   /* not 0: also copy files that git ignores */
    int replace;           /* not 0: replace a box of this name */
    int abandon_unapplied; /* not 0, with replace: discard its unapplied changes */
    unsigned short rows, cols; /* screen until a client attaches; 0: 24 and 80; at most 500 */
    const char *program;       /* path of cordon(1), for use in the box; NULL: looked up in PATH */
    void (*warning)(void *context, const char *text); /* may be NULL */
    void *context;
};

CORDON_API char *cordon_box_new(
    const struct cordon_box_options *options, struct cordon_error *error);
CORDON_API char *cordon_box_list(struct cordon_error *error);
CORDON_API char *cordon_box_show(const char *name, struct cordon_error *error);

/* Starts the agent of a box, with its prompt unless without_prompt is not 0; E_CONFLICT if it runs.
 * cordon_box_stop() ends everything in the box, by force after the grace time, and returns 1 if it
 * was running, otherwise 0. Changes are kept. */
CORDON_API int cordon_box_start(const char *name, int without_prompt, struct cordon_error *error);
CORDON_API int cordon_box_stop(const char *name, uint64_t grace_ms, struct cordon_error *error);

/* A command in a box, which is started for it if it is not running. */
struct cordon_box_command {
    size_t size;
    const char *const *argv; /* ends with NULL; words below 128 KiB, 1 MiB in total */
    const void *input;       /* standard input: bytes, or a descriptor; both NULL: none */
    size_t input_size;       /* at most 256 MiB */
    const int *input_fd;
    /* Standard output and error are written here; NULL: nowhere. E_IO if that fails, for example
     * because a pipe has no reader. */
    const int *output_fd, *error_fd;
    /* Called with the output as it arrives; stream is 1 or 2. May be NULL. */
    void (*output)(void *context, int stream, const void *bytes, size_t n);
    void *context;
    /* Ends the command: SIGHUP and SIGTERM, and after 2 s SIGKILL. The call waits for its end,
     * except that of a command that does not end within 2 s after SIGKILL. E_CANCELED. */
    struct cordon_cancel *cancel;
    const char *program; /* as in struct cordon_box_options */
};

CORDON_API int cordon_box_exec(const char *name, const struct cordon_box_command *command,
    struct cordon_exit *ret_exit, struct cordon_error *error);

/* Changes of a box at or below these paths (ends with NULL; NULL: all), absolute or relative to the
 * project. "missed" in the JSON lists paths without changes. With `patch` not 0 the JSON also
 * has the patch. */
CORDON_API char *cordon_box_diff(
    const char *name, const char *const *paths, int patch, struct cordon_error *error);

struct cordon_box_apply_options {
    size_t size;
    const char *const *paths; /* as for cordon_box_diff() */
    int dry_run;              /* not 0: change nothing */
    int allow_executed;       /* not 0: also files that are executed automatically, and links that
                               * point outside the project; otherwise E_APPROVAL_REQUIRED */
};

/* Applies the changes to the project, all or none; the caller has obtained the user's consent. If
 * refused (E_CONFLICT, E_FS_VIOLATION, E_APPROVAL_REQUIRED), error->json lists the files as the
 * command does. `options` may be NULL. */
CORDON_API char *cordon_box_apply(
    const char *name, const struct cordon_box_apply_options *options, struct cordon_error *error);

/* Deletes a box; a running one is stopped. Unapplied changes are E_CONFLICT, unless
 * abandon_unapplied is not 0. */
CORDON_API int cordon_box_destroy(
    const char *name, int abandon_unapplied, struct cordon_error *error);

#ifdef __cplusplus
}
#endif

#endif
