/* The environment of tools: the roots they may access, the confinement of commands, consent and
 * events.
 *
 *     struct toolbox_options options = {.mode = TOOLBOX_RESTRICTED, .root_fd = fd, .cwd = cwd};
 *     struct toolbox *box;
 *     if (!toolbox_open(&options, &box, err)) return false;
 *     ...tool_call(box, ...)...
 *     toolbox_close(box);           ends running sessions
 *
 * Paths are never used as strings: tools open files through the boundary and get file descriptors.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOLBOX_H
#define TOOL_TOOLBOX_H

#include "base/id.h"
#include "path/boundary.h"
#include "path/stamp.h"
#include "policy/extra.h"
#include "tool/approve.h"
#include "tool/tool_event.h"

enum {
    TOOLBOX_FILE_MAX = 64 << 20, /* maximum size of a file that is read whole */
};

enum toolbox_mode {
    TOOLBOX_RESTRICTED,   /* only the working directory */
    TOOLBOX_WORKSPACE,    /* read the project, write an agent's workspace */
    TOOLBOX_UNRESTRICTED, /* any path */
    TOOLBOX_MODES,
};

struct tool_result;
struct writer_plan;

/* Callbacks that save files about to be replaced. `begin` may refuse; after it `end` is always
 * called unless the process ends first. */
struct toolbox_backup {
    bool (*begin)(void *context, const struct writer_plan *plan, struct err *err);
    void (*end)(void *context, bool changed);
    void *context;
};

struct toolbox_options {
    enum toolbox_mode mode;
    int root_fd;      /* restricted: the root; workspace: the project; unrestricted: unused */
    int workspace_fd; /* workspace: the writable directory */
    const char *cwd;  /* base of relative paths; absolute */
    const char *home; /* home directory of the user, or NULL */
    const char *journal_dir;          /* for the writer */
    const char *log_dir;              /* for truncated output; of this session, created on demand */
    const struct policy *policy;      /* for commands; NULL: derived from the mode */
    const struct policy_extra *extra; /* added to it; may be NULL */
    const struct str *own; /* files that commands must not change; absolute, normalized */
    size_t n_own;
    bool no_sandbox; /* acknowledged by the caller */
    bool no_denials; /* don't collect what is denied to commands */
    bool landlock;   /* the weaker sandbox; acknowledged by the caller */
    struct approve_options approve;
    struct tool_event_sink events;
    struct toolbox_backup backup; /* no functions: not used */
    struct remote *remote;        /* where calls are executed (tool/remote.h); NULL: here */
    int signals;                  /* interrupts the current call (io/interrupt.h), or -1 */
    bool one_call;                /* sessions end with the call that starts them */
    /* Reports files held after the last command ended (repo/protect.h). May be NULL. */
    void (*tell_held)(void *context, struct str text);
    void *held_context;
    /* Whether the user has accepted such a file (protect_options.accepted). May be NULL. */
    bool (*accepts)(void *context, struct str path, struct str bytes);
    void *accepts_context;
    struct str_list settings; /* protect_options.settings */
    const char *sessions;     /* protect_options.sessions */
    /* Reports the diff of a call (tool/tool_plan.h) before its result. May be NULL. */
    void (*tell_diff)(void *context, struct str diff);
    void *diff_context;
    /* Called in a separate thread when a signal interrupts a tool that does not poll: reports the
     * given result and ends the process. NULL: such a tool runs to completion. */
    void (*called_off)(void *context, const struct tool_result *result);
    void *context;
};

struct toolbox {
    const struct toolbox_options *options;
    struct boundary *boundary;
    struct approve approve;
    struct str root;      /* base of paths in results; not if unrestricted */
    struct str workspace; /* in workspace mode */
    struct str approved;  /* paths that the current call is allowed to write; unset: all */
    struct str planned;   /* the diff that the user approved; unset: not asked */
    bool by_user;         /* the call is the user's own: consent is not needed */
    int signal;           /* last signal that a call took from `signals`; 0: none */
    uint64_t calls;
    char id[ID_SIZE];               /* identifies its events */
    struct guard *guard;            /* of the current call, or NULL */
    struct tool_sessions *sessions; /* of exec_command; NULL: none yet */
    struct protect *protect;        /* repositories; NULL: no command has run yet */
    struct tool_world *world;       /* the commands' sandbox, then older ones; NULL: none yet */
    const char *new_world;          /* why there is a new one, if the model must be told */
    bool shows_logs;                /* its own logs can be read */
    int made_logs;                  /* directories made for logs that there may be: see there */
    const char *guarded; /* why the current call needs consent for a file that it writes; or NULL */
    bool made_parts;     /* the current call wrote names that can make up a repository */
};

extern const char *const toolbox_mode_names[TOOLBOX_MODES + 1]; /* NULL-terminated */

/* The options must outlive the box. */
MUST_USE bool toolbox_open(
    const struct toolbox_options *options, struct toolbox **ret_box, struct err *err);
void toolbox_close(struct toolbox *box); /* accepts NULL */

/* Resolves a path and checks whether it may be written. E_FS_VIOLATION otherwise. */
MUST_USE bool toolbox_resolve(struct toolbox *box, struct str path, bool to_write, struct arena *a,
    struct resolved *ret_resolved, struct err *err);

/* Opens a directory with these flags. E_NOT_FOUND if it does not exist; if it is not a directory,
 * the hint is appended to the message. */
MUST_USE int toolbox_open_dir(struct toolbox *box, struct str path, int flags, const char *hint,
    struct arena *a, struct resolved *ret_where, struct err *err);

/* Opens a resolved regular file for reading; the path is for messages. E_NOT_FOUND if it does not
 * exist, E_IO if it is not a regular file. */
MUST_USE int toolbox_open_file(
    const struct resolved *where, struct str path, struct stat *ret_st, struct err *err);

/* The same, and reads the whole file. */
struct tool_file {
    struct resolved where;
    struct stamp stamp;
    struct buf content;
};
#define AUTO_TOOL_FILE AUTO(tool_file_done)
void tool_file_done(struct tool_file *file);
MUST_USE bool toolbox_read(struct toolbox *box, struct str path, bool to_write, struct arena *a,
    struct tool_file *ret_file, struct err *err);

/* Whether the current call should be interrupted, for tools that process many files; the argument
 * is the box. Always false while a guard is active (tool/guard.h). */
bool toolbox_called_off(void *box);

/* Returns the path for results: relative to the root if it is below it. */
struct str toolbox_name(const struct toolbox *box, const struct resolved *where);

/* Lets tools read the logs of this session, once there are any. */
void toolbox_show_logs(struct toolbox *box);

/* Makes the directory of this session's logs, so that a sandbox can show it before there are any;
 * at the end it is removed if it is empty. Returns false if it can't be made. */
bool toolbox_make_logs(struct toolbox *box);

/* On the first call, looks for repositories below these directories. */
void toolbox_protect(struct toolbox *box, const struct str *roots, size_t n);
/* After a call: holds files that must not stay in place, and reports them in the result. */
void toolbox_check(struct toolbox *box, struct tool_result *result);

/* Creates a writer for the root of this path; it commits through the box's journal. */
struct writer;
struct writer_result;
MUST_USE bool toolbox_writer(
    struct toolbox *box, const struct resolved *where, struct writer **ret_writer, struct err *err);
/* The only way to commit: once started, it is not interrupted. */
MUST_USE bool toolbox_commit(
    struct toolbox *box, struct writer *writer, struct writer_result *ret_written, struct err *err);

#endif
